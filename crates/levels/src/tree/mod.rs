//! Levels of edge files: flushes put files on level 0, compactions move edges down (LSMGraph,
//! 4.2.1 and 4.3).
//!
//! Files of level 0 overlap, the newer ones have greater numbers. Every other level of an adjacency
//! is one sorted run, cut into segments between vertices; it may be [`LevelOptions::fan_out`] times
//! as large as the level above it.

mod compact;
mod set;
#[cfg(test)]
mod tests;

pub use set::{LevelSet, OpenFile};

use crate::edge_file::EdgeFileWriter;
use crate::manifest::{Edit, FileEntry, Manifest};
use crate::merge::{Retention, VersionSource, merge};
use hedgerow_log::files::FileSystem;
use hedgerow_model::{ColumnType, CommitTimestamp, EngineError, ReadError, VertexId};
use hedgerow_sync::{Arc, Mutex};

/// Sizes of levels and files.
#[derive(Clone, Debug)]
pub struct LevelOptions {
    /// The type of the values of each adjacency, by its number.
    pub columns: Vec<ColumnType>,
    /// The number of files of an adjacency on level 0 at which they are merged into level 1.
    pub level_0_files: usize,
    /// Bytes of an adjacency on level 1.
    pub level_1_bytes: u64,
    /// How many times as large each further level may be.
    pub fan_out: u64,
    /// Bytes of a segment, unless the edges of a single vertex take more.
    pub segment_bytes: u64,
}

impl LevelOptions {
    /// Usual sizes for adjacencies with values of these types: 4 files on level 0, 256 MiB on level
    /// 1, a fan-out of 10, segments of 32 MiB.
    #[must_use]
    pub fn new(columns: Vec<ColumnType>) -> Self {
        LevelOptions {
            columns,
            level_0_files: 4,
            level_1_bytes: 256 << 20,
            fan_out: 10,
            segment_bytes: 32 << 20,
        }
    }

    /// Bytes of an adjacency on a level from 1 on.
    fn capacity(&self, level: u32) -> u64 {
        self.level_1_bytes.saturating_mul(self.fan_out.saturating_pow(level - 1))
    }
}

/// All levels of a store.
#[derive(Debug)]
pub struct LevelTree {
    files: Arc<dyn FileSystem>,
    options: LevelOptions,
    /// Held by a flush or a compaction, of which one runs at a time.
    work: Mutex<Work>,
    current: Mutex<Arc<LevelSet>>,
}

#[derive(Debug)]
struct Work {
    manifest: Manifest,
    /// No number is used twice: a file of an edit that failed may be there or not.
    next_file: u64,
    /// For each adjacency and level, the owner up to which it was compacted last.
    compacted: Vec<Vec<u32>>,
    /// Files of edits that failed, which may be in the manifest or not. They stay until the next
    /// edit succeeds.
    doubtful: Vec<Arc<OpenFile>>,
}

/// The changes of one adjacency for a flush.
pub struct FlushPart<S> {
    /// The number of the adjacency.
    pub adjacency: u32,
    /// All changes since the last flush.
    pub source: S,
}

impl LevelTree {
    /// Opens the levels in these files; without a manifest there are none.
    ///
    /// # Errors
    /// A file could not be read, or is damaged.
    pub fn open(files: Arc<dyn FileSystem>, options: LevelOptions) -> Result<Self, EngineError> {
        let manifest = Manifest::open(Arc::clone(&files))?;
        let state = manifest.state();
        let set = LevelSet::open(&files, &options.columns, state)?;
        let next_file = state.files.keys().next_back().map_or(1, |last| last + 1);
        let work = Work {
            next_file,
            compacted: vec![Vec::new(); options.columns.len()],
            doubtful: Vec::new(),
            manifest,
        };
        Ok(LevelTree { files, options, work: Mutex::new(work), current: Mutex::new(Arc::new(set)) })
    }

    /// The files that a view reads. They stay until the last view that has them is gone. O(1).
    #[must_use]
    pub fn current(&self) -> Arc<LevelSet> {
        Arc::clone(&self.current.lock())
    }

    /// The files have everything up to this commit.
    pub fn durable_through(&self) -> CommitTimestamp {
        self.work.lock().manifest.state().durable_through
    }

    /// Writes the changes up to a commit to level 0, durably. `vertex_bound` is that at the commit.
    ///
    /// # Errors
    /// A file could not be written, or a source not be read. Then nothing has changed.
    pub fn flush<S: VersionSource>(
        &self,
        parts: Vec<FlushPart<S>>,
        retention: Retention<'_>,
        durable_through: CommitTimestamp,
        vertex_bound: u32,
    ) -> Result<(), EngineError> {
        let mut work = self.work.lock();
        let retention = Retention { is_lowest: false, ..retention };
        let mut added: Vec<Arc<OpenFile>> = Vec::new();
        for FlushPart { adjacency, source } in parts {
            let target = Target { adjacency, level: 0, segment_bytes: u64::MAX };
            match self.write(&mut work, target, vec![source], retention) {
                Ok(written) => added.extend(written),
                Err(error) => {
                    added.iter().for_each(|file| file.remove_when_unread());
                    return Err(error);
                }
            }
        }
        let edit = Edit { durable_through, vertex_bound, ..edit_of(&work, &added, &[]) };
        self.install(&mut work, added, &[], &edit)
    }

    /// Merges sources into new files. Leaves none behind if that fails.
    fn write(
        &self,
        work: &mut Work,
        target: Target,
        sources: Vec<impl VersionSource>,
        retention: Retention<'_>,
    ) -> Result<Vec<Arc<OpenFile>>, EngineError> {
        let column = self.column(target.adjacency)?;
        let first = work.next_file;
        let (mut written, mut open, mut last) = (Vec::new(), None, None);
        let merged = merge(sources, retention, |owner: VertexId, neighbor, version| {
            let is_full = open.as_ref().is_some_and(|(_, writer): &(FileEntry, EdgeFileWriter)| {
                last != Some(owner) && writer.bytes() >= target.segment_bytes
            });
            if is_full {
                written.extend(open.take().map(|full| self.finish(full)).transpose()?);
            }
            let (_, writer) = match &mut open {
                Some(open) => open,
                none => none.insert(self.create(work, target, column)?),
            };
            last = Some(owner);
            writer.push(owner, neighbor, version).map_err(EngineError::from)
        });
        let finished = merged.and_then(|()| open.map(|last| self.finish(last)).transpose());
        match finished {
            Ok(last) => {
                written.extend(last);
                Ok(written)
            }
            Err(error) => {
                // What cannot be removed now is removed when the store is opened for writing.
                let names = (first..work.next_file).map(FileEntry::name_of);
                names.for_each(|name| drop(self.files.remove(&name)));
                Err(error)
            }
        }
    }

    fn create(
        &self,
        work: &mut Work,
        target: Target,
        column: ColumnType,
    ) -> Result<(FileEntry, EdgeFileWriter), EngineError> {
        let Target { adjacency, level, .. } = target;
        let entry = FileEntry { number: work.next_file, adjacency, level, bytes: 0 };
        work.next_file += 1;
        Ok((entry, EdgeFileWriter::create(&*self.files, &FileEntry::name_of(entry.number), column)?))
    }

    fn finish(&self, (entry, writer): (FileEntry, EdgeFileWriter)) -> Result<Arc<OpenFile>, EngineError> {
        let entry = FileEntry { bytes: writer.finish()?, ..entry };
        Ok(OpenFile::open(&self.files, entry, self.column(entry.adjacency)?).map(Arc::new)?)
    }

    /// Makes an edit durable, and its files those of later views.
    fn install(
        &self,
        work: &mut Work,
        added: Vec<Arc<OpenFile>>,
        removed: &[Arc<OpenFile>],
        edit: &Edit,
    ) -> Result<(), EngineError> {
        if let Err(error) = work.manifest.apply(edit) {
            work.doubtful.extend(added);
            return Err(error);
        }
        let mut current = self.current.lock();
        let set = current.after(&added, removed);
        *current = Arc::new(set);
        drop(current);
        work.doubtful.drain(..).chain(removed.iter().cloned()).for_each(|file| file.remove_when_unread());
        Ok(())
    }

    fn column(&self, adjacency: u32) -> Result<ColumnType, ReadError> {
        set::column_of(&self.options.columns, adjacency)
    }
}

/// Where new files belong.
#[derive(Clone, Copy, Debug)]
struct Target {
    adjacency: u32,
    level: u32,
    segment_bytes: u64,
}

/// The edit that replaces files, and leaves all else as it is.
fn edit_of(work: &Work, added: &[Arc<OpenFile>], removed: &[Arc<OpenFile>]) -> Edit {
    let state = work.manifest.state();
    Edit {
        added: added.iter().map(|file| file.entry).collect(),
        removed: removed.iter().map(|file| file.entry.number).collect(),
        durable_through: state.durable_through,
        vertex_bound: state.vertex_bound,
    }
}
