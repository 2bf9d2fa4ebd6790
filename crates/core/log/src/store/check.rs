//! Reads everything that opening a store reads, to find all damage.

use super::reading::SegmentReading;
use super::replay::Recovered;
use super::{CheckpointEntry, SegmentEntry, StoreFiles, TornTail};
use crate::body::LoggedCommit;
use crate::error::StoreError;
use crate::files::FileSystem;
use crate::segment::SegmentHeader;
use hedgerow_model::{CommitTimestamp, FilesCheck};
use hedgerow_sync::Arc;

/// Maximum number of attempts on a store that is being written.
const LOOKS: usize = 16;

/// The result of [`check`].
#[derive(Debug)]
pub struct CheckReport {
    /// Number of commits in the log. Segments whose commits are all in the checkpoint or in the
    /// engine's files are not read.
    pub commits: u64,
    /// The last commit before a gap.
    pub last: CommitTimestamp,
    /// The torn tail that a loss of power left after the last commit. This is no problem: the next
    /// opening cuts it.
    pub torn: Option<TornTail>,
    /// The checkpoint, if the store has one.
    pub checkpoint: Option<CheckpointEntry>,
    /// The check of the engine's own files; `None` if the store has none, or they were not checked.
    /// Their problems are also in `problems`.
    pub engine_files: Option<FilesCheck>,
    /// The problems, in the order of the log: the first problem of each segment; then the problems
    /// of the checkpoint, and of the engine's files.
    pub problems: Vec<StoreError>,
}

/// Reads everything that opening a store would read, and changes nothing. Finds no problems if the
/// files are as they were written; only opening the store determines if their content fits the
/// graph. The commits up to `in_files` are in files of the engine.
///
/// While another process writes to the store, the end may look torn. So a check that finds problems
/// is repeated until it finds the same problems twice.
///
/// # Errors
/// The file system's error; [`StoreError::NoStore`]. An unreadable manifest is reported as the only
/// problem.
pub fn check(files: &Arc<dyn FileSystem>, in_files: CommitTimestamp) -> Result<CheckReport, StoreError> {
    let mut report = check_once(Arc::clone(files), in_files)?;
    for _ in 1..LOOKS {
        if report.problems.is_empty() {
            break;
        }
        let before = std::mem::replace(&mut report, check_once(Arc::clone(files), in_files)?);
        if format!("{:?}", before.problems) == format!("{:?}", report.problems) {
            break;
        }
    }
    Ok(report)
}

fn check_once(files: Arc<dyn FileSystem>, in_files: CommitTimestamp) -> Result<CheckReport, StoreError> {
    let mut report = CheckReport {
        commits: 0,
        last: CommitTimestamp::ZERO,
        torn: None,
        checkpoint: None,
        engine_files: None,
        problems: Vec::new(),
    };
    match StoreFiles::open_read_only(files) {
        Ok(store) => {
            report.checkpoint = store.manifest.checkpoint;
            let of_checkpoint = store.problems_of_checkpoint()?;
            // If the checkpoint is damaged, only the whole log can replace it.
            let after = store
                .manifest
                .checkpoint
                .filter(|_| of_checkpoint.is_empty())
                .map(|checkpoint| checkpoint.at);
            store.check_log(after.unwrap_or_default().max(in_files), &mut report)?;
            report.problems.extend(of_checkpoint);
        }
        Err(error @ (StoreError::File(_) | StoreError::NoStore { .. })) => return Err(error),
        Err(problem) => report.problems.push(problem),
    }
    Ok(report)
}

impl StoreFiles {
    /// Reads the commits after `after`, as opening the store does.
    fn check_log(&self, after: CommitTimestamp, report: &mut CheckReport) -> Result<(), StoreError> {
        report.problems.extend(self.check_unlisted().err());
        let durable = self.durable()?;
        let mut recovered = Recovered::before(&self.manifest);
        for entry in &self.manifest.segments {
            let is_whole = report.problems.is_empty();
            // After a problem, each segment is checked by itself.
            let first = if is_whole { recovered.last.next() } else { self.first_of(entry.number)? };
            let (reading, undecodable) = self.check_segment(entry, first, after, &mut report.commits)?;
            if is_whole {
                report.problems.extend(recovered.add(entry, &reading).err());
            }
            report.problems.extend(undecodable.or(reading.problem));
        }
        if report.problems.is_empty() {
            report.problems.extend(self.check_end(&recovered, durable).err());
        }
        (report.last, report.torn) = (recovered.last, recovered.torn);
        Ok(())
    }

    /// Reads a segment. Also returns the error of its first undecodable commit.
    fn check_segment(
        &self,
        entry: &SegmentEntry,
        first: CommitTimestamp,
        after: CommitTimestamp,
        commits: &mut u64,
    ) -> Result<(SegmentReading, Option<StoreError>), StoreError> {
        if let Some(sealed) = entry.sealed.filter(|sealed| sealed.last <= after) {
            *commits += sealed.last.0 - sealed.first.0 + 1;
            let reading = match self.pass_over(entry, sealed) {
                Err(error @ StoreError::File(_)) => return Err(error),
                passed => passed.unwrap_or_else(SegmentReading::problem),
            };
            return Ok((reading, None));
        }
        let path = self.segment_path(entry.number);
        let mut undecodable = None;
        let reading = self.read_segment(entry, first, |record, offset| {
            *commits += 1;
            if record.at > after
                && let Err(error) = LoggedCommit::decode(record.body, self.manifest.options.topology)
            {
                let what = format!("the commit of timestamp {} cannot be read: {error}", record.at);
                undecodable.get_or_insert(StoreError::damaged(&path, offset as usize, what));
            }
            Ok::<(), StoreError>(())
        })?;
        Ok((reading, undecodable))
    }

    /// The problems of the checkpoint, if the store has one.
    pub(super) fn problems_of_checkpoint(&self) -> Result<Vec<StoreError>, StoreError> {
        match self.open_checkpoint() {
            Ok(checkpoint) => Ok(checkpoint.into_iter().flat_map(|opened| opened.check(None)).collect()),
            Err(error @ StoreError::File(_)) => Err(error),
            Err(problem) => Ok(vec![problem]),
        }
    }

    /// The first commit of a segment, according to its header.
    fn first_of(&self, number: u64) -> Result<CommitTimestamp, StoreError> {
        let header = self.read_header(number)?;
        Ok(header.map_or(CommitTimestamp::ZERO, |header: SegmentHeader| header.first))
    }
}
