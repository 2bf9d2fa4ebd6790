//! The directory of a copy: what is there before, and the steps that make it a store.

use super::{BackupReport, EngineAccess, EngineFile, EngineState};
use crate::error::StoreError;
use crate::files::{EngineFiles, FileError, FileSystem, HeldLock, LockError, OpenMode};
use crate::segment;
use crate::store::manifest::{MANIFEST, NEXT, put_in_place, write_next};
use crate::store::mark::MARK;
use crate::store::{CheckpointEntry, LOCK, Lock, Manifest, SegmentEntry, StoreFiles, check_lock};
use hedgerow_model::CommitTimestamp;
use hedgerow_sync::Arc;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the file that is there while a copy is being written: the id of the store, and its
/// checksum.
pub(crate) const MARKER: &str = "BACKUP";

/// The directory of a copy, locked.
pub(super) struct Destination {
    pub(super) files: Arc<dyn FileSystem>,
    lock: Box<dyn HeldLock>,
    /// The older copy.
    pub(super) older: Option<StoreFiles>,
    /// True if the older copy is an unfinished one by now.
    is_withdrawn: bool,
    /// The engine's files in the older copy.
    pub(super) older_engine: EngineState,
    /// The files that were copied or checked, with the number of bytes.
    pub(super) copied: BTreeMap<String, u64>,
    pub(super) report: BackupReport,
}

impl Destination {
    /// Opens a directory for a copy of the store `id`. An older copy is extended, an unfinished one
    /// is removed.
    pub(super) fn open(
        files: Arc<dyn FileSystem>,
        id: [u8; 16],
        engine: Option<EngineAccess<'_>>,
    ) -> Result<Self, StoreError> {
        // Before locking, which creates a file.
        if let Err(error) = older_copy(&*files, id) {
            // A copy that another process writes to looks unfit.
            return Err(match files.lock_shared(LOCK) {
                Err(held @ LockError::Held { .. }) => held.into(),
                _ => error,
            });
        }
        files.create_directory()?;
        let lock = files.lock(LOCK)?;
        let older = older_copy(&*files, id)?;
        let report = BackupReport { incremental: older.is_some(), ..BackupReport::default() };
        let older =
            older.map(|manifest| StoreFiles { files: Arc::clone(&files), manifest, lock: Lock::None });
        let older_engine = match (&older, engine) {
            (Some(_), Some(engine)) => (engine.state)(&files).map_err(StoreError::of_older_backup)?,
            _ => EngineState::default(),
        };
        let (copied, is_withdrawn) = (BTreeMap::new(), false);
        let destination = Destination { files, lock, older, is_withdrawn, older_engine, copied, report };
        destination.begin(id)?;
        Ok(destination)
    }

    /// Marks the directory, and removes the files of an unfinished copy.
    fn begin(&self, id: [u8; 16]) -> Result<(), FileError> {
        let file = self.files.open(MARKER, OpenMode::Create)?;
        file.write_all_at(&marker(id), 0)?;
        file.sync()?;
        self.files.sync_directory()?;
        if self.older.is_none() {
            for name in self.files.list()?.iter().filter(|name| is_of_store(name) && *name != MARKER) {
                self.files.remove(name)?;
            }
        }
        Ok(())
    }

    /// The last commit of the older copy; [`CommitTimestamp::ZERO`] if there is none.
    pub(super) fn older_last(&self) -> Result<CommitTimestamp, StoreError> {
        self.older.as_ref().map_or(Ok(CommitTimestamp::ZERO), StoreFiles::durable)
    }

    /// The error of an older copy that is not an older state of the source.
    pub(super) fn other_commits(&self) -> StoreError {
        no_backup(&*self.files, "the copy there has commits that the store does not have")
    }

    /// Lets the older copy have segments up to `next_segment` that its manifest does not list:
    /// otherwise they would look newer than the manifest.
    pub(super) fn announce(&mut self, next_segment: u64) -> Result<(), StoreError> {
        match &mut self.older {
            Some(older) if older.manifest.next_segment < next_segment && !self.is_withdrawn => {
                older.manifest.next_segment = next_segment;
                write_next(&*self.files, &older.manifest.encode())?;
                Ok(put_in_place(&*self.files)?)
            }
            _ => Ok(()),
        }
    }

    /// Makes the older copy an unfinished one, before a file is changed that it needs.
    pub(super) fn withdraw(&mut self) -> Result<(), StoreError> {
        self.is_withdrawn = true;
        match self.files.remove(MANIFEST) {
            Err(error) if !error.is_not_found() => return Err(error.into()),
            _ => {}
        }
        Ok(self.files.sync_directory()?)
    }

    /// Makes the copy a store with this manifest, whose other files are durable except for their
    /// names; then removes the files that do not belong to it.
    pub(super) fn install(
        &mut self,
        manifest: &Manifest,
        engine: Option<EngineState>,
    ) -> Result<(), StoreError> {
        self.files.sync_directory()?;
        let mut needed = BTreeSet::from([MARKER.to_owned()]);
        needed.extend(manifest.segments.iter().map(SegmentEntry::file_name));
        needed.extend(manifest.checkpoint.iter().map(CheckpointEntry::file_name));
        if let Some(EngineState { manifest, files, .. }) = engine {
            needed.extend(files.iter().flat_map(EngineFile::names).cloned());
            if let Some((name, bytes)) = manifest {
                needed.insert(name.clone());
                self.install_engine_manifest(&name, &bytes, &needed)?;
            }
        }
        check_lock(&*self.files, &*self.lock)?;
        write_next(&*self.files, &manifest.encode())?;
        put_in_place(&*self.files)?;
        self.remove_all_but(&needed)?;
        self.files.remove(MARKER)?;
        Ok(self.files.sync_directory()?)
    }

    /// Removes the files of a store that are not needed.
    fn remove_all_but(&mut self, needed: &BTreeSet<String>) -> Result<(), FileError> {
        for name in self.files.list()? {
            if is_of_store(&name) && !needed.contains(&name) {
                self.files.remove(&name)?;
                self.report.removed_files += 1;
            }
        }
        Ok(())
    }

    /// Writes the manifest of the engine. Between this and the store's manifest, the copy has no
    /// consistent state.
    fn install_engine_manifest(
        &mut self,
        name: &str,
        bytes: &[u8],
        needed: &BTreeSet<String>,
    ) -> Result<(), StoreError> {
        if self.older_engine.manifest.as_ref().is_some_and(|older| (&*older.0, &*older.1) == (name, bytes)) {
            self.keep(name, bytes.len() as u64);
            return Ok(());
        }
        self.withdraw()?;
        let mut copy = self.write(name, OpenMode::Create)?;
        copy.write(bytes, 0)?;
        self.finish(copy, name, bytes.len() as u64)?;
        // An older manifest could be taken for the newest one.
        self.remove_all_but(needed)?;
        Ok(self.files.sync_directory()?)
    }
}

/// Returns the manifest of an older copy of the store `id`; `None` if the directory is empty, does
/// not exist, or has an unfinished copy.
fn older_copy(files: &dyn FileSystem, id: [u8; 16]) -> Result<Option<Manifest>, StoreError> {
    let names = match files.list() {
        Err(error) if error.is_not_found() => return Ok(None),
        names => names?,
    };
    if let Some(manifest) = Manifest::read(files).map_err(StoreError::of_older_backup)? {
        if manifest.store != id {
            return Err(no_backup(files, "another store is there"));
        }
        if manifest.segments.iter().any(|segment| segment.sealed.is_none()) {
            return Err(no_backup(files, "the copy there was opened, and not closed again"));
        }
        return Ok(Some(manifest));
    }
    if names.iter().any(|name| name == MARKER) {
        let file = files.open(MARKER, OpenMode::Read)?;
        let bytes = file.read_range(0..file.length()?.min(20))?;
        // A marker that is not whole is older than all other files.
        let of = bytes.first_chunk::<16>().filter(|id| bytes == marker(**id));
        return match of {
            Some(of) if *of != id => Err(no_backup(files, "an unfinished copy of another store is there")),
            _ => Ok(None),
        };
    }
    match names.iter().any(|name| name != LOCK) {
        true => Err(no_backup(files, "the directory has files, and is no copy of a store")),
        false => Ok(None),
    }
}

fn no_backup(files: &dyn FileSystem, what: &'static str) -> StoreError {
    StoreError::NoBackup { path: files.location(), what }
}

fn marker(id: [u8; 16]) -> Vec<u8> {
    [&id[..], &crc32c::crc32c(&id).to_le_bytes()].concat()
}

/// Returns true if a file belongs to a store or its copy, other than the manifest and the lock.
fn is_of_store(name: &str) -> bool {
    segment::number_of(name).is_some()
        || name.starts_with("checkpoint-")
        || name.starts_with(EngineFiles::PREFIX)
        || [MARKER, NEXT, MARK].contains(&name)
}
