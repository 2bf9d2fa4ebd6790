//! A set of vertices that is queried for every edge of a log.

use fixedbitset::FixedBitSet;
use hedgerow_model::VertexId;

/// Number of vertex ids per piece.
const PIECE: u32 = 1 << 16;

/// One bit per vertex id, in pieces that end with their last vertex, so that few vertices with
/// large ids take little memory.
#[derive(Debug, Default)]
pub(super) struct VertexBits {
    pieces: Vec<FixedBitSet>,
}

impl VertexBits {
    /// Returns true if the set contains `vertex`. O(1).
    #[inline]
    pub(super) fn contains(&self, vertex: VertexId) -> bool {
        let (piece, bit) = place(vertex);
        self.pieces.get(piece).is_some_and(|bits| bits.contains(bit))
    }

    /// Adds a vertex. Amortized O(1).
    pub(super) fn insert(&mut self, vertex: VertexId) {
        let (piece, bit) = place(vertex);
        if piece >= self.pieces.len() {
            self.pieces.resize_with(piece + 1, FixedBitSet::new);
        }
        self.pieces[piece].grow_and_insert(bit);
    }

    /// Removes a vertex. O(1).
    pub(super) fn remove(&mut self, vertex: VertexId) {
        let (piece, bit) = place(vertex);
        if self.contains(vertex) {
            self.pieces[piece].remove(bit);
        }
    }
}

/// The piece of a vertex, and its bit there.
fn place(vertex: VertexId) -> (usize, usize) {
    ((vertex.get() / PIECE) as usize, (vertex.get() % PIECE) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Ids in a few pieces, near their boundaries.
    fn vertices() -> impl Strategy<Value = VertexId> {
        let piece = prop_oneof![Just(0), Just(1), Just(7), Just(u32::MAX / PIECE)];
        (piece, prop_oneof![0..5u32, PIECE - 5..PIECE - 1])
            .prop_map(|(piece, bit)| VertexId::new(piece * PIECE + bit))
    }

    proptest! {
        #[test]
        fn it_is_a_set(steps in prop::collection::vec((any::<bool>(), vertices()), 0..100), asked in vertices()) {
            let (mut set, mut expected) = (VertexBits::default(), BTreeSet::new());
            for (inserts, vertex) in steps {
                if inserts {
                    set.insert(vertex);
                    expected.insert(vertex);
                } else {
                    set.remove(vertex);
                    expected.remove(&vertex);
                }
                prop_assert_eq!(set.contains(vertex), inserts);
                prop_assert_eq!(set.contains(asked), expected.contains(&asked));
            }
        }
    }
}
