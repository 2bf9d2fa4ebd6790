//! Files that the manifest does not name.

use super::{FileEntry, Manifest, OpenLog, list, name_of, number_of};
use hedgerow_model::ReadError;

impl Manifest {
    /// Returns the name of the file that has the state; `None` if there is none yet. O(1).
    #[must_use]
    pub fn file_name(&self) -> Option<String> {
        self.log.as_ref().map(|log| name_of(log.number))
    }

    /// Returns the name and the bytes of the file that has the state, up to the last whole edit;
    /// `None` if there is none yet. O(bytes).
    ///
    /// # Errors
    /// The file could not be read.
    pub fn content(&self) -> Result<Option<(String, Vec<u8>)>, ReadError> {
        let content = |log: &OpenLog| {
            let name = name_of(log.number);
            let bytes = log.file.read_range(0..log.end);
            Ok((name.clone(), bytes.map_err(|error| ReadError::new(name, error))?))
        };
        self.log.as_ref().map(content).transpose()
    }

    /// Returns the names of the engine's files, including manifests, that are not in the state,
    /// ascending. O(files).
    ///
    /// # Errors
    /// The directory could not be read.
    pub fn unlisted(&self) -> Result<Vec<String>, ReadError> {
        let mut names = list(&*self.files)?;
        names.retain(|name| self.is_unlisted(name));
        names.sort_unstable();
        Ok(names)
    }

    /// Returns true if a file is the engine's, but not in the state. O(log files).
    pub(super) fn is_unlisted(&self, name: &str) -> bool {
        let current = self.log.as_ref().map(|log| log.number);
        match (number_of(name), FileEntry::number_of(name)) {
            (Some(manifest), _) => current != Some(manifest),
            (_, Some(edges)) => !self.state.files.contains_key(&edges),
            _ => false,
        }
    }
}
