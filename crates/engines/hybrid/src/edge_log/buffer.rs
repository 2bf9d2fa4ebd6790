//! The buffers of the log: memory for runs, reused once no reader needs its content.

use crate::edge_log::ends::Ends;
use crate::edge_log::index::BufferIndex;
use crate::edge_log::run::{NewRun, Run};
use hedgerow_model::{CommitTimestamp, MemoryUse};
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, Mutex, OnceLock};

/// A part of the log. Runs are appended and never change.
#[derive(Debug)]
pub struct EdgeBuffer {
    words: Box<[AtomicU64]>,
    /// Words reserved for runs, from the start.
    reserved: AtomicUsize,
    /// Words of complete runs.
    written: AtomicUsize,
    /// Lowest timestamp of a run and, in `latest`, the highest.
    oldest: AtomicU64,
    latest: AtomicU64,
    /// True if no more words are reserved.
    is_sealed: AtomicBool,
    /// Index for readers of single rows, built for the first of them.
    index: OnceLock<BufferIndex>,
    pool: Arc<BufferPool>,
}

impl EdgeBuffer {
    fn new(pool: &Arc<BufferPool>, words: usize) -> Self {
        EdgeBuffer {
            words: pool.take(words),
            reserved: AtomicUsize::new(0),
            written: AtomicUsize::new(0),
            oldest: AtomicU64::new(u64::MAX),
            latest: AtomicU64::new(0),
            is_sealed: AtomicBool::new(false),
            index: OnceLock::new(),
            pool: Arc::clone(pool),
        }
    }

    /// Reserves consecutive words for runs. Returns their start, or `None` if too few words are
    /// left. The caller holds the lock of the log.
    pub(crate) fn reserve(&self, at: CommitTimestamp, runs: &[NewRun<'_>]) -> Option<usize> {
        let begin = self.reserved.load(Ordering::Relaxed);
        let length: usize = runs.iter().map(NewRun::words).sum();
        let mut words = self.words[begin..].get(..length)?;
        for run in runs {
            run.reserve(at, words);
            words = &words[run.words()..];
        }
        self.oldest.fetch_min(at.0, Ordering::Relaxed);
        let latest = runs.iter().map(|run| run.last(at).0).max().unwrap_or(at.0);
        self.latest.fetch_max(latest, Ordering::Relaxed);
        // Pairs with the load in `runs`: a reader finds the headers of all reserved words.
        self.reserved.store(begin + length, Ordering::Release);
        if begin + length == self.words.len() {
            // Full, as after a large commit in a buffer of its own: the buffer can be indexed
            // before the next commit.
            self.seal();
        }
        Some(begin)
    }

    /// Writes runs into the words reserved for them.
    pub(crate) fn write(&self, mut begin: usize, runs: &[NewRun<'_>]) {
        let mut written = 0;
        for run in runs {
            let words = run.words();
            run.write(&self.words[begin..begin + words]);
            begin += words;
            written += words;
        }
        self.written.fetch_add(written, Ordering::Release);
    }

    /// Returns the complete runs, in the order of their reservations. All runs of a commit that is
    /// visible to the caller are complete.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let mut left = &self.words[..self.reserved.load(Ordering::Acquire)];
        std::iter::from_fn(move || {
            while !left.is_empty() {
                let (run, words) = Run::read(left);
                left = &left[words..];
                if run.is_some() {
                    return run;
                }
            }
            None
        })
    }

    /// Ends reservations. The caller holds the lock of the log.
    pub(crate) fn seal(&self) {
        self.is_sealed.store(true, Ordering::Release);
    }

    /// Returns true if the runs never change again: no more are reserved, and all are written.
    pub(crate) fn is_complete(&self) -> bool {
        self.is_sealed.load(Ordering::Acquire)
            && self.written.load(Ordering::Acquire) == self.reserved.load(Ordering::Relaxed)
    }

    /// Returns the lowest timestamp of a run, or the largest number if there is none. Considers all
    /// runs of commits that are visible to the caller.
    pub(crate) fn oldest(&self) -> CommitTimestamp {
        CommitTimestamp(self.oldest.load(Ordering::Relaxed))
    }

    /// Returns the highest timestamp of a run, or 0 if there is none.
    pub(crate) fn latest(&self) -> CommitTimestamp {
        CommitTimestamp(self.latest.load(Ordering::Relaxed))
    }

    /// Returns the index of the runs, if they never change again and a reader at `at` sees all of
    /// them. O(n log n) once.
    pub(crate) fn index(&self, at: CommitTimestamp, ends: &impl Fn(u16) -> Ends) -> Option<&BufferIndex> {
        let is_whole = self.is_complete() && self.latest() <= at;
        is_whole.then(|| {
            self.index.get_or_init(|| {
                let index = BufferIndex::new(self.runs(), ends);
                self.pool.index_bytes.fetch_add(index.bytes(), Ordering::Relaxed);
                index
            })
        })
    }

    /// Returns the bytes of the buffer's words.
    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * size_of::<AtomicU64>()
    }

    /// Returns true if no words are reserved.
    pub(crate) fn is_empty(&self) -> bool {
        self.reserved.load(Ordering::Relaxed) == 0
    }
}

impl Drop for EdgeBuffer {
    fn drop(&mut self) {
        let index_bytes = self.index.get().map_or(0, BufferIndex::bytes);
        self.pool.index_bytes.fetch_sub(index_bytes, Ordering::Relaxed);
        self.pool.give_back(std::mem::take(&mut self.words));
    }
}

/// Memory for buffers. Pools up to `most_free` buffers of the standard size.
#[derive(Debug)]
pub(crate) struct BufferPool {
    /// Words of a buffer of the standard size.
    buffer_words: usize,
    /// Maximum number of free buffers kept.
    most_free: usize,
    free: Mutex<Vec<Box<[AtomicU64]>>>,
    /// Words of the buffers in use.
    words: AtomicUsize,
    /// Bytes of the indexes of buffers.
    index_bytes: AtomicUsize,
}

impl BufferPool {
    pub(crate) fn new(buffer_words: usize, most_free: usize) -> Arc<Self> {
        let (free, words, index_bytes) = Default::default();
        Arc::new(BufferPool { buffer_words, most_free, free, words, index_bytes })
    }

    /// Returns a buffer of the standard size, or of `words` words if that is more.
    pub(crate) fn buffer(self: &Arc<Self>, words: usize) -> Arc<EdgeBuffer> {
        Arc::new(EdgeBuffer::new(self, words.max(self.buffer_words)))
    }

    fn take(&self, words: usize) -> Box<[AtomicU64]> {
        let free = if words == self.buffer_words { self.free.lock().pop() } else { None };
        self.words.fetch_add(words, Ordering::Relaxed);
        free.unwrap_or_else(|| (0..words).map(|_| AtomicU64::new(0)).collect())
    }

    fn give_back(&self, words: Box<[AtomicU64]>) {
        self.words.fetch_sub(words.len(), Ordering::Relaxed);
        let mut free = self.free.lock();
        if words.len() == self.buffer_words && free.len() < self.most_free {
            free.push(words);
        }
    }

    /// Frees the pooled buffers.
    pub(crate) fn free_unused(&self) {
        self.free.lock().clear();
    }

    /// Returns the bytes of the buffers in use as live, of their indexes as index, and of the
    /// pooled buffers as reserved. O(1).
    pub(crate) fn memory(&self) -> MemoryUse {
        let bytes = |words| words * size_of::<AtomicU64>();
        MemoryUse {
            live_bytes: bytes(self.words.load(Ordering::Relaxed)),
            retained_bytes: 0,
            index_bytes: self.index_bytes.load(Ordering::Relaxed),
            reserved_bytes: bytes(self.free.lock().len() * self.buffer_words),
        }
    }
}
