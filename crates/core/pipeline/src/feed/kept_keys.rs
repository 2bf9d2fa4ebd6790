//! The keys of all vertices at one commit, without a graph.

use hedgerow_model::{Key, KeyKind, VertexId};

/// The keys of vertices, by id. Those of deleted vertices stay until another one takes the id: no
/// commit names it before.
#[derive(Debug)]
pub(super) enum KeptKeys {
    /// The ids.
    Dense,
    Numbers(Vec<u64>),
    Texts(Vec<Box<str>>),
}

impl KeptKeys {
    pub(super) fn new(kind: KeyKind) -> Self {
        match kind {
            KeyKind::Dense => KeptKeys::Dense,
            KeyKind::Number => KeptKeys::Numbers(Vec::new()),
            KeyKind::String => KeptKeys::Texts(Vec::new()),
        }
    }

    pub(super) fn set(&mut self, id: VertexId, key: Key) {
        match (self, key) {
            (KeptKeys::Numbers(keys), Key::Number(key)) => *place(keys, id) = key,
            (KeptKeys::Texts(keys), Key::Text(key)) => *place(keys, id) = key,
            // No graph has keys of two kinds.
            _ => {}
        }
    }

    /// The key of a vertex; `None` if no vertex has had this id.
    #[inline]
    pub(super) fn get(&self, id: VertexId) -> Option<Key> {
        match self {
            KeptKeys::Dense => Some(Key::Number(u64::from(id.get()))),
            KeptKeys::Numbers(keys) => keys.get(id.index()).copied().map(Key::Number),
            KeptKeys::Texts(keys) => keys.get(id.index()).cloned().map(Key::Text),
        }
    }
}

/// The place of an id, which exists from now on.
fn place<T: Default>(keys: &mut Vec<T>, id: VertexId) -> &mut T {
    if keys.len() <= id.index() {
        keys.resize_with(id.index() + 1, T::default);
    }
    &mut keys[id.index()]
}
