//! The adjacency store: rows of chained blocks, in versions (GraphOne, 4, 5.2, 5.3).
//!
//! - `block.rs`, `arena.rs`, `sizes.rs`: the blocks of a row, their memory, and how large they are;
//! - `versions.rs`: how many entries the versions of a row have; `former.rs`: the blocks that it had before it was rewritten;
//!   `extra.rs`: what few rows have beside that, such as `members.rs`: which neighbors a long row has;
//! - `row.rs`: reading a row; `merge.rs`: with changes that are still in the log; `writer.rs`: adding the changes of a round;
//! - `table.rs`: the rows of all vertices; `report.rs`: how they lie in memory; `logged.rs`: rows and the log that feeds them, without
//!   an engine around them.

mod arena;
mod block;
mod extra;
mod former;
mod logged;
mod members;
mod merge;
mod report;
mod row;
mod sizes;
mod table;
#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests;
mod versions;
mod writer;

pub use logged::LoggedTable;
pub use merge::{MergedRow, ReplacedEntries, ReplacedInRow, find_merged};
pub use report::ChainReport;
pub use row::RowAt;
pub use sizes::BlockSizes;
pub use table::{RetainedVersion, RowTable};
pub use writer::AddedAndRemoved;
