//! Long results, written item by item: as lines, as JSON lines, as a JSON array, or as a JSON
//! object with a list.

use crate::error::CliError;
use hedgerow_formats::{FormatError, Output, without_compression};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The form of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A line of text per item.
    Text,
    /// A JSON object per line.
    JsonLines,
    /// A JSON array.
    JsonArray,
    /// A JSON object, whose list of this name has the items.
    JsonObject(&'static str),
}

/// A listing being written. The file gets its name when it is finished; standard output gets the
/// items at once.
pub struct Listing {
    file: Output,
    path: PathBuf,
    form: Form,
    items: u64,
}

impl Listing {
    /// Begins a listing in the file `path`, compressed if its name says so; `head` has the fields
    /// of a JSON object before the list.
    pub fn begin(path: &Path, form: Form, head: &impl Serialize) -> Result<Self, CliError> {
        let file = Output::create(path).map_err(CliError::Output)?;
        let mut listing = Listing { file, path: path.into(), form, items: 0 };
        match form {
            Form::Text | Form::JsonLines => {}
            Form::JsonArray => listing.write("[")?,
            Form::JsonObject(list) => {
                let head = pretty(head)?;
                let head = head.strip_suffix("\n}").unwrap_or(&head);
                listing.write(&format!("{head},\n  \"{list}\": ["))?;
            }
        }
        Ok(listing)
    }

    /// Writes an item: `line` if the listing is text, else `json`.
    pub fn item(&mut self, json: &impl Serialize, line: impl FnOnce() -> String) -> Result<(), CliError> {
        let separator = match (self.form, self.items) {
            (Form::Text | Form::JsonLines, _) => "",
            (_, 0) => "\n    ",
            _ => ",\n    ",
        };
        self.items += 1;
        match self.form {
            Form::Text => self.write(&(line() + "\n")),
            Form::JsonLines => self.write(&(compact(json)? + "\n")),
            _ => self.write(&format!("{separator}{}", compact(json)?)),
        }
    }

    /// Ends the listing; `tail` has the fields of a JSON object after the list.
    pub fn finish(mut self, tail: &impl Serialize) -> Result<(), CliError> {
        let end = if self.items > 0 { "\n  ]" } else { "]" };
        match self.form {
            Form::Text | Form::JsonLines => {}
            Form::JsonArray => self.write(&format!("{end}\n"))?,
            Form::JsonObject(_) => {
                let tail = pretty(tail)?;
                self.write(&format!("{end},{}\n", tail.strip_prefix('{').unwrap_or(&tail)))?;
            }
        }
        self.file.finish().map_err(CliError::Output)
    }

    fn write(&mut self, text: &str) -> Result<(), CliError> {
        let written = self.file.write_all(text.as_bytes());
        written.map_err(|source| {
            CliError::Output(FormatError::Io { path: self.path.clone(), action: "write", source })
        })
    }
}

/// Returns true if the name of a file says that it is a JSON array.
pub fn is_json_array(path: &Path) -> bool {
    without_compression(path).extension().is_some_and(|extension| extension == "json")
}

fn pretty(fields: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string_pretty(fields).map_err(io::Error::from).map_err(CliError::Stdout)
}

fn compact(item: &impl Serialize) -> Result<String, CliError> {
    serde_json::to_string(item).map_err(io::Error::from).map_err(CliError::Stdout)
}
