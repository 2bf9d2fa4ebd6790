//! The set of neighbors of a long row, so that a put needs no scan of the row.

use hedgerow_model::VertexId;
use roaring::RoaringBitmap;

/// Minimum entries of a long row.
pub(super) const LONG_ROW: usize = 128;

/// Minimum entries of a row whose set is exact.
const EXACT_ROW: usize = 2048;

/// Bits per neighbor of a filter.
const FILTER_BITS: usize = 10;

/// The set of neighbors of a long row.
pub(super) enum Members {
    /// A filter: a scan decides about a positive answer.
    Filtered(NeighborFilter),
    /// An exact set, about two bytes per neighbor.
    Exact(RoaringBitmap),
}

/// Membership of a neighbor in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Membership {
    Absent,
    Present,
    /// To be decided by a scan.
    Unknown,
}

/// Returns true if a row with this many entries has [`Members`].
pub(super) fn is_long(entries: usize) -> bool {
    entries >= LONG_ROW
}

impl Members {
    /// Adds the new neighbors of a row, which then has `entries` entries.
    ///
    /// Builds a new set from `all`, the neighbors of all entries that are not deleted, if there is
    /// none yet, if the filter has too little room, or if the set becomes exact.
    pub(super) fn add<A: Iterator<Item = VertexId>>(
        members: &mut Option<Box<Members>>,
        entries: usize,
        new: impl Iterator<Item = VertexId>,
        all: impl FnOnce() -> A,
    ) {
        match members.as_deref_mut() {
            Some(Members::Exact(exact)) => exact.extend(new.map(VertexId::get)),
            _ if entries >= EXACT_ROW => {
                *members = Some(Box::new(Members::Exact(all().map(VertexId::get).collect())));
            }
            Some(Members::Filtered(filter)) if filter.has_room_for(entries) => {
                new.for_each(|neighbor| filter.insert(neighbor));
            }
            _ => {
                let mut filter = NeighborFilter::new(2 * entries);
                all().for_each(|neighbor| filter.insert(neighbor));
                *members = Some(Box::new(Members::Filtered(filter)));
            }
        }
    }

    /// Removes a neighbor of the row. A filter keeps it.
    pub(super) fn remove(&mut self, neighbor: VertexId) {
        if let Members::Exact(exact) = self {
            exact.remove(neighbor.get());
        }
    }

    /// Returns the membership of a neighbor.
    #[inline]
    pub(super) fn find(&self, neighbor: VertexId) -> Membership {
        match self {
            Members::Filtered(filter) if filter.may_contain(neighbor) => Membership::Unknown,
            Members::Exact(exact) if exact.contains(neighbor.get()) => Membership::Present,
            _ => Membership::Absent,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Members::Filtered(filter) => size_of::<Self>() + filter.bytes(),
            Members::Exact(exact) => size_of::<Self>() + exact.serialized_size(),
        }
    }
}

/// A Bloom filter of a row's neighbors. It rules out most other vertices, so that a new edge costs
/// no scan of a long row.
///
/// The eight bits of a neighbor lie in half a cache line, one in each lane of a block.
pub(super) struct NeighborFilter {
    blocks: Box<[FilterBlock]>,
    /// Maximum number of neighbors at the intended error rate.
    most: usize,
}

type FilterBlock = [u32; 8];

/// Odd multipliers without a pattern, one for each lane.
const LANES: FilterBlock =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

impl NeighborFilter {
    /// Creates an empty filter for `most` neighbors.
    fn new(most: usize) -> Self {
        let blocks = (most * FILTER_BITS).div_ceil(8 * size_of::<FilterBlock>());
        NeighborFilter { blocks: vec![[0; 8]; blocks.max(1)].into(), most }
    }

    /// Returns true if the filter has room for `entries` neighbors.
    fn has_room_for(&self, entries: usize) -> bool {
        entries <= self.most
    }

    /// Returns the block of a neighbor, and its bit in each lane.
    #[inline]
    fn place(&self, neighbor: VertexId) -> (usize, FilterBlock) {
        // Multiplying by the golden ratio mixes the bits upwards.
        let hash = u64::from(neighbor.get()).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = (hash ^ hash >> 32).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let block = ((hash >> 32) * self.blocks.len() as u64) >> 32;
        (block as usize, LANES.map(|lane| 1 << ((hash as u32).wrapping_mul(lane) >> 27)))
    }

    fn insert(&mut self, neighbor: VertexId) {
        let (block, bits) = self.place(neighbor);
        self.blocks[block].iter_mut().zip(bits).for_each(|(lane, bit)| *lane |= bit);
    }

    /// Returns false if the neighbor was never inserted.
    #[inline]
    fn may_contain(&self, neighbor: VertexId) -> bool {
        let (block, bits) = self.place(neighbor);
        self.blocks[block].iter().zip(bits).fold(true, |all, (lane, bit)| all & (lane & bit != 0))
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.blocks)
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    #[test]
    fn a_full_filter_knows_its_neighbors_and_refuses_most_others() {
        const MOST: u32 = if cfg!(miri) { 2_000 } else { 20_000 };
        let mut filter = NeighborFilter::new(MOST as usize);
        let ids = |from: u32| (from..from + MOST).map(|number| VertexId::new(number * 7));
        ids(0).for_each(|id| filter.insert(id));
        assert!(ids(0).all(|id| filter.may_contain(id)));
        let wrong = ids(MOST).filter(|id| filter.may_contain(*id)).count();
        assert!(wrong < MOST as usize / 40, "{wrong} of {MOST} that were not inserted");
    }
}
