//! Result files: one line `key value` per vertex that has a value.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::keys;
use hedgerow::{Snapshot, VertexId};
use hedgerow_formats::{FormatError, Output};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

/// Writes the value of every vertex that has one, ascending by vertex id; compressed if the name
/// says so. On failure the previous file stays.
pub fn write<T: Display>(
    path: &Path,
    snapshot: &Snapshot,
    interrupt: &Interrupt,
    value: impl Fn(VertexId) -> Option<T>,
) -> Result<(), CliError> {
    let mut file = Output::create(path).map_err(CliError::Output)?;
    let failed = |source| CliError::Output(FormatError::Io { path: path.into(), action: "write", source });
    snapshot.try_for_each_vertex(|vertex, key| match value(vertex) {
        Some(value) => writeln!(file, "{} {value}", keys::text(&key)).map_err(failed),
        None => Ok(()),
    })?;
    interrupt.check()?;
    file.finish().map_err(CliError::Output)
}
