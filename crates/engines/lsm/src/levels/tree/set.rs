//! The files that a view reads.

use crate::levels::block::{Block, Version};
use crate::levels::cache::{BlockCache, CachedPart};
use crate::levels::edge_file::{EdgeFile, ForwardReads};
use crate::levels::manifest::{FileEntry, FlushPoint, LevelState};
use crate::levels::merged_row::MergedRow;
use crate::levels::seen_edges::RowContent;
use hedgerow_log::files::FileSystem;
use hedgerow_model::{ColumnType, CommitTimestamp, Counts, ReadError, VertexId};
use hedgerow_sync::{Arc, GrowingList};
use std::ops::Range;

/// Number of blocks of a row to prefetch; a reader of a longer row reads ahead.
const PREFETCHED_BLOCKS: usize = 4;

/// An edge file of a level.
#[derive(Debug)]
pub struct OpenFile {
    pub(super) entry: FileEntry,
    pub(super) edges: EdgeFile,
    cache: Arc<BlockCache>,
    pub(super) forward: ForwardReads,
}

impl OpenFile {
    pub(super) fn open(
        files: &Arc<dyn FileSystem>,
        cache: &Arc<BlockCache>,
        entry: FileEntry,
        column: ColumnType,
    ) -> Result<Self, ReadError> {
        let edges = EdgeFile::open(&**files, &FileEntry::name_of(entry.number), column)?;
        Ok(OpenFile { entry, edges, cache: Arc::clone(cache), forward: ForwardReads::default() })
    }

    /// Returns the entry of the file in the manifest.
    #[must_use]
    pub fn entry(&self) -> FileEntry {
        self.entry
    }

    /// Returns the edges in the file.
    #[must_use]
    pub fn edges(&self) -> &EdgeFile {
        &self.edges
    }

    /// Returns the bytes of a block, from the cache or the disk.
    ///
    /// # Errors
    /// The block could not be read, or is damaged.
    pub(super) fn block(&self, number: usize) -> Result<Arc<[u8]>, ReadError> {
        let part = CachedPart { file: self.entry.number, block: number, is_records: false };
        self.cache.get_or_read(part, || {
            self.forward.read(&self.edges, number);
            self.edges.read_block(number)
        })
    }

    /// Returns true if a block is in the cache. O(1).
    pub(super) fn is_cached(&self, number: usize) -> bool {
        self.cache.contains(CachedPart { file: self.entry.number, block: number, is_records: false })
    }

    /// Returns the records of the edges in a block, from the cache or the disk; none if the edges
    /// carry no records.
    ///
    /// # Errors
    /// The records could not be read, or are damaged.
    pub(super) fn records(&self, number: usize, block: &Block<'_>) -> Result<Arc<[u8]>, ReadError> {
        if self.edges.column() != ColumnType::Record {
            return Ok(Arc::default());
        }
        let part = CachedPart { file: self.entry.number, block: number, is_records: true };
        self.cache.get_or_read(part, || self.edges.read_records(block).map(Arc::from))
    }

    /// Returns the owners from the first to the last one in the file.
    pub(super) fn owners(&self) -> Range<u32> {
        self.edges.owners().map_or(0..0, |(first, last)| first.get()..last.get() + 1)
    }
}

/// The files of all levels at one time. Never changes.
#[derive(Debug, Default)]
pub struct LevelSet {
    /// By adjacency, level and owner; on level 0 by number, newest first.
    files: Vec<Vec<Vec<Arc<OpenFile>>>>,
    flushed: FlushPoint,
}

impl LevelSet {
    pub(super) fn open(
        files: &Arc<dyn FileSystem>,
        cache: &Arc<BlockCache>,
        columns: &GrowingList<ColumnType>,
        state: &LevelState,
    ) -> Result<Self, ReadError> {
        let open = |entry: &FileEntry| {
            OpenFile::open(files, cache, *entry, column_of(columns, entry.adjacency)?).map(Arc::new)
        };
        let files = state.files.values().map(open).collect::<Result<Vec<_>, _>>()?;
        Ok(LevelSet::default().after(&files, &[], state))
    }

    /// Returns the set for `state`: without the files in `removed`, and with the files in `added`.
    pub(super) fn after(
        &self,
        added: &[Arc<OpenFile>],
        removed: &[Arc<OpenFile>],
        state: &LevelState,
    ) -> LevelSet {
        let is_kept =
            |file: &&Arc<OpenFile>| removed.iter().all(|removed| removed.entry.number != file.entry.number);
        let mut set = LevelSet { files: Vec::new(), flushed: state.flushed.clone() };
        for file in self.files.iter().flatten().flatten().filter(is_kept).chain(added) {
            let FileEntry { adjacency, level, .. } = file.entry;
            let levels = at(&mut set.files, adjacency);
            at(levels, level).push(Arc::clone(file));
        }
        for levels in &mut set.files {
            for (level, files) in levels.iter_mut().enumerate() {
                match level {
                    0 => files.sort_unstable_by_key(|file| std::cmp::Reverse(file.entry.number)),
                    _ => files.sort_unstable_by_key(|file| file.owners().start),
                }
            }
        }
        set
    }

    /// Returns the commit of the last flush: the files have all changes up to it, and none after
    /// it. O(1).
    #[must_use]
    pub fn durable_through(&self) -> CommitTimestamp {
        self.flushed.durable_through
    }

    /// Returns the size of the graph at [`LevelSet::durable_through`]. O(1).
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.flushed.counts
    }

    /// Returns the note of the last flush. O(1).
    #[must_use]
    pub fn note(&self) -> &[u8] {
        &self.flushed.note
    }

    /// Returns the bytes of the indexes of all files in memory: of blocks, and of rows, for files
    /// in which a row was looked up. O(files).
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        self.files.iter().flatten().flatten().map(|file| file.edges.index_bytes()).sum()
    }

    /// Returns the bytes of the files of the largest adjacency. O(files).
    #[must_use]
    pub fn most_bytes(&self) -> u64 {
        let bytes_of =
            |levels: &Vec<Vec<Arc<OpenFile>>>| levels.iter().flatten().map(|file| file.entry.bytes).sum();
        self.files.iter().map(bytes_of).max().unwrap_or(0)
    }

    /// Returns the numbers of the adjacencies that may have files. O(1).
    pub(super) fn adjacencies(&self) -> Range<u32> {
        // Numbers of adjacencies have 32 bits.
        0..self.files.len() as u32
    }

    /// Returns the files of an adjacency per level: on level 0 newest first, else by owner. O(1).
    #[must_use]
    pub fn levels(&self, adjacency: u32) -> &[Vec<Arc<OpenFile>>] {
        self.files.get(adjacency as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns true if an adjacency has no files. O(levels).
    #[must_use]
    pub fn is_empty(&self, adjacency: u32) -> bool {
        self.levels(adjacency).iter().all(Vec::is_empty)
    }

    /// Returns the files of a level that may have edges of these owners. O(files).
    pub(super) fn overlapping(&self, adjacency: u32, level: u32, owners: &Range<u32>) -> Vec<Arc<OpenFile>> {
        let files = self.levels(adjacency).get(level as usize).map_or(&[][..], Vec::as_slice);
        let overlaps = |file: &&Arc<OpenFile>| {
            let own = file.owners();
            own.start < owners.end && owners.start < own.end
        };
        files.iter().filter(overlaps).cloned().collect()
    }

    /// Returns true if the files of an adjacency take more bytes than the cache has, so that blocks
    /// may have to be read from the disk. O(files).
    #[must_use]
    pub fn exceeds_cache(&self, adjacency: u32) -> bool {
        let files = || self.levels(adjacency).iter().flatten();
        let capacity = files().next().map_or(0, |file| file.cache.capacity());
        files().map(|file| file.entry.bytes).sum::<u64>() > capacity
    }

    /// Starts to read the first blocks that may have edges of a vertex and are not in the cache,
    /// without waiting for the blocks; waits for indexes of rows that are not loaded. O(files).
    pub fn prefetch_row(&self, adjacency: u32, owner: VertexId) {
        for file in self.files_of(adjacency, owner) {
            // The error comes again when the row is read.
            if let Ok(Some(place)) = file.edges.find(owner) {
                let unread = place.blocks.take(PREFETCHED_BLOCKS).filter(|number| !file.is_cached(*number));
                unread.for_each(|number| file.edges.prefetch(number..number + 1));
            }
        }
    }

    /// Adds the edges of a vertex that a snapshot at `at` sees to `row`, from the newest file to
    /// the oldest. Reads the blocks that may have edges of the vertex.
    ///
    /// # Errors
    /// A block could not be read, or is damaged.
    pub fn read_row(
        &self,
        adjacency: u32,
        owner: VertexId,
        at: CommitTimestamp,
        row: &mut MergedRow,
    ) -> Result<(), ReadError> {
        for file in self.files_of(adjacency, owner) {
            let Some(place) = file.edges.find(owner)? else { continue };
            for number in place.blocks.clone() {
                let bytes = file.block(number)?;
                let block = file.edges.parse(number, &bytes)?;
                let found = file.edges.row(&place, number, &block)?;
                let read = row.read(&found, &records_for(row, file, number, &block)?, at);
                read.map_err(|error| file.edges.damaged(number, error))?;
            }
            row.add_read();
        }
        Ok(())
    }

    /// Adds one edge as a snapshot at `at` sees it to `row`, even if deleted. Reads a block of each
    /// file that may have the edge, from the newest to the oldest, until the edge is found.
    ///
    /// # Errors
    /// A block could not be read, or is damaged.
    pub fn read_edge(
        &self,
        adjacency: u32,
        (owner, neighbor): (VertexId, VertexId),
        at: CommitTimestamp,
        row: &mut MergedRow,
    ) -> Result<(), ReadError> {
        for file in self.files_of(adjacency, owner) {
            let Some(place) = file.edges.find_edge(owner, neighbor)? else { continue };
            let number = place.blocks.start;
            let bytes = file.block(number)?;
            let block = file.edges.parse(number, &bytes)?;
            let damaged = |error| file.edges.damaged(number, error);
            let found = file.edges.row(&place, number, &block)?.find_at(neighbor, at);
            if let Some(Version { value, .. }) = found.map_err(damaged)? {
                let records = records_for(row, file, number, &block)?;
                return row.add_edge(neighbor, value, &records).map_err(damaged);
            }
        }
        Ok(())
    }

    /// Returns the files that may have edges of an owner, from the newest to the oldest.
    fn files_of(&self, adjacency: u32, owner: VertexId) -> impl Iterator<Item = &Arc<OpenFile>> {
        (0..).zip(self.levels(adjacency)).flat_map(move |(level, files): (u32, _)| {
            let of_owner = match level {
                0 => 0..files.len(),
                _ => {
                    let place = files.partition_point(|file| file.owners().end <= owner.get());
                    place..files.len().min(place + 1)
                }
            };
            &files[of_owner]
        })
    }
}

/// Returns the records of a block, or none if the row has no records.
fn records_for(
    row: &MergedRow,
    file: &OpenFile,
    number: usize,
    block: &Block<'_>,
) -> Result<Arc<[u8]>, ReadError> {
    match row.content() {
        RowContent::Records => file.records(number, block),
        RowContent::Neighbors | RowContent::Values => Ok(Arc::default()),
    }
}

/// Returns the type of the values of an adjacency.
pub(super) fn column_of(columns: &GrowingList<ColumnType>, adjacency: u32) -> Result<ColumnType, ReadError> {
    columns
        .get(adjacency as usize)
        .copied()
        .ok_or_else(|| ReadError::new(format!("adjacency {adjacency}"), "the graph has no such adjacency"))
}

/// Returns the item at a position, which is added if needed.
pub(super) fn at<T: Default>(items: &mut Vec<T>, position: u32) -> &mut T {
    let position = position as usize;
    if items.len() <= position {
        items.resize_with(position + 1, T::default);
    }
    &mut items[position]
}
