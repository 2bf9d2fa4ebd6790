//! Reconnecting the trees that deletions have cut.

use super::either_way::EitherWay;
use super::forest::{Cut, SpanningForest};
use crate::{Execution, KernelError};
use hedgerow_model::{Adjacency, VertexId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

/// Neighbors that a piece examines in its first turn. Each turn is as long as all those before.
const FIRST_TURN: usize = 32;

/// A search for edges between the pieces into which cuts have divided the tree of a component.
///
/// Each piece examines the neighbors of its vertices, as far as they are in the component. An edge
/// to another piece links the two trees. A piece that has no more neighbors to examine is complete.
/// The piece that has examined the fewest neighbors is next, and the search ends when a single
/// piece is left: so the largest piece examines no more neighbors than twice the others.
///
/// The piece of a vertex is found by climbing to a root, or to a vertex with a mark, and marking
/// the path: O(1) per vertex in total.
pub(super) struct Repair<'f> {
    forest: &'f mut SpanningForest,
    /// The component.
    number: u32,
    /// The piece below each cut, and the piece of the former root.
    pieces: Vec<Piece>,
    /// The number of the piece of the former root.
    root: u32,
    /// The mark of the first piece. A piece has two marks: an even one for a vertex that is known
    /// to belong to it, an odd one for a vertex that was reached.
    first_mark: u32,
}

/// A part of a tree that was cut, or several that were linked.
#[derive(Debug)]
struct Piece {
    /// The piece that this one became a part of; its own number if there is none.
    part_of: u32,
    /// A vertex.
    start: VertexId,
    /// Vertices that were reached, each with the number of its neighbors that were examined.
    frontier: Vec<(VertexId, usize)>,
}

/// The end of a turn.
enum Turn {
    /// It was long enough.
    Over,
    /// An edge leads to another piece.
    Link(VertexId, VertexId),
    /// There are no more neighbors.
    Complete,
}

impl<'f> Repair<'f> {
    /// The most cuts that can be repaired at once.
    pub(super) const MOST_CUTS: usize = 1 << 29;

    /// Begins a search after cuts of one component.
    pub(super) fn new(forest: &'f mut SpanningForest, cuts: &[Cut]) -> Self {
        let marks = 2 * (cuts.len() as u32 + 1);
        if u32::MAX - forest.next_mark < marks {
            forest.marks.fill(0);
            forest.next_mark = 2;
        }
        let first_mark = forest.next_mark;
        forest.next_mark += marks;
        let root = cuts.len() as u32;
        let mut repair = Repair { forest, number: cuts[0].component, pieces: Vec::new(), root, first_mark };
        cuts.iter().for_each(|cut| repair.add_piece(cut.child));
        // The piece of the former root begins at the upper end of a cut.
        let upper = cuts.iter().map(|cut| cut.parent).find(|upper| repair.piece_of(*upper) == root);
        upper.into_iter().for_each(|upper| repair.add_piece(upper));
        repair
    }

    fn add_piece(&mut self, start: VertexId) {
        let number = self.pieces.len() as u32;
        self.forest.marks[start.index()] = self.first_mark + 2 * number + 1;
        self.pieces.push(Piece { part_of: number, start, frontier: vec![(start, 0)] });
    }

    /// Links the trees between which there are edges. Returns a vertex of each of the remaining
    /// trees; the last of them may be the largest.
    pub(super) fn run<A: Adjacency>(
        mut self,
        neighbors: &mut EitherWay<'_, A>,
        execution: Execution<'_>,
    ) -> Result<Vec<VertexId>, KernelError> {
        let mut complete = Vec::new();
        let mut turns: BinaryHeap<_> = (0..self.pieces.len()).map(|piece| Reverse((0, piece))).collect();
        while let Some(Reverse((examined, piece))) = turns.pop() {
            if turns.is_empty() {
                complete.push(self.pieces[piece].start);
                break;
            }
            execution.check_cancelled()?;
            let length = examined.max(FIRST_TURN);
            match self.examine(piece, length, neighbors)? {
                Turn::Over => turns.push(Reverse((examined + length, piece))),
                Turn::Link(vertex, neighbor) => self.link(piece, vertex, neighbor),
                Turn::Complete => complete.push(self.pieces[piece].start),
            }
        }
        Ok(complete)
    }

    /// Examines at most `length` neighbors of a piece's vertices.
    fn examine<A: Adjacency>(
        &mut self,
        piece: usize,
        length: usize,
        neighbors: &mut EitherWay<'_, A>,
    ) -> Result<Turn, KernelError> {
        let mut left = length;
        let mut frontier = std::mem::take(&mut self.pieces[piece].frontier);
        while let Some((vertex, before)) = frontier.pop() {
            let mut examined = before;
            let walked = neighbors.each(vertex, before, |neighbor| {
                if left == 0 {
                    return ControlFlow::Break(Turn::Over);
                }
                (left, examined) = (left - 1, examined + 1);
                if self.forest.numbers[neighbor.index()] != self.number {
                    return ControlFlow::Continue(());
                }
                if self.piece_of(neighbor) as usize != piece {
                    return ControlFlow::Break(Turn::Link(vertex, neighbor));
                }
                let mark = &mut self.forest.marks[neighbor.index()];
                if (*mark).is_multiple_of(2) {
                    *mark += 1;
                    frontier.push((neighbor, 0));
                }
                ControlFlow::Continue(())
            })?;
            if let ControlFlow::Break(turn) = walked {
                frontier.push((vertex, examined));
                self.pieces[piece].frontier = frontier;
                return Ok(turn);
            }
        }
        Ok(Turn::Complete)
    }

    /// Makes a piece a part of another one, at an edge between two of their vertices.
    ///
    /// The other piece keeps its turn: it has examined at least as many neighbors.
    fn link(&mut self, piece: usize, vertex: VertexId, neighbor: VertexId) {
        let other = self.piece_of(neighbor);
        self.forest.link(vertex, neighbor);
        self.pieces[piece].part_of = other;
        let mut shorter = std::mem::take(&mut self.pieces[piece].frontier);
        let longer = &mut self.pieces[other as usize].frontier;
        if longer.len() < shorter.len() {
            std::mem::swap(longer, &mut shorter);
        }
        longer.append(&mut shorter);
    }

    /// The piece of a vertex of the component.
    #[inline]
    fn piece_of(&mut self, vertex: VertexId) -> u32 {
        let SpanningForest { parents, marks, .. } = &mut *self.forest;
        let mut top = vertex;
        while marks[top.index()] < self.first_mark && parents[top.index()] != top {
            top = parents[top.index()];
        }
        if marks[top.index()] < self.first_mark {
            marks[top.index()] = self.first_mark + 2 * self.root;
        }
        let mark = marks[top.index()] & !1;
        let mut below = vertex;
        while below != top {
            marks[below.index()] = mark;
            below = parents[below.index()];
        }
        let mut piece = (mark - self.first_mark) / 2;
        while let Some(part_of) = self.pieces.get(piece as usize).map(|piece| piece.part_of)
            && part_of != piece
        {
            // Halves the path.
            let next = self.pieces[part_of as usize].part_of;
            self.pieces[piece as usize].part_of = next;
            piece = next;
        }
        piece
    }
}
