//! Checks the outputs of a command: none may replace an input, another output, or a file of a
//! store.

use crate::error::CliError;
use crate::options::STANDARD_INPUT;
use hedgerow_formats::{Output, STANDARD_OUTPUT, WriteOptions};
use std::path::{Path, PathBuf};
use std::{fs, mem};

/// Files and directories that a command reads or writes.
#[derive(Debug, Default)]
pub struct FilesInUse {
    files: Vec<Place>,
    standard_output: bool,
}

/// The identity of a file or directory, whatever name refers to it.
#[derive(Debug)]
struct Place {
    /// The canonical path; of a new file, its name in the canonical directory.
    path: PathBuf,
    /// Device and inode, which hard links share; `None` for a new file.
    inode: Option<(u64, u64)>,
}

impl FilesInUse {
    /// Starts with the inputs of a command; a directory stands for all files in it.
    pub fn read<P: AsRef<Path>>(inputs: impl IntoIterator<Item = P>) -> Self {
        let files = inputs.into_iter().map(|input| Place::of_input(input.as_ref())).collect();
        FilesInUse { files, standard_output: false }
    }

    /// Refuses an output that cannot be written, is in use already, or is inside a store; then
    /// marks it as in use. Called before the work starts, so that a wrong name does not cost hours.
    /// `option` is the option that names the file.
    pub fn check_output(&mut self, option: &'static str, path: &Path) -> Result<(), CliError> {
        self.check_files(option, path, &[path])
    }

    /// Like `check_output`, for a graph, which may be a pair of files.
    pub fn check_graph(
        &mut self,
        option: &'static str,
        path: &Path,
        options: &WriteOptions,
    ) -> Result<(), CliError> {
        self.check_files(option, path, &options.files(path))
    }

    fn check_files<P: AsRef<Path>>(
        &mut self,
        option: &'static str,
        path: &Path,
        files: &[P],
    ) -> Result<(), CliError> {
        if path == Path::new(STANDARD_OUTPUT) {
            let taken = mem::replace(&mut self.standard_output, true);
            return if taken { Err(CliError::SameFile { option, path: path.into() }) } else { Ok(()) };
        }
        for file in files {
            let place = Place::of(file.as_ref());
            if self.files.iter().any(|used| used.contains(&place)) {
                return Err(CliError::SameFile { option, path: path.into() });
            }
            if place.is_in_store() {
                return Err(CliError::InStore { option, path: path.into() });
            }
            Output::create(file).map_err(CliError::Output)?;
            self.files.push(place);
        }
        Ok(())
    }
}

impl Place {
    fn of(path: &Path) -> Self {
        let absolute = path.canonicalize().or_else(|_| {
            // A new file in an existing directory.
            let (folder, name) =
                (path.parent().unwrap_or(Path::new("")), path.file_name().unwrap_or_default());
            Path::new(".").join(folder).canonicalize().map(|folder| folder.join(name))
        });
        Place { path: absolute.unwrap_or_else(|_| path.into()), inode: inode(path) }
    }

    /// Standard input may be redirected from a file, which is an input, too.
    fn of_input(path: &Path) -> Self {
        if path == Path::new(STANDARD_INPUT) { Place::of(Path::new("/dev/stdin")) } else { Place::of(path) }
    }

    /// Returns true if `other` is this file, or inside this directory.
    fn contains(&self, other: &Place) -> bool {
        other.path.starts_with(&self.path) || self.inode.is_some() && self.inode == other.inode
    }

    fn is_in_store(&self) -> bool {
        self.path.parent().is_some_and(|folder| hedgerow::store::manifest(folder).is_ok())
    }
}

#[cfg(unix)]
fn inode(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn inode(_path: &Path) -> Option<(u64, u64)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn contains(one: &Path, other: &Path) -> bool {
        Place::of(one).contains(&Place::of(other))
    }

    #[test]
    fn a_file_is_the_same_under_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let (file, link, other) = (path("file"), path("link"), path("other"));
        fs::write(&file, "").unwrap();
        fs::write(&other, "").unwrap();
        symlink(&file, &link).unwrap();
        fs::hard_link(&file, path("hard")).unwrap();
        fs::create_dir(path("inner")).unwrap();
        symlink(folder.path(), path("folder")).unwrap();
        for name in ["file", "link", "hard", "inner/../file", "./file", "folder/file", "folder/link"] {
            assert!(contains(&file, &path(name)), "{name}");
            assert!(contains(&path(name), &file), "{name}");
        }
        assert!(!contains(&file, &other) && !contains(&file, &path("file2")));
        assert!(contains(&path("inner"), &path("folder/inner/new")));
        assert!(contains(&path("new"), &path("folder/new")) && !contains(&path("new"), &path("new2")));
    }
}
