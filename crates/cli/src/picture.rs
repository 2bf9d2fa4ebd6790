//! Pictures in the format SVG.

use crate::error::CliError;
use hedgerow_formats::{FormatError, Output};
use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

/// Writes a drawn picture to a file.
pub fn write(path: &Path, drawn: Result<String, Box<dyn Error>>) -> Result<(), CliError> {
    let failed = |source| CliError::Output(FormatError::Io { path: path.into(), action: "write", source });
    let picture = drawn.map_err(|error| failed(io::Error::other(error.to_string())))?;
    let mut file = Output::create(path).map_err(CliError::Output)?;
    file.write_all(picture.as_bytes()).map_err(failed)?;
    file.finish().map_err(CliError::Output)
}
