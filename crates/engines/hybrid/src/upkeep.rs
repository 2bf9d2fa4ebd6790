//! Thresholds and state of archiving.

use crate::edge_log::Archiver;
use hedgerow_model::{Admission, LabelId, VertexId};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::collections::BTreeMap;
use std::time::Duration;

/// Words of a buffer of the log. A reader of single rows scans the newest buffer.
const BUFFER_WORDS: usize = if cfg!(hedgerow_shuttle) { 9 } else { 1 << 13 };

/// Maximum pause of a commit while the log fills.
const LONGEST_PAUSE: Duration = Duration::from_millis(1);

/// Thresholds and state of archiving.
pub(crate) struct Upkeep {
    pub(crate) archived_from: usize,
    most_waiting: usize,
    /// Versions of vertices superseded since the last round. Stale views of the archived state may
    /// read them.
    pub(crate) superseded: AtomicUsize,
    /// Held by the thread that archives.
    pub(crate) archiver: Mutex<Archiver>,
    pub(crate) archiver_bytes: AtomicUsize,
    /// Exclusive upper bound on the ids of all vertices that ever existed.
    pub(crate) vertex_bound: AtomicU32,
    /// Number of edges of each label, by the rounds of the retained versions.
    pub(crate) edges: Mutex<BTreeMap<u32, Vec<u64>>>,
}

impl Upkeep {
    pub(crate) fn new(archived_from: usize, most_waiting: usize) -> Self {
        let (superseded, archiver, archiver_bytes, vertex_bound, edges) = Default::default();
        let archived_from = archived_from.max(1);
        let most_waiting = most_waiting.max(2 * archived_from);
        Upkeep { archived_from, most_waiting, superseded, archiver, archiver_bytes, vertex_bound, edges }
    }

    /// Words of a buffer of the log.
    pub(crate) fn buffer_words(&self) -> usize {
        BUFFER_WORDS.min(self.archived_from.next_power_of_two().max(8))
    }

    #[inline]
    pub(crate) fn is_archiving_due(&self, waiting: usize) -> bool {
        waiting + self.superseded.load(Ordering::Relaxed) >= self.archived_from
    }

    #[inline]
    pub(crate) fn note_superseded(&self, versions: usize) {
        if versions > 0 {
            self.superseded.fetch_add(versions, Ordering::Relaxed);
        }
    }

    /// Commits pause when the log is half full, ever longer, and wait when it is full.
    #[inline]
    pub(crate) fn admission(&self, waiting: usize) -> Admission {
        let half = self.most_waiting / 2;
        match waiting.saturating_sub(half) {
            0 => Admission::Granted,
            beyond if beyond >= half => Admission::AfterMaintenance,
            beyond => {
                let part = beyond as f64 / half as f64;
                Admission::AfterPause(LONGEST_PAUSE.mul_f64(part * part))
            }
        }
    }

    /// Notes that a vertex may get edges.
    pub(crate) fn note_vertex(&self, vertex: VertexId) {
        if self.vertex_bound.load(Ordering::Relaxed) <= vertex.get() {
            self.vertex_bound.fetch_max(vertex.get() + 1, Ordering::Relaxed);
        }
    }

    /// Returns the number of edges of a label in a retained version.
    pub(crate) fn edges_in(&self, round: u32, label: LabelId) -> u64 {
        let edges = self.edges.lock();
        edges.get(&round).and_then(|edges| edges.get(label.index()).copied()).unwrap_or(0)
    }
}
