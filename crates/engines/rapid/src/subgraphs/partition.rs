//! Partitions: consecutive vertices that are versioned and locked together.

use hedgerow_model::{LockUnit, VertexId};
use std::ops::Range;

/// Vertices per partition (RapidStore, section 5.4, "Impact of Partition Size").
pub const PARTITION_SIZE: usize = 64;

/// The number of partitions that cover all vertex ids.
pub const PARTITIONS: usize = (1 << 32) / PARTITION_SIZE;

const BITS: u32 = PARTITION_SIZE.trailing_zeros();

/// The partition of a vertex.
#[inline]
pub const fn partition_of(vertex: VertexId) -> u32 {
    vertex.get() >> BITS
}

/// The slot of a vertex in its partition.
#[inline]
pub const fn slot_of(vertex: VertexId) -> usize {
    vertex.index() % PARTITION_SIZE
}

/// The vertex in a slot of a partition.
#[inline]
pub const fn vertex_at(partition: u32, slot: usize) -> VertexId {
    VertexId::new((partition << BITS) + slot as u32)
}

/// The exclusive bound of the ids in a partition; in the last partition, the largest possible
/// bound.
#[inline]
pub(crate) const fn partition_end(partition: u32) -> u32 {
    (partition << BITS).saturating_add(PARTITION_SIZE as u32)
}

/// The lock that covers a partition.
#[inline]
pub(crate) const fn unit_of(partition: u32) -> LockUnit {
    LockUnit(partition)
}

/// The partitions that overlap a range of vertices.
pub(crate) fn partitions_of(vertices: &Range<u32>) -> Range<u32> {
    if vertices.is_empty() { 0..0 } else { vertices.start >> BITS..((vertices.end - 1) >> BITS) + 1 }
}

/// A bit mask of the partition's slots that lie in the range of vertices.
#[inline]
pub(crate) fn slots_within(partition: u32, vertices: &Range<u32>) -> u64 {
    let first = u64::from(partition) << BITS;
    let below = |bound: u32| {
        let slots = u64::from(bound).saturating_sub(first);
        if slots >= PARTITION_SIZE as u64 { u64::MAX } else { (1 << slots) - 1 }
    };
    below(vertices.end) & !below(vertices.start)
}

/// The positions of the set bits, ascending.
#[inline]
pub fn slots_of(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if bits == 0 {
            return None;
        }
        let slot = bits.trailing_zeros() as usize;
        bits &= bits - 1;
        Some(slot)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_last_vertices_have_their_place() {
        assert_eq!((partition_of(VertexId::new(0)), slot_of(VertexId::new(0))), (0, 0));
        assert_eq!((partition_of(VertexId::new(64)), slot_of(VertexId::new(63))), (1, 63));
        assert_eq!(partition_of(VertexId::MAX) as usize, PARTITIONS - 1);
        assert_eq!((partition_end(0), partition_end(PARTITIONS as u32 - 1)), (64, u32::MAX));
        assert_eq!(vertex_at(partition_of(VertexId::MAX), slot_of(VertexId::MAX)), VertexId::MAX);
    }

    #[test]
    fn ranges_of_vertices_touch_partitions_and_slots() {
        assert_eq!(partitions_of(&(0..0)), 0..0);
        assert_eq!(partitions_of(&(63..65)), 0..2);
        assert_eq!(partitions_of(&(0..u32::MAX)), 0..PARTITIONS as u32);
        assert_eq!(slots_within(0, &(63..65)), 1 << 63);
        assert_eq!(slots_within(1, &(63..65)), 1);
        assert_eq!(slots_within(1, &(0..u32::MAX)), u64::MAX);
        assert_eq!(slots_within(2, &(63..65)), 0);
        assert_eq!(slots_of(0b1010).collect::<Vec<_>>(), [1, 3]);
    }
}
