//! The rows that a snapshot keeps in the order of a scan.
//!
//! A MemGraph is laid out for writers: a row is a chain of segments behind a hash map, in the order
//! of its commits. Files are laid out for space, and a row may lie in several of them. A kernel
//! scans the same state once per iteration. So the first scan of a snapshot keeps the merged rows
//! while there is room; later scans, and lookups of scanned rows, read the kept rows.

use crate::levels::{RowContent, SeenRow, SeenRows};
use hedgerow_in_memory::reclamation::{Directory, Memory};
use hedgerow_model::VertexId;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use hedgerow_sync::{Arc, OnceLock};
use std::ops::Range;

/// Number of consecutive owners whose rows are kept together.
const PIECE: u32 = if cfg!(any(test, hedgerow_shuttle)) { 4 } else { 1024 };

/// Table of pieces by number, for every vertex id. Ids may be far apart.
type KeptPieces = Directory<OnceLock<Box<Piece>>, LISTS, LIST, SEGMENT>;
const LISTS: usize = 1 << 10;
const LIST: usize = 1 << 9;
const SEGMENT: usize = (u32::MAX / PIECE + 1) as usize / (LISTS * LIST);

/// Bytes of a piece in addition to its rows: the piece itself, and its segment of the table, which
/// it may not share.
const PIECE_BYTES: usize = size_of::<Piece>() + SEGMENT * size_of::<OnceLock<Box<Piece>>>();

/// Number of steps in which the maximum is claimed.
const CLAIMS: usize = 8;

/// Memory of the rows that all snapshots of a graph keep.
#[derive(Debug)]
pub(crate) struct KeptBytes {
    now: AtomicUsize,
    at_most: usize,
    /// The bytes for which there is room.
    room: AtomicUsize,
    /// The bytes that the cache of blocks leaves to kept rows.
    claimed: AtomicUsize,
}

/// The rows that one snapshot keeps: none before the first scan.
#[derive(Debug, Default)]
pub(crate) struct KeptRows(OnceLock<Tables>);

struct Tables {
    /// Two tables per adjacency: rows without values, then rows with values.
    pieces: Box<[OnceLock<KeptPieces>]>,
    bytes: AtomicUsize,
    of_all: Arc<KeptBytes>,
}

/// The rows of a piece that have edges, and the gap without rows behind the piece.
pub(crate) struct Piece {
    rows: SeenRows,
    /// End of the gap: no owner between the piece and this one has a row.
    empty_until: u32,
}

/// The rows of one adjacency that a snapshot keeps, with one content of their edges.
#[derive(Clone, Copy)]
pub(crate) struct KeptTable<'s> {
    rows: &'s KeptRows,
    of_all: &'s Arc<KeptBytes>,
    adjacencies: u32,
    vertex_bound: u32,
    number: u32,
}

impl KeptBytes {
    /// Starts without rows. None is kept once they take `at_most` bytes, or less if there is less
    /// [room](KeptBytes::claim).
    pub(crate) fn new(at_most: usize) -> Self {
        let (now, claimed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        KeptBytes { now, at_most, room: AtomicUsize::new(at_most), claimed }
    }

    /// Returns the bytes of the kept rows. O(1).
    pub(crate) fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// Divides `bytes` between kept rows and the cache of blocks. The cache gets room for `blocks`
    /// bytes, the size of the largest adjacency: blocks are read at random, too, and a search loses
    /// more by a missing block than a scan gains by a kept row. Returns the bytes claimed for kept
    /// rows. Calls must not be concurrent.
    pub(crate) fn claim(&self, bytes: usize, blocks: usize) -> usize {
        let step = self.claim_bytes();
        // A step less, because the last piece may exceed the room.
        let room = (bytes / step).saturating_sub(blocks.div_ceil(step)).saturating_sub(1) * step;
        self.room.store(room.min(self.at_most), Ordering::Relaxed);
        let claimed = self.needed();
        self.claimed.store(claimed, Ordering::Relaxed);
        claimed
    }

    /// Returns true if more is kept than was claimed. O(1).
    pub(crate) fn is_claim_due(&self) -> bool {
        self.needed() > self.claimed.load(Ordering::Relaxed)
    }

    fn needed(&self) -> usize {
        self.now().next_multiple_of(self.claim_bytes())
    }

    fn claim_bytes(&self) -> usize {
        self.at_most.div_ceil(CLAIMS).max(1)
    }

    fn has_room(&self) -> bool {
        self.now() < self.room.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        self.of_all.now.fetch_sub(self.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl KeptRows {
    /// Returns the kept rows of an adjacency in a snapshot with this many adjacencies and with ids
    /// below `vertex_bound`. Returns `None` for rows with records, which are not kept.
    pub(crate) fn table<'s>(
        &'s self,
        (adjacency, adjacencies): (u32, u32),
        content: RowContent,
        vertex_bound: u32,
        of_all: &'s Arc<KeptBytes>,
    ) -> Option<KeptTable<'s>> {
        let number = match content {
            RowContent::Neighbors => 2 * adjacency,
            RowContent::Values => 2 * adjacency + 1,
            RowContent::Records => return None,
        };
        Some(KeptTable { rows: self, of_all, adjacencies, vertex_bound, number })
    }
}

impl<'s> KeptTable<'s> {
    /// Returns the kept piece of an owner, if there is one.
    #[inline]
    pub(crate) fn piece(self, owner: VertexId) -> Option<&'s Piece> {
        let pieces = self.rows.0.get()?.pieces.get(self.number as usize)?.get()?;
        pieces.get(owner.get() / PIECE)?.get().map(Box::as_ref)
    }

    /// Widens a range of owners at each end to a whole piece, if it covers at least half of the
    /// piece, so that the piece can be kept. Does nothing without room.
    pub(crate) fn widened(self, owners: &Range<u32>) -> Range<u32> {
        if !self.of_all.has_room() {
            return owners.clone();
        }
        let first = self.whole_piece(VertexId::new(owners.start));
        let last = self.whole_piece(VertexId::new(owners.end.saturating_sub(1)));
        let mut widened = owners.clone();
        let is_half = |part: Range<u32>, whole: &Range<u32>| 2 * part.len() >= whole.len();
        if is_half(owners.start..first.end.min(owners.end), &first) {
            widened.start = widened.start.min(first.start);
        }
        if is_half(last.start.max(owners.start)..owners.end, &last) {
            widened.end = widened.end.max(last.end);
        }
        widened
    }

    /// Returns true if these owners are a whole piece, and there is room to keep it.
    pub(crate) fn takes(self, owners: &Range<u32>) -> bool {
        let is_whole = !owners.is_empty() && *owners == self.whole_piece(VertexId::new(owners.start));
        // An adjacency that is newer than the first scan is newer than the snapshot.
        let is_known = self.rows.0.get().is_none_or(|tables| (self.number as usize) < tables.pieces.len());
        is_whole && is_known && self.of_all.has_room()
    }

    /// Keeps the rows of a piece that [`KeptTable::takes`] accepts, unless another thread did.
    /// There are no rows from the end of the piece up to `empty_until`, which is not in it.
    pub(crate) fn keep(self, owners: &Range<u32>, mut rows: SeenRows, empty_until: u32) {
        let KeptTable { of_all, adjacencies, number, .. } = self;
        let tables = self.rows.0.get_or_init(|| Tables {
            pieces: (0..2 * adjacencies).map(|_| OnceLock::new()).collect(),
            bytes: AtomicUsize::new(0),
            of_all: Arc::clone(of_all),
        });
        let Some(pieces) = tables.pieces.get(number as usize) else { return };
        let pieces = pieces.get_or_init(KeptPieces::default);
        pieces.get_or_create(owners.start / PIECE, &Memory::default()).get_or_init(|| {
            rows.shrink();
            let bytes = rows.bytes() + PIECE_BYTES;
            tables.bytes.fetch_add(bytes, Ordering::Relaxed);
            of_all.now.fetch_add(bytes, Ordering::Relaxed);
            Box::new(Piece { rows, empty_until })
        });
    }

    /// Returns the piece of an owner, up to the vertices that the snapshot has.
    fn whole_piece(self, owner: VertexId) -> Range<u32> {
        let piece = piece_of(owner);
        piece.start..piece.end.min(self.vertex_bound.max(piece.start))
    }
}

impl Piece {
    /// Returns the edges of an owner, or `None` if it has none. O(log rows).
    pub(crate) fn find(&self, owner: VertexId) -> Option<SeenRow<'_>> {
        // Merged rows have no deletions.
        self.rows.find(owner).and_then(|row| row.existing(&[]))
    }

    /// Returns the rows of a range of owners, ascending.
    pub(crate) fn rows(&self, owners: Range<u32>) -> impl Iterator<Item = (VertexId, SeenRow<'_>)> {
        let numbers = self.rows.first_from(owners.start)..self.rows.len();
        let rows = numbers.filter_map(|number| Some((self.rows.owner(number)?, self.rows.row(number))));
        rows.take_while(move |(owner, _)| owner.get() < owners.end)
            .filter_map(|(owner, row)| Some((owner, row.existing(&[])?)))
    }

    /// Returns the first owner behind the piece that may have a row: the first one of a piece, or
    /// the end of a scan.
    pub(crate) fn empty_until(&self) -> u32 {
        self.empty_until
    }
}

/// Returns the owners of the piece of an owner.
pub(crate) fn piece_of(owner: VertexId) -> Range<u32> {
    let begin = owner.get() / PIECE * PIECE;
    begin..begin.saturating_add(PIECE)
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use crate::levels::SeenEdge;

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
    fn owners_are_widened_to_pieces_of_which_they_are_half() {
        let (rows, bytes) = (KeptRows::default(), Arc::new(KeptBytes::new(usize::MAX)));
        let table = rows.table((0, 1), RowContent::Neighbors, 10, &bytes).unwrap();
        let cases = [
            (0..4, 0..4),
            (1..3, 0..4),
            (2..9, 0..10),
            (3..7, 3..8),
            (3..9, 3..10),
            (5..6, 5..6),
            (9..10, 8..10),
            (0..u32::MAX, 0..u32::MAX),
            (12..16, 12..16),
        ];
        for (owners, widened) in cases {
            assert_eq!(table.widened(&owners), widened, "{owners:?}");
        }
        // The last piece ends with the vertices of the snapshot.
        assert!(table.takes(&(8..10)) && table.takes(&(0..4)));
        assert!(
            !table.takes(&(8..9))
                && !table.takes(&(1..4))
                && !table.takes(&(0..8))
                && !table.takes(&(12..12))
        );
    }

    #[test]
    fn nothing_is_kept_of_an_adjacency_that_is_newer_than_the_first_scan() {
        let (kept, bytes) = (KeptRows::default(), Arc::new(KeptBytes::new(usize::MAX)));
        kept.table((1, 2), RowContent::Values, 10, &bytes).unwrap().keep(&(4..8), rows(5..7), 9);
        let newer = kept.table((2, 3), RowContent::Neighbors, 10, &bytes).unwrap();
        assert!(!newer.takes(&(4..8)) && newer.piece(VertexId::new(5)).is_none());
    }

    #[test]
    fn bytes_count_until_the_snapshot_is_gone_and_nothing_is_kept_beyond_the_limit() {
        let bytes = Arc::new(KeptBytes::new(1));
        let kept = KeptRows::default();
        let table = kept.table((1, 2), RowContent::Neighbors, 10, &bytes).unwrap();
        assert!(table.takes(&(4..8)) && table.piece(VertexId::new(5)).is_none());
        table.keep(&(4..8), rows(5..7), 9);
        // Another thread has read the piece, too.
        table.keep(&(4..8), rows(5..7), 9);
        let once = bytes.now();
        assert!(once >= PIECE_BYTES + 2 * size_of::<VertexId>() && !table.takes(&(0..4)));
        let piece = table.piece(VertexId::new(4)).unwrap();
        assert!(piece.find(VertexId::new(6)).is_some() && piece.find(VertexId::new(7)).is_none());
        assert_eq!(piece.rows(6..8).map(|(owner, _)| owner.get()).collect::<Vec<_>>(), [6]);
        assert_eq!(piece.empty_until(), 9);
        let with_values = kept.table((1, 2), RowContent::Values, 10, &bytes).unwrap();
        assert!(with_values.piece(VertexId::new(5)).is_none() && !with_values.takes(&(4..8)));
        assert_eq!(bytes.now(), once);
        assert!(kept.table((1, 2), RowContent::Records, 10, &bytes).is_none());
        drop(kept);
        assert_eq!(bytes.now(), 0);
    }

    #[test]
    fn memory_is_claimed_in_steps_while_blocks_have_room_and_given_back() {
        let bytes = Arc::new(KeptBytes::new(CLAIMS * 4 * PIECE_BYTES));
        let step = 4 * PIECE_BYTES;
        let kept = KeptRows::default();
        let table = kept.table((0, 1), RowContent::Neighbors, 100, &bytes).unwrap();
        // The blocks leave two steps and a half: one for what exceeds the room, so one of room.
        let (all, blocks) = (11 * step, 8 * step + step / 2);
        assert_eq!(bytes.claim(all, blocks), 0);
        let pieces = (0..25).map(|piece| 4 * piece..4 * piece + 4);
        let taken = pieces.take_while(|owners| table.takes(owners));
        let count = taken.inspect(|owners| table.keep(owners, rows(owners.clone()), owners.end)).count();
        assert!((1..=4).contains(&count) && bytes.now() >= step, "{count} pieces");
        assert!(bytes.is_claim_due());
        let claimed = bytes.claim(all, blocks);
        assert!(claimed >= bytes.now() && all - claimed >= blocks, "{claimed} bytes are claimed");
        assert!(!bytes.is_claim_due());
        drop(kept);
        // The claim is given back when the memory is divided anew.
        assert!(!bytes.is_claim_due());
        assert_eq!(bytes.claim(all, all), 0);
        let kept = KeptRows::default();
        assert!(!kept.table((0, 1), RowContent::Neighbors, 100, &bytes).unwrap().takes(&(0..4)));
    }
}
