//! Backups of stores, on any engine.

use super::examine::options_of;
use super::open::LOOKS;
use crate::engine_kind::EngineKind;
use crate::engines::TypedStore;
use crate::error::{Error, ErrorKind, Reason};
use hedgerow_log::checkpoint::Description;
use hedgerow_log::files::{FileError, FileOperation, FileSystem, RealFiles};
use hedgerow_log::{BackupReport, EngineAccess, EngineFile, EngineState, StoreError, StoreFiles};
use hedgerow_log::{Manifest, OWN_FILES};
use hedgerow_pipeline::Error as Cause;
use hedgerow_sync::Arc;
use std::io;
use std::path::Path;

/// See [`backup`](crate::store::backup).
pub(crate) fn backup_to(source: &Arc<dyn FileSystem>, copy: &Path) -> Result<BackupReport, Error> {
    let is_inside = RealFiles::new(copy).is_within(&source.location()).map_err(StoreError::from)?;
    if is_inside {
        let what = "it is inside the store, or the store itself";
        return Err(StoreError::NoBackup { path: copy.to_owned(), what }.into());
    }
    backup(source, Arc::new(RealFiles::new(copy)))
}

/// See [`backup`](crate::store::backup).
pub(crate) fn backup(source: &Arc<dyn FileSystem>, copy: Arc<dyn FileSystem>) -> Result<BackupReport, Error> {
    let options = options_of(&StoreFiles::open_read_only(Arc::clone(source))?)?;
    let engine = options.engine_or_default();
    if !engine.owns_files() {
        return Ok(hedgerow_log::backup(source, copy, None)?);
    }
    if !(cfg!(feature = "lsm") && engine == EngineKind::Lsm) {
        return Err(Reason::NoBackup(engine.name()).into());
    }
    let state = |files: &Arc<dyn FileSystem>| state_of(files).map_err(|error| to_store(files, error));
    let check = |files: &Arc<dyn FileSystem>, file: &EngineFile| {
        TypedStore::check_checksums(engine, files, file).map_err(|error| to_store(files, error))
    };
    Ok(hedgerow_log::backup(source, copy, Some(EngineAccess { state: &state, check: &check }))?)
}

/// Describes the state in the engine's own files; `None` if there are none, or they are empty.
pub(crate) fn describe_engine_files(
    files: &Arc<dyn FileSystem>,
    manifest: &Manifest,
) -> Result<Option<Description>, Error> {
    if !manifest.options.engine.starts_with(OWN_FILES) {
        return Ok(None);
    }
    let mut looks = 1;
    loop {
        match state_of(files) {
            // A flush or a compaction may have replaced the manifest between two reads.
            Err(error) if looks < LOOKS && error.kind() == ErrorKind::Storage => looks += 1,
            state => return Ok(hedgerow_pipeline::describe_engine_files(&state?, manifest)),
        }
    }
}

/// The newest state of the engine's files.
fn state_of(files: &Arc<dyn FileSystem>) -> Result<EngineState, Error> {
    // The labels may have changed since an earlier call.
    TypedStore::state_to_copy(&options_of(&StoreFiles::open_read_only(Arc::clone(files))?)?, files)
}

/// Converts an error of the engine to one of the store.
fn to_store(files: &Arc<dyn FileSystem>, error: Error) -> StoreError {
    let failed = |source| FileError::new(FileOperation::Read, files.location(), source).into();
    let error = match error.into_pipeline() {
        Ok(Cause::Store(error)) => return *error,
        Ok(Cause::Read(error)) => error,
        Ok(error) => return failed(io::Error::other(error)),
        Err(error) => return failed(io::Error::other(error)),
    };
    let (place, offset) = error.file_and_offset();
    let path = files.location().join(Path::new(place).file_name().unwrap_or_default());
    let damaged = |what| StoreError::Damaged { path: path.clone(), offset: offset.unwrap_or(0), what };
    match error.cause().downcast_ref::<FileError>() {
        None => damaged(error.cause().to_string()),
        Some(error) => match error.source.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { path },
            io::ErrorKind::UnexpectedEof => damaged("the file ends early".to_owned()),
            kind => {
                let code = error.source.raw_os_error().map(io::Error::from_raw_os_error);
                FileError::new(error.operation, path, code.unwrap_or_else(|| kind.into())).into()
            }
        },
    }
}
