//! Keys numbered in the order in which they first come.

mod texts;

use super::error::StaticGraphError;
use crate::Batch;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hedgerow_model::{CapacityError, KeyKind, KeyRef, VertexId, VertexIdError};
use std::hash::{BuildHasher, Hash};
use texts::Texts;

/// The place of a number without an id.
const NONE: u32 = u32::MAX;

/// Places in the table of ids by number, for each number that has an id: the table takes less than
/// a hash table while at least a quarter of all numbers below the largest are keys.
const PLACES_PER_KEY: usize = 4;

/// The keys of a numbering are never of another kind.
const OTHER_KIND: &str = "the type of the keys of a builder determines their kind";

/// Places that the table may have for few keys: four mebibytes.
const FEWEST_PLACES: usize = if cfg!(test) { 1 << 8 } else { 1 << 20 };

/// The ids of the ends of an edge.
pub type IdPair = (VertexId, VertexId);

/// Vertex ids by key, and keys by vertex id.
#[derive(Debug)]
pub enum Numbering {
    /// The keys are the ids, and all below this one exist, also those that never came.
    Ids(u32),
    /// The keys are the ids.
    Dense(Dense),
    Numbers(Numbers),
    Texts(Texts),
}

/// Keys that are ids: a bit for each.
#[derive(Debug, Default)]
pub struct Dense {
    bits: Vec<u64>,
    count: u64,
}

/// Numbers. Small ones are found in a table, others by their hash.
#[derive(Debug, Default)]
pub struct Numbers {
    keys: Vec<u64>,
    /// The ids by number; [`NONE`] if it has none here.
    table: Vec<u32>,
    others: HashTable<u32>,
}

impl Numbering {
    /// No keys yet, of this kind.
    pub fn new(keys: KeyKind) -> Self {
        match keys {
            KeyKind::Dense => Numbering::Dense(Dense::default()),
            KeyKind::Number => Numbering::Numbers(Numbers::default()),
            KeyKind::String => Numbering::Texts(Texts::default()),
        }
    }

    /// Assigns ids to the vertices of a batch, then to the ends of its edges, which are appended to
    /// `ends`: a new key gets the next id.
    pub fn assign_to_numbers(
        &mut self,
        batch: &Batch<u64>,
        ends: &mut Vec<IdPair>,
    ) -> Result<(), StaticGraphError> {
        match self {
            Numbering::Dense(dense) => assign(batch, ends, |key| Ok(dense.add(*key)?)),
            Numbering::Numbers(numbers) => assign(batch, ends, |key| Ok(numbers.id_of(*key)?)),
            Numbering::Ids(bound) => assign(batch, ends, |key| {
                let id = VertexId::try_from(*key)?;
                *bound = (*bound).max(id.get() + 1);
                Ok(id)
            }),
            Numbering::Texts(_) => unreachable!("{OTHER_KIND}"),
        }
    }

    /// Like [`assign_to_numbers`](Self::assign_to_numbers), for texts.
    pub fn assign_to_texts(
        &mut self,
        batch: &Batch<Box<str>>,
        ends: &mut Vec<IdPair>,
    ) -> Result<(), StaticGraphError> {
        match self {
            Numbering::Texts(texts) => texts.assign(batch, ends)?,
            Numbering::Ids(_) | Numbering::Dense(_) | Numbering::Numbers(_) => unreachable!("{OTHER_KIND}"),
        }
        Ok(())
    }

    /// The id of a key that has one.
    pub fn find(&self, key: KeyRef<'_>) -> Option<VertexId> {
        match (self, key) {
            (Numbering::Ids(bound), KeyRef::Number(number)) => {
                VertexId::try_from(number).ok().filter(|id| id.get() < *bound)
            }
            (Numbering::Dense(dense), KeyRef::Number(number)) => {
                VertexId::try_from(number).ok().filter(|id| dense.contains(*id))
            }
            (Numbering::Numbers(numbers), KeyRef::Number(number)) => numbers.find(number).map(VertexId::new),
            (Numbering::Texts(texts), KeyRef::Text(text)) => texts.find(text).map(VertexId::new),
            _ => None,
        }
    }

    /// The key of an id that has one.
    pub fn key(&self, id: VertexId) -> KeyRef<'_> {
        match self {
            Numbering::Ids(_) | Numbering::Dense(_) => KeyRef::Number(id.get().into()),
            Numbering::Numbers(numbers) => KeyRef::Number(numbers.keys[id.index()]),
            Numbering::Texts(texts) => KeyRef::Text(texts.get(id.get())),
        }
    }

    /// Brings the ids into the order of the keys. Returns the new ids by the former ones; `None` if
    /// they are the same. O(keys · log keys).
    pub fn sort(&mut self) -> Option<Vec<VertexId>> {
        match self {
            Numbering::Ids(_) | Numbering::Dense(_) => None,
            Numbering::Numbers(numbers) => numbers.sort(),
            Numbering::Texts(texts) => texts.sort(),
        }
    }

    /// The number of keys.
    pub fn count(&self) -> u64 {
        match self {
            Numbering::Ids(bound) => (*bound).into(),
            Numbering::Dense(dense) => dense.count,
            Numbering::Numbers(numbers) => numbers.keys.len() as u64,
            Numbering::Texts(texts) => texts.count() as u64,
        }
    }

    /// A bound above all ids.
    pub fn bound(&self) -> u32 {
        match self {
            Numbering::Dense(dense) => dense.bound(),
            _ => self.count() as u32,
        }
    }

    /// The ids below the bound without a key.
    pub fn gaps(&self) -> impl Iterator<Item = VertexId> {
        let dense = if let Numbering::Dense(dense) = self { Some(dense) } else { None };
        let ids = |dense: &Dense| (0..dense.bound()).map(VertexId::new);
        dense.into_iter().flat_map(move |dense| ids(dense).filter(|id| !dense.contains(*id)))
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        match self {
            Numbering::Ids(_) => 0,
            Numbering::Dense(dense) => size_of_val(&*dense.bits),
            Numbering::Numbers(Numbers { keys, table, others }) => {
                size_of_val(&**keys) + size_of_val(&**table) + others.allocation_size()
            }
            Numbering::Texts(texts) => texts.bytes(),
        }
    }
}

#[inline]
fn assign<K>(
    batch: &Batch<K>,
    ends: &mut Vec<IdPair>,
    mut id_of: impl FnMut(&K) -> Result<VertexId, StaticGraphError>,
) -> Result<(), StaticGraphError> {
    for vertex in &batch.vertices {
        id_of(vertex)?;
    }
    ends.reserve(batch.edges.len());
    for edge in &batch.edges {
        ends.push((id_of(&edge.source)?, id_of(&edge.destination)?));
    }
    Ok(())
}

impl Dense {
    fn add(&mut self, number: u64) -> Result<VertexId, VertexIdError> {
        let id = VertexId::try_from(number)?;
        let (word, bit) = (id.index() / 64, 1 << (id.index() % 64));
        if word >= self.bits.len() {
            self.bits.resize(word + 1, 0);
        }
        self.count += u64::from(self.bits[word] & bit == 0);
        self.bits[word] |= bit;
        Ok(id)
    }

    fn contains(&self, id: VertexId) -> bool {
        self.bits.get(id.index() / 64).is_some_and(|word| word & 1 << (id.index() % 64) != 0)
    }

    fn bound(&self) -> u32 {
        // The last word has a bit.
        let last = self.bits.last().map_or(0, |word| u64::BITS - word.leading_zeros());
        (self.bits.len().saturating_sub(1) as u32) * u64::BITS + last
    }
}

impl Numbers {
    #[inline]
    fn id_of(&mut self, number: u64) -> Result<VertexId, CapacityError> {
        match usize::try_from(number).ok().and_then(|place| self.table.get(place)) {
            Some(id) if *id != NONE => Ok(VertexId::new(*id)),
            _ => self.id_of_other(number),
        }
    }

    /// The id of a number that is not in the table.
    #[inline(never)]
    fn id_of_other(&mut self, number: u64) -> Result<VertexId, CapacityError> {
        let known = self.find_other(number);
        let id = known.map_or_else(|| next_id(self.keys.len()), |id| Ok(VertexId::new(id)))?;
        if known.is_none() {
            self.keys.push(number);
        }
        let room = (PLACES_PER_KEY * self.keys.len()).max(FEWEST_PLACES);
        match usize::try_from(number) {
            // A number that was too large for the table when it first came may now have a place.
            Ok(place) if place < room => {
                if place >= self.table.len() {
                    // Grown by doubling.
                    self.table.resize((2 * self.table.len()).clamp(place + 1, room), NONE);
                }
                self.table[place] = id.get();
            }
            _ if known.is_none() => {
                let keys = &self.keys;
                let hash = |id: &u32| hash_of(keys[*id as usize]);
                self.others.insert_unique(hash_of(number), id.get(), hash);
            }
            _ => {}
        }
        Ok(id)
    }

    fn sort(&mut self) -> Option<Vec<VertexId>> {
        if self.keys.is_sorted() {
            return None;
        }
        let mut sorted: Vec<(u64, u32)> = self.keys.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        self.keys.iter_mut().zip(&sorted).for_each(|(place, (key, _))| *place = *key);
        let ids = new_ids(sorted.iter().map(|(_, former)| *former));
        let in_table = self.table.iter_mut().filter(|id| **id != NONE);
        in_table.chain(self.others.iter_mut()).for_each(|id| *id = ids[*id as usize].get());
        Some(ids)
    }

    fn find(&self, number: u64) -> Option<u32> {
        let place = usize::try_from(number).ok().and_then(|place| self.table.get(place));
        place.copied().filter(|id| *id != NONE).or_else(|| self.find_other(number))
    }

    fn find_other(&self, number: u64) -> Option<u32> {
        if self.others.is_empty() {
            return None;
        }
        self.others.find(hash_of(number), |id| self.keys[*id as usize] == number).copied()
    }
}

/// The new ids by the former ones, which are given in the order of the new ones.
fn new_ids(former: impl ExactSizeIterator<Item = u32>) -> Vec<VertexId> {
    let mut ids = vec![VertexId::default(); former.len()];
    former.zip(0..).for_each(|(former, new)| ids[former as usize] = VertexId::new(new));
    ids
}

fn hash_of(key: impl Hash) -> u64 {
    FixedState::default().hash_one(key)
}

/// The id after the first `count`.
fn next_id(count: usize) -> Result<VertexId, CapacityError> {
    VertexId::try_from(count as u64).map_err(|_| CapacityError::VertexIds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::scan::Scan;
    use crate::{Edge, VertexKey};
    use proptest::prelude::*;
    use std::collections::{BTreeSet, HashMap};

    /// Numbers, few or many, near each other or not.
    fn numbers() -> impl Strategy<Value = Vec<u64>> {
        let number = prop_oneof![0..50_u64, 0..3_000_u64, 0..400_000_u64, any::<u64>(), Just(u64::MAX)];
        prop::collection::vec(number, 0..3000)
    }

    /// Numbers keys, as vertices and as ends of edges, in batches of this many keys.
    fn numbered<K: VertexKey>(kind: KeyKind, keys: &[K], batch: usize) -> (Numbering, Vec<VertexId>) {
        let (mut numbering, mut ids) = (Numbering::new(kind), Vec::new());
        for piece in keys.chunks(batch) {
            let (vertices, rest) = piece.split_at(piece.len() % 2);
            let edges = rest.chunks(2).map(|ends| Edge::new(ends[0].clone(), ends[1].clone())).collect();
            let mut ends = Vec::new();
            K::assign_ids(&Batch { edges, vertices: vertices.to_vec() }, &mut numbering, &mut ends).unwrap();
            ids.extend(vertices.iter().map(|vertex| numbering.find(vertex.as_key()).unwrap()));
            ids.extend(ends.into_iter().flat_map(|(source, destination)| [source, destination]));
        }
        (numbering, ids)
    }

    fn check<K: VertexKey>(kind: KeyKind, keys: &[K], batch: usize, absent: &K) {
        let (mut numbering, ids) = numbered(kind, keys, batch);
        let mut expected = HashMap::new();
        for (key, id) in keys.iter().zip(ids) {
            let next = expected.len() as u32;
            assert_eq!(*expected.entry(key.clone()).or_insert(next), id.get());
            assert_eq!(numbering.find(key.as_key()), Some(id));
            assert_eq!(numbering.key(id), key.as_key());
        }
        assert_eq!((numbering.count(), numbering.bound()), (expected.len() as u64, expected.len() as u32));
        assert_eq!(numbering.find(absent.as_key()).is_some(), expected.contains_key(absent));
        assert_eq!(numbering.gaps().count(), 0);

        let new = numbering.sort();
        let mut sorted: Vec<_> = expected.into_iter().collect();
        sorted.sort_unstable();
        for (id, (key, former)) in sorted.iter().enumerate() {
            let id = VertexId::new(id as u32);
            assert_eq!(new.as_ref().map_or(VertexId::new(*former), |new| new[*former as usize]), id);
            assert_eq!((numbering.find(key.as_key()), numbering.key(id)), (Some(id), key.as_key()));
        }
        assert_eq!(numbering.sort(), None);
    }

    proptest! {
        #[test]
        fn ids_are_in_the_order_of_first_appearance(
            keys in numbers(),
            batch in 1..300_usize,
            absent in any::<u64>(),
        ) {
            check(KeyKind::Number, &keys, batch, &absent);
            let texts: Vec<Box<str>> = keys.iter().map(|key| (key % 500).to_string().into()).collect();
            check(KeyKind::String, &texts, batch, &"absent".into());
        }

        #[test]
        fn dense_keys_are_ids(keys in prop::collection::vec(0..2000_u64, 0..300)) {
            let (numbering, ids) = numbered(KeyKind::Dense, &keys, 7);
            assert!(ids.iter().map(|id| u64::from(id.get())).eq(keys.iter().copied()));
            let all: BTreeSet<u64> = keys.iter().copied().collect();
            let bound = all.last().map_or(0, |last| last + 1);
            assert_eq!((u64::from(numbering.bound()), numbering.count()), (bound, all.len() as u64));
            let gaps: Vec<u64> = numbering.gaps().map(|id| id.get().into()).collect();
            let absent: Vec<u64> = (0..bound).filter(|key| !all.contains(key)).collect();
            assert_eq!(gaps, absent);
            assert_eq!(numbering.find(KeyRef::Number(bound)), None);
        }
    }

    #[test]
    fn a_dense_key_beyond_the_ids_is_refused() {
        let batch = Batch { edges: Vec::new(), vertices: vec![u64::from(u32::MAX)] };
        for mut numbering in [Numbering::new(KeyKind::Dense), Numbering::Ids(0)] {
            let refused = u64::assign_ids(&batch, &mut numbering, &mut Vec::new());
            assert!(matches!(refused, Err(StaticGraphError::VertexId(_))));
        }
    }
}
