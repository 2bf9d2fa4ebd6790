//! The newest of the edges that match.

use super::layout::Row;
use super::select::Selection;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use hedgerow::{Error, ValueRef, VertexId};
use std::cmp::Reverse;

/// The newest edges so far, and up to as many older ones.
struct Newest {
    most: usize,
    edges: Vec<Kept>,
    /// The rank below which edges are too old.
    least: Option<Rank>,
}

/// The order of edges: by time; at equal times the first in order of a scan comes first.
type Rank = (i128, Reverse<(usize, VertexId, VertexId, u64)>);

/// A copy of an edge.
pub struct Kept {
    rank: Rank,
    number: ValueRef<'static>,
    record: Box<[u8]>,
}

/// The `most` newest of the selected edges, the newest first.
pub fn newest(
    selection: &Selection<'_>,
    most: usize,
    threads: &Threads,
    interrupt: &Interrupt,
) -> Result<Vec<Kept>, CliError> {
    let new = || Newest { most, edges: Vec::new(), least: None };
    let mut all = new();
    selection.fold(
        threads,
        interrupt,
        |label| (label, new()),
        |(label, newest), row| newest.see(selection.labels[*label].time(row)?, *label, row),
        |(_, newest)| newest.edges.into_iter().for_each(|edge| all.add(edge)),
    )?;
    all.trim();
    Ok(all.edges)
}

impl Newest {
    fn see(&mut self, time: i128, label: usize, row: &Row<'_>) -> Result<(), Error> {
        let key = if let ValueRef::U64(key) = row.number { key } else { 0 };
        let rank = (time, Reverse((label, row.source, row.destination, key)));
        if self.least.is_none_or(|least| rank > least) {
            self.add(Kept { rank, number: row.number, record: row.record.into() });
        }
        Ok(())
    }

    fn add(&mut self, edge: Kept) {
        self.edges.push(edge);
        if self.edges.len() >= self.most.saturating_mul(2) {
            self.trim();
        }
    }

    /// Sorts, and drops what is too old.
    fn trim(&mut self) {
        self.edges.sort_unstable_by_key(|edge| Reverse(edge.rank));
        self.edges.truncate(self.most);
        self.least = self.edges.get(self.most - 1).map(|edge| edge.rank);
    }
}

impl Kept {
    /// The position of the label, and the edge.
    pub fn row(&self) -> (usize, Row<'_>) {
        let Reverse((label, source, destination, _)) = self.rank.1;
        (label, Row { source, destination, number: self.number, record: &self.record })
    }
}
