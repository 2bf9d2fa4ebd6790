//! Result files: one line `key value` per vertex that has a value.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::{Snapshot, VertexId};
use hedgerow_formats::{FormatError, Output};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// Whether a result could be written there: to be asked before hours of work, and no promise. It must not take the place
/// of another file of the same command, nor of a file in a store.
pub fn check(option: &'static str, path: &Path, others: &[Option<&Path>]) -> Result<(), CliError> {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let folder = place(Path::new(".").join(path).parent().unwrap_or(path));
    if others.iter().flatten().any(|other| [&place(path), &folder].contains(&&place(other))) {
        return Err(CliError::SameFile { option, path: path.into() });
    }
    Output::create(path).map(drop).map_err(CliError::Output)
}

/// Writes the value of every vertex that has one, ascending by vertex id; compressed if the name says so. Whatever
/// fails, what was there stays.
pub fn write<T: Display>(
    path: &Path,
    snapshot: &Snapshot,
    interrupt: &Interrupt,
    value: impl Fn(VertexId) -> Option<T>,
) -> Result<(), CliError> {
    let mut file = Output::create(path).map_err(CliError::Output)?;
    let mut written = Ok(());
    snapshot.for_each_vertex(|vertex, key| {
        if written.is_ok()
            && let Some(value) = value(vertex)
        {
            written = writeln!(file, "{key} {value}");
        }
    });
    let failed = |source| FormatError::Io { path: path.into(), action: "write", source };
    written.map_err(failed).map_err(CliError::Output)?;
    interrupt.check()?;
    file.finish().map_err(CliError::Output)
}
