//! Files that appear under their name only when they are complete.

use crate::FormatError;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The name of standard output, where a file to write is named.
pub const STANDARD_OUTPUT: &str = "-";

/// A file that is written under a temporary name in the same folder and renamed by
/// [`finish`](Self::finish), replacing an existing file.
///
/// Until then, and if it is dropped, the existing file stays. Writes are not buffered. Under the
/// name [`-`](STANDARD_OUTPUT) it is standard output instead, which gets every byte at once.
#[derive(Debug)]
pub struct NewFile {
    /// The path that the caller gave.
    path: PathBuf,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    StandardOutput,
    File {
        file: NamedTempFile<File>,
        /// The file to replace.
        target: PathBuf,
    },
}

impl NewFile {
    /// Starts a file that will be named `path`, or standard output. Through a symbolic link, the
    /// file that it points at is replaced, not the link.
    ///
    /// # Errors
    /// `path` exists and is not a plain file, or is a broken link, or its folder cannot be written
    /// to.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FormatError> {
        let path = path.as_ref();
        if path == Path::new(STANDARD_OUTPUT) {
            return Ok(NewFile { path: path.into(), sink: Sink::StandardOutput });
        }
        check_target(path)?;
        let target = path.canonicalize().unwrap_or_else(|_| path.into());
        let file = temporary_beside(&target).map_err(FormatError::io(path, "create"))?;
        Ok(NewFile { path: path.into(), sink: Sink::File { file, target } })
    }

    /// Writes everything to disk and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the file cannot be renamed. Nothing is left then.
    pub fn finish(self) -> Result<(), FormatError> {
        let NewFile { path, sink } = self;
        match sink {
            Sink::StandardOutput => io::stdout().flush().map_err(FormatError::io(&path, "write")),
            Sink::File { file, target } => {
                file.as_file().sync_all().map_err(FormatError::io(&path, "write"))?;
                let named = file.persist(&target).map_err(|refused| refused.error);
                named.map(drop).map_err(FormatError::io(&path, "name"))
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.sink {
            Sink::StandardOutput => io::stdout().write(bytes),
            // Write directly: the temporary file would add its name to every error.
            Sink::File { file, .. } => file.as_file_mut().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::StandardOutput => io::stdout().flush(),
            Sink::File { file, .. } => file.as_file_mut().flush(),
        }
    }
}

/// Refuses to replace anything but a plain file.
fn check_target(path: &Path) -> Result<(), FormatError> {
    let found = match path.metadata() {
        Ok(metadata) if metadata.is_dir() => "this is a directory",
        Ok(metadata) if !metadata.is_file() => "this is a device or a pipe",
        Err(_) if path.is_symlink() => "this is a symbolic link that leads nowhere",
        _ => return Ok(()),
    };
    Err(FormatError::NotAFile { path: path.into(), found })
}

/// Creates a temporary file in the same folder, so that it can be renamed.
fn temporary_beside(target: &Path) -> io::Result<NamedTempFile<File>> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hedgerow-").suffix(".part");
    #[cfg(unix)]
    {
        // As for any new file: the permissions that the process's umask leaves.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    folder.metadata()?;
    builder.tempfile_in(folder).map_err(without_temporary_name)
}

/// Strips the name of a temporary file, which the caller does not know, from an error.
fn without_temporary_name(error: io::Error) -> io::Error {
    use io::ErrorKind::{NotADirectory, PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        kind @ (NotADirectory | PermissionDenied | ReadOnlyFilesystem | StorageFull) => kind.into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_appears_only_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        std::fs::write(&path, "old").unwrap();

        let mut dropped = NewFile::create(&path).unwrap();
        dropped.write_all(b"new").unwrap();
        drop(dropped);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");

        let mut finished = NewFile::create(&path).unwrap();
        finished.write_all(b"new").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        finished.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(folder.path()), ["result"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_without_the_name_of_a_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let error = NewFile::create(folder.path().join("no/result")).unwrap_err();
        assert!(matches!(error, FormatError::Io { action: "create", .. }));
        assert!(!error.to_string().contains(".part"), "{error}");
        std::fs::write(folder.path().join("file"), "").unwrap();
        let error = NewFile::create(folder.path().join("file/result")).unwrap_err();
        assert!(error.to_string().ends_with("cannot create: not a directory"), "{error}");
        assert!(matches!(NewFile::create(folder.path()), Err(FormatError::NotAFile { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let in_folder = |name: &str| folder.path().join(name);
        let (file, link) = (in_folder("file"), in_folder("link"));
        std::fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        NewFile::create(&link).unwrap().finish().unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "");

        symlink(in_folder("nowhere"), in_folder("dangling")).unwrap();
        symlink(in_folder("circle"), in_folder("circle")).unwrap();
        for name in ["dangling", "circle"] {
            let created = NewFile::create(in_folder(name));
            assert!(matches!(created, Err(FormatError::NotAFile { .. })), "{name}");
            assert!(in_folder(name).is_symlink());
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_device_is_not_replaced() {
        assert!(matches!(NewFile::create("/dev/null"), Err(FormatError::NotAFile { .. })));
    }
}
