//! Result files: one line `key value` per vertex.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::{Snapshot, VertexId};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes the value of every vertex, ascending by vertex id.
///
/// The file is written beside its place and then renamed: whatever fails, what was there stays.
pub fn write<T: Display>(
    path: &Path,
    snapshot: &Snapshot,
    interrupt: &Interrupt,
    value: impl Fn(VertexId) -> T,
) -> Result<(), CliError> {
    let failed = |source| CliError::Result { path: path.into(), source };
    // Through a symbolic link, the file that it points at is replaced, not the link.
    let target = path.canonicalize().unwrap_or_else(|_| path.into());
    check_target(&target).map_err(failed)?;
    let mut writer = BufWriter::with_capacity(1 << 16, temporary_beside(&target).map_err(failed)?);
    let mut written = Ok(());
    snapshot.for_each_vertex(|vertex, key| {
        if written.is_ok() {
            written = writeln!(writer, "{key} {}", value(vertex));
        }
    });
    written.map_err(failed)?;
    interrupt.check()?;
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.persist(&target).map(drop).map_err(|refused| failed(refused.error))
}

/// A device or a directory is not replaced by a file.
fn check_target(target: &Path) -> io::Result<()> {
    match target.metadata() {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("this is not a plain file")),
        _ => Ok(()),
    }
}

/// A file of another name in the same folder, so that it can be renamed.
fn temporary_beside(target: &Path) -> io::Result<NamedTempFile<File>> {
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".hedgerow-").suffix(".part");
    #[cfg(unix)]
    {
        // As for any new file: what the process's mask leaves of it.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}
