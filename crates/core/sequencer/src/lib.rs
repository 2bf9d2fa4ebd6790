//! The order of commits and snapshots of one graph.
//!
//! A commit locks everything that it changes ([`LockTable`], [`LockGuard`]), takes a stamp
//! ([`Sequencer::stamp`]), applies its changes, reports that ([`Sequencer::applied`]), and releases
//! its locks. A reader registers a timestamp ([`Sequencer::open`]) and reads the graph as of it
//! until the [`Registration`] is dropped. The crate knows no engine, key or operation. Each commit
//! reports its changes of the numbers of vertices and edges ([`CountChanges`]), so the sequencer
//! knows the size of the graph at every timestamp that a reader can open.
//!
//! # Guarantees
//!
//! - Stamps ascend without a gap. Logged commits are in the log in the order of their stamps
//!   ([`Sequencer::stamp_logged`]).
//! - A snapshot shows a published timestamp: the newest stamp or, where the log syncs each commit
//!   ([`CommitLog::is_synced`]), the newest stamp that survives a loss of power.
//!   [`Sequencer::open`] waits until every commit up to it is applied.
//! - Readers open and close snapshots without a lock, except while a commit takes a stamp, while
//!   the newest stamp is not durable in a synced graph, and when all reader slots in reach are
//!   taken.
//! - [`Sequencer::live`] returns every timestamp that is read, and the earliest one that can still
//!   be registered. Versions that are visible at none of these may be freed.
//! - One state is kept, and can be opened again, until a newer state replaces it
//!   ([`Sequencer::keep_stale`]).
//! - Past states are kept according to [`History`], and found by commit or by wall-clock time
//!   ([`AsOf`]).
//! - A follower of a graph without a log ([`Following`]) gets every commit after its arrival, in
//!   order, unless it falls too far behind. No commit waits for it.
//! - After [`Sequencer::poison`] the sequencer gives out no stamp and opens no snapshot, and every
//!   wait for a commit ends with an error.
//!
//! # Assumptions
//!
//! `sequencer.rs` lists the invariants of stamps, `docs/concurrency.md` proves them, and the models
//! in `crates/hedgerow/tests/shuttle/` check them. They hold if callers keep three rules, which no
//! type enforces:
//!
//! 1. A commit holds the locks of everything that it changes from before it takes its stamp until
//!    the stamp is applied; or it [appends](LockGuard::append), and everything that depends on the
//!    order of appending commits is decided in one step with its stamp.
//! 2. Every stamp is reported to [`Sequencer::applied`] once, or else the graph is poisoned.
//! 3. A thread holds at most one guard of a lock table, whose stripes ascend, and takes the guards
//!    of several tables in the same order as every other thread. It holds no guard while it waits
//!    for a sync of the log.
//!
//! Engines rely on the tokens of `hedgerow-model` (stamps, held locks, registered and live
//! timestamps) when they free memory. Outside of tests, only this crate makes tokens, in unsafe
//! code in four files. That code is sound under the three rules, so this crate is for Hedgerow's
//! own pipeline and not an interface for applications.
//!
//! # Users
//!
//! The store of `hedgerow-pipeline` owns one [`Sequencer`]: its commits take stamps, and its
//! garbage collection thread sleeps until [`Wakeup`] wakes it. The snapshots of `hedgerow` are
//! registrations. The dictionary of `hedgerow-pipeline` locks keys in its own [`LockTable`], and
//! reuses an id when no live timestamp can read its former vertex.

mod appenders;
mod applied;
mod clock;
mod commit;
mod commit_log;
mod error;
mod gate;
mod heads;
mod history;
mod locks;
mod per_core;
mod published_head;
mod reader_slots;
mod recent;
mod registration;
mod registry;
mod sequencer;
mod stale;
mod wakeup;

pub use clock::{Clock, ManualClock, Now};
pub use commit::{CountChanges, PendingReclaim, VertexCounts, WriterKind};
pub use commit_log::CommitLog;
pub use error::SequencerError;
pub use heads::Head;
pub use history::{AsOf, History};
pub use locks::{LockGuard, LockTable, Stripes};
pub use recent::{CommitDropped, CommitPiece, Following};
pub use registration::{ReaderKind, Registrar, Registration};
pub use sequencer::{OpenTimestamp, Sequencer, Stamped};
pub use wakeup::Wakeup;
