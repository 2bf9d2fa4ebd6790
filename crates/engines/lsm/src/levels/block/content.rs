//! The kinds of versions in a block.

use super::Block;

impl Block<'_> {
    /// Returns true if every edge has one version, which every snapshot sees: no deletions, no
    /// older versions and no timestamps. Then a merge of the block alone would change nothing.
    /// O(1).
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.timestamps.is_none() && self.deleted.is_none() && self.older.is_empty()
    }
}
