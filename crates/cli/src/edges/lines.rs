//! Output of groups and their figures.

use super::Header;
use super::aggregate::Table;
use super::cell::Cell;
use super::groups::Line;
use crate::console::Console;
use crate::error::CliError;
use crate::listing::{Form, Listing, NoFields};
use crate::text;
use hedgerow_formats::{PropertyFormat, STANDARD_OUTPUT, csv_field};
use serde::{Serialize, Serializer};
use std::path::Path;

/// The name of the key of a group in output.
const KEY: &str = "key";

/// The beginning of printed groups.
#[derive(Serialize)]
struct Head<'a> {
    #[serde(flatten)]
    header: Header,
    by: &'a str,
    /// The number of groups, printed or not.
    group_count: u64,
}

/// The printed figures of all edges.
#[derive(Serialize)]
struct OfAll<'a> {
    #[serde(flatten)]
    header: &'a Header,
    aggregates: Named<'a>,
}

/// A line, to be serialized with the names of its columns.
struct Named<'a>(&'a Table, &'a Line);

impl Named<'_> {
    fn cells(&self) -> impl Iterator<Item = (&str, &Cell)> {
        let Named(table, line) = self;
        let names = table.columns.iter().map(|column| column.name.as_str());
        line.key.iter().map(|key| (KEY, key)).chain(names.zip(&line.figures))
    }

    /// The cells, separated.
    fn joined(&self, separator: &str, text: fn(&Cell) -> String) -> String {
        self.cells().map(|(_, cell)| text(cell)).collect::<Vec<_>>().join(separator)
    }
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.cells())
    }
}

/// Prints the figures of all edges.
pub fn print_all(table: &Table, line: &Line, header: &Header, console: &Console) -> Result<(), CliError> {
    let aggregates = Named(table, line);
    console.print(&OfAll { header, aggregates }, |OfAll { aggregates, .. }| match &*line.figures {
        // A name would be in the way of a script that asks for one number.
        [figure] => format!("{figure}\n"),
        _ => {
            let rows: Vec<_> = aggregates.cells().map(|(name, cell)| (name, cell.to_string())).collect();
            text::table(&rows)
        }
    })
}

/// Prints a line for each group; `by` is the column whose values make groups, with the number of
/// all groups.
pub fn print(
    table: &Table,
    lines: &[Line],
    (by, group_count): (&str, u64),
    header: Header,
    console: &Console,
) -> Result<(), CliError> {
    let form = Form::of_console(console, "groups");
    let head = Head { header, by, group_count };
    list(table, lines, Listing::begin(Path::new(STANDARD_OUTPUT), form, &head)?, false)
}

/// Writes the lines to a file, in the form that its name says.
pub fn write(table: &Table, lines: &[Line], path: &Path) -> Result<(), CliError> {
    let mut listing = Listing::begin(path, Form::of_file(path), &NoFields {})?;
    let is_csv = PropertyFormat::of_name(path) == Some(PropertyFormat::Csv);
    if is_csv {
        let key = table.by.iter().map(|_| KEY);
        let names = key.chain(table.columns.iter().map(|column| column.name.as_str()));
        listing.line(&names.map(csv_field).collect::<Vec<_>>().join(","))?;
    }
    list(table, lines, listing, is_csv)
}

fn list(table: &Table, lines: &[Line], mut listing: Listing, is_csv: bool) -> Result<(), CliError> {
    for line in lines {
        let line = Named(table, line);
        listing.item(&line, || {
            if is_csv { line.joined(",", Cell::csv) } else { line.joined(" ", Cell::to_string) }
        })?;
    }
    listing.finish(&NoFields {})
}
