//! The adjacency store: rows of chained blocks, in versions (GraphOne, 4, 5.2, 5.3).
//!
//! - `block.rs`, `arena.rs`, `sizes.rs`: the blocks of a row, their memory, and their sizes;
//! - `versions.rs`: entry counts of the versions of a row; `former.rs`: chains of blocks from
//!   before a row was rewritten; `extra.rs`: state that only few rows have, such as `members.rs`:
//!   the set of neighbors of a long row; `note.rs`: the pointer to either in the first block;
//! - `row.rs`: reading a row; `merge.rs`: reading it with changes that are still in the log;
//!   `writer.rs`: adding the changes of a round;
//! - `table.rs`: the rows of all vertices; `report.rs`: statistics of their blocks; `logged.rs`:
//!   rows and the log that feeds them, without an engine around them.

mod arena;
mod block;
mod extra;
mod former;
mod logged;
mod members;
mod merge;
mod note;
mod report;
mod row;
mod sizes;
mod table;
#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests;
mod versions;
mod writer;

pub use logged::LoggedTable;
pub use merge::{ReplacedEntries, ReplacedInRow, RowCopy, find_merged};
pub use report::ChainReport;
pub use row::RowAt;
pub use sizes::BlockSizes;
pub use table::{RetainedVersion, RowTable};
pub use writer::AddedAndRemoved;
