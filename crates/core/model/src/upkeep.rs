//! Reports on an engine's own files, their compaction, and checks of them.

use crate::{Direction, LabelId, VertexId};

/// Limits on the resources of compactions in the background. Exceeded while commits would otherwise
/// have to wait for compactions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompactionLimits {
    /// Average number of bytes written per second; `None` for no limit.
    pub bytes_per_second: Option<u64>,
    /// Fraction of the time in which a thread works, from 0.01 to 1.
    pub time_share: f64,
}

impl CompactionLimits {
    /// Returns true if compactions can make progress within these limits.
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

/// The progress of a [full compaction](crate::Durable::compact_all).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CompactProgress {
    /// Files that were replaced, or need no compaction.
    pub files: u64,
    /// Bytes of the completed files. Never decreases.
    pub bytes: u64,
    /// Bytes of all files when the compaction began.
    pub of: u64,
}

/// A report on an engine's files and memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineReport {
    /// The parts that have files: the vertices, then each label in each stored direction.
    pub parts: Vec<PartReport>,
    /// Files that the next opening does not need: replaced files, which older snapshots may still
    /// read, and unfinished files, such as the output of a running flush or merge.
    pub unlisted: FileTotals,
    /// Memory in use.
    pub memory: EngineMemory,
    /// Reads since the graph was opened.
    pub cache: CacheUse,
}

/// A part of the graph with its own files.
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
    /// The levels that have files, newest first.
    pub levels: Vec<LevelReport>,
}

/// The files on one level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelReport {
    /// The number of the level; 0 is the newest.
    pub level: u32,
    /// The files of the level.
    pub files: FileTotals,
    /// Versions of edges or vertices in the files, including deletions and replaced versions.
    pub versions: u64,
}

/// Files and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FileTotals {
    /// Number of files.
    pub files: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

/// Memory of an engine with files, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EngineMemory {
    /// Recent commits that are in no file, or that a reader opened before they were in a file.
    pub recent_bytes: usize,
    /// Indexes of the files.
    pub index_bytes: usize,
    /// The set of existing vertices.
    pub vertex_bytes: usize,
    /// Cached blocks of files, and rows that readers keep.
    pub cache_bytes: usize,
    /// Upper bound on the sum of the other fields. Running flushes and compactions take a few
    /// megabytes more.
    pub budget_bytes: usize,
}

impl EngineMemory {
    /// The sum of all parts, without the budget.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        self.recent_bytes + self.index_bytes + self.vertex_bytes + self.cache_bytes
    }
}

/// Hits and misses of the cache of blocks.
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
    /// The sum of all parts, without unlisted files.
    #[must_use]
    pub fn totals(&self) -> LevelReport {
        self.parts.iter().map(PartReport::totals).fold(LevelReport::default(), |mut sum, part| {
            sum.files += part.files;
            sum.versions += part.versions;
            sum
        })
    }
}

/// The result of reading all of an engine's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesCheck {
    /// Files read: edge files, record files, and the manifest.
    pub files: FileTotals,
    /// Blocks read.
    pub blocks: u64,
    /// Versions of edges and vertices in the blocks.
    pub versions: u64,
    /// Number of versions that are deletions.
    pub deletions: u64,
    /// Number of versions that have a newer version in the same file.
    pub replaced: u64,
    /// Files that belong to nothing. They are no damage: the next opening for writing removes them.
    pub unlisted: Vec<String>,
    /// Total size of the unlisted files in bytes.
    pub unlisted_bytes: u64,
    /// The problems, in the order of the files; at most [`FilesCheck::MOST_OF_FILE`] per file.
    pub problems: Vec<FileProblem>,
    /// Number of further problems in the same files.
    pub more_problems: u64,
}

impl FilesCheck {
    /// Maximum number of listed problems per file.
    pub const MOST_OF_FILE: usize = 8;
}

/// A version of a vertex or of an edge in an engine's own files.
#[derive(Clone, Copy, Debug)]
pub struct VersionInFile<'v> {
    /// The name of the file with the index of the version.
    pub file: &'v str,
    /// The vertex, or the end of the edge where the version is stored.
    pub owner: VertexId,
    /// The other end of the edge; `None` for a vertex.
    pub neighbor: Option<VertexId>,
    /// The record of the edge, or the key and the record of the vertex, encoded; `None` if it has
    /// none, or the version is a deletion.
    pub record: Option<&'v [u8]>,
    /// True if the version is a deletion.
    pub is_deletion: bool,
}

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileProblem {
    /// The name of the file.
    pub file: String,
    /// The offset of the damage in bytes; `None` if the file is missing.
    pub offset: Option<u64>,
    /// A description of the problem.
    pub what: String,
}
