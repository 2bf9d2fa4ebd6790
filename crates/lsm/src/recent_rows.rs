//! The rows of the MemGraphs that a snapshot keeps in the order of a scan.
//!
//! A MemGraph is laid out for writers: a row is a chain of segments behind a hash map, in the order of its
//! commits, so reading it costs several accesses to memory and a sort. A kernel scans the same state once per
//! iteration. So the first scan of a snapshot keeps what it reads of the MemGraphs, sorted and without the versions
//! that the snapshot does not see; later scans, and look-ups in what was scanned, read that.

use hedgerow_levels::{RowContent, SeenRows};
use hedgerow_model::VertexId;
use hedgerow_reclamation::{Directory, Memory};
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Arc, OnceLock};
use std::ops::Range;

/// Consecutive owners whose rows are read together.
const PIECE: u32 = if cfg!(any(test, hedgerow_shuttle)) { 4 } else { 1024 };

/// Pieces by number: enough for every vertex id. Ids may be far apart.
type Pieces = Directory<OnceLock<Box<SeenRows>>, LISTS, LIST, SEGMENT>;
const LISTS: usize = 1 << 10;
const LIST: usize = 1 << 9;
const SEGMENT: usize = 1 << 3;

/// Bytes of a piece next to its rows: those of its segment of the table, which it may not share.
const PIECE_BYTES: usize = SEGMENT * size_of::<OnceLock<Box<SeenRows>>>();

/// The bytes that all snapshots of a graph keep.
#[derive(Debug)]
pub(crate) struct KeptBytes {
    now: AtomicUsize,
    at_most: usize,
}

impl KeptBytes {
    /// Nothing is kept yet; once there are `at_most` bytes, nothing more is.
    pub(crate) fn new(at_most: usize) -> Self {
        KeptBytes { now: AtomicUsize::new(0), at_most }
    }

    /// The number of bytes. O(1).
    pub(crate) fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }
}

/// The rows that one snapshot keeps.
#[derive(Debug)]
pub(crate) struct RecentRows {
    adjacencies: usize,
    vertex_bound: u32,
    /// Of each adjacency the rows without values, then those with values.
    tables: OnceLock<Box<[KeptRows]>>,
    bytes: Arc<KeptBytes>,
}

/// The rows of one adjacency that one snapshot keeps, by piece.
pub(crate) struct KeptRows {
    pieces: OnceLock<Pieces>,
    vertex_bound: u32,
    bytes: Arc<KeptBytes>,
}

impl std::fmt::Debug for KeptRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptRows").field("vertex_bound", &self.vertex_bound).finish_non_exhaustive()
    }
}

impl RecentRows {
    /// Nothing is read yet. O(1).
    pub(crate) fn new(adjacencies: usize, vertex_bound: u32, bytes: Arc<KeptBytes>) -> Self {
        RecentRows { adjacencies, vertex_bound, tables: OnceLock::new(), bytes }
    }

    /// The rows of an adjacency with this content. `None` for records, which stay in the MemGraphs, and for an
    /// adjacency that is newer than the snapshot.
    pub(crate) fn of(&self, adjacency: u32, content: RowContent) -> Option<&KeptRows> {
        let table = match content {
            RowContent::Neighbors => 2 * adjacency as usize,
            RowContent::Values => 2 * adjacency as usize + 1,
            RowContent::Records => return None,
        };
        let new = || {
            let (vertex_bound, bytes) = (self.vertex_bound, Arc::clone(&self.bytes));
            KeptRows { pieces: OnceLock::new(), vertex_bound, bytes }
        };
        let tables = self.tables.get_or_init(|| (0..2 * self.adjacencies).map(|_| new()).collect());
        tables.get(table)
    }
}

impl KeptRows {
    /// What is kept of the piece of an owner.
    pub(crate) fn get(&self, owner: VertexId) -> Option<&SeenRows> {
        self.pieces.get()?.get(owner.get() / PIECE)?.get().map(Box::as_ref)
    }

    /// The rows of the piece that has these owners. Unless they are kept, `read` reads them, if the owners are at
    /// least half of the piece and there is room; otherwise returns `None`.
    pub(crate) fn get_or_read(
        &self,
        owners: &Range<u32>,
        read: impl FnOnce(Range<u32>) -> SeenRows,
    ) -> Option<&SeenRows> {
        let first = VertexId::new(owners.start);
        if let Some(kept) = self.get(first) {
            return Some(kept);
        }
        let whole = piece_of(first);
        let whole = whole.start..whole.end.min(self.vertex_bound);
        let is_small = whole.is_empty() || 2 * owners.len() < whole.len();
        if is_small || self.bytes.now() >= self.bytes.at_most {
            return None;
        }
        let piece =
            self.pieces.get_or_init(Pieces::default).get_or_create(whole.start / PIECE, &Memory::default());
        Some(piece.get_or_init(|| {
            let mut rows = read(whole);
            rows.shrink();
            self.bytes.now.fetch_add(rows.bytes() + PIECE_BYTES, Ordering::Relaxed);
            Box::new(rows)
        }))
    }
}

impl Drop for KeptRows {
    fn drop(&mut self) {
        let pieces = self.pieces.get().into_iter().flat_map(|pieces| pieces.entries(0..u32::MAX / PIECE + 1));
        let bytes = pieces.filter_map(|(_, piece)| piece.get()).map(|rows| rows.bytes() + PIECE_BYTES).sum();
        self.bytes.now.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The owners that are read together with this one.
pub(crate) fn piece_of(owner: VertexId) -> Range<u32> {
    let begin = owner.get() / PIECE * PIECE;
    begin..begin.saturating_add(PIECE)
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_levels::SeenEdge;

    /// A row with an edge to the next vertex for each owner.
    fn rows(owners: Range<u32>) -> SeenRows {
        let mut rows = SeenRows::default();
        for owner in owners {
            let edges: [SeenEdge; 1] = [(VertexId::new(owner + 1), Some(Default::default()))];
            rows.push(VertexId::new(owner), &edges, RowContent::Neighbors);
        }
        rows
    }

    #[test]
    fn a_piece_is_read_once_and_its_bytes_count_until_the_snapshot_is_gone() {
        let bytes = Arc::new(KeptBytes::new(usize::MAX));
        let recent = RecentRows::new(2, 10, Arc::clone(&bytes));
        let table = recent.of(1, RowContent::Neighbors).unwrap();
        let mut read = Vec::new();
        for (owners, is_kept) in [
            (0..4, true),
            (0..4, true),
            (2..3, true),
            (4..5, false),
            (5..7, true),
            (4..5, true),
            (8..9, true),
            (12..16, false),
        ] {
            let kept = table.get_or_read(&owners, |owners| {
                read.push(owners.clone());
                rows(owners)
            });
            assert_eq!(kept.is_some(), is_kept, "{owners:?}");
            let first = VertexId::new(owners.start);
            assert_eq!(kept.and_then(|rows| rows.find(first)).is_some(), is_kept);
            assert_eq!(table.get(first).is_some(), is_kept);
        }
        // Only whole pieces are read, up to the last vertex.
        assert_eq!(read, [0..4, 4..8, 8..10]);
        assert!(bytes.now() >= 10 * size_of::<VertexId>());
        drop(recent);
        assert_eq!(bytes.now(), 0);
    }

    #[test]
    fn nothing_is_kept_beyond_the_limit_nor_of_records_and_later_adjacencies() {
        let recent = RecentRows::new(2, 10, Arc::new(KeptBytes::new(0)));
        let table = recent.of(0, RowContent::Values).unwrap();
        assert!(table.get_or_read(&(0..4), rows).is_none());
        assert!(recent.of(0, RowContent::Records).is_none() && recent.of(2, RowContent::Values).is_none());
    }
}
