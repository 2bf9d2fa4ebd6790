//! Reports on files and memory, full compaction, and checks of the files of a store.

use crate::LsmOptions;
use crate::adjacency::{columns, part_of};
use crate::graph::LsmEngine;
use crate::levels::{FullStep, check_checksums, check_files, state_to_copy};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{EngineFile, EngineState};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{
    CompactProgress, EngineError, EngineReport, FileUpkeep, FilesCheck, PartReport, VersionInFile,
};
use hedgerow_sync::Arc;
use std::ops::ControlFlow;

impl FileUpkeep for LsmEngine {
    fn report(&self) -> Result<EngineReport, EngineError> {
        let unlisted = self.tree.unlisted()?;
        let sources = self.sources();
        let parts = (0..self.adjacencies()).map(|adjacency| PartReport {
            part: part_of(adjacency),
            levels: sources.levels.reports(adjacency),
        });
        Ok(EngineReport {
            parts: parts.filter(|part| !part.levels.is_empty()).collect(),
            unlisted,
            memory: self.memory_by_part(),
            cache: self.tree.cache_use(),
        })
    }

    fn compact_all(
        &self,
        live: &LiveTimestamps,
        observe: &mut dyn FnMut(CompactProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, EngineError> {
        let mut full = self.tree.compact_all(live);
        let ended = loop {
            match full.step(observe)? {
                FullStep::Merged => {
                    // Make room for the next step.
                    self.renew_levels();
                    self.tree.remove_unread()?;
                }
                FullStep::Done => break ControlFlow::Continue(()),
                FullStep::Stopped => break ControlFlow::Break(()),
            }
        };
        Ok(ended)
    }
}

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
