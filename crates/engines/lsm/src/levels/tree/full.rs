//! Full compaction: moves everything in files to one level, and drops deletions and replaced
//! versions.
//!
//! Each level is merged into the next one segment by segment, from the top. With a fan-out of 10, a
//! level has a tenth of the bytes of the next one, so most bytes are written once; no step needs
//! more room than a segment and the files that it overlaps below. On the lowest level, small
//! segments are then merged with their neighbors; other segments that were not merged on the way
//! are read, and rewritten only if that drops something.

use super::compact::{is_lowest, owners_of, sources_of};
use super::throttle::Throttle;
use super::{LevelOptions, LevelSet, LevelTree, OpenFile, Target};
use crate::levels::edge_file::EdgeFileVersions;
use crate::levels::merge::{Retention, VersionBatch, VersionSource};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CompactProgress, CompactionLimits, EngineError, ReadError};
use hedgerow_sync::Arc;
use std::cell::RefCell;
use std::ops::ControlFlow;

/// The result of [`FullCompaction::step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FullStep {
    /// Files were replaced.
    Merged,
    /// Nothing is left to compact.
    Done,
    /// The observer stopped the step. Nothing has changed.
    Stopped,
}

/// A full compaction in progress. It may end after any step.
///
/// Between two steps, other threads compact as usual, so flushes do not wait for the end. Changes
/// flushed after the beginning may stay on upper levels.
#[derive(Debug)]
pub struct FullCompaction<'t> {
    tree: &'t LevelTree,
    live: &'t LiveTimestamps,
    /// Files with lower numbers existed at the beginning.
    first_new: u64,
    progress: CompactProgress,
    adjacency: u32,
    /// The level that is merged into the next one.
    level: u32,
    /// The level that everything goes to.
    lowest: u32,
    /// The owner up to which the level is done.
    done: u32,
}

/// The work of one step.
enum Choice {
    /// Merges files, newest first, into a level.
    Merge(u32, Vec<Arc<OpenFile>>),
    /// Checks a file of the lowest level for versions to drop.
    Check(Arc<OpenFile>),
    /// The adjacency is done.
    End,
}

impl LevelOptions {
    /// Returns the level that can hold all files of an adjacency: not above any level that has
    /// files. O(files).
    fn lowest_level(&self, set: &LevelSet, adjacency: u32) -> u32 {
        let levels = set.levels(adjacency);
        let bytes = levels.iter().flatten().map(|file| file.entry.bytes).sum();
        let deepest = levels.iter().rposition(|files| !files.is_empty()).unwrap_or(0) as u32;
        let mut lowest = deepest.max(1);
        while self.capacity(lowest) < bytes && self.capacity(lowest) < self.capacity(lowest + 1) {
            lowest += 1;
        }
        lowest
    }
}

impl LevelTree {
    /// Begins a full compaction. O(files).
    #[must_use]
    pub fn compact_all<'t>(&'t self, live: &'t LiveTimestamps) -> FullCompaction<'t> {
        let first_new = self.edits.lock().next_file;
        let current = self.current();
        let levels = current.adjacencies().flat_map(|adjacency| current.reports(adjacency));
        let progress =
            CompactProgress { of: levels.map(|level| level.files.bytes).sum(), ..CompactProgress::default() };
        let lowest = self.options.lowest_level(&current, 0);
        FullCompaction { tree: self, live, first_new, progress, adjacency: 0, level: 0, lowest, done: 0 }
    }
}

impl FullCompaction<'_> {
    /// Merges the next files. Calls `observe` after each block read, and changes nothing if
    /// `observe` breaks. Waits for a compaction of another thread.
    ///
    /// # Errors
    /// A file could not be read or written. Views still read the same files, and another step may
    /// succeed.
    pub fn step(
        &mut self,
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<FullStep, EngineError> {
        let _one_at_a_time = self.tree.wait_for_compaction();
        loop {
            let current = self.tree.current();
            if !current.adjacencies().contains(&self.adjacency) {
                break;
            }
            match self.choose(&current) {
                Choice::Merge(level, sources) => match self.merge(&current, level, &sources, observe)? {
                    ControlFlow::Continue(()) => {
                        self.advance(level, &sources);
                        return Ok(FullStep::Merged);
                    }
                    ControlFlow::Break(()) => return Ok(FullStep::Stopped),
                },
                Choice::Check(file) => match self.is_plain(&file, observe)? {
                    ControlFlow::Break(()) => return Ok(FullStep::Stopped),
                    ControlFlow::Continue(true) => {
                        self.done = file.owners().end;
                        self.count(&[file]);
                    }
                    ControlFlow::Continue(false) => {
                        let (level, sources) = (self.lowest, [file]);
                        if self.merge(&current, level, &sources, observe)?.is_break() {
                            return Ok(FullStep::Stopped);
                        }
                        self.advance(level, &sources);
                        return Ok(FullStep::Merged);
                    }
                },
                Choice::End => {
                    (self.adjacency, self.level, self.done) = (self.adjacency + 1, 0, 0);
                    self.lowest = self.tree.options.lowest_level(&current, self.adjacency);
                }
            }
        }
        // Other compactions may have replaced files that this compaction expected to count.
        self.progress.bytes = self.progress.of;
        let _ = observe(self.progress);
        Ok(FullStep::Done)
    }

    /// Returns the next work in the adjacency.
    fn choose(&mut self, set: &LevelSet) -> Choice {
        while self.level <= self.lowest {
            let files = set.levels(self.adjacency).get(self.level as usize).map_or(&[][..], Vec::as_slice);
            if self.level == 0 {
                if self.done == 0 && !files.is_empty() {
                    return Choice::Merge(1, self.with_overlapped(set, files.to_vec()));
                }
            } else {
                let begin = files.partition_point(|file| file.owners().end <= self.done);
                match files.get(begin).cloned() {
                    Some(file) if self.level < self.lowest => {
                        return Choice::Merge(self.level + 1, self.with_overlapped(set, vec![file]));
                    }
                    Some(file) => match self.small_files(&files[begin..]) {
                        // A file written since the beginning has nothing to drop.
                        [_] if file.entry.number >= self.first_new => {
                            self.done = file.owners().end;
                            continue;
                        }
                        [] | [_] => return Choice::Check(file),
                        small => return Choice::Merge(self.lowest, small.to_vec()),
                    },
                    None => {}
                }
            }
            (self.level, self.done) = (self.level + 1, 0);
        }
        Choice::End
    }

    /// Returns the first of these files, with the files behind it that fit into one segment with
    /// it.
    fn small_files<'f>(&self, files: &'f [Arc<OpenFile>]) -> &'f [Arc<OpenFile>] {
        let mut bytes = 0;
        let fits = |file: &&Arc<OpenFile>| {
            bytes += file.entry.bytes;
            bytes <= self.tree.options.segment_bytes
        };
        &files[..files.iter().take_while(fits).count().max(1)]
    }

    /// Returns files of the current level, and the files that they overlap on the next one.
    fn with_overlapped(&self, set: &LevelSet, mut files: Vec<Arc<OpenFile>>) -> Vec<Arc<OpenFile>> {
        files.extend(set.overlapping(self.adjacency, self.level + 1, &owners_of(&files)));
        files
    }

    fn advance(&mut self, target: u32, sources: &[Arc<OpenFile>]) {
        self.done = match self.level {
            // All files of level 0 are merged at once.
            0 => u32::MAX,
            level => {
                let of_level = sources.iter().filter(|file| file.entry.level == level);
                of_level.map(|file| file.owners().end).max().unwrap_or(u32::MAX)
            }
        };
        debug_assert!(target <= self.lowest, "files must not go below the lowest level");
        self.count(sources);
    }

    /// Counts finished files that existed at the beginning.
    fn count(&mut self, files: &[Arc<OpenFile>]) {
        for file in files.iter().filter(|file| file.entry.number < self.first_new) {
            self.progress.files += 1;
            self.progress.bytes = self.progress.of.min(self.progress.bytes + file.entry.bytes);
        }
    }

    fn merge(
        &self,
        set: &LevelSet,
        level: u32,
        sources: &[Arc<OpenFile>],
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let (tree, adjacency) = (self.tree, self.adjacency);
        let retention =
            Retention { live: self.live, is_lowest: is_lowest(set, adjacency, level, &owners_of(sources)) };
        let target = Target { adjacency, level, segment_bytes: tree.options.segment_bytes };
        let watch = RefCell::new(Watch { progress: self.progress, is_stopped: false, observe });
        let watched = sources_of(sources, |file| Watched {
            versions: file.edges.versions_of(0..u32::MAX),
            block_bytes: self.block_bytes(file),
            watch: &watch,
        });
        match tree.write(target, watched, retention, &mut Throttle::new(CompactionLimits::default())) {
            Err(_) if watch.into_inner().is_stopped => Ok(ControlFlow::Break(())),
            written => tree.install(written?, sources, None).map(ControlFlow::Continue),
        }
    }

    /// Returns true if a file has nothing to drop.
    fn is_plain(
        &self,
        file: &OpenFile,
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), bool>, EngineError> {
        let mut watch = Watch { progress: self.progress, is_stopped: false, observe };
        for number in 0..file.edges.blocks() {
            file.forward.read(&file.edges, number);
            if !file.edges.parse(number, &file.edges.read_block(number)?)?.is_plain() {
                return Ok(ControlFlow::Continue(false));
            }
            // The file counts once it is known to stay.
            if watch.has_read(0).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(true))
    }

    /// Returns the approximate bytes of a block, or 0 if its file does not count.
    fn block_bytes(&self, file: &OpenFile) -> u64 {
        if file.entry.number < self.first_new {
            file.entry.bytes / file.edges.blocks().max(1) as u64
        } else {
            0
        }
    }
}

/// The progress of a step, and its observer.
struct Watch<'o> {
    progress: CompactProgress,
    is_stopped: bool,
    observe: &'o mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
}

impl Watch<'_> {
    fn has_read(&mut self, bytes: u64) -> ControlFlow<()> {
        self.progress.bytes = self.progress.of.min(self.progress.bytes + bytes);
        let flow = (self.observe)(self.progress);
        self.is_stopped |= flow.is_break();
        flow
    }
}

/// The versions of a file, which end with an error if the observer stops the step.
struct Watched<'w, 'o> {
    versions: EdgeFileVersions<'w>,
    block_bytes: u64,
    watch: &'w RefCell<Watch<'o>>,
}

impl VersionSource for Watched<'_, '_> {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        self.versions.read(batch)?;
        if batch.is_empty() {
            return Ok(());
        }
        match self.watch.borrow_mut().has_read(self.block_bytes) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => {
                Err(ReadError::new("the rest of the files", "the compaction was stopped"))
            }
        }
    }
}
