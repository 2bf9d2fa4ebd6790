//! Restoring the keys of a stored graph in batches.

use crate::dictionary::error::RestoreError;
use crate::dictionary::index::HashedId;
use crate::dictionary::keys::{Dictionary, Keys};
use crate::dictionary::map::DictionaryKey;
use hedgerow_model::{Key, KeyRef, VertexId};

/// Number of keys that are added to the index together: their cache misses overlap, and the index
/// is locked once for all of them.
const BATCH: usize = if cfg!(hedgerow_shuttle) { 2 } else { 64 };

/// Restores the keys of many vertices: like [`Dictionary::restore`] for each key, but faster.
///
/// Each vertex is added once. Lookups find all keys after [`Restoring::finish`]. Several threads
/// may restore keys at the same time, each with its own `Restoring`.
#[must_use = "the last keys are restored by `finish`"]
pub struct Restoring<'d> {
    dictionary: &'d Dictionary,
    /// Ids whose keys are stored, but which are not in the index yet.
    kept: Vec<HashedId>,
}

impl Dictionary {
    /// Begins to restore the keys of many vertices. O(1).
    pub fn restoring(&self) -> Restoring<'_> {
        Restoring { dictionary: self, kept: Vec::with_capacity(BATCH) }
    }
}

impl Restoring<'_> {
    /// Adds the id that a key had when the graph was stored. O(1) amortized.
    ///
    /// # Errors
    /// The first key that already has an id, or is of another kind than the graph's: this key or
    /// one that was added earlier. Later keys are not restored.
    #[inline]
    pub fn add(&mut self, key: KeyRef<'_>, id: VertexId) -> Result<(), RestoreError> {
        let kept = match (&self.dictionary.keys, key) {
            (Keys::Numbers(map), KeyRef::Number(number)) => map.keep(number, id),
            (Keys::Text(map), KeyRef::Text(text)) => map.keep(text.into(), id),
            _ => return self.add_alone(key, id),
        };
        self.kept.push(kept);
        if self.kept.len() == BATCH { self.restore_kept() } else { Ok(()) }
    }

    /// Restores the remaining keys. O(1).
    ///
    /// # Errors
    /// The first key that already has an id. Later keys are not restored.
    pub fn finish(mut self) -> Result<(), RestoreError> {
        self.restore_kept()
    }

    /// Adds a key that is an id, or is of another kind than the graph's.
    fn add_alone(&mut self, key: KeyRef<'_>, id: VertexId) -> Result<(), RestoreError> {
        self.restore_kept()?;
        if self.dictionary.restore(key, id)? { Ok(()) } else { Err(RestoreError::TwoVertices(key.to_key())) }
    }

    fn restore_kept(&mut self) -> Result<(), RestoreError> {
        let second: Option<Key> = match &self.dictionary.keys {
            Keys::Dense => None,
            Keys::Numbers(map) => map.restore_each(&self.kept).map(DictionaryKey::into_key),
            Keys::Text(map) => map.restore_each(&self.kept).map(DictionaryKey::into_key),
        };
        self.kept.clear();
        second.map_or(Ok(()), |key| Err(RestoreError::TwoVertices(key)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::KeyKind;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    const KINDS: [KeyKind; 3] = [KeyKind::Number, KeyKind::String, KeyKind::Dense];

    fn restore_one_by_one(dictionary: &Dictionary, keys: &[(Key, VertexId)]) -> Result<(), RestoreError> {
        for (key, id) in keys {
            if !dictionary.restore(key.as_ref(), *id)? {
                return Err(RestoreError::TwoVertices(key.clone()));
            }
        }
        Ok(())
    }

    fn restore_together(dictionary: &Dictionary, keys: &[(Key, VertexId)]) -> Result<(), RestoreError> {
        let mut restoring = dictionary.restoring();
        keys.iter().try_for_each(|(key, id)| restoring.add(key.as_ref(), *id))?;
        restoring.finish()
    }

    /// Up to four batches of keys, in some cases of two kinds, and in some cases of so small a
    /// range that vertices share keys.
    fn random_keys(random: &mut SmallRng, kind: KeyKind) -> Vec<(Key, VertexId)> {
        let bound = if random.random_bool(0.5) { u64::MAX } else { 5000 };
        let others = if random.random_bool(0.3) { 0.02 } else { 0.0 };
        let count = random.random_range(0..4 * BATCH as u32);
        let ids = (0..count).map(|index| VertexId::new(3 * index));
        ids.map(|id| {
            let is_text = (kind == KeyKind::String) != random.random_bool(others);
            let number =
                if kind == KeyKind::Dense { u64::from(id.get()) } else { random.random_range(0..bound) };
            (if is_text { Key::Text(number.to_string().into()) } else { Key::Number(number) }, id)
        })
        .collect()
    }

    #[test]
    fn keys_are_restored_as_one_by_one() {
        let mut errors = 0;
        for seed in 0..if cfg!(miri) { 6 } else { 600 } {
            let random = &mut SmallRng::seed_from_u64(seed);
            let kind = KINDS[seed as usize % KINDS.len()];
            let keys = random_keys(random, kind);
            let (alone, together) = (Dictionary::new(kind), Dictionary::new(kind));
            if random.random_bool(0.5) {
                together.reserve(keys.len());
            }
            let expected = restore_one_by_one(&alone, &keys).map_err(|error| error.to_string());
            let restored = restore_together(&together, &keys).map_err(|error| error.to_string());
            assert_eq!(restored, expected, "seed {seed}");
            for (key, _) in &keys {
                let current = |dictionary: &Dictionary| dictionary.current(key.as_ref()).ok();
                assert_eq!(current(&together), current(&alone), "seed {seed}: {key}");
            }
            if expected.is_ok() {
                assert_eq!(together.bytes(), alone.bytes(), "seed {seed}");
            }
            errors += u32::from(expected.is_err());
        }
        assert!(cfg!(miri) || (100..500).contains(&errors), "{errors} of 600 have errors");
    }

    #[test]
    fn the_first_of_several_errors_is_reported() {
        let add_all = |keys: &[(KeyRef<'_>, u32)]| {
            let dictionary = Dictionary::new(KeyKind::Number);
            let mut restoring = dictionary.restoring();
            keys.iter().try_for_each(|(key, id)| restoring.add(*key, VertexId::new(*id)))?;
            restoring.finish()
        };
        let (number, text) = (KeyRef::Number, KeyRef::Text("a"));
        let second = add_all(&[(number(7), 0), (number(8), 1), (number(7), 2), (text, 3), (number(8), 4)]);
        assert!(matches!(second, Err(RestoreError::TwoVertices(Key::Number(7)))), "{second:?}");
        let wrong = add_all(&[(number(7), 0), (text, 1), (number(7), 2)]);
        assert!(matches!(wrong, Err(RestoreError::Key(_))), "{wrong:?}");
        let negative = add_all(&[(KeyRef::Negative(-1), 0)]);
        assert!(matches!(negative, Err(RestoreError::Key(_))), "{negative:?}");
    }

    #[test]
    fn the_key_of_a_dense_graph_is_its_id() {
        let dictionary = Dictionary::new(KeyKind::Dense);
        let mut restoring = dictionary.restoring();
        restoring.add(KeyRef::Number(7), VertexId::new(7)).unwrap();
        let other = restoring.add(KeyRef::Number(8), VertexId::new(9));
        assert!(matches!(other, Err(RestoreError::TwoVertices(Key::Number(8)))), "{other:?}");
    }
}
