//! Commits, reads, recovery and maintenance of a graph, on any engine.
//!
//! [`Store`] is a graph on one engine: the engine, the [`dictionary`] of keys,
//! the [sequencer](hedgerow_sequencer) of commits, the locks of units, and its [`Journal`] if it is
//! durable. Applications use the crate `hedgerow`, which checks that keys, labels and values fit
//! the graph; direct callers of this crate must ensure that themselves.
//!
//! Guarantees, which `docs/concurrency.md` proves:
//!
//! - a commit is visible whole or not at all, and survives whole or not at all;
//! - commits are ordered by their stamps, as in the log; a snapshot shows all commits up to one of
//!   them;
//! - an interactive transaction commits only if all that it wrote, and optionally all that it read,
//!   is unchanged since it began;
//! - a failure before a commit has its stamp changes nothing; a failure after it poisons the graph;
//! - a store that is opened contains every commit that was acknowledged as durable, and no part of
//!   any other.
//!
//! | module | content |
//! |---|---|
//! | `commit` | the steps that all commits share (`apply`), and the decisions of each kind: `edges`, `stream`, `ingest`, `resolve` |
//! | [`dictionary`] | keys to vertex ids and back |
//! | `reads` | reads by key on a state; the writes of a transaction over a state |
//! | `journal` | the log of a graph, and the waits of commits for it |
//! | `labels` | labels that are added to an open graph |
//! | `feed` | the commits in order, for those who follow the graph |
//! | `durable` | checkpoints, full compaction, and recovery |
//! | `reclaim`, `background` | deferred work, and the threads that do it if writers do not |

mod background;
mod commit;
mod conflicts;
pub mod dictionary;
mod durable;
mod error;
mod feed;
mod journal;
mod labels;
mod maintenance;
mod reads;
mod reclaim;
mod records;
mod settings;
mod store;

pub use background::{BackgroundStep, BackgroundThread};
pub use commit::acquire::{Acquired, ReadSet};
pub use commit::edges::EdgeWrite;
pub use commit::ingest::BulkEdges;
pub use commit::ingest_records::check_records;
pub use commit::stream::{Commits, EndedStream};
pub use commit::{BYTES_OF_CHANGE, Commit, Interactive};
pub use conflicts::Touched;
pub use durable::{
    Batches, CheckpointOptions, CheckpointReport, CompactOptions, CompactReport, Until, damage,
    describe_engine_files, manifest_path, note_of,
};
pub use error::{Error, LabelExists};
pub use feed::{CommitFeed, KeysAtCommit, StoreFeed};
pub use journal::{Journal, Recovery};
pub use reads::{LabelReads, LentEdge, Newest, Overlay, StagedChanges, ViewReads, VisitEdge, Which};
pub use records::decoded;
pub use settings::{Compaction, Settings};
pub use store::{OnEngine, Store};
