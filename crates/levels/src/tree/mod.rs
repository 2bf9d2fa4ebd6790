//! Levels of edge files: flushes put files on level 0, compactions move edges down (LSMGraph,
//! 4.2.1 and 4.3).
//!
//! Files of level 0 overlap, the newer ones have greater numbers. Every other level of an adjacency
//! is one sorted run, cut into segments between vertices; it may be [`LevelOptions::fan_out`] times
//! as large as the level above it.

mod compact;
mod full;
mod report;
mod scan;
mod set;
#[cfg(test)]
mod tests;
mod throttle;

pub use full::{FullCompaction, FullStep};
pub use scan::LevelRows;
pub use set::{LevelSet, OpenFile};

use self::compact::Rounds;
use self::throttle::Throttle;
use crate::cache::BlockCache;
use crate::edge_file::EdgeFileWriter;
use crate::manifest::{Edit, FileEntry, FlushPoint, Manifest};
use crate::merge::{Retention, VersionSource, merge};
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CompactionLimits, EngineError, ReadError};
use hedgerow_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, GrowingList, Mutex};

/// Sizes of levels and files, and how they are written.
#[derive(Clone, Debug)]
pub struct LevelOptions {
    /// The type of the values of each adjacency, by its number. May grow while the levels are open: an
    /// adjacency is there before its first change is flushed.
    pub columns: Arc<GrowingList<ColumnType>>,
    /// The number of files of an adjacency on level 0 at which they are merged into level 1; at least 1.
    pub level_0_files: usize,
    /// Bytes of an adjacency on level 1.
    pub level_1_bytes: u64,
    /// How many times as large each further level may be; at least 2.
    pub fan_out: u64,
    /// Bytes of a segment, unless the edges of a single vertex take more.
    pub segment_bytes: u64,
    /// Bytes of blocks that are kept in memory.
    pub cache_bytes: usize,
    /// Whether records are compressed where that saves space, if the feature `compression` of
    /// `hedgerow-log` is enabled. Files are read either way.
    pub compress_records: bool,
    /// What compactions may take of the machine while level 0 is not crowded.
    pub compaction_limits: CompactionLimits,
}

impl LevelOptions {
    /// Usual sizes for adjacencies with values of these types: 4 files on level 0, 256 MiB on level
    /// 1, a fan-out of 10, segments of 32 MiB, 64 MiB of blocks in memory. Records are compressed, compactions
    /// not limited.
    #[must_use]
    pub fn new(columns: Vec<ColumnType>) -> Self {
        LevelOptions {
            columns: Arc::new(GrowingList::new(columns.into())),
            level_0_files: 4,
            level_1_bytes: 256 << 20,
            fan_out: 10,
            segment_bytes: 32 << 20,
            cache_bytes: 64 << 20,
            compress_records: true,
            compaction_limits: CompactionLimits::default(),
        }
    }

    /// Bytes of an adjacency on a level from 1 on.
    fn capacity(&self, level: u32) -> u64 {
        self.level_1_bytes.saturating_mul(self.fan_out.max(2).saturating_pow(level - 1))
    }
}

/// All levels of a store.
///
/// Flushes run one at a time, and so do compactions; a flush and a compaction run side by side.
#[derive(Debug)]
pub struct LevelTree {
    files: Arc<dyn FileSystem>,
    options: LevelOptions,
    cache: Arc<BlockCache>,
    flushing: Mutex<()>,
    compacting: Mutex<Rounds>,
    /// The number of threads that wait until none compacts.
    waiting: AtomicUsize,
    /// Held while a number is taken, and while an edit is made durable.
    edits: Mutex<Edits>,
    current: Mutex<Arc<LevelSet>>,
    /// Whether a level of the current set has more than it should.
    is_compaction_due: AtomicBool,
    /// The number of files on level 0 of the current set, of the adjacency with the most.
    level_0_files: AtomicUsize,
}

#[derive(Debug)]
struct Edits {
    manifest: Manifest,
    /// No number is used twice: a file of an edit that failed may be there or not.
    next_file: u64,
    /// Files of edits that failed, which may be in the manifest or not. They stay until the next
    /// edit succeeds.
    doubtful: Vec<Arc<OpenFile>>,
    /// Files that are in the manifest no longer. They stay until no view reads them.
    replaced: Vec<Arc<OpenFile>>,
}

/// The changes of one adjacency for a flush.
pub struct FlushPart<S> {
    /// The number of the adjacency, another one in each part.
    pub adjacency: u32,
    /// All changes since the last flush, the newest source first, as [`merge`] takes them.
    pub sources: Vec<S>,
}

impl LevelTree {
    /// Opens the levels in these files; without a manifest there are none. Unless the files are read
    /// only, removes those that are not in the levels.
    ///
    /// # Errors
    /// A file could not be read or written, or is damaged.
    pub fn open(files: Arc<dyn FileSystem>, options: LevelOptions) -> Result<Self, EngineError> {
        let mut manifest = Manifest::open(Arc::clone(&files))?;
        let cache = Arc::new(BlockCache::new(options.cache_bytes));
        let set = LevelSet::open(&files, &cache, &options.columns, manifest.state())?;
        let next_file = manifest.next_file()?;
        if !files.is_read_only() {
            manifest.begin_edits()?;
        }
        let (flushing, compacting) = (Mutex::default(), Mutex::default());
        let edits = Mutex::new(Edits { manifest, next_file, doubtful: Vec::new(), replaced: Vec::new() });
        let is_compaction_due = AtomicBool::new(options.is_compaction_due(&set));
        let level_0_files = AtomicUsize::new(options.fullest_level_0(&set));
        let current = Mutex::new(Arc::new(set));
        Ok(LevelTree {
            files,
            options,
            cache,
            flushing,
            compacting,
            waiting: AtomicUsize::new(0),
            edits,
            current,
            is_compaction_due,
            level_0_files,
        })
    }

    /// Bytes of blocks in memory. O(1).
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// Limits the bytes of blocks in memory from now on. Nothing is kept if the options said so.
    pub fn limit_cache(&self, bytes: usize) {
        self.cache.limit(bytes);
    }

    /// What a view reads. Its files stay until the last view that has it is gone. O(1).
    #[must_use]
    pub fn current(&self) -> Arc<LevelSet> {
        Arc::clone(&self.current.lock())
    }

    /// Removes the files that were replaced and that no view reads any more. Returns their number.
    /// O(replaced files).
    ///
    /// # Errors
    /// A file could not be removed. All others are, and this one is tried again later.
    pub fn remove_unread(&self) -> Result<usize, EngineError> {
        let mut edits = self.edits.lock();
        let (mut removed, mut failed) = (0, None);
        edits.replaced.retain(|file| {
            // Only sets that were current before can have these files, and nothing else gets them.
            if Arc::strong_count(file) > 1 {
                return true;
            }
            match file.entry.remove(&*self.files, file.edges.column()) {
                Ok(()) => removed += 1,
                Err(error) => {
                    failed.get_or_insert(error);
                    return true;
                }
            }
            false
        });
        failed.map_or(Ok(removed), Err)
    }

    /// Writes the changes up to a commit to level 0, durably, with what is kept beside them. `live` says
    /// which of their versions are needed. The commit is not before that of the last flush.
    ///
    /// # Errors
    /// A file could not be written, or a source not be read. Views read what they read before; but if
    /// the manifest could not be written a later opening may find the changes.
    pub fn flush<S: VersionSource>(
        &self,
        parts: Vec<FlushPart<S>>,
        live: &LiveTimestamps,
        reached: FlushPoint,
    ) -> Result<(), EngineError> {
        let _one_at_a_time = self.flushing.lock();
        let retention = Retention { live, is_lowest: false };
        let mut added: Vec<Arc<OpenFile>> = Vec::new();
        for FlushPart { adjacency, sources } in parts {
            let target = Target { adjacency, level: 0, segment_bytes: u64::MAX };
            match self.write(target, sources, retention, &mut Throttle::new(CompactionLimits::default())) {
                Ok(written) => added.extend(written),
                Err(error) => {
                    self.edits.lock().replaced.extend(added);
                    return Err(error);
                }
            }
        }
        self.install(added, &[], Some(reached))
    }

    /// Merges sources into new files. Leaves none behind if that fails.
    fn write(
        &self,
        target: Target,
        sources: Vec<impl VersionSource>,
        retention: Retention<'_>,
        throttle: &mut Throttle,
    ) -> Result<Vec<Arc<OpenFile>>, EngineError> {
        let column = self.column(target.adjacency)?;
        let (mut written, mut open, mut last, mut created) = (Vec::new(), None, None, Vec::new());
        let mut full_bytes = 0;
        let merged = merge(sources, retention, |mut run| {
            while let [edge, ..] = run.edges() {
                let is_full = open.as_ref().is_some_and(|(_, writer): &(FileEntry, EdgeFileWriter)| {
                    last != Some(edge.owner()) && writer.bytes() >= target.segment_bytes
                });
                if is_full {
                    let full = open.take().map(|full| self.finish(full)).transpose()?;
                    full_bytes += full.as_ref().map_or(0, |full| full.entry.bytes);
                    written.extend(full);
                }
                let (_, writer) = match &mut open {
                    Some(open) => open,
                    none => none.insert(self.create(target, column, &mut created)?),
                };
                last = Some(edge.owner());
                let taken = writer.push_some(run).map_err(EngineError::from)?;
                throttle.wrote(full_bytes + writer.bytes(), || self.is_compaction_urgent());
                run = run.part(taken..run.edges().len());
            }
            Ok(())
        });
        let finished = merged.and_then(|()| open.map(|last| self.finish(last)).transpose());
        match finished {
            Ok(last) => {
                written.extend(last);
                Ok(written)
            }
            Err(error) => {
                // What cannot be removed now is removed when the store is opened for writing.
                created.iter().for_each(|file| drop(file.remove(&*self.files, column)));
                Err(error)
            }
        }
    }

    /// Creates the next file, and notes it in `created`.
    fn create(
        &self,
        target: Target,
        column: ColumnType,
        created: &mut Vec<FileEntry>,
    ) -> Result<(FileEntry, EdgeFileWriter), EngineError> {
        let Target { adjacency, level, .. } = target;
        let mut edits = self.edits.lock();
        let number = edits.next_file;
        edits.next_file += 1;
        drop(edits);
        let entry = FileEntry { number, adjacency, level, bytes: 0 };
        created.push(entry);
        let writer = EdgeFileWriter::create(&*self.files, &FileEntry::name_of(number), column)?;
        Ok((entry, writer.compress_records(self.options.compress_records)))
    }

    fn finish(&self, (entry, writer): (FileEntry, EdgeFileWriter)) -> Result<Arc<OpenFile>, EngineError> {
        let entry = FileEntry { bytes: writer.finish()?, ..entry };
        Ok(OpenFile::open(&self.files, &self.cache, entry, self.column(entry.adjacency)?).map(Arc::new)?)
    }

    /// Replaces files durably, and for later views. A flush also says what it has reached.
    fn install(
        &self,
        added: Vec<Arc<OpenFile>>,
        removed: &[Arc<OpenFile>],
        reached: Option<FlushPoint>,
    ) -> Result<(), EngineError> {
        let mut edits = self.edits.lock();
        let before = &edits.manifest.state().flushed;
        let flushed = reached.unwrap_or_else(|| before.clone());
        debug_assert!(flushed.durable_through >= before.durable_through, "a flush must not go back");
        let edit = Edit {
            added: added.iter().map(|file| file.entry).collect(),
            removed: removed.iter().map(|file| file.entry.number).collect(),
            flushed,
        };
        if let Err(error) = edits.manifest.apply(&edit) {
            edits.doubtful.extend(added);
            return Err(error);
        }
        let mut current = self.current.lock();
        *current = Arc::new(current.after(&added, removed, edits.manifest.state()));
        self.is_compaction_due.store(self.options.is_compaction_due(&current), Ordering::Relaxed);
        self.level_0_files.store(self.options.fullest_level_0(&current), Ordering::Relaxed);
        drop(current);
        let doubtful = std::mem::take(&mut edits.doubtful);
        edits.replaced.extend(doubtful.into_iter().chain(removed.iter().cloned()));
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
