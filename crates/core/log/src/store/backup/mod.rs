//! Copies a store to another directory, while another process may write to it.
//!
//! ```text
//! read     the engine's files, the mark, then the manifest: each reaches at least as far as the one before
//! copy     the log, then the checkpoint, then the engine's files, each checked           (log.rs, files.rs)
//! install  the manifest of the copy, by a rename; then remove what it does not name      (destination.rs)
//! ```
//!
//! A copy is a closed store. An older copy is extended: bytes after the end of a sealed segment,
//! and files that no manifest names, do not belong to a store, so the older copy stays valid until
//! the rename.

mod destination;
mod files;
mod log;

pub(crate) use destination::MARKER;

use super::{Manifest, StoreFiles, mark};
use crate::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::files::{File, FileSystem, LockError, OpenMode};
use crate::store::LOCK;
use destination::Destination;
use hedgerow_model::{ColumnType, CommitTimestamp, Counts};
use hedgerow_sync::Arc;

/// The maximum number of attempts if a writer replaces files before they are copied.
const LOOKS: usize = 16;

/// The result of [`backup`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BackupReport {
    /// True if an older backup was brought up to date.
    pub incremental: bool,
    /// The last commit in the backup.
    pub last: CommitTimestamp,
    /// The wall-clock time of that commit, in microseconds since 1970-01-01 UTC; 0 if there is
    /// none.
    pub wall_clock: u64,
    /// Number of files written, whole or in part.
    pub files: u64,
    /// Number of bytes written.
    pub bytes: u64,
    /// Number of bytes of the older backup that were checked and kept.
    pub kept_bytes: u64,
    /// Number of files of the older backup that were removed.
    pub removed_files: u64,
}

/// The files of an engine that keeps edges in its own files, as of one commit.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct EngineState {
    /// The files have everything up to this commit, and nothing after it.
    pub through: CommitTimestamp,
    /// The size of the graph at that commit.
    pub counts: Counts,
    /// The store's note of that commit.
    pub note: Vec<u8>,
    /// The name and the content of the file that names the others; `None` if there is none.
    pub manifest: Option<(String, Vec<u8>)>,
    /// The other files, which never change.
    pub files: Vec<EngineFile>,
}

/// An immutable file of an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineFile {
    /// The name.
    pub name: String,
    /// The name of the file with the records of the edges, if they have records.
    pub records: Option<String>,
    /// The type of the values of the edges.
    pub column: ColumnType,
}

impl EngineFile {
    fn names(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.name).chain(&self.records)
    }
}

type ReadState<'a> = dyn Fn(&Arc<dyn FileSystem>) -> Result<EngineState, StoreError> + 'a;

type CheckFile<'a> = dyn Fn(&Arc<dyn FileSystem>, &EngineFile) -> Result<(), StoreError> + 'a;

/// Access to the files of an engine.
#[derive(Clone, Copy)]
pub struct EngineAccess<'a> {
    /// Reads the newest state of the files in a directory.
    pub state: &'a ReadState<'a>,
    /// Reads a file, and the file with its records, and compares them with their checksums.
    pub check: &'a CheckFile<'a>,
}

/// Copies the store in `source` to `destination`, or brings an older copy there up to date. The
/// copy has every commit that was durable when this was called, and a prefix of the commits.
/// `engine` is required for engines with files of their own.
///
/// Another process may write to the source meanwhile. O(bytes that are new in the source, and of
/// the older copy).
///
/// # Errors
/// Damage, with its place; [`StoreError::NoBackup`] if the destination is unfit,
/// [`StoreError::DamagedBackup`] if the older copy is damaged; [`StoreError::Locked`] if another
/// process uses the destination; the file system's error. An older copy is still there then, unless
/// the next opening reports [`StoreError::UnfinishedBackup`]; in both cases the next call completes
/// it.
pub fn backup(
    source: &Arc<dyn FileSystem>,
    destination: Arc<dyn FileSystem>,
    engine: Option<EngineAccess<'_>>,
) -> Result<BackupReport, StoreError> {
    let id = StoreFiles::open_read_only(Arc::clone(source))?.manifest.store;
    let mut destination = Destination::open(destination, id, engine)?;
    let mut before = String::new();
    for look in 1.. {
        let copied = Source::open(source, id, engine).and_then(|read| read.copy_to(&mut destination));
        let Err(error) = copied else { break };
        let found = error.to_string();
        if look == LOOKS || found == before || !may_be_passing(&error) {
            return Err(error);
        }
        before = found;
    }
    Ok(destination.report)
}

/// Returns true if an error may be due to a writer that replaced files between two reads. Damage
/// stays where it is.
fn may_be_passing(error: &StoreError) -> bool {
    match error {
        StoreError::File(error) => error.is_not_found(),
        StoreError::OutOfRetention { .. } => true,
        error => error.is_damage(),
    }
}

/// A state of the source, whose checkpoint and engine files are open: they remain readable after a
/// writer has removed them.
struct Source<'a> {
    store: StoreFiles,
    engine: Option<(EngineAccess<'a>, EngineState)>,
    /// The files of the engine's state, in its order.
    open: Vec<(EngineFile, Vec<Box<dyn File>>)>,
    checkpoint: Option<Checkpoint>,
    /// Every commit up to this one was durable.
    durable: CommitTimestamp,
    /// True if a writer may be appending to the log.
    is_written: bool,
}

impl<'a> Source<'a> {
    fn open(
        files: &Arc<dyn FileSystem>,
        id: [u8; 16],
        engine: Option<EngineAccess<'a>>,
    ) -> Result<Self, StoreError> {
        let engine =
            engine.map(|engine| Ok::<_, StoreError>((engine, (engine.state)(files)?))).transpose()?;
        let mut open = Vec::new();
        for file in engine.iter().flat_map(|(_, state)| &state.files) {
            let opened = file.names().map(|name| files.open(name, OpenMode::Read)).collect::<Result<_, _>>();
            open.push((file.clone(), opened?));
        }
        // A segment is listed before commits are written to it, so the manifest has all these.
        let marked = mark::read(&**files, id)?;
        let store = StoreFiles::open_read_only(Arc::clone(files))?;
        let checkpoint = store.open_checkpoint()?;
        // If no writer is there now, no writer appends to these segments: it begins new ones.
        let is_written = match files.lock_shared(LOCK) {
            Ok(_) => false,
            Err(LockError::Held { .. } | LockError::Shared { .. }) => true,
            Err(LockError::File(error)) => return Err(error.into()),
        };
        let durable = store.manifest.durable.max(marked);
        Ok(Source { store, engine, open, checkpoint, durable, is_written })
    }

    /// The commit up to which checkpoint or engine files have everything.
    fn stored(&self) -> CommitTimestamp {
        let through = self.engine.as_ref().map(|(_, state)| state.through);
        through.or(self.store.manifest.checkpoint.map(|entry| entry.at)).unwrap_or_default()
    }

    fn copy_to(self, destination: &mut Destination) -> Result<(), StoreError> {
        self.store.check_retention(self.stored())?;
        if destination.has_later_segments(self.store.manifest.next_segment) {
            return Err(destination.other_commits());
        }
        let (segments, recovered) = self.copy_log(destination)?;
        if destination.older_last()? > recovered.last {
            return Err(destination.other_commits());
        }
        if let (Some(entry), Some(checkpoint)) = (&self.store.manifest.checkpoint, &self.checkpoint) {
            destination.copy_checkpoint(entry, checkpoint)?;
        }
        if let Some((access, _)) = &self.engine {
            destination.copy_engine_files(&self.open, *access, &self.store.files.location())?;
        }
        let manifest = Manifest { segments, durable: recovered.last, ..self.store.manifest };
        destination.report.last = recovered.last;
        destination.report.wall_clock = recovered.wall_clock;
        destination.install(&manifest, self.engine.map(|(_, state)| state))
    }
}
