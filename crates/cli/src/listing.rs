//! Long results, written item by item: as lines, as JSON lines, as a JSON array, or as a JSON
//! object with a list.

use crate::console::Console;
use crate::error::CliError;
use hedgerow_formats::{FormatError, Output, PropertyFormat, without_compression};
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
    JsonObject { list: &'static str, is_one_line: bool },
}

impl Form {
    /// The form on standard output; `list` is the name of the list in JSON.
    pub fn of_console(console: &Console, list: &'static str) -> Self {
        match console.is_json() {
            true => Form::JsonObject { list, is_one_line: console.is_json_lines() },
            false => Form::Text,
        }
    }

    /// The form that the name of a file says; of CSV, too, the items are lines of text.
    pub fn of_file(path: &Path) -> Self {
        let is_json = || without_compression(path).extension().is_some_and(|extension| extension == "json");
        match PropertyFormat::of_name(path) {
            Some(PropertyFormat::JsonLines) => Form::JsonLines,
            None if is_json() => Form::JsonArray,
            Some(PropertyFormat::Csv) | None => Form::Text,
        }
    }

    /// The text between the items of a list in JSON, apart from the comma.
    fn line_end(self) -> &'static str {
        if matches!(self, Form::JsonObject { is_one_line: true, .. }) { "" } else { "\n" }
    }
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
    /// of a JSON object before the list, of which there is at least one.
    pub fn begin(path: &Path, form: Form, head: &impl Serialize) -> Result<Self, CliError> {
        let file = Output::create(path).map_err(CliError::Output)?;
        let mut listing = Listing { file, path: path.into(), form, items: 0 };
        listing.write(|file| match form {
            Form::Text | Form::JsonLines => Ok(()),
            Form::JsonArray => file.write_all(b"["),
            Form::JsonObject { list, .. } => {
                let head = serde_json::to_string(head)?;
                write!(file, "{},\"{list}\":[", head.strip_suffix('}').unwrap_or(&head))
            }
        })?;
        Ok(listing)
    }

    /// Writes an item: `line` if the listing is text, else `json`.
    pub fn item(&mut self, json: &impl Serialize, line: impl FnOnce() -> String) -> Result<(), CliError> {
        let (form, is_first) = (self.form, self.items == 0);
        self.items += 1;
        self.write(|file| match form {
            Form::Text => writeln!(file, "{}", line()),
            Form::JsonLines => {
                serde_json::to_writer(&mut *file, json)?;
                file.write_all(b"\n")
            }
            Form::JsonArray | Form::JsonObject { .. } => {
                write!(file, "{}{}", if is_first { "" } else { "," }, form.line_end())?;
                Ok(serde_json::to_writer(file, json)?)
            }
        })
    }

    /// Writes a line that is no item, if the listing is text.
    pub fn line(&mut self, line: &str) -> Result<(), CliError> {
        match self.form {
            Form::Text => self.write(|file| writeln!(file, "{line}")),
            _ => Ok(()),
        }
    }

    /// Passes everything written so far on, for a reader who waits for it.
    pub fn flush(&mut self) -> Result<(), CliError> {
        self.write(Output::flush)
    }

    /// Ends the listing; `tail` has the fields of a JSON object after the list.
    pub fn finish(mut self, tail: &impl Serialize) -> Result<(), CliError> {
        let (form, line_end) = (self.form, if self.items > 0 { self.form.line_end() } else { "" });
        self.write(|file| match form {
            Form::Text | Form::JsonLines => Ok(()),
            Form::JsonArray => writeln!(file, "{line_end}]"),
            Form::JsonObject { .. } => {
                let tail = serde_json::to_string(tail)?;
                let fields = tail.strip_prefix('{').unwrap_or(&tail);
                writeln!(file, "{line_end}]{}{fields}", if fields == "}" { "" } else { "," })
            }
        })?;
        self.file.finish().map_err(CliError::Output)
    }

    fn write(&mut self, write: impl FnOnce(&mut Output) -> io::Result<()>) -> Result<(), CliError> {
        write(&mut self.file).map_err(|source| {
            CliError::Output(FormatError::Io { path: self.path.clone(), action: "write", source })
        })
    }
}

/// No fields, before or after a list.
#[derive(Serialize)]
pub struct NoFields {}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(form: Form, items: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("listing");
        let head = serde_json::json!({ "store": "s" });
        let mut listing = Listing::begin(&path, form, &head).unwrap();
        listing.line("header").unwrap();
        items.iter().for_each(|item| listing.item(item, || format!("item {item}")).unwrap());
        listing.finish(&NoFields {}).unwrap();
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn listings_have_their_form_also_without_items() {
        let object = |is_one_line| Form::JsonObject { list: "all", is_one_line };
        for (form, items, expected) in [
            (Form::Text, &[1, 2][..], "header\nitem 1\nitem 2\n"),
            (Form::Text, &[], "header\n"),
            (Form::JsonLines, &[1, 2], "1\n2\n"),
            (Form::JsonArray, &[1, 2], "[\n1,\n2\n]\n"),
            (Form::JsonArray, &[], "[]\n"),
            (object(false), &[1, 2], "{\"store\":\"s\",\"all\":[\n1,\n2\n]}\n"),
            (object(true), &[1, 2], "{\"store\":\"s\",\"all\":[1,2]}\n"),
            (object(true), &[], "{\"store\":\"s\",\"all\":[]}\n"),
        ] {
            assert_eq!(listed(form, items), expected);
        }
    }
}
