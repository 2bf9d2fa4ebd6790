//! Identifiers: vertices, labels, commit timestamps, lock units.

use bytemuck::{Pod, Zeroable};

/// The id of a vertex: a dense number from 0 to 2^32 - 2.
///
/// Ids are assigned in order, and are array indexes in kernels. Applications use their own keys;
/// see [`Key`](crate::Key).
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "u64"))]
pub struct VertexId(u32);

impl VertexId {
    /// The largest valid id, 2^32 - 2. The largest vertex bound is one above it.
    pub const MAX: VertexId = VertexId(u32::MAX - 1);

    /// The vertex numbered `index`, which is at most [`VertexId::MAX`].
    #[inline]
    #[must_use]
    pub const fn new(index: u32) -> Self {
        debug_assert!(index < u32::MAX, "2^32 - 1 is not a vertex id");
        VertexId(index)
    }

    /// The number as stored.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The number as an array index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for VertexId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A number is too large for a vertex id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("vertex id {0} is beyond the limit of {limit}", limit = VertexId::MAX)]
pub struct VertexIdError(pub u64);

impl TryFrom<u64> for VertexId {
    type Error = VertexIdError;

    fn try_from(number: u64) -> Result<Self, VertexIdError> {
        match u32::try_from(number) {
            Ok(index) if index <= VertexId::MAX.0 => Ok(VertexId(index)),
            _ => Err(VertexIdError(number)),
        }
    }
}

/// The number of a commit. 0 is the empty graph; the first commit is 1.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CommitTimestamp(pub u64);

impl CommitTimestamp {
    /// The empty graph, before the first commit.
    pub const ZERO: CommitTimestamp = CommitTimestamp(0);

    /// The timestamp after this one.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        CommitTimestamp(self.0 + 1)
    }
}

impl std::fmt::Display for CommitTimestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for CommitTimestamp {
    type Err = std::num::ParseIntError;

    fn from_str(number: &str) -> Result<Self, Self::Err> {
        number.parse().map(CommitTimestamp)
    }
}

/// The id of an edge label: its position in the [`Catalog`](crate::Catalog).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LabelId(pub u16);

impl LabelId {
    /// The label that every graph has, used where no label is named.
    pub const DEFAULT: LabelId = LabelId(0);

    /// The position in the catalog.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl std::fmt::Display for LabelId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// The unit of locking: covers every structure of an engine that a write at a vertex touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockUnit(pub u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_end_two_below_two_to_the_32() {
        assert_eq!(VertexId::try_from(0).unwrap().get(), 0);
        assert_eq!(VertexId::try_from(4_294_967_294), Ok(VertexId::MAX));
        for beyond in [4_294_967_295, 4_294_967_296, u64::MAX] {
            assert_eq!(VertexId::try_from(beyond), Err(VertexIdError(beyond)));
        }
    }
}
