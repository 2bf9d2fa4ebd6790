//! The log: appending, and the list of its tails.

use crate::archive::Cut;
use crate::buffer::{BufferPool, EdgeBuffer};
use crate::run::NewRun;
use crate::tail::{Archived, LogTail};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, MemoryUse};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

/// How many free buffers are kept for later runs.
const FREE_BUFFERS: usize = 64;

/// A log of changes of edges in memory, and which of them the adjacency behind it has.
///
/// Changes of one edge are in the order of their commits. Commits that change different edges may have their runs in another order: they
/// may overtake each other between their timestamps and their runs.
///
/// A commit reserves room for its runs, and writes them while other threads write theirs. [Archiving](crate::Archiver) moves the oldest buffers to the adjacency. Their memory is used again when no
/// reader holds them, so that a view that stays open stops neither writers nor archiving.
#[derive(Debug)]
pub struct EdgeLog {
    pool: Arc<BufferPool>,
    /// The buffer that takes runs: the last one of the newest tail.
    active: Mutex<Arc<EdgeBuffer>>,
    newest: RwLock<Arc<LogTail>>,
    /// The tails of older versions that are read, or may be: each has the runs up to the version after it. Ascending (GraphOne, 4: the
    /// global snapshot list).
    past: Mutex<VecDeque<Arc<LogTail>>>,
    /// Bytes of the buffers that only past tails have.
    past_bytes: AtomicUsize,
    /// Entries that were ever appended, and those of them that were archived.
    appended: AtomicUsize,
    archived: AtomicUsize,
}

/// Where a commit writes its runs.
#[derive(Debug)]
pub struct Reserved {
    buffer: Arc<EdgeBuffer>,
    begin: usize,
}

impl Reserved {
    /// Writes the runs that the room was reserved for. Readers that see the commit find them from now on. O(changes).
    ///
    /// # Panics
    /// If these are other runs.
    pub fn write(self, runs: &[NewRun<'_>]) {
        self.buffer.write(self.begin, runs);
    }
}

impl EdgeLog {
    /// An empty log in buffers of this many words, before an adjacency that has all commits up to `through`.
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

    /// Reserves room for the changes of a commit, or of [several](crate::RunCommits::Each), all in one buffer. O(runs), and O(buffers in the tail) once per
    /// buffer.
    ///
    /// Callers that change the same edge come in the order of their timestamps.
    pub fn reserve(&self, at: CommitTimestamp, runs: &[NewRun<'_>]) -> Reserved {
        self.reserve_in_active(&mut self.active.lock(), at, runs)
    }

    /// Like [`EdgeLog::reserve`], at the timestamp that `take` returns, or not at all if it returns `None`: takes the timestamp and the
    /// room in one step, so that callers may change the same edge without an order among themselves.
    pub fn reserve_in_order(
        &self,
        runs: &[NewRun<'_>],
        take: impl FnOnce() -> Option<CommitTimestamp>,
    ) -> Option<Reserved> {
        let mut active = self.active.lock();
        Some(self.reserve_in_active(&mut active, take()?, runs))
    }

    fn reserve_in_active(
        &self,
        active: &mut Arc<EdgeBuffer>,
        at: CommitTimestamp,
        runs: &[NewRun<'_>],
    ) -> Reserved {
        let begin = active.reserve(at, runs).unwrap_or_else(|| {
            active.seal();
            *active = self.add_buffer(runs.iter().map(NewRun::words).sum());
            active.reserve(at, runs).expect("a buffer that is made for runs has room for them")
        });
        let entries: usize = runs.iter().map(|run| run.edges.len()).sum();
        self.appended.fetch_add(entries, Ordering::Relaxed);
        Reserved { buffer: Arc::clone(active), begin }
    }

    /// Lets readers find a new buffer with room for this many words. The caller makes it the active one.
    #[cold]
    fn add_buffer(&self, words: usize) -> Arc<EdgeBuffer> {
        let added = self.pool.buffer(words);
        let mut newest = self.newest.write();
        let buffers = newest.buffers().iter().chain([&added]).cloned().collect();
        *newest = newest.with_buffers(buffers);
        added
    }

    /// The tail of the newest version. O(1).
    pub fn newest(&self) -> Arc<LogTail> {
        Arc::clone(&self.newest.read())
    }

    /// The tail for reading the state at a registered timestamp. O(1), or O(log past versions) if a later commit has been archived.
    ///
    /// # Panics
    /// If the timestamp is not registered, perhaps.
    pub fn tail_at(&self, at: CommitTimestamp) -> Arc<LogTail> {
        let newest = self.newest();
        if newest.archived().through <= at {
            return newest;
        }
        // Its tail became a past one before the newest was published.
        let past = self.past.lock();
        let later = past.partition_point(|tail| tail.archived().through <= at);
        let own = later.checked_sub(1).expect("the tail of a registered timestamp is kept");
        Arc::clone(&past[own])
    }

    /// The number of entries that wait to be archived. O(1).
    pub fn waiting(&self) -> usize {
        // Each entry is counted as appended first.
        let archived = self.archived.load(Ordering::Acquire);
        self.appended.load(Ordering::Relaxed) - archived
    }

    /// Lets commits continue in another buffer, so that the memory of those up to now can be freed once they are archived.
    pub(crate) fn seal(&self) {
        let mut active = self.active.lock();
        if !active.is_empty() {
            active.seal();
            *active = self.add_buffer(0);
        }
    }

    /// The highest timestamp of a run; 0 if there is none after the newest version. O(buffers).
    pub fn latest(&self) -> CommitTimestamp {
        let latest = self.newest().buffers().iter().map(|buffer| buffer.latest()).max();
        latest.unwrap_or_default()
    }

    /// Makes the version that has the runs after the last one, up to a cut, the newest; these have `entries` entries. Callers take
    /// turns.
    pub(crate) fn publish(&self, archived: Archived, cut: Cut, entries: usize) {
        let mut past = self.past.lock();
        {
            let mut newest = self.newest.write();
            past.push_back(newest.up_to(archived.through));
            *newest = newest.followed_by(archived, cut);
        }
        // Without the lock that snapshots and new buffers wait for.
        self.past_bytes.store(bytes_of_past(&past, &self.newest()), Ordering::Relaxed);
        self.archived.fetch_add(entries, Ordering::Release);
    }

    /// Forgets the past tails that no reader holds and no timestamp of `live` needs. Returns the versions of the
    /// others, and the newest, ascending. O(past versions + their buffers).
    pub fn forget(&self, live: &LiveTimestamps) -> Vec<Archived> {
        self.forget_if(|lifetime| live.decides(lifetime.end) && live.holder(lifetime).is_none())
    }

    /// Like [`EdgeLog::forget`], for a log whose readers register no timestamps, but hold a tail for as long as they read it.
    pub fn forget_unread(&self) -> Vec<Archived> {
        self.forget_if(|_| true)
    }

    /// Forgets the past tails that no reader holds, if `is_unregistered` says that no registered timestamp lies in their lifetime.
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

    /// The versions that are read, or may be, with those that nothing has [forgotten](EdgeLog::forget) yet, ascending.
    pub fn versions(&self) -> Vec<Archived> {
        let past = self.past.lock();
        let newest = self.newest().archived();
        past.iter().map(|tail| tail.archived()).chain([newest]).collect()
    }

    /// Frees the memory that is kept for later runs.
    pub fn free_unused(&self) {
        self.pool.free_unused();
    }

    /// The memory of the log. Runs that only past versions are read with are retained. O(1).
    pub fn memory(&self) -> MemoryUse {
        let used = self.pool.memory();
        let retained_bytes = self.past_bytes.load(Ordering::Relaxed).min(used.live_bytes);
        MemoryUse { live_bytes: used.live_bytes - retained_bytes, retained_bytes, ..used }
    }
}

/// Bytes of the buffers that past tails have, and the newest does not.
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
