//! Statistics of the blocks of rows.

use crate::adjacency::table::{RetainedVersion, RowTable};
use std::ops::Range;

/// Statistics of the chains of blocks of an adjacency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChainReport {
    /// Rows with entries.
    pub rows: u64,
    /// Entries, including deleted ones.
    pub entries: u64,
    /// Blocks of all rows.
    pub blocks: u64,
    /// Blocks of the row with most blocks.
    pub most_blocks: u64,
}

impl RowTable {
    /// Counts the blocks of the rows of these vertices in a version. O(vertices + blocks).
    #[must_use]
    pub fn chains(&self, vertices: Range<u32>, version: RetainedVersion<'_>) -> ChainReport {
        let mut report = ChainReport::default();
        for (_, row) in self.rows(vertices, version) {
            let blocks = row.entries.neighbors().count() as u64;
            report.rows += u64::from(blocks > 0);
            report.entries += u64::from(row.entries.count);
            report.blocks += blocks;
            report.most_blocks = report.most_blocks.max(blocks);
        }
        report
    }
}
