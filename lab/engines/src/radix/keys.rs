//! Ids as strings of four bytes.

use hedgerow_model::VertexId;

/// Returns the byte of an id at `depth`; 0 is the most significant.
#[inline]
pub(super) const fn byte(id: VertexId, depth: u8) -> u8 {
    (id.get() >> (24 - 8 * depth)) as u8
}

/// Returns the number of leading bytes that two ids have in common.
#[inline]
pub(super) const fn common_bytes(one: VertexId, other: VertexId) -> u8 {
    ((one.get() ^ other.get()).leading_zeros() / 8) as u8
}

/// Returns the leading `depth` bytes of an id, in place; the others are zero.
#[inline]
pub(super) const fn prefix(id: VertexId, depth: u8) -> u32 {
    id.get() & mask(depth)
}

/// Returns the last id with the same leading `depth` bytes.
#[inline]
pub(super) const fn last_below(id: VertexId, depth: u8) -> u32 {
    id.get() | !mask(depth)
}

/// Returns a mask of the leading `depth` bytes.
const fn mask(depth: u8) -> u32 {
    (u64::MAX << (32 - 8 * depth)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_prefixes_of_the_first_and_last_ids() {
        let id = VertexId::new(0x0102_FE05);
        assert_eq!([0, 1, 2, 3].map(|depth| byte(id, depth)), [0x01, 0x02, 0xFE, 0x05]);
        assert_eq!(
            [0, 1, 2, 3, 4].map(|depth| prefix(id, depth)),
            [0, 0x0100_0000, 0x0102_0000, 0x0102_FE00, 0x0102_FE05]
        );
        assert_eq!(common_bytes(id, VertexId::new(0x0102_FD04)), 2);
        assert_eq!(common_bytes(id, id), 4);
        assert_eq!(common_bytes(VertexId::new(0), VertexId::MAX), 0);
    }
}
