//! Capability: engines that describe, compact and check their own files.

use crate::token::LiveTimestamps;
use crate::{Direction, EngineError, LabelId};
use std::ops::ControlFlow;

/// Upkeep of the files of a [durable](crate::Durable) engine, at an application's request.
pub trait FileUpkeep {
    /// What is in the files and in memory now. O(files), and lists the directory.
    ///
    /// # Errors
    /// The directory could not be read.
    fn report(&self) -> Result<EngineReport, EngineError>;

    /// Rewrites the files until those that there are now contain nothing but what some timestamp in
    /// `live` sees, in as few sorted runs as the engine has. Takes memory for a few blocks, and as much
    /// room on disk as its largest step writes.
    ///
    /// Calls `observe` after each piece of work, and ends early if that breaks; what was rewritten by
    /// then stays. Meanwhile other threads read, commit and flush; the files that they add may stay
    /// as they are. O(bytes of the files).
    ///
    /// # Errors
    /// A file could not be read or written. The graph is as before, and a later call goes on.
    fn compact_all(
        &self,
        live: &LiveTimestamps,
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError>;
}

/// What merging files in the background may take of the machine. It takes more while commits would have to
/// wait for it otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactionLimits {
    /// Bytes that are written per second, on average; `None` for any number.
    pub bytes_per_second: Option<u64>,
    /// The part of the time in which a thread works, from 0.01 to 1.
    pub time_share: f64,
}

impl CompactionLimits {
    /// Whether compactions can go on within these limits.
    #[must_use]
    pub fn are_valid(&self) -> bool {
        (0.01..=1.0).contains(&self.time_share) && self.bytes_per_second != Some(0)
    }
}

impl Default for CompactionLimits {
    /// No limits.
    fn default() -> Self {
        CompactionLimits { bytes_per_second: None, time_share: 1.0 }
    }
}

/// How far a [full compaction](FileUpkeep::compact_all) is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CompactProgress {
    /// Files that were replaced, or found to need no compaction.
    pub files: u64,
    /// Bytes of files that are done. Never decreases.
    pub bytes: u64,
    /// Bytes of all files when the compaction began.
    pub of: u64,
}

/// What an engine has in its own files, and in memory for them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineReport {
    /// The vertices, then each label in each stored direction, those that have files.
    pub parts: Vec<PartReport>,
    /// Files that readers and the next opening do not need: replaced ones, which older snapshots may
    /// still read, and unfinished ones, such as those that a flush or a merge is writing.
    pub unlisted: FileTotals,
    /// Memory in use.
    pub memory: EngineMemory,
    /// Reads since the graph was opened.
    pub cache: CacheUse,
}

/// A part of the graph that has files of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoredPart {
    /// The vertices and their properties.
    Vertices,
    /// The edges of a label, by one of their ends.
    Edges {
        /// The label.
        label: LabelId,
        /// The stored direction.
        direction: Direction,
    },
}

/// The files of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartReport {
    /// The part.
    pub part: StoredPart,
    /// Its levels that have files, from the newest to the oldest.
    pub levels: Vec<LevelReport>,
}

/// The files on one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelReport {
    /// The number of the level; 0 is the newest.
    pub level: u32,
    /// Its files.
    pub files: FileTotals,
    /// Versions of edges or vertices in them, deletions and replaced ones included.
    pub versions: u64,
}

/// Files and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FileTotals {
    /// Number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Memory of an engine with files, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EngineMemory {
    /// Recent commits that are in no file, or were not when a reader opened them.
    pub recent_bytes: usize,
    /// Indexes of the files.
    pub index_bytes: usize,
    /// Which vertices exist.
    pub vertex_bytes: usize,
    /// Blocks of files, and rows that readers keep.
    pub cache_bytes: usize,
    /// Upper bound for all of these together. Flushes and compactions hold a few megabytes beside it while
    /// they run.
    pub budget_bytes: usize,
}

impl EngineMemory {
    /// The sum of all parts, without the budget.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.recent_bytes + self.index_bytes + self.vertex_bytes + self.cache_bytes
    }
}

/// How often what was read of a file was in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CacheUse {
    /// Blocks that were in memory.
    pub hits: u64,
    /// Blocks that were read from disk.
    pub misses: u64,
}

impl std::ops::AddAssign for FileTotals {
    fn add_assign(&mut self, other: FileTotals) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

impl PartReport {
    /// The sum of all levels.
    #[must_use]
    pub fn totals(&self) -> LevelReport {
        self.levels.iter().fold(LevelReport::default(), |mut sum, level| {
            sum.files += level.files;
            sum.versions += level.versions;
            sum
        })
    }
}

impl EngineReport {
    /// The sum of all parts, without files that are unlisted.
    #[must_use]
    pub fn totals(&self) -> LevelReport {
        self.parts.iter().map(PartReport::totals).fold(LevelReport::default(), |mut sum, part| {
            sum.files += part.files;
            sum.versions += part.versions;
            sum
        })
    }
}

/// What reading all of an engine's own files found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesCheck {
    /// Files that were read: of edges, records, and the manifest.
    pub files: FileTotals,
    /// Blocks that were read.
    pub blocks: u64,
    /// Versions of edges and vertices in them.
    pub versions: u64,
    /// How many of the versions are deletions.
    pub deletions: u64,
    /// How many of the versions have a newer one in the same file.
    pub replaced: u64,
    /// Files that belong to nothing. They are no damage: the next opening for writing removes them.
    pub unlisted: Vec<String>,
    /// Their bytes.
    pub unlisted_bytes: u64,
    /// The problems, in the order of the files; of a file at most [`FilesCheck::MOST_OF_FILE`].
    pub problems: Vec<FileProblem>,
    /// Problems of the same files that are left out.
    pub more_problems: u64,
}

impl FilesCheck {
    /// Problems of one file that a check lists.
    pub const MOST_OF_FILE: usize = 8;
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The name of the file.
    pub file: String,
    /// Where the damage is, in bytes; `None` if the file is missing.
    pub offset: Option<u64>,
    /// What is wrong there.
    pub what: String,
}
