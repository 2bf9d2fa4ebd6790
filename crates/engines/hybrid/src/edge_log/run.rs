//! Runs: consecutive changes of one commit to one table, or of several commits of one edge each.
//!
//! | word | content |
//! |---|---|
//! | 0 | the commit timestamp; of several commits, the first |
//! | 1 | entry count (32 bits), table (16), [`DELETES`], [`HAS_VALUES`], [`EACH`], [`COMPLETE`] |
//! | 1 per entry | the source in the upper half, the destination in the lower |
//! | 1 per entry, with [`HAS_VALUES`] | the bits of the value |

use hedgerow_model::{CommitTimestamp, EdgeChange, EdgeValue};
use hedgerow_sync::atomic::{AtomicU64, Ordering};

/// Words before the entries of a run.
const HEADER_WORDS: usize = 2;

/// The run deletes edges.
const DELETES: u64 = 1 << 48;

/// Each entry has a value.
const HAS_VALUES: u64 = 1 << 49;

/// Each entry is a commit.
const EACH: u64 = 1 << 50;

/// The entries are written.
const COMPLETE: u64 = 1 << 63;

/// Changes to append to one table, all puts or all deletions.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'r> {
    /// The table of the edges, opaque to the log.
    pub table: u16,
    /// The change made to the edges.
    pub change: RunChange<'r>,
    /// The commits that the edges belong to.
    pub commits: RunCommits,
    /// Source and destination of each edge, as a [position](EdgeChange::position_of). At most
    /// 2^32 - 1.
    pub edges: &'r [u64],
}

/// Assignment of a run's edges to commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCommits {
    /// One commit for all edges.
    One,
    /// One commit per edge, with consecutive timestamps. No timestamp between two of them is read:
    /// a reader sees all of them or none.
    Each,
}

/// The change that a run makes to its edges.
#[derive(Clone, Copy, Debug)]
pub enum RunChange<'r> {
    /// Puts edges without values.
    Put,
    /// Puts edges with these values, one per edge.
    PutValues(&'r [u64]),
    /// Deletes edges.
    Delete,
}

impl NewRun<'_> {
    /// Returns the number of words that the run takes.
    #[must_use]
    pub fn words(&self) -> usize {
        let per_edge = if matches!(self.change, RunChange::PutValues(_)) { 2 } else { 1 };
        HEADER_WORDS + per_edge * self.edges.len()
    }

    fn header(&self) -> u64 {
        let count = u32::try_from(self.edges.len()).expect("a run has fewer than 2^32 edges");
        let flags = match self.change {
            RunChange::Put => 0,
            RunChange::PutValues(_) => HAS_VALUES,
            RunChange::Delete => DELETES,
        };
        let flags = if self.commits == RunCommits::Each { flags | EACH } else { flags };
        flags | u64::from(self.table) << 32 | u64::from(count)
    }

    /// Returns the timestamp of the last commit, given the first.
    pub(crate) fn last(&self, at: CommitTimestamp) -> CommitTimestamp {
        match self.commits {
            RunCommits::One => at,
            RunCommits::Each => CommitTimestamp(at.0 + self.edges.len().saturating_sub(1) as u64),
        }
    }

    /// Reserves words, which no reader looks at yet. From then on, readers can skip the run.
    pub(crate) fn reserve(&self, at: CommitTimestamp, words: &[AtomicU64]) {
        words[0].store(at.0, Ordering::Relaxed);
        words[1].store(self.header(), Ordering::Relaxed);
    }

    /// Writes the entries into the reserved words.
    pub(crate) fn write(&self, words: &[AtomicU64]) {
        let (edges, values) = words[HEADER_WORDS..].split_at(self.edges.len());
        store_all(edges, self.edges);
        if let RunChange::PutValues(bits) = self.change {
            assert_eq!(bits.len(), self.edges.len(), "each edge has a value");
            store_all(values, bits);
        }
        // Pairs with the load in `Run::read`: a reader that finds the run complete finds its
        // entries.
        words[1].store(self.header() | COMPLETE, Ordering::Release);
    }
}

fn store_all(words: &[AtomicU64], content: &[u64]) {
    words.iter().zip(content).for_each(|(word, bits)| word.store(*bits, Ordering::Relaxed));
}

/// Changes in the log to one table, all puts or all deletions.
#[derive(Clone, Copy, Debug)]
pub struct Run<'b> {
    /// Timestamp of the commit; of [several](RunCommits::Each), the first.
    pub at: CommitTimestamp,
    commits: RunCommits,
    /// The table that the edges belong to.
    pub table: u16,
    deletes: bool,
    edges: &'b [AtomicU64],
    /// Empty if the edges have no values.
    values: &'b [AtomicU64],
}

impl<'b> Run<'b> {
    /// Reads the run reserved at the start of `words`. Returns the run, or `None` while its entries
    /// are being written, and the number of words that it takes.
    #[inline]
    pub(crate) fn read(words: &'b [AtomicU64]) -> (Option<Self>, usize) {
        let header = words[1].load(Ordering::Acquire);
        let count = header as u32 as usize;
        let has_values = header & HAS_VALUES != 0;
        let length = HEADER_WORDS + count * if has_values { 2 } else { 1 };
        let run = || {
            let (edges, values) = words[HEADER_WORDS..length].split_at(count);
            Run {
                at: CommitTimestamp(words[0].load(Ordering::Relaxed)),
                commits: if header & EACH != 0 { RunCommits::Each } else { RunCommits::One },
                table: (header >> 32) as u16,
                deletes: header & DELETES != 0,
                edges,
                values,
            }
        };
        ((header & COMPLETE != 0).then(run), length)
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Returns true if the edges are deleted, false if they are put.
    #[must_use]
    pub fn deletes(&self) -> bool {
        self.deletes
    }

    /// Returns the commit timestamp of each entry.
    pub fn commits(&self) -> impl Iterator<Item = CommitTimestamp> + use<> {
        let (CommitTimestamp(first), step) = (self.at, u64::from(self.commits == RunCommits::Each));
        (0..self.len() as u64).map(move |place| CommitTimestamp(first + place * step))
    }

    /// Returns the changes in the order in which they were appended, each owned by the source.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = EdgeChange> + use<'b> {
        let run = *self;
        run.edges().enumerate().map(move |(place, edge)| EdgeChange::at(edge, run.value(place)))
    }

    /// Returns the source and the destination of each entry, as a
    /// [position](EdgeChange::position_of).
    #[inline]
    pub(crate) fn edges(&self) -> impl ExactSizeIterator<Item = u64> + use<'b> {
        self.edges.iter().map(|edge| edge.load(Ordering::Relaxed))
    }

    /// Returns the value of an entry, or `None` if the edge is deleted.
    #[inline]
    pub(crate) fn value(&self, place: usize) -> Option<EdgeValue> {
        let bits = || self.values.get(place).map_or(0, |value| value.load(Ordering::Relaxed));
        (!self.deletes).then(|| EdgeValue(bits()))
    }
}
