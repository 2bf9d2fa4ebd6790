//! Repairs a store: cuts the log at its first damage, and drops a damaged checkpoint that the log
//! can replace.

use super::replay::Recovered;
use super::{CheckpointEntry, Manifest, SealedSegment, SegmentEntry, StoreFiles, mark};
use crate::checkpoint;
use crate::error::StoreError;
use crate::files::{EngineFiles, FileError, FileSystem, OpenMode, pieces};
use crate::planted::{self, PlantedBug};
use crate::segment::{self, LogRecord};
use crate::store::LogPosition;
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Arc;

/// The result of [`recover_to_last_valid`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The last remaining commit.
    pub last: CommitTimestamp,
    /// The last commit known to have been durable. If it is after the last remaining one, the
    /// commits in between are lost.
    pub durable: CommitTimestamp,
    /// The parts that were cut from the log.
    pub cuts: Vec<Cut>,
    /// The damaged checkpoint, if the log replaces it.
    pub replaced: Option<ReplacedCheckpoint>,
    /// The new names of the engine's files, if one of them was damaged and the log replaces them:
    /// the next opening creates them anew.
    pub set_aside: Vec<String>,
}

/// Bytes that were cut from the log and kept in a separate file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment from which the bytes were cut.
    pub segment: String,
    /// The offset of the bytes in the segment.
    pub offset: u64,
    /// The number of bytes, up to the last nonzero one.
    pub bytes: u64,
    /// The file that contains the bytes now.
    pub kept_in: String,
}

/// A damaged checkpoint that the store no longer uses, because the log has every commit from the
/// first one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedCheckpoint {
    /// The timestamp of the checkpoint.
    pub at: CommitTimestamp,
    /// The damage.
    pub problem: String,
    /// The file that contains the checkpoint now, unless it was missing.
    pub kept_in: Option<String>,
}

/// The plan of a repair.
#[derive(Debug)]
struct RepairPlan {
    is_whole: bool,
    /// The timestamp of the checkpoint, if it is readable, or of the engine's files.
    after: CommitTimestamp,
    recovered: Recovered,
    damaged: Option<End>,
    /// The report, without the names of the files that keep the cuts.
    repair: Repair,
}

/// The valid part of a log.
#[derive(Debug, Default)]
struct Valid {
    recovered: Recovered,
    /// The first damage.
    damaged: Option<End>,
    /// The first torn tail.
    torn: Option<End>,
}

/// The index of a segment in the manifest, its valid content, and the number of its bytes that had
/// been synced.
type End = (usize, Option<SealedSegment>, u64);

/// Cuts the log of a store at its first damage, after the last commit before it, so that it can be
/// opened again. **Every later commit is lost.** The cut parts are kept in files next to the log.
///
/// Does nothing if there is no damage. If the store has a checkpoint newer than the remaining
/// log, the checkpoint remains, and the log starts empty. A damaged checkpoint is set aside if the
/// log has every commit from the first one.
///
/// # Errors
/// The file system's error. Not repairable: an unreadable manifest; one older than the log; a log
/// that begins after the checkpoint or the engine's files; a damaged checkpoint whose commits are
/// no longer in the log.
pub fn recover_to_last_valid(files: Arc<dyn FileSystem>) -> Result<Repair, StoreError> {
    let mut store = StoreFiles::open(files)?;
    let problem = store.problems_of_checkpoint()?.into_iter().next();
    store.recover(problem, CommitTimestamp::ZERO, |_, _| Ok::<bool, StoreError>(true))
}

impl StoreFiles {
    /// Like [`recover_to_last_valid`], for a store that is open for writing. `damaged_checkpoint`
    /// is the error of its checkpoint. Passes the commits after the checkpoint, or all commits if
    /// the checkpoint is damaged, to `apply`, which returns true if a commit is valid: the log is
    /// cut at the first invalid one. The files of an engine have the state of the commit
    /// `in_files`, and count as a checkpoint of it.
    ///
    /// # Errors
    /// The errors of [`recover_to_last_valid`] and of `apply`. Nothing has changed then, unless the
    /// file system failed during the repair.
    pub fn recover<E: From<StoreError>>(
        &mut self,
        damaged_checkpoint: Option<StoreError>,
        in_files: CommitTimestamp,
        apply: impl FnMut(LogRecord<'_>, LogPosition<'_>) -> Result<bool, E>,
    ) -> Result<Repair, E> {
        let plan = self.plan_repair(damaged_checkpoint, in_files, apply)?;
        Ok(self.carry_out(plan)?)
    }

    /// Renames the files of the engine, so that the next opening creates them anew from the log.
    /// Returns their new names.
    ///
    /// # Errors
    /// The file system's error. Files that were renamed before stay so, and a later call continues.
    pub fn set_engine_files_aside(&self) -> Result<Vec<String>, StoreError> {
        let mut names = self.files.list()?;
        names.sort_unstable();
        let mut set_aside = Vec::new();
        for name in names.iter().filter(|name| name.starts_with(EngineFiles::PREFIX)) {
            // Files of an earlier repair may have these names.
            let kept_in = (1..).map(|number: u64| match number {
                1 => format!("cut-{name}"),
                _ => format!("cut-{number}-{name}"),
            });
            let kept_in = kept_in.into_iter().find(|kept_in| !names.contains(kept_in)).unwrap_or_default();
            self.files.rename(name, &kept_in)?;
            set_aside.push(kept_in);
        }
        self.files.sync_directory()?;
        Ok(set_aside)
    }

    /// Plans the cuts and the files to set aside. Changes nothing.
    fn plan_repair<E: From<StoreError>>(
        &self,
        damaged_checkpoint: Option<StoreError>,
        in_files: CommitTimestamp,
        apply: impl FnMut(LogRecord<'_>, LogPosition<'_>) -> Result<bool, E>,
    ) -> Result<RepairPlan, E> {
        self.check_unlisted()?;
        let checkpoint = self.manifest.checkpoint;
        let stored = |checkpoint: Option<CheckpointEntry>| {
            checkpoint.map_or(in_files, |checkpoint| checkpoint.at.max(in_files))
        };
        let durable = self.durable()?.max(stored(checkpoint));
        let mut replaced = None;
        if let Some(problem) = damaged_checkpoint {
            let oldest = self.manifest.oldest_readable;
            if matches!(problem, StoreError::NewerFormat { .. }) {
                return Err(problem.into());
            }
            if oldest != CommitTimestamp::ZERO {
                return Err(StoreError::Irreplaceable { problem: Box::new(problem), oldest }.into());
            }
            let at = checkpoint.map_or(CommitTimestamp::ZERO, |checkpoint| checkpoint.at);
            replaced = Some(ReplacedCheckpoint { at, problem: problem.to_string(), kept_in: None });
        }
        let after = stored(checkpoint.filter(|_| replaced.is_none()));
        // Cutting the log cannot close a gap before it.
        self.check_retention(after)?;
        let Valid { recovered, damaged, torn } = self.valid_log(after, apply)?;
        let last = recovered.last.max(after);
        let is_complete = self.check_end(&recovered, durable).is_ok();
        // A tail that was durable is not torn.
        let damaged = damaged.or(torn.filter(|_| !is_complete));
        let is_whole = damaged.is_none() && replaced.is_none() && is_complete;
        let repair =
            Repair { last, durable: durable.max(last), cuts: Vec::new(), replaced, set_aside: Vec::new() };
        Ok(RepairPlan { is_whole, after, recovered, damaged, repair })
    }

    fn carry_out(&mut self, plan: RepairPlan) -> Result<Repair, StoreError> {
        let RepairPlan { is_whole, after, recovered, damaged, mut repair } = plan;
        if is_whole {
            return Ok(repair);
        }
        if let Some((number, valid, synced)) = damaged {
            repair.cuts = self.keep_cuts(&self.manifest.segments[number..], valid)?;
            self.forget_segments(number, valid, synced)?;
        }
        if recovered.last < after {
            // The remaining log is in the checkpoint or the engine's files, and would leave a gap
            // after it.
            repair.cuts.extend(self.keep_cuts(&self.manifest.segments, None)?);
            self.manifest.segments.clear();
            (self.manifest.oldest_readable, self.manifest.oldest_wall_clock) = (after, recovered.wall_clock);
        }
        if let Some(replaced) = &mut repair.replaced {
            replaced.kept_in = self.set_checkpoint_aside()?;
        }
        self.manifest.durable = repair.last;
        remove_if_there(&*self.files, mark::MARK)?;
        self.replace_manifest()?;
        if damaged.is_some() {
            cut_files(&*self.files, &self.manifest)?;
        }
        Ok(repair)
    }

    /// Reads the log up to its first damage. Skips segments without commits after `after`.
    fn valid_log<E: From<StoreError>>(
        &self,
        after: CommitTimestamp,
        mut apply: impl FnMut(LogRecord<'_>, LogPosition<'_>) -> Result<bool, E>,
    ) -> Result<Valid, E> {
        let mut valid = Valid { recovered: Recovered::before(&self.manifest), damaged: None, torn: None };
        for (number, entry) in self.manifest.segments.iter().enumerate() {
            let next = valid.recovered.last.next();
            let path = self.segment_path(entry.number);
            let mut refused: Option<(SealedSegment, bool)> = None;
            let mut last = SealedSegment { first: next, last: next, end: 0, wall_clock: 0 };
            let reading = match entry.sealed {
                Some(sealed) if sealed.last <= after && self.is_there(entry)? => {
                    self.pass_over(entry, sealed)?
                }
                _ => self.read_segment(entry, next, |record, offset| {
                    if refused.is_none()
                        && record.at > after
                        && !apply(record, LogPosition { path: &path, offset })?
                    {
                        refused = Some((SealedSegment { end: offset, ..last }, record.at > next));
                    }
                    last = SealedSegment { last: record.at, wall_clock: record.wall_clock, ..last };
                    Ok::<(), E>(())
                })?,
            };
            if let Some(newer @ StoreError::NewerFormat { .. }) = reading.problem {
                return Err(newer.into());
            }
            if let Some((before, is_any)) = refused {
                let content = is_any.then_some(before);
                if let Some(content) = content {
                    (valid.recovered.last, valid.recovered.wall_clock) = (content.last, content.wall_clock);
                }
                valid.damaged = Some(valid.torn.unwrap_or((number, content, 0)));
                break;
            }
            let follows = valid.recovered.add(entry, &reading);
            let end = (number, reading.valid, reading.synced);
            if follows.is_err() || reading.problem.is_some() {
                // Nothing should have followed a torn tail, valid or not.
                valid.damaged = Some(valid.torn.unwrap_or(end));
                break;
            }
            valid.torn = valid.torn.or(reading.torn.map(|_| end));
        }
        Ok(valid)
    }

    fn is_there(&self, entry: &SegmentEntry) -> Result<bool, StoreError> {
        match self.files.open(&entry.file_name(), OpenMode::Read) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Copies the bytes that will be cut, durably: from the first segment the bytes after its valid
    /// part, the other segments whole.
    fn keep_cuts(
        &self,
        segments: &[SegmentEntry],
        valid: Option<SealedSegment>,
    ) -> Result<Vec<Cut>, StoreError> {
        let mut cuts = Vec::new();
        for (number, entry) in segments.iter().enumerate() {
            let offset = valid.filter(|_| number == 0).map_or(0, |valid| valid.end);
            let segment = segment::name_of(entry.number);
            let file = match self.files.open(&segment, OpenMode::Read) {
                Ok(file) => file,
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error.into()),
            };
            let kept_in = format!("cut-{segment}-from-{offset}");
            let kept = self.files.open(&kept_in, OpenMode::Create)?;
            // Later bytes never belonged to the log.
            let end = file.length()?.min(entry.length.max(segment::LARGEST_RECORD)).max(offset);
            let mut bytes = 0;
            for piece in pieces(offset..end) {
                let content = file.read_range(piece.clone())?;
                // Most of a new segment is zeros, which need no space.
                if let Some(last) = content.iter().rposition(|byte| *byte != 0) {
                    kept.write_all_at(&content[..=last], piece.start - offset)?;
                    bytes = piece.start - offset + last as u64 + 1;
                }
            }
            kept.sync()?;
            cuts.push(Cut { segment, offset, bytes, kept_in });
        }
        self.files.sync_directory()?;
        Ok(cuts)
    }

    /// Drops the segments from `number` on, except for the valid part of the first one, which is
    /// made durable.
    fn forget_segments(
        &mut self,
        number: usize,
        valid: Option<SealedSegment>,
        synced: u64,
    ) -> Result<(), StoreError> {
        let entry = self.manifest.segments[number];
        self.manifest.segments.truncate(number);
        if let Some(sealed) = valid {
            make_durable(&*self.files, entry.number, synced, sealed.end)?;
            self.manifest.segments.push(SegmentEntry { sealed: Some(sealed), ..entry });
        }
        Ok(())
    }

    /// Removes the checkpoint from the manifest, and renames its file, if it exists.
    fn set_checkpoint_aside(&mut self) -> Result<Option<String>, StoreError> {
        let Some(entry) = self.manifest.checkpoint.take() else { return Ok(None) };
        let name = checkpoint::name_of(entry.number);
        let kept_in = format!("cut-{name}");
        match self.files.rename(&name, &kept_in) {
            Ok(()) => Ok(Some(kept_in)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn remove_if_there(files: &dyn FileSystem, name: &str) -> Result<(), FileError> {
    match files.remove(name) {
        Err(error) if !error.is_not_found() => Err(error),
        _ => Ok(()),
    }
}

/// Makes the content of a segment from `synced` to `end` durable.
///
/// The content may be only in memory, from a killed process or a failed sync, so it is written
/// again.
pub(crate) fn make_durable(
    files: &dyn FileSystem,
    number: u64,
    synced: u64,
    end: u64,
) -> Result<(), FileError> {
    if planted::is(PlantedBug::LeaveTornTail) {
        return Ok(());
    }
    let file = files.open(&segment::name_of(number), OpenMode::Write)?;
    for piece in pieces(synced..end) {
        file.write_all_at(&file.read_range(piece.clone())?, piece.start)?;
    }
    match planted::is(PlantedBug::SkipSyncInRecovery) {
        true => Ok(()),
        false => file.sync(),
    }
}

/// Truncates the files of sealed segments after their last records. Nothing reads the bytes after
/// them. The seals must be durable. O(segments).
pub(crate) fn cut_files(files: &dyn FileSystem, manifest: &Manifest) -> Result<(), FileError> {
    for entry in &manifest.segments {
        let Some(SealedSegment { end, .. }) = entry.sealed else { continue };
        let file = files.open(&entry.file_name(), OpenMode::Read)?;
        if file.length()? > end {
            files.open(&entry.file_name(), OpenMode::Write)?.set_length(end)?;
        }
    }
    Ok(())
}
