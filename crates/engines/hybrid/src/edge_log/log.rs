//! The log: appending, and the list of its tails.

use crate::edge_log::buffer::{BufferPool, EdgeBuffer};
use crate::edge_log::run::NewRun;
use crate::edge_log::tail::{Archived, Cut, LogTail};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, MemoryUse};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// Maximum number of free buffers kept for later runs.
const FREE_BUFFERS: usize = 64;

/// An in-memory log of edge changes in front of an adjacency.
///
/// Changes of one edge are in commit order. The runs of commits that change different edges may be
/// in another order, because such commits may overtake each other between taking their timestamps
/// and appending their runs.
///
/// A commit reserves room for its runs, and writes them concurrently with other threads.
/// [Archiving](super::Archiver) moves the oldest buffers to the adjacency. Their memory is reused
/// once no reader holds them, so an open view blocks neither writers nor archiving.
#[derive(Debug)]
pub struct EdgeLog {
    pool: Arc<BufferPool>,
    /// The buffer that takes runs: the last buffer of the newest tail.
    active: Mutex<Arc<EdgeBuffer>>,
    newest: RwLock<Arc<LogTail>>,
    /// Tails of older versions that are or may be read, ascending. Each has the runs up to the next
    /// version (GraphOne, 4: the global snapshot list).
    past: Mutex<VecDeque<Arc<LogTail>>>,
    /// Bytes of the buffers held only by past tails.
    past_bytes: AtomicUsize,
    /// Number of entries ever appended and, in `archived`, of entries archived.
    appended: AtomicUsize,
    archived: AtomicUsize,
}

/// Room in a buffer for the runs of a commit.
#[derive(Debug)]
pub struct Reserved {
    buffer: Arc<EdgeBuffer>,
    begin: usize,
}

impl Reserved {
    /// Writes the runs that the room was reserved for. From then on, readers that see the commit
    /// find them. O(changes).
    ///
    /// # Panics
    /// If the runs differ from the reserved ones in size.
    pub fn write(self, runs: &[NewRun<'_>]) {
        self.buffer.write(self.begin, runs);
    }
}

impl EdgeLog {
    /// Creates an empty log with buffers of `buffer_words` words, in front of an adjacency that has
    /// all commits up to `through`.
    #[must_use]
    pub fn new(buffer_words: usize, through: CommitTimestamp) -> Self {
        let pool = BufferPool::new(buffer_words, FREE_BUFFERS);
        let active = pool.buffer(0);
        let archived = Arc::new(Archived { round: 0, through });
        EdgeLog {
            newest: RwLock::new(LogTail::new(archived, vec![Arc::clone(&active)])),
            active: Mutex::new(active),
            pool,
            past: Mutex::default(),
            past_bytes: AtomicUsize::new(0),
            appended: AtomicUsize::new(0),
            archived: AtomicUsize::new(0),
        }
    }

    /// Reserves room in one buffer for the changes of a commit, or of
    /// [several](super::RunCommits::Each). O(runs), and O(buffers in the tail) once per buffer.
    ///
    /// Callers that change the same edge call in the order of their timestamps.
    pub fn reserve(&self, at: CommitTimestamp, runs: &[NewRun<'_>]) -> Reserved {
        let mut active = self.active.lock();
        let begin = active.reserve(at, runs).unwrap_or_else(|| {
            active.seal();
            *active = self.add_buffer(runs.iter().map(NewRun::words).sum());
            active.reserve(at, runs).expect("a buffer that is made for runs has room for them")
        });
        let entries: usize = runs.iter().map(|run| run.edges.len()).sum();
        self.appended.fetch_add(entries, Ordering::Relaxed);
        Reserved { buffer: Arc::clone(&active), begin }
    }

    /// Publishes a new buffer with room for `words` words to readers. The caller makes it the
    /// active one.
    #[cold]
    fn add_buffer(&self, words: usize) -> Arc<EdgeBuffer> {
        let added = self.pool.buffer(words);
        let mut newest = self.newest.write();
        let buffers = newest.buffers().iter().chain([&added]).cloned().collect();
        *newest = newest.with_buffers(buffers);
        added
    }

    /// Returns the tail of the newest version. O(1).
    pub fn newest(&self) -> Arc<LogTail> {
        Arc::clone(&self.newest.read())
    }

    /// Returns the tail for reading the state at a registered timestamp. O(1), or
    /// O(log past versions) if a later commit is archived.
    ///
    /// # Panics
    /// May panic if the timestamp is not registered.
    pub fn tail_at(&self, at: CommitTimestamp) -> Arc<LogTail> {
        let newest = self.newest();
        if newest.archived().through <= at {
            return newest;
        }
        // The tail of `at` joined the past tails before the newest tail was published.
        let past = self.past.lock();
        let later = past.partition_point(|tail| tail.archived().through <= at);
        let own = later.checked_sub(1).expect("the tail of a registered timestamp is kept");
        Arc::clone(&past[own])
    }

    /// Returns the number of entries not archived yet. O(1).
    pub fn waiting(&self) -> usize {
        // An entry counts as appended before it counts as archived.
        let archived = self.archived.load(Ordering::Acquire);
        self.appended.load(Ordering::Relaxed) - archived
    }

    /// Continues the log in a new buffer, so that the memory of the earlier commits can be freed
    /// once they are archived.
    pub(crate) fn seal(&self) {
        let mut active = self.active.lock();
        if !active.is_empty() {
            active.seal();
            *active = self.add_buffer(0);
        }
    }

    /// Returns the highest timestamp of a run, or 0 if no run is after the newest version.
    /// O(buffers).
    pub fn latest(&self) -> CommitTimestamp {
        let latest = self.newest().buffers().iter().map(|buffer| buffer.latest()).max();
        latest.unwrap_or_default()
    }

    /// Publishes the version `archived`, which has the runs up to a cut, as the newest one;
    /// `entries` is the number of entries that its predecessor lacks. Calls must not be concurrent.
    pub(crate) fn publish(&self, archived: Archived, cut: Cut, entries: usize) {
        let mut past = self.past.lock();
        {
            let mut newest = self.newest.write();
            past.push_back(newest.up_to(archived.through));
            *newest = newest.followed_by(archived, cut);
        }
        // Outside the lock of `newest`, which snapshots and new buffers wait for.
        self.past_bytes.store(bytes_of_past(&past, &self.newest()), Ordering::Relaxed);
        self.archived.fetch_add(entries, Ordering::Release);
    }

    /// Forgets the past tails that no reader holds and no timestamp of `live` needs. Returns the
    /// remaining versions, including the newest, ascending. O(past versions + their buffers).
    pub fn forget(&self, live: &LiveTimestamps) -> Vec<Archived> {
        self.forget_if(|lifetime| live.decides(lifetime.end) && live.holder(lifetime).is_none())
    }

    /// Like [`EdgeLog::forget`], for a log whose readers register no timestamps, but hold a tail
    /// while they read it.
    pub fn forget_unread(&self) -> Vec<Archived> {
        self.forget_if(|_| true)
    }

    /// Forgets the past tails that no reader holds and whose lifetime, by `is_unregistered`,
    /// contains no registered timestamp.
    fn forget_if(&self, is_unregistered: impl Fn(Range<CommitTimestamp>) -> bool) -> Vec<Archived> {
        let mut past = self.past.lock();
        let newest = self.newest();
        let ends = past.iter().skip(1).chain([&newest]).map(|tail| tail.archived().through);
        let ends: Vec<_> = ends.collect();
        let mut ends = ends.into_iter();
        past.retain(|tail| {
            let end = ends.next().expect("each tail has an end");
            !is_unregistered(tail.archived().through..end) || !tail.is_unread()
        });
        self.past_bytes.store(bytes_of_past(&past, &newest), Ordering::Relaxed);
        past.iter().chain([&newest]).map(|tail| tail.archived()).collect()
    }

    /// Returns the versions that are or may be read, including those not
    /// [forgotten](EdgeLog::forget) yet, ascending.
    pub fn versions(&self) -> Vec<Archived> {
        let past = self.past.lock();
        let newest = self.newest().archived();
        past.iter().map(|tail| tail.archived()).chain([newest]).collect()
    }

    /// Frees the memory kept for later runs.
    pub fn free_unused(&self) {
        self.pool.free_unused();
    }

    /// Returns the memory use of the log. Buffers held only by past versions count as retained.
    /// O(1).
    pub fn memory(&self) -> MemoryUse {
        let used = self.pool.memory();
        let retained_bytes = self.past_bytes.load(Ordering::Relaxed).min(used.live_bytes);
        MemoryUse { live_bytes: used.live_bytes - retained_bytes, retained_bytes, ..used }
    }
}

/// Returns the bytes of the buffers that past tails hold and the newest tail does not.
fn bytes_of_past(past: &VecDeque<Arc<LogTail>>, newest: &LogTail) -> usize {
    let buffers = |tail: &LogTail| tail.buffers().iter().map(Arc::as_ptr).collect::<BTreeSet<_>>();
    let in_newest = buffers(newest);
    let bytes: BTreeMap<_, _> = past
        .iter()
        .flat_map(|tail| tail.buffers())
        .map(|buffer| (Arc::as_ptr(buffer), buffer.bytes()))
        .filter(|(buffer, _)| !in_newest.contains(buffer))
        .collect();
    bytes.into_values().sum()
}
