//! Batches of lookups.

use crate::dictionary::error::DictionaryError;
use crate::dictionary::index::OpenIndex;
use crate::dictionary::keys::{Dictionary, Keys};
use crate::dictionary::map::KeyMap;
use hedgerow_model::{KeyRef, VertexId};

/// A dictionary that is open for lookups. They take no lock and synchronize nothing, so that their
/// cache misses overlap. Finds every key that had an id when this was opened, and some keys that
/// got their id later.
pub struct DictionaryReader<'d> {
    dictionary: &'d Dictionary,
    keys: OpenKeys<'d>,
}

enum OpenKeys<'d> {
    Dense,
    Numbers(&'d KeyMap<u64>, OpenIndex),
    Text(&'d KeyMap<Box<str>>, OpenIndex),
}

impl Dictionary {
    /// Opens the dictionary for a batch of lookups. O(1).
    #[inline]
    pub fn reader(&self) -> DictionaryReader<'_> {
        let keys = match &self.keys {
            Keys::Dense => OpenKeys::Dense,
            Keys::Numbers(map) => OpenKeys::Numbers(map, map.open()),
            Keys::Text(map) => OpenKeys::Text(map, map.open()),
        };
        DictionaryReader { dictionary: self, keys }
    }

    /// Like [`DictionaryReader::find_among_several`], for one key.
    #[inline]
    pub fn find_among_several<E: From<DictionaryError>>(
        &self,
        key: KeyRef<'_>,
        visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        self.reader().find_among_several(key, visible)
    }

    /// Like [`DictionaryReader::find_ends_among_several`], for one edge.
    #[inline]
    pub fn find_ends_among_several<E: From<DictionaryError>>(
        &self,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        visible: impl Fn(VertexId) -> Result<bool, E>,
    ) -> Result<Option<(VertexId, VertexId)>, E> {
        if let Some(ends) = self.dense_id(source).zip(self.dense_id(destination)) {
            return Ok(Some(ends));
        }
        self.reader().find_ends_among_several(source, destination, visible)
    }

    /// Returns a key of a dense graph as an id. `None` in other graphs, and if the key is no valid
    /// id.
    #[inline]
    fn dense_id(&self, key: KeyRef<'_>) -> Option<VertexId> {
        match (&self.keys, key) {
            (Keys::Dense, KeyRef::Number(number)) => VertexId::try_from(number).ok(),
            _ => None,
        }
    }
}

impl DictionaryReader<'_> {
    /// Returns the first of the key's present and former ids that is visible. A key's only id is
    /// returned without a visibility check. O(1).
    ///
    /// # Errors
    /// The key is of another kind than the graph's.
    #[inline]
    pub fn find_among_several<E: From<DictionaryError>>(
        &self,
        key: KeyRef<'_>,
        visible: impl FnMut(VertexId) -> Result<bool, E>,
    ) -> Result<Option<VertexId>, E> {
        match (&self.keys, key) {
            (OpenKeys::Numbers(map, index), KeyRef::Number(number)) => {
                map.find_among_several(index, &number, visible)
            }
            (OpenKeys::Text(map, index), KeyRef::Text(text)) => map.find_among_several(index, text, visible),
            (OpenKeys::Dense, KeyRef::Number(number)) => {
                Ok(Some(VertexId::try_from(number).map_err(DictionaryError::from)?))
            }
            _ => Err(self.dictionary.wrong_kind(key).into()),
        }
    }

    /// Like [`DictionaryReader::find_among_several`], for both ends of an edge. Returns `None` if
    /// an end has no id.
    ///
    /// # Errors
    /// A key is of another kind than the graph's.
    #[inline]
    pub fn find_ends_among_several<E: From<DictionaryError>>(
        &self,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        visible: impl Fn(VertexId) -> Result<bool, E>,
    ) -> Result<Option<(VertexId, VertexId)>, E> {
        match (&self.keys, source, destination) {
            (OpenKeys::Dense, KeyRef::Number(source), KeyRef::Number(destination)) => {
                let id = |number| VertexId::try_from(number).map_err(DictionaryError::from);
                return Ok(Some((id(source)?, id(destination)?)));
            }
            (OpenKeys::Numbers(_, index), _, KeyRef::Number(number)) => {
                index.prefetch(KeyMap::<u64>::hash(&number));
            }
            _ => {}
        }
        let source = self.find_among_several(source, &visible)?;
        Ok(source.zip(self.find_among_several(destination, &visible)?))
    }
}
