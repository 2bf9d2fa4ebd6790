//! Result files: one line `key value` per vertex that has a value.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::{Snapshot, VertexId};
use hedgerow_formats::{FormatError, NewFile};
use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::Path;

/// Whether a result could be written there: to be asked before hours of work, and no promise.
pub fn check(path: &Path) -> Result<(), CliError> {
    NewFile::create(path).map(drop).map_err(CliError::Output)
}

/// Writes the value of every vertex that has one, ascending by vertex id. Whatever fails, what was there stays.
pub fn write<T: Display>(
    path: &Path,
    snapshot: &Snapshot,
    interrupt: &Interrupt,
    value: impl Fn(VertexId) -> Option<T>,
) -> Result<(), CliError> {
    let failed = |source| CliError::Output(FormatError::Io { path: path.into(), action: "write", source });
    let file = NewFile::create(path).map_err(CliError::Output)?;
    let mut writer = BufWriter::with_capacity(1 << 16, file);
    let mut written = Ok(());
    snapshot.for_each_vertex(|vertex, key| {
        if written.is_ok()
            && let Some(value) = value(vertex)
        {
            written = writeln!(writer, "{key} {value}");
        }
    });
    written.map_err(failed)?;
    interrupt.check()?;
    let file = writer.into_inner().map_err(|error| failed(error.into_error()))?;
    file.finish().map_err(CliError::Output)
}
