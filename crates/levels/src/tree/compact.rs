//! Which files are merged, and into which level.

use super::{LevelSet, LevelTree, OpenFile, Target, Work, edit_of};
use crate::merge::Retention;
use hedgerow_model::EngineError;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_sync::Arc;
use std::ops::Range;

/// Files that are merged into the next level.
struct Compaction {
    adjacency: u32,
    /// The level that the files go to.
    level: u32,
    /// The newest first.
    sources: Vec<Arc<OpenFile>>,
}

impl LevelTree {
    /// Whether a level has more than it should. O(files).
    #[must_use]
    pub fn needs_compaction(&self) -> bool {
        let current = self.current();
        (0..self.options.columns.len() as u32).any(|adjacency| self.fullest(&current, adjacency).is_some())
    }

    /// Merges the files of one level that has more than it should into the next one; false if there
    /// is none. Views read the files before it or after it, which have the same content.
    ///
    /// # Errors
    /// A file could not be read or written. Then nothing has changed.
    pub fn compact(&self, live: &LiveTimestamps) -> Result<bool, EngineError> {
        let mut work = self.work.lock();
        let current = self.current();
        for adjacency in 0..self.options.columns.len() as u32 {
            if let Some(level) = self.fullest(&current, adjacency) {
                let compaction = self.choose(&mut work, &current, adjacency, level);
                self.run(&mut work, &current, &compaction, live)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The uppermost level that has more than it should.
    fn fullest(&self, set: &LevelSet, adjacency: u32) -> Option<u32> {
        let levels = (0..).zip(set.levels(adjacency));
        let mut full = levels.filter(|(level, files)| match level {
            0 => files.len() >= self.options.level_0_files,
            _ => files.iter().map(|file| file.entry.bytes).sum::<u64>() > self.options.capacity(*level),
        });
        full.next().map(|(level, _)| level)
    }

    /// All files of level 0, or the next segment of another level, and what they overlap below.
    fn choose(&self, work: &mut Work, set: &LevelSet, adjacency: u32, from: u32) -> Compaction {
        let files = &set.levels(adjacency)[from as usize];
        let mut sources = match from {
            0 => files.clone(),
            _ => {
                let levels = &mut work.compacted[adjacency as usize];
                levels.resize(levels.len().max(from as usize + 1), 0);
                let done = &mut levels[from as usize];
                // Segments take turns, so that each range of owners is merged once per round.
                let next = files.partition_point(|file| file.owners().start < *done) % files.len();
                *done = files[next].owners().end;
                vec![Arc::clone(&files[next])]
            }
        };
        sources.extend(set.overlapping(adjacency, from + 1, &owners_of(&sources)));
        Compaction { adjacency, level: from + 1, sources }
    }

    fn run(
        &self,
        work: &mut Work,
        set: &LevelSet,
        compaction: &Compaction,
        live: &LiveTimestamps,
    ) -> Result<(), EngineError> {
        let Compaction { adjacency, level, sources } = compaction;
        let owners = owners_of(sources);
        let below = level + 1..set.levels(*adjacency).len() as u32;
        let is_lowest = below.into_iter().all(|level| set.overlapping(*adjacency, level, &owners).is_empty());
        let target =
            Target { adjacency: *adjacency, level: *level, segment_bytes: self.options.segment_bytes };
        let versions = sources.iter().map(|file| file.edges.versions_of(0..u32::MAX)).collect();
        let added = self.write(work, target, versions, Retention { live, is_lowest })?;
        let edit = edit_of(work, &added, sources);
        self.install(work, added, sources, &edit)
    }
}

/// The owners between the first and the last of these files.
fn owners_of(files: &[Arc<OpenFile>]) -> Range<u32> {
    let owners = files.iter().map(|file| file.owners()).filter(|owners| !owners.is_empty());
    owners.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)).unwrap_or(0..0)
}
