//! Reading the rows of all levels in the order of their owners.

use super::set::{LevelSet, OpenFile};
use crate::merged_row::{MergedRow, SeenEdge};
use crate::records::DisjointRecords;
use crate::row::Unpacked;
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, ReadError, VertexId};
use hedgerow_sync::Arc;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

/// The rows of an adjacency in all levels as a snapshot sees them, ascending by owner.
///
/// Reads each block once, and has one block per file of level 0 and per other level in memory.
#[derive(Debug)]
pub struct LevelRows {
    /// The newest first.
    runs: Vec<Run>,
}

/// What is read of a row.
#[derive(Clone, Debug)]
struct Wanted {
    owners: Range<u32>,
    at: CommitTimestamp,
    has_records: bool,
}

impl LevelSet {
    /// The rows of these owners as a snapshot at `at` sees them, with the records of their edges or
    /// without. O(files).
    #[must_use]
    pub fn rows(
        &self,
        adjacency: u32,
        owners: Range<u32>,
        at: CommitTimestamp,
        has_records: bool,
    ) -> LevelRows {
        let wanted = Wanted { owners: owners.clone(), at, has_records };
        let run = |files: Vec<Arc<OpenFile>>| Run::new(files.into(), wanted.clone());
        let levels = 0..self.levels(adjacency).len() as u32;
        let runs = levels.flat_map(|level| {
            let files = self.overlapping(adjacency, level, &owners);
            match level {
                0 => files.into_iter().map(|file| run(vec![file])).collect(),
                _ => vec![run(files)],
            }
        });
        LevelRows { runs: runs.collect() }
    }
}

impl LevelRows {
    /// The owner of the next row; `None` at the end. O(runs), and a read of the disk at the end of a
    /// block.
    ///
    /// # Errors
    /// A block could not be read, or is damaged.
    pub fn next_owner(&mut self) -> Result<Option<VertexId>, ReadError> {
        let mut next = None;
        for run in &mut self.runs {
            if let Some(owner) = run.owner()? {
                next = Some(next.map_or(owner, |next: VertexId| next.min(owner)));
            }
        }
        Ok(next)
    }

    /// Adds the edges of an owner to `row`, from the newest to the oldest. The owner is not greater
    /// than the [next one](LevelRows::next_owner). O(edges).
    ///
    /// # Errors
    /// A block could not be read, or is damaged.
    pub fn read(&mut self, owner: VertexId, row: &mut MergedRow) -> Result<(), ReadError> {
        for run in &mut self.runs {
            while run.owner()? == Some(owner) {
                run.read_row(row);
            }
            row.add_read();
        }
        Ok(())
    }
}

/// Files that do not overlap, ascending by owner.
#[derive(Debug)]
struct Run {
    files: VecDeque<Arc<OpenFile>>,
    wanted: Wanted,
    /// The blocks of the first file that are not read yet; `None` before it is looked at.
    blocks: Option<Range<usize>>,
    /// The block that was read last.
    block: VisibleBlock,
    /// The number of the next row of the block.
    next: usize,
}

impl Run {
    fn new(files: VecDeque<Arc<OpenFile>>, wanted: Wanted) -> Self {
        Run { files, wanted, blocks: None, block: VisibleBlock::default(), next: 0 }
    }

    /// The owner of the next row, or of its next part.
    #[inline]
    fn owner(&mut self) -> Result<Option<VertexId>, ReadError> {
        while self.next == self.block.rows.len() {
            if !self.read_block()? {
                return Ok(None);
            }
        }
        Ok(Some(self.block.rows[self.next].0))
    }

    /// Reads the next row of the block, which there is, or a part of it.
    fn read_row(&mut self, row: &mut MergedRow) {
        let begin = self.next.checked_sub(1).map_or(0, |before| self.block.rows[before].1);
        let edges = &self.block.edges[begin..self.block.rows[self.next].1];
        self.next += 1;
        row.read_edges(edges, &self.block.records);
    }

    /// Reads the next block; false at the end.
    #[cold]
    fn read_block(&mut self) -> Result<bool, ReadError> {
        self.next = 0;
        self.block.clear();
        while let Some(file) = self.files.front() {
            let blocks =
                self.blocks.get_or_insert_with(|| file.edges().blocks_of(self.wanted.owners.clone()));
            if let Some(number) = blocks.next() {
                self.block.read(file, number, &self.wanted)?;
                return Ok(true);
            }
            self.files.pop_front();
            self.blocks = None;
        }
        Ok(false)
    }
}

/// What a snapshot sees of a block.
#[derive(Debug, Default)]
struct VisibleBlock {
    /// Each owner, and where its edges end.
    rows: Vec<(VertexId, usize)>,
    /// Deletions included. If the block has records, a value is the offset of one.
    edges: Vec<SeenEdge>,
    records: Arc<[u8]>,
    unpacked: Unpacked,
}

impl VisibleBlock {
    fn clear(&mut self) {
        self.rows.clear();
        self.edges.clear();
        self.records = Arc::default();
    }

    /// Reads a block. If that fails, it is empty.
    fn read(&mut self, file: &OpenFile, number: usize, wanted: &Wanted) -> Result<(), ReadError> {
        let bytes = file.block(number)?;
        let block = file.edges().parse(number, &bytes)?;
        if wanted.has_records {
            self.records = file.records(number, &block)?;
        }
        let VisibleBlock { rows, edges, records, unpacked } = self;
        let mut records = DisjointRecords::new(records);
        let flow = block.scan(|owner, row| {
            if !wanted.owners.contains(&owner.get()) {
                return ControlFlow::Continue(());
            }
            let flow = row.visit_at(wanted.at, unpacked, |neighbor, value| {
                edges.push((neighbor, value));
                match value.filter(|_| wanted.has_records).map(|offset| records.at(offset)) {
                    Some(Err(error)) => ControlFlow::Break(error),
                    _ => ControlFlow::Continue(()),
                }
            });
            rows.push((owner, edges.len()));
            match flow {
                Err(error) | Ok(ControlFlow::Break(error)) => ControlFlow::Break(error),
                Ok(ControlFlow::Continue(())) => ControlFlow::Continue(()),
            }
        });
        let read: Result<(), DecodeError> = flow.and_then(|flow| flow.break_value().map_or(Ok(()), Err));
        if read.is_err() {
            self.clear();
        }
        read.map_err(|error| file.edges().damaged(number, error))
    }
}
