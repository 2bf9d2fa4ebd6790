//! Errors of the dictionary.

use hedgerow_model::{CapacityError, Key, KeyKind, KeyRef, VertexId, VertexIdError};

/// A refusal to find or assign the id of a key. Nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum DictionaryError {
    /// The key is of another kind than the keys of the graph.
    #[error("the key {key} does not fit: the keys of this graph are of kind {expected}")]
    WrongKeyKind {
        /// The key.
        key: Key,
        /// The kind of the graph's keys.
        expected: KeyKind,
    },
    /// A key is a negative number.
    #[error("{0} cannot be a key: numbers as keys are 0 or greater")]
    NegativeKey(i64),
    /// The key of a dense graph is not a valid vertex id.
    #[error(transparent)]
    VertexId(#[from] VertexIdError),
    /// No id is free.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}

impl DictionaryError {
    /// Fails if a key is of another kind than these, or not a valid vertex id.
    ///
    /// # Errors
    /// The refusal of the key.
    #[inline]
    pub fn check(kind: KeyKind, key: KeyRef<'_>) -> Result<(), Self> {
        match (kind, key) {
            (KeyKind::Number, KeyRef::Number(_)) | (KeyKind::String, KeyRef::Text(_)) => Ok(()),
            (KeyKind::Dense, KeyRef::Number(number)) => Ok(VertexId::try_from(number).map(drop)?),
            _ => Err(DictionaryError::wrong_kind(kind, key)),
        }
    }

    #[cold]
    pub(crate) fn wrong_kind(expected: KeyKind, key: KeyRef<'_>) -> Self {
        match key {
            KeyRef::Negative(number) => DictionaryError::NegativeKey(number),
            key => DictionaryError::WrongKeyKind { key: key.to_key(), expected },
        }
    }
}

/// A refusal to restore the key of a stored graph.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// Another vertex has the same key.
    #[error("the key {0} belongs to two vertices")]
    TwoVertices(Key),
    /// The key is invalid in this graph.
    #[error(transparent)]
    Key(#[from] DictionaryError),
}
