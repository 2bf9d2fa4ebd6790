//! Levels of edge files: flushes put files on level 0, compactions move edges down (LSMGraph, 4.2.1
//! and 4.3).
//!
//! Files of level 0 overlap; newer files have greater numbers. Every other level of an adjacency is
//! one sorted run, cut into segments between vertices; it may be [`LevelOptions::fan_out`] times as
//! large as the level above it.

mod begin;
mod compact;
mod full;
mod report;
mod scan;
mod segments;
mod set;
#[cfg(test)]
mod tests;
mod throttle;

pub use full::{FullCompaction, FullStep};
pub use scan::LevelRows;
pub use set::{LevelSet, OpenFile};

use self::compact::Rounds;
use self::segments::SegmentWriter;
use self::throttle::Throttle;
use crate::levels::cache::BlockCache;
use crate::levels::edge_file::EdgeFileWriter;
use crate::levels::manifest::{Edit, FileEntry, FlushPoint, Manifest};
use crate::levels::merge::{Retention, VersionSource, merge};
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CompactionLimits, EngineError, ReadError};
use hedgerow_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use hedgerow_sync::{Arc, GrowingList, Mutex};

/// Sizes of levels and files, and options for writing them.
#[derive(Clone, Debug)]
pub struct LevelOptions {
    /// The type of the values of each adjacency, by its number. May grow while the levels are open:
    /// an adjacency is added before its first change is flushed.
    pub columns: Arc<GrowingList<ColumnType>>,
    /// The number of files of an adjacency on level 0 at which they are merged into level 1; at
    /// least 1.
    pub level_0_files: usize,
    /// Maximum bytes of an adjacency on level 1.
    pub level_1_bytes: u64,
    /// Factor between the maximum sizes of consecutive levels; at least 2.
    pub fan_out: u64,
    /// Bytes of a segment, unless the edges of a single vertex take more.
    pub segment_bytes: u64,
    /// Maximum bytes of blocks that are kept in memory.
    pub cache_bytes: usize,
    /// True if records are compressed where that saves space, given the feature `compression` of
    /// `hedgerow-log`. Files are read either way.
    pub compress_records: bool,
    /// Limits of compactions while level 0 is not crowded.
    pub compaction_limits: CompactionLimits,
}

impl LevelOptions {
    /// Returns usual sizes for adjacencies with values of these types: 4 files on level 0, 256 MiB
    /// on level 1, a fan-out of 10, segments of 32 MiB, 64 MiB of blocks in memory. Records are
    /// compressed, compactions are not limited.
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

    /// Returns the maximum bytes of an adjacency on a level other than 0.
    fn capacity(&self, level: u32) -> u64 {
        self.level_1_bytes.saturating_mul(self.fan_out.max(2).saturating_pow(level - 1))
    }
}

/// All levels of a store.
///
/// Only one flush and one compaction run at a time; the flush and the compaction may be concurrent.
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
    /// True if a level of the current set is full.
    is_compaction_due: AtomicBool,
    /// The number of files on level 0 of the current set, of the adjacency with the most.
    level_0_files: AtomicUsize,
}

#[derive(Debug)]
struct Edits {
    manifest: Manifest,
    /// No number is used twice, since the file of a failed edit may exist or not.
    next_file: u64,
    /// Files of failed edits, which may be in the manifest or not. They stay until the next edit
    /// succeeds.
    doubtful: Vec<Arc<OpenFile>>,
    /// Files that are no longer in the manifest. They stay until no view reads them.
    replaced: Vec<Arc<OpenFile>>,
}

/// The changes of one adjacency for a flush.
pub struct FlushPart<S> {
    /// The number of the adjacency, distinct in each part.
    pub adjacency: u32,
    /// All changes since the last flush, newest source first, as [`merge`] takes them.
    pub sources: Vec<S>,
}

impl LevelTree {
    /// Opens the levels in these files; without a manifest there are none. Removes files that are
    /// not in the levels, unless the files are read-only.
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

    /// Returns the bytes of blocks in memory. O(1).
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// Limits the bytes of blocks in memory from now on. Without effect if the options allow none.
    pub fn limit_cache(&self, bytes: usize) {
        self.cache.limit(bytes);
    }

    /// Returns the current levels, for a view. Their files stay until the last view that has them
    /// is dropped. O(1).
    #[must_use]
    pub fn current(&self) -> Arc<LevelSet> {
        Arc::clone(&self.current.lock())
    }

    /// Removes replaced files that no view reads any more. Returns their number. O(replaced files).
    ///
    /// # Errors
    /// A file could not be removed. All others are removed; a later call tries this file again.
    pub fn remove_unread(&self) -> Result<usize, EngineError> {
        let mut edits = self.edits.lock();
        let (mut removed, mut failed) = (0, None);
        edits.replaced.retain(|file| {
            // Only sets that were current before can have these files; no other set gets them.
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

    /// Writes the changes up to a commit to level 0, durably, with the flush point `reached`.
    /// `live` determines the versions that are needed. The commit must not precede the last flush.
    ///
    /// # Errors
    /// A file could not be written, or a source could not be read. Views still read the same files;
    /// but if the manifest could not be written, a later opening may find the changes.
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

    /// Merges sources into new files. Leaves no file behind on failure.
    fn write(
        &self,
        target: Target,
        sources: Vec<impl VersionSource>,
        retention: Retention<'_>,
        throttle: &mut Throttle,
    ) -> Result<Vec<Arc<OpenFile>>, EngineError> {
        let mut writer = SegmentWriter::new(self, target)?;
        let merged = merge(sources, retention, |run| {
            writer.push(run)?;
            throttle.wrote(writer.bytes(), || self.is_compaction_urgent());
            Ok::<_, EngineError>(())
        });
        let written = merged.and_then(|()| writer.finish());
        let opened = written.and_then(|files| files.iter().map(|file| self.open_file(*file)).collect());
        if opened.is_err() {
            writer.remove();
        }
        opened
    }

    /// Creates the next file, and adds it to `created`.
    fn create(
        &self,
        target: Target,
        column: ColumnType,
        created: &mut Vec<FileEntry>,
    ) -> Result<EdgeFileWriter, EngineError> {
        let Target { adjacency, level, .. } = target;
        let mut edits = self.edits.lock();
        let number = edits.next_file;
        edits.next_file += 1;
        drop(edits);
        created.push(FileEntry { number, adjacency, level, bytes: 0 });
        let writer = EdgeFileWriter::create(&*self.files, &FileEntry::name_of(number), column)?;
        Ok(writer.compress_records(self.options.compress_records))
    }

    fn open_file(&self, entry: FileEntry) -> Result<Arc<OpenFile>, EngineError> {
        Ok(OpenFile::open(&self.files, &self.cache, entry, self.column(entry.adjacency)?).map(Arc::new)?)
    }

    /// Replaces files durably, and for later views. A flush also passes the point that it reached.
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

/// The place of new files.
#[derive(Clone, Copy, Debug)]
struct Target {
    adjacency: u32,
    level: u32,
    segment_bytes: u64,
}
