//! Reports of the levels, and of files on no level.

use super::{LevelSet, LevelTree, OpenFile};
use hedgerow_log::files::OpenMode;
use hedgerow_model::{CacheUse, Count, EngineError, FileTotals, LevelReport, ReadError};
use hedgerow_sync::Arc;

impl LevelSet {
    /// Returns the levels of an adjacency that have files, newest first. O(files).
    #[must_use]
    pub fn reports(&self, adjacency: u32) -> Vec<LevelReport> {
        let levels = (0..).zip(self.levels(adjacency)).filter(|(_, files)| !files.is_empty());
        let report = |(level, files): (u32, &Vec<Arc<OpenFile>>)| {
            let mut report = LevelReport { level, ..LevelReport::default() };
            for file in files {
                report.files += FileTotals { files: 1, bytes: file.entry.bytes };
                report.versions += file.edges.versions();
            }
            report
        };
        levels.map(report).collect()
    }
}

impl LevelSet {
    /// Returns the number of edges of an adjacency, or only of edges whose entry ascends. Exact if
    /// all files are on one level other than 0; else each entry above the lowest level widens the
    /// bounds, because its edge may also be below. O(files).
    #[must_use]
    pub fn count(&self, adjacency: u32, only_ascending: bool) -> Count {
        let levels = self.levels(adjacency);
        let lowest = levels.iter().rposition(|files| !files.is_empty());
        let (mut below, mut puts, mut deletions) = (0u64, 0u64, 0u64);
        for (level, files) in levels.iter().enumerate() {
            for (number, file) in files.iter().enumerate() {
                let counts = file.edges.counts();
                let (put, deleted) = match only_ascending {
                    true => (counts.ascending_puts, counts.ascending_deletions),
                    false => (counts.puts, counts.deletions),
                };
                // Files of level 0 overlap: only the oldest one, the last, has nothing below.
                let is_lowest = Some(level) == lowest && (level > 0 || number + 1 == files.len());
                match is_lowest {
                    true => below = below.saturating_add(put),
                    false => {
                        puts = puts.saturating_add(put);
                        deletions = deletions.saturating_add(deleted);
                    }
                }
            }
        }
        Count::between(below.saturating_sub(deletions), below.saturating_add(puts))
    }
}

impl LevelTree {
    /// Returns the hits and misses of the cache of blocks. O(1).
    #[must_use]
    pub fn cache_use(&self) -> CacheUse {
        self.cache.usage()
    }

    /// Returns the totals of the engine's files that are not in the current levels: replaced files
    /// that are still read, and files that a flush or a compaction is writing.
    /// O(files of the directory).
    ///
    /// # Errors
    /// The directory could not be read.
    pub fn unlisted(&self) -> Result<FileTotals, EngineError> {
        let unlisted = self.edits.lock().manifest.unlisted()?;
        let mut totals = FileTotals::default();
        for name in unlisted {
            let length = self.files.open(&name, OpenMode::Read).and_then(|file| file.length());
            match length {
                Ok(bytes) => totals += FileTotals { files: 1, bytes },
                // The file was removed in the meantime.
                Err(error) if error.is_not_found() => {}
                Err(error) => return Err(ReadError::new(name, error).into()),
            }
        }
        Ok(totals)
    }
}
