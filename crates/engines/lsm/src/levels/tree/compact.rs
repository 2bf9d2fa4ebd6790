//! The choice of the files to merge, and of the level to merge them into.

use super::set::at;
use super::throttle::Throttle;
use super::{LevelOptions, LevelSet, LevelTree, OpenFile, Target};
use crate::levels::merge::{Chained, Retention, VersionSource};
use hedgerow_model::EngineError;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_sync::atomic::Ordering;
use hedgerow_sync::{Arc, MutexGuard};
use std::ops::Range;
use std::time::Duration;

/// Files to merge into the next level.
struct ChosenFiles {
    adjacency: u32,
    /// The level that the files go to.
    level: u32,
    /// Newest first.
    sources: Vec<Arc<OpenFile>>,
}

/// The turns of adjacencies and segments.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// The adjacency to look at first.
    adjacency: u32,
    /// For each adjacency and level, the owner up to which it was compacted last.
    done: Vec<Vec<u32>>,
}

impl Rounds {
    fn done(&mut self, adjacency: u32, level: u32) -> &mut u32 {
        at(at(&mut self.done, adjacency), level)
    }
}

/// Multiple of its file limit from which level 0 is crowded, so that commits slow down.
const CROWDED: usize = 2;

/// Multiple of its file limit from which level 0 is overfull, so that commits wait.
const OVERFULL: usize = 3;

impl LevelOptions {
    /// Returns true if a level is full. O(files).
    pub(super) fn is_compaction_due(&self, set: &LevelSet) -> bool {
        set.adjacencies().any(|adjacency| self.fullest(set, adjacency).is_some())
    }

    /// Returns the maximum number of files on level 0 of an adjacency: all readers look into each
    /// of them.
    pub(super) fn fullest_level_0(&self, set: &LevelSet) -> usize {
        set.adjacencies().map(|adjacency| level_0_files(set, adjacency)).max().unwrap_or(0)
    }

    /// Returns the uppermost full level of an adjacency: level 0 at its file limit, or another
    /// level above its capacity.
    fn fullest(&self, set: &LevelSet, adjacency: u32) -> Option<u32> {
        let levels = (0..).zip(set.levels(adjacency));
        let mut full = levels.filter(|(level, files)| match level {
            0 => files.len() >= self.level_0_files.max(1),
            _ => files.iter().map(|file| file.entry.bytes).sum::<u64>() > self.capacity(*level),
        });
        full.next().map(|(level, _)| level)
    }
}

impl LevelTree {
    /// Returns true if a level is full: level 0 at its file limit, or another level above its
    /// capacity. O(1).
    #[must_use]
    pub fn needs_compaction(&self) -> bool {
        self.is_compaction_due.load(Ordering::Relaxed)
    }

    /// Returns true if level 0 has several times the files of its limit; flushes then wait for a
    /// compaction. O(1).
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.flushes_left() == 0
    }

    /// Returns the number of files that a flush may add to level 0 until it is
    /// [overfull](LevelTree::is_overfull). O(1).
    #[must_use]
    pub fn flushes_left(&self) -> usize {
        (self.options.level_0_files.max(1) * OVERFULL)
            .saturating_sub(self.level_0_files.load(Ordering::Relaxed))
    }

    /// Returns true if level 0 is about to be [overfull](LevelTree::is_overfull). O(1).
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.level_0_files.load(Ordering::Relaxed) >= self.options.level_0_files.max(1) * CROWDED
    }

    /// Merges files of one full level into the next level. Returns the time that this took, without
    /// pauses; `None` if no level is full, or another thread compacts. Waits for that thread if
    /// level 0 is [overfull](LevelTree::is_overfull). Views read the files before the merge or
    /// after it, which have the same content.
    ///
    /// # Errors
    /// A file could not be read or written. Views still read the files before the merge.
    pub fn compact(&self, live: &LiveTimestamps) -> Result<Option<Duration>, EngineError> {
        let Some(mut rounds) = self.compacting.try_lock() else {
            if self.is_overfull() {
                drop(self.wait_for_compaction());
            }
            return Ok(None);
        };
        let current = self.current();
        let adjacencies = current.adjacencies();
        let in_turn = adjacencies.clone().map(|number| (rounds.adjacency + number) % adjacencies.end);
        let most = self.options.level_0_files.max(1) * OVERFULL;
        let overfull = adjacencies.clone().find(|adjacency| level_0_files(&current, *adjacency) >= most);
        for adjacency in overfull.into_iter().chain(in_turn) {
            if let Some(level) = self.options.fullest(&current, adjacency) {
                rounds.adjacency = (adjacency + 1) % adjacencies.end;
                let chosen = choose(&mut rounds, &current, adjacency, level);
                return self.run(&current, &chosen, live).map(Some);
            }
        }
        Ok(None)
    }

    /// Waits until no other thread compacts. A compaction that is waited for makes no pauses.
    pub(super) fn wait_for_compaction(&self) -> MutexGuard<'_, Rounds> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let rounds = self.compacting.lock();
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        rounds
    }

    /// Returns true if commits or another thread wait for compactions, or the store is being
    /// closed.
    pub(super) fn is_compaction_urgent(&self) -> bool {
        self.is_crowded() || self.waiting.load(Ordering::Relaxed) > 0 || self.files.is_read_only()
    }

    fn run(
        &self,
        set: &LevelSet,
        chosen: &ChosenFiles,
        live: &LiveTimestamps,
    ) -> Result<Duration, EngineError> {
        let ChosenFiles { adjacency, level, sources } = chosen;
        let is_lowest = is_lowest(set, *adjacency, *level, &owners_of(sources));
        let target =
            Target { adjacency: *adjacency, level: *level, segment_bytes: self.options.segment_bytes };
        let versions = sources_of(sources, |file| file.edges.versions_of(0..u32::MAX));
        let mut throttle = Throttle::new(self.options.compaction_limits);
        let added = self.write(target, versions, Retention { live, is_lowest }, &mut throttle)?;
        self.install(added, sources, None)?;
        Ok(throttle.worked())
    }
}

/// Returns the number of files on level 0 of an adjacency. O(1).
fn level_0_files(set: &LevelSet, adjacency: u32) -> usize {
    set.levels(adjacency).first().map_or(0, Vec::len)
}

/// Chooses all files of level 0, or the next segment of another level, and the files that they
/// overlap below.
fn choose(rounds: &mut Rounds, set: &LevelSet, adjacency: u32, from: u32) -> ChosenFiles {
    let files = &set.levels(adjacency)[from as usize];
    let mut sources = match from {
        0 => files.clone(),
        _ => {
            let done = rounds.done(adjacency, from);
            // Segments take turns, so each range of owners is merged once per round.
            let next = files.partition_point(|file| file.owners().start < *done) % files.len();
            *done = files[next].owners().end;
            vec![Arc::clone(&files[next])]
        }
    };
    sources.extend(set.overlapping(adjacency, from + 1, &owners_of(&sources)));
    ChosenFiles { adjacency, level: from + 1, sources }
}

/// Returns the sources of a merge of these files: one per file of level 0, and one per other level,
/// whose files ascend.
pub(super) fn sources_of<'f, S: VersionSource>(
    files: &'f [Arc<OpenFile>],
    versions_of: impl Fn(&'f OpenFile) -> S,
) -> Vec<Chained<S>> {
    let is_one_run = |one: &Arc<OpenFile>, other: &Arc<OpenFile>| {
        one.entry.level > 0 && one.entry.level == other.entry.level
    };
    let runs = files.chunk_by(is_one_run);
    runs.map(|run| run.iter().map(|file| versions_of(file)).collect()).collect()
}

/// Returns true if no level below has files that may have edges of these owners.
pub(super) fn is_lowest(set: &LevelSet, adjacency: u32, level: u32, owners: &Range<u32>) -> bool {
    let mut below = level + 1..set.levels(adjacency).len() as u32;
    below.all(|level| set.overlapping(adjacency, level, owners).is_empty())
}

/// Returns the owners from the first to the last of these files.
pub(super) fn owners_of(files: &[Arc<OpenFile>]) -> Range<u32> {
    let owners = files.iter().map(|file| file.owners()).filter(|owners| !owners.is_empty());
    owners.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)).unwrap_or(0..0)
}
