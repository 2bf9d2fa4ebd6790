//! Checks whether the arrays of a whole-graph computation fit into memory.

use crate::available_memory::available_bytes;

/// The memory that one computation may use.
///
/// Arrays over all vertices are as long as the vertex bound, however few vertices exist. So the
/// budget is checked before they are allocated, and a failed check changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    bytes: u64,
}

/// The arrays of a computation do not fit into its [`MemoryBudget`]. Nothing was allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// More bytes are needed than available.
    #[error(
        "this needs {}, and {} are available ({vertex_count} vertices, whose ids are below {vertex_bound}): \
         use a machine with more memory", mebibytes(*needed), mebibytes(*available)
    )]
    Insufficient {
        /// Bytes that the computation would allocate.
        needed: u64,
        /// Bytes that the computation may use.
        available: u64,
        /// The bound of vertex ids.
        vertex_bound: u32,
        /// Vertices that exist.
        vertex_count: u64,
    },
    /// Nearly all of the memory would be spent on ids without vertices.
    #[error(
        "the vertex ids are sparse: {vertex_count} vertices use ids of which all are below {vertex_bound}, and {} \
         would be needed for these: load the graph with number keys, which are mapped to dense ids, instead of \
         using the keys as ids", mebibytes(*needed)
    )]
    SparseIds {
        /// Bytes that the computation would allocate.
        needed: u64,
        /// Bytes that the computation may use.
        available: u64,
        /// The bound of vertex ids.
        vertex_bound: u32,
        /// Vertices that exist.
        vertex_count: u64,
    },
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

impl MemoryBudget {
    /// Ids are not considered sparse while a computation needs no more than this: 1 GiB.
    pub const SPARSE_IDS_BYTES: u64 = 1 << 30;

    /// Ids are considered sparse when their bound exceeds the number of vertices by more than this
    /// factor.
    pub const SPARSE_IDS_RATIO: u64 = 16;

    /// A budget of `bytes` bytes.
    #[must_use]
    pub const fn bytes(bytes: u64) -> Self {
        MemoryBudget { bytes }
    }

    /// Half of the memory that is available now, to the system and to the control groups of the
    /// process. No limit if the operating system does not report it. A sixth of a millisecond on
    /// Linux.
    #[must_use]
    pub fn detect() -> Self {
        MemoryBudget::bytes(available_bytes().map_or(u64::MAX, |bytes| bytes / 2))
    }

    /// The available bytes.
    #[must_use]
    pub const fn available(self) -> u64 {
        self.bytes
    }

    /// Checks that a computation over a graph may allocate `needed` bytes.
    ///
    /// # Errors
    /// [`MemoryError::SparseIds`] if more than 1 GiB is needed and more than 15 in 16 ids belong to
    /// no vertex, whatever the budget; [`MemoryError::Insufficient`] if the budget is smaller than
    /// `needed`.
    pub fn check(self, needed: u64, vertex_bound: u32, vertex_count: u64) -> Result<(), MemoryError> {
        let available = self.bytes;
        let sparse = u64::from(vertex_bound) > vertex_count.saturating_mul(Self::SPARSE_IDS_RATIO);
        if sparse && needed > Self::SPARSE_IDS_BYTES {
            return Err(MemoryError::SparseIds { needed, available, vertex_bound, vertex_count });
        }
        if needed > available {
            return Err(MemoryError::Insufficient { needed, available, vertex_bound, vertex_count });
        }
        Ok(())
    }
}

impl Default for MemoryBudget {
    /// See [`MemoryBudget::detect`].
    fn default() -> Self {
        MemoryBudget::detect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_need_beyond_the_budget_is_refused_with_its_figures() {
        let budget = MemoryBudget::bytes(1000);
        assert_eq!(budget.check(1000, 10, 10), Ok(()));
        let refused =
            MemoryError::Insufficient { needed: 1001, available: 1000, vertex_bound: 10, vertex_count: 9 };
        assert_eq!(budget.check(1001, 10, 9), Err(refused));
    }

    #[test]
    fn sparse_ids_are_refused_however_much_memory_there_is() {
        let plenty = MemoryBudget::bytes(u64::MAX);
        assert!(matches!(plenty.check(GIB + 1, 161, 10), Err(MemoryError::SparseIds { .. })));
        assert_eq!(plenty.check(GIB + 1, 160, 10), Ok(()), "16 ids per vertex are dense enough");
        assert_eq!(plenty.check(GIB, u32::MAX, 1), Ok(()), "a gibibyte may be wasted");
        assert_eq!(plenty.check(u64::MAX, u32::MAX, u64::MAX), Ok(()), "the ratio does not overflow");
    }

    #[test]
    fn some_memory_is_detected() {
        assert!(MemoryBudget::detect().available() > 0);
    }
}
