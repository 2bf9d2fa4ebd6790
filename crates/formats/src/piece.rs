//! The parsed contents of a piece of a file, before it is put into batches.

use crate::error::BadLine;
use crate::progress::SkippedLines;
use crate::{Batch, Edge};
use std::fmt::Debug;
use std::vec::IntoIter;

/// The edges and vertices of a piece of a file, and its end in the file.
#[derive(Debug)]
pub(crate) struct Piece<K> {
    pub batch: Batch<K>,
    /// A line with very many neighbors, which are parsed on demand; it comes last.
    pub long_line: Option<Box<dyn LongLine<K>>>,
    /// Skipped lines.
    pub skipped: SkippedLines,
    /// The error after the edges and vertices, which ends the reading.
    pub bad: Option<BadLine>,
    /// The number of the last line in the file; 0 in a binary file.
    pub line: u64,
    /// Bytes of the file, decompressed, up to the end of the piece.
    pub byte: u64,
}

/// A line that has been checked, whose edges are returned in batches.
pub(crate) trait LongLine<K>: Debug + Send {
    /// Appends up to `room` edges to `edges`; returns true if no edge is left.
    fn hand_over(&mut self, room: usize, edges: &mut Vec<Edge<K>>) -> bool;
}

impl<K> Piece<K> {
    /// An empty piece that ends at `byte`.
    pub fn new(byte: u64) -> Self {
        let skipped = SkippedLines::default();
        Piece { batch: Batch::new(), long_line: None, skipped, bad: None, line: 0, byte }
    }
}

/// The rest of a piece that is being moved into batches.
pub(crate) struct Remainder<K> {
    vertices: IntoIter<K>,
    edges: IntoIter<Edge<K>>,
    long_line: Option<Box<dyn LongLine<K>>>,
    bad: Option<BadLine>,
}

impl<K: crate::VertexKey> Remainder<K> {
    pub fn of(piece: Piece<K>) -> Self {
        let Piece { batch, long_line, bad, .. } = piece;
        Remainder { vertices: batch.vertices.into_iter(), edges: batch.edges.into_iter(), long_line, bad }
    }

    /// Moves as much as fits into the batch; returns true if nothing is left.
    pub fn hand_over(&mut self, room: usize, batch: &mut Batch<K>) -> bool {
        let vertices = room.min(self.vertices.len());
        batch.vertices.extend(self.vertices.by_ref().take(vertices));
        let edges = (room - vertices).min(self.edges.len());
        if !batch.edges.is_empty() && batch.edges.capacity() - batch.edges.len() < edges {
            // A batch of more than one piece will probably be full. Growing would copy it.
            batch.edges.reserve_exact(room - vertices);
        }
        batch.edges.extend(self.edges.by_ref().take(edges));
        if let Some(line) = &mut self.long_line
            && line.hand_over(room - vertices - edges, &mut batch.edges)
        {
            self.long_line = None;
        }
        self.vertices.as_slice().is_empty() && self.edges.as_slice().is_empty() && self.long_line.is_none()
    }

    /// The error that ends the reading once nothing is left.
    pub fn into_bad(self) -> Option<BadLine> {
        self.bad
    }
}
