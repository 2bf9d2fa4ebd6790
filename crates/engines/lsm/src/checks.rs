//! Checks of the files of a store.

use crate::LsmOptions;
use crate::adjacency::columns;
use crate::graph::LsmEngine;
use crate::levels::{check_checksums, check_files, state_to_copy};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{EngineFile, EngineState};
use hedgerow_model::{EngineError, FilesCheck, VersionInFile};
use hedgerow_sync::Arc;

impl LsmEngine {
    /// Reads all files of an engine with these options, without opening them, and finds all damage:
    /// see [`check_files`](crate::levels::check_files). Passes all versions in the files to
    /// `visit`.
    ///
    /// # Errors
    /// Errors of the file system. Damage is a problem in the result.
    pub fn check(
        files: &Arc<dyn FileSystem>,
        options: &LsmOptions,
        visit: &mut dyn FnMut(VersionInFile<'_>),
    ) -> Result<FilesCheck, EngineError> {
        check_files(files, &columns(&options.catalog), visit)
    }

    /// Reads the newest state of the files of an engine with these options, for a backup: see
    /// [`state_to_copy`].
    ///
    /// # Errors
    /// The files could not be read, or are damaged.
    pub fn state_to_copy(
        files: &Arc<dyn FileSystem>,
        options: &LsmOptions,
    ) -> Result<EngineState, EngineError> {
        state_to_copy(files, &columns(&options.catalog))
    }

    /// Compares a file with its checksums: see [`check_checksums`].
    ///
    /// # Errors
    /// The file could not be read, or is damaged.
    pub fn check_checksums(files: &dyn FileSystem, file: &EngineFile) -> Result<(), EngineError> {
        Ok(check_checksums(files, file)?)
    }
}
