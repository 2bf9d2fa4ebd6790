//! The order of commits and snapshots of one graph.
//!
//! A commit takes the locks of what it changes ([`LockTable`], [`LockGuard`]), takes a stamp ([`Sequencer::stamp`]), applies its changes at the stamp,
//! reports that ([`Sequencer::applied`]), and releases its locks. A reader registers a timestamp ([`Sequencer::open`]) and reads the graph as of it
//! until the [`Registration`] is dropped. The crate knows no engine, no key and no operation: of what a commit changes it is told the numbers of
//! vertices and edges ([`CountChanges`]), so that it knows the size of the graph at every timestamp that it hands out.
//!
//! # What it guarantees
//!
//! - Stamps ascend without a gap. A logged commit has the place in the log that its stamp says ([`Sequencer::stamp_logged`]).
//! - A snapshot is of a published timestamp, and every commit up to that is applied by the time the snapshot is handed out. The published timestamp is
//!   the newest stamp; where the log syncs each commit ([`CommitLog::is_synced`]), the newest one that survives a loss of power.
//! - Readers open and close snapshots without a lock, except while a commit is taking a stamp, while the newest stamp is not published yet, and
//!   where more readers are open than there are places for.
//! - [`Sequencer::live`] names every timestamp that is read, and the earliest that can still be registered. Versions that none of these
//!   sees may be freed.
//! - Past states are kept for as long as [`History`] says, and are found by their commit or by the time ([`AsOf`]).
//! - After [`Sequencer::poison`] no stamp is given out and no snapshot opened, and every thread that waits for a commit is told.
//!
//! # What it relies on
//!
//! `sequencer.rs` lists the invariants of stamps, `docs/concurrency.md` argues them, and the models in `crates/hedgerow/tests/shuttle/` check
//! them. They hold if callers keep three rules, which no type enforces:
//!
//! 1. A commit holds the locks of everything that it changes from before it takes its stamp until the stamp is applied.
//! 2. Every stamp is reported to [`Sequencer::applied`] once, or else the graph is poisoned.
//! 3. A thread has one guard of a lock table at a time, whose stripes ascend, and takes the guards of several tables in the same order as
//!    every other thread. It does not wait for a sync of the log while it holds any.
//!
//! Engines free memory on the strength of the tokens of `hedgerow-model`: stamps, held locks, registered and live timestamps. Outside of tests, tokens are
//! made here alone, by unsafe code in four files. That code is sound under the three rules, so this crate is for Hedgerow's own pipeline, and not an
//! interface for applications.
//!
//! # What depends on it
//!
//! The store of `hedgerow-pipeline` has one [`Sequencer`]: its commits take stamps, and its thread that frees memory sleeps until the [`Wakeup`] wake-ups; the
//! snapshots of `hedgerow` are registrations. `hedgerow-dictionary` locks keys in a [`LockTable`] of its own, and assigns an id again when no live timestamp can
//! read the vertex that had it.

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
mod registration;
mod registry;
mod sequencer;
mod wakeup;

pub use clock::{Clock, ManualClock, Now};
pub use commit::{CountChanges, PendingReclaim, VertexCounts, Writer};
pub use commit_log::CommitLog;
pub use error::SequencerError;
pub use heads::Head;
pub use history::{AsOf, History};
pub use locks::{LockGuard, LockTable, ReclaimLocks, Stripes};
pub use registration::{Reader, Registrar, Registration};
pub use sequencer::{ManyStamped, OpenTimestamp, Sequencer, Stamped};
pub use wakeup::Wakeup;
