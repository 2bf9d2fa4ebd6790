//! Giving up what comes after the first damage of a log.

use super::replay::Recovered;
use super::{Sealed, SegmentEntry, Store};
use crate::error::StoreError;
use crate::files::{Access, FileError, FileSystem};
use crate::planted::{self, PlantedBug};
use crate::segment;
use hedgerow_model::Timestamp;
use hedgerow_sync::Arc;

/// What [`recover_to_last_valid`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The last commit that is left.
    pub last: Timestamp,
    /// What was cut from the log.
    pub cuts: Vec<Cut>,
}

/// Bytes that were cut from the log and are kept in a file beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The segment that they were cut from.
    pub segment: String,
    /// Where they began in it.
    pub offset: u64,
    /// How many they are.
    pub bytes: u64,
    /// The file that keeps them.
    pub kept_in: String,
}

/// Cuts the log of a store at its first damage, behind the last commit before it, so that it can be opened again. **Every
/// commit after that is given up.** What is cut is kept in files beside the log.
///
/// Where nothing is damaged, nothing changes. If the store has a checkpoint newer than what is left, that is what is left,
/// and the log begins anew.
///
/// # Errors
/// The file system's; a manifest that cannot be read or is older than the log, which this cannot repair.
pub fn recover_to_last_valid(files: Arc<dyn FileSystem>) -> Result<Repair, StoreError> {
    let mut store = Store::open(files)?;
    store.check_unlisted()?;
    let mut recovered = Recovered::before(&store.manifest);
    let (mut torn, mut damaged) = (None, None);
    let mut memory = Vec::new();
    for (number, entry) in store.manifest.segments.iter().enumerate() {
        let next = recovered.last.next();
        let reading = store.read_segment(entry, next, &mut memory, |_, _| Ok::<(), StoreError>(()))?;
        let follows = recovered.add(entry, &reading);
        let end = (number, reading.valid, reading.synced);
        if follows.is_err() || reading.problem.is_some() {
            // Behind a torn tail nothing should have followed, whatever is wrong with it.
            damaged = Some(torn.unwrap_or(end));
            break;
        }
        torn = torn.or(reading.torn.map(|_| end));
    }
    let mut cuts = Vec::new();
    if let Some((number, valid, synced)) = damaged {
        cuts = store.keep_cuts(&store.manifest.segments[number..], valid)?;
        store.cut(number, valid, synced)?;
    }
    let last = store.begin_anew_behind_checkpoint(&recovered, &mut cuts)?;
    Ok(Repair { last, cuts })
}

impl Store {
    /// Copies what will be cut, durably: the first segment from the end of its valid part on, the others whole.
    fn keep_cuts(&self, segments: &[SegmentEntry], valid: Option<Sealed>) -> Result<Vec<Cut>, StoreError> {
        let mut cuts = Vec::new();
        for (number, entry) in segments.iter().enumerate() {
            let offset = valid.filter(|_| number == 0).map_or(0, |valid| valid.end);
            let segment = segment::name_of(entry.number);
            let bytes = match self.files.open(&segment, Access::Read) {
                Ok(file) => file.read_from(offset)?,
                Err(error) if error.is_not_found() => continue,
                Err(error) => return Err(error.into()),
            };
            let kept_in = format!("cut-{segment}-from-{offset}");
            let kept = self.files.open(&kept_in, Access::Create)?;
            kept.write_all_at(&bytes, 0)?;
            kept.sync()?;
            cuts.push(Cut { segment, offset, bytes: bytes.len() as u64, kept_in });
        }
        self.files.sync_directory()?;
        Ok(cuts)
    }

    /// Forgets the segments from `number` on, but for the valid part of the first.
    fn cut(&mut self, number: usize, valid: Option<Sealed>, synced: u64) -> Result<(), StoreError> {
        let entry = self.manifest.segments[number];
        self.manifest.segments.truncate(number);
        if let Some(sealed) = valid {
            make_durable(&*self.files, entry.number, synced, sealed.end)?;
            self.manifest.segments.push(SegmentEntry { sealed: Some(sealed), ..entry });
        }
        Ok(self.manifest.write(&*self.files)?)
    }

    /// If the checkpoint is newer than what is left of the log, the log is not needed, and would have a gap.
    fn begin_anew_behind_checkpoint(
        &mut self,
        recovered: &Recovered,
        cuts: &mut Vec<Cut>,
    ) -> Result<Timestamp, StoreError> {
        let Some(checkpoint) = self.manifest.checkpoint.filter(|checkpoint| recovered.last < checkpoint.at)
        else {
            return Ok(recovered.last);
        };
        cuts.extend(self.keep_cuts(&self.manifest.segments, None)?);
        self.manifest.segments.clear();
        self.manifest.oldest_readable = checkpoint.at;
        self.manifest.oldest_wall_clock = recovered.wall_clock;
        self.manifest.write(&*self.files)?;
        Ok(checkpoint.at)
    }
}

/// Makes durable what was found in a segment from `synced` to `end`, and cuts what comes after it.
///
/// It may be in memory only, of a process that was killed or of a sync that failed, so that it is written again.
pub(crate) fn make_durable(
    files: &dyn FileSystem,
    number: u64,
    synced: u64,
    end: u64,
) -> Result<(), FileError> {
    if planted::is(PlantedBug::LeaveTornTail) {
        return Ok(());
    }
    let file = files.open(&segment::name_of(number), Access::Write)?;
    let mut bytes = vec![0; end.saturating_sub(synced) as usize];
    file.read_exact_at(&mut bytes, synced)?;
    file.write_all_at(&bytes, synced)?;
    file.set_length(end)?;
    match planted::is(PlantedBug::SkipSyncInRecovery) {
        true => Ok(()),
        false => file.sync(),
    }
}
