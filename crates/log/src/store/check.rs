//! Reading everything of a store's manifest, log and checkpoint, to find all that is wrong.

use super::Store;
use super::replay::Recovered;
use crate::body::LoggedCommit;
use crate::error::StoreError;
use crate::files::FileSystem;
use crate::segment::SegmentHeader;
use crate::store::{CheckpointEntry, TornTail};
use hedgerow_model::Timestamp;
use hedgerow_sync::Arc;

/// What [`check`] found.
#[derive(Debug)]
pub struct CheckReport {
    /// Commits in the log that are as they should be.
    pub commits: u64,
    /// The last of those that follow each other without a gap.
    pub last: Timestamp,
    /// What a loss of power left behind the last commit. This is no problem: the next opening cuts it.
    pub torn: Option<TornTail>,
    /// The checkpoint, if the store has one.
    pub checkpoint: Option<CheckpointEntry>,
    /// What is wrong, in the order of the log; of each segment the first thing. Then what is wrong with the checkpoint.
    pub problems: Vec<StoreError>,
}

/// Reads the manifest, the whole log and the checkpoint of a store, and changes nothing. Beside a process that writes to the
/// store, the end may look torn, and files may be gone that were replaced meanwhile.
///
/// # Errors
/// The file system's; [`StoreError::NoStore`]. A manifest that cannot be read is a problem, the only one of the report.
pub fn check(files: Arc<dyn FileSystem>) -> Result<CheckReport, StoreError> {
    let mut report =
        CheckReport { commits: 0, last: Timestamp::ZERO, torn: None, checkpoint: None, problems: Vec::new() };
    match Store::open_read_only(files) {
        Ok(store) => {
            store.check(&mut report)?;
            store.check_checkpoint(&mut report)?;
        }
        Err(error @ (StoreError::File(_) | StoreError::NoStore { .. })) => return Err(error),
        Err(problem) => report.problems.push(problem),
    }
    Ok(report)
}

impl Store {
    fn check(&self, report: &mut CheckReport) -> Result<(), StoreError> {
        report.problems.extend(self.check_unlisted().err());
        let mut recovered = Recovered::before(&self.manifest);
        let mut memory = Vec::new();
        for entry in &self.manifest.segments {
            let is_whole = report.problems.is_empty();
            // Behind a gap a segment is judged by itself.
            let first = if is_whole { recovered.last.next() } else { self.first_of(entry.number)? };
            let path = self.segment_path(entry.number);
            let mut undecodable = None;
            let reading = self.read_segment(entry, first, &mut memory, |record, offset| {
                report.commits += 1;
                let decoded = LoggedCommit::decode(record.body, self.manifest.options.topology);
                if let Err(error) = decoded {
                    let what = format!("the commit of timestamp {} cannot be read: {error}", record.at);
                    undecodable.get_or_insert(StoreError::damaged(&path, offset as usize, what));
                }
                Ok::<(), StoreError>(())
            })?;
            if is_whole {
                report.problems.extend(recovered.add(entry, &reading).err());
            }
            report.problems.extend(undecodable.or(reading.problem));
        }
        if report.problems.is_empty() {
            report.problems.extend(self.check_end(&recovered).err());
        }
        (report.last, report.torn) = (recovered.last, recovered.torn);
        Ok(())
    }

    fn check_checkpoint(&self, report: &mut CheckReport) -> Result<(), StoreError> {
        report.checkpoint = self.manifest.checkpoint;
        match self.open_checkpoint() {
            Ok(checkpoint) => {
                report.problems.extend(checkpoint.into_iter().flat_map(|opened| opened.check(None)));
                Ok(())
            }
            Err(error @ StoreError::File(_)) => Err(error),
            Err(problem) => {
                report.problems.push(problem);
                Ok(())
            }
        }
    }

    /// The first commit of a segment, as its header says.
    fn first_of(&self, number: u64) -> Result<Timestamp, StoreError> {
        let header = self.read_header(number)?;
        Ok(header.map_or(Timestamp::ZERO, |header: SegmentHeader| header.first))
    }
}
