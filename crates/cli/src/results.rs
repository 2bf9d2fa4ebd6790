//! Result files: one line `key value` per vertex that has a value.

use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::keys;
use hedgerow::{Snapshot, VertexId};
use hedgerow_formats::{FormatError, Output};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

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
            written = writeln!(file, "{} {value}", keys::text(&key));
        }
    });
    let failed = |source| FormatError::Io { path: path.into(), action: "write", source };
    written.map_err(failed).map_err(CliError::Output)?;
    interrupt.check()?;
    file.finish().map_err(CliError::Output)
}
