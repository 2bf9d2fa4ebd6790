//! Reading the rows of all levels in the order of their owners.

use super::set::{LevelSet, OpenFile};
use crate::levels::merged_row::MergedRow;
use crate::levels::records::DisjointRecords;
use crate::levels::row::Unpacked;
use crate::levels::seen_edges::{RowContent, SeenRows, SeenSlice};
use hedgerow_encoding::DecodeError;
use hedgerow_model::{CommitTimestamp, ReadError, VertexId};
use hedgerow_sync::Arc;
use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

/// The rows of an adjacency in all levels as a snapshot sees them, ascending by owner.
///
/// Reads each block once. Keeps one block in memory per file of level 0 and per other level.
#[derive(Debug)]
pub struct LevelRows {
    /// Newest first.
    runs: Vec<FileRun>,
    /// The owner of the next row of each run, or [`END`].
    next: Vec<u32>,
}

/// Greater than all owners.
const END: u32 = u32::MAX;

/// The owners, snapshot and content to read.
#[derive(Clone, Debug)]
struct Wanted {
    owners: Range<u32>,
    at: CommitTimestamp,
    content: RowContent,
}

impl LevelSet {
    /// Returns the rows of these owners as a snapshot at `at` sees them, with this content of their
    /// edges. O(files), and a read of the disk per file of level 0 and per other level.
    ///
    /// # Errors
    /// A block could not be read, or is damaged.
    pub fn rows(
        &self,
        adjacency: u32,
        owners: Range<u32>,
        at: CommitTimestamp,
        content: RowContent,
    ) -> Result<LevelRows, ReadError> {
        let wanted = Wanted { owners: owners.clone(), at, content };
        let run = |files: Vec<Arc<OpenFile>>| FileRun::new(files.into(), wanted.clone());
        let levels = 0..self.levels(adjacency).len() as u32;
        let runs = levels.flat_map(|level| {
            let files = self.overlapping(adjacency, level, &owners);
            match level {
                0 => files.into_iter().map(|file| run(vec![file])).collect(),
                _ => vec![run(files)],
            }
        });
        let mut runs: Vec<FileRun> = runs.collect();
        let next = runs.iter_mut().map(FileRun::owner).collect::<Result<_, _>>()?;
        Ok(LevelRows { runs, next })
    }
}

impl LevelRows {
    /// Returns the owner of the next row; `None` at the end. O(runs).
    #[must_use]
    pub fn next_owner(&self) -> Option<VertexId> {
        let next = self.next.iter().min().filter(|owner| **owner != END);
        next.map(|owner| VertexId::new(*owner))
    }

    /// Takes the row of an owner without a copy, if the row is in only one run, cannot continue in
    /// the next block, and is read without records. Most rows meet this. O(runs).
    #[inline]
    pub fn row_alone(&mut self, owner: VertexId) -> Option<SeenSlice<'_>> {
        let mut runs = self.next.iter().enumerate().filter(|(_, next)| **next == owner.get());
        let (number, None) = (runs.next()?.0, runs.next()) else { return None };
        let run = &mut self.runs[number];
        if run.wanted.content == RowContent::Records {
            return None;
        }
        let following = run.block.rows.owner(run.next + 1)?;
        self.next[number] = following.get();
        Some(run.row().0)
    }

    /// Adds the edges of an owner to `row`, from the newest to the oldest. The owner must not be
    /// greater than the [next one](LevelRows::next_owner). O(runs + edges), and a read of the disk
    /// at the end of a block.
    ///
    /// # Errors
    /// A block could not be read, or is damaged.
    pub fn read(&mut self, owner: VertexId, row: &mut MergedRow) -> Result<(), ReadError> {
        for (run, next) in self.runs.iter_mut().zip(&mut self.next) {
            if *next != owner.get() {
                continue;
            }
            if let Some((edges, records)) = run.whole_row() {
                row.add_row(edges, records);
                *next = run.owner()?;
                continue;
            }
            while *next == owner.get() {
                let (edges, records) = run.row();
                row.read_edges(edges, records);
                *next = run.owner()?;
            }
            row.add_read();
        }
        Ok(())
    }
}

/// Files that do not overlap, ascending by owner.
#[derive(Debug)]
struct FileRun {
    files: VecDeque<Arc<OpenFile>>,
    wanted: Wanted,
    /// Unread blocks of the first file; `None` before its first read.
    blocks: Option<Range<usize>>,
    /// The block read last.
    block: VisibleBlock,
    /// The number of the next row of the block.
    next: usize,
}

impl FileRun {
    fn new(files: VecDeque<Arc<OpenFile>>, wanted: Wanted) -> Self {
        FileRun { files, wanted, blocks: None, block: VisibleBlock::default(), next: 0 }
    }

    /// Returns the owner of the next row, or of the next part of a row; [`END`] at the end.
    #[inline]
    fn owner(&mut self) -> Result<u32, ReadError> {
        loop {
            if let Some(owner) = self.block.rows.owner(self.next) {
                return Ok(owner.get());
            }
            if !self.read_block()? {
                return Ok(END);
            }
        }
    }

    /// Takes the next row of the block, or a part of it, with the records of the block. There must
    /// be one.
    fn row(&mut self) -> (SeenSlice<'_>, &[u8]) {
        let edges = self.block.rows.row(self.next);
        self.next += 1;
        (edges, &self.block.records)
    }

    /// Like [`FileRun::row`], if the row cannot continue in the next block.
    #[inline]
    fn whole_row(&mut self) -> Option<(SeenSlice<'_>, &[u8])> {
        let is_last = self.next + 1 == self.block.rows.len();
        (!is_last).then(|| self.row())
    }

    /// Reads the next block. Returns false at the end.
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

/// The edges of a block that a snapshot sees.
#[derive(Debug, Default)]
struct VisibleBlock {
    /// With records, a value is the offset of a record.
    rows: SeenRows,
    records: Arc<[u8]>,
    unpacked: Unpacked,
}

impl VisibleBlock {
    fn clear(&mut self) {
        self.rows.clear();
        self.records = Arc::default();
    }

    /// Reads a block. Leaves it empty on failure.
    fn read(&mut self, file: &OpenFile, number: usize, wanted: &Wanted) -> Result<(), ReadError> {
        let bytes = file.block(number)?;
        let block = file.edges().parse(number, &bytes)?;
        let Wanted { owners, at, content } = wanted;
        if *content == RowContent::Records {
            self.records = file.records(number, &block)?;
        }
        let VisibleBlock { rows, records, unpacked } = self;
        let mut records = DisjointRecords::new(records);
        let flow = block.scan(|owner, row| {
            if !owners.contains(&owner.get()) {
                return ControlFlow::Continue(());
            }
            let read = rows.push_with(owner, |edges| {
                let from = edges.len();
                let mut read = edges.append(&row, *at, *content, unpacked);
                if *content == RowContent::Records && read.is_ok() {
                    read = edges.try_map_values(from, |offset| records.at(offset).map(|_| offset));
                }
                read
            });
            read.map_or_else(ControlFlow::Break, ControlFlow::Continue)
        });
        let read: Result<(), DecodeError> = flow.and_then(|flow| flow.break_value().map_or(Ok(()), Err));
        if read.is_err() {
            self.clear();
        }
        read.map_err(|error| file.edges().damaged(number, error))
    }
}
