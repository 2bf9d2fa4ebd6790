//! Output of groups and their figures.

use super::Header;
use super::aggregate::Table;
use super::cell::Cell;
use super::groups::Line;
use super::print::unwritten;
use crate::console::Console;
use crate::error::CliError;
use crate::listing::is_json_array;
use crate::text;
use hedgerow_formats::{Output, PropertyFormat, csv_field};
use serde::{Serialize, Serializer};
use std::io::Write;
use std::path::Path;

/// The name of the key of a group in output.
const KEY: &str = "key";

/// The printed aggregates.
#[derive(Serialize)]
struct Aggregated<'a> {
    #[serde(flatten)]
    header: Header,
    #[serde(flatten)]
    figures: Figures<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Figures<'a> {
    OfAll {
        aggregates: Option<Named<'a>>,
    },
    OfGroups {
        by: &'a str,
        /// The number of groups, printed or not.
        group_count: u64,
        groups: Vec<Named<'a>>,
    },
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

/// Prints the figures of all edges, or a line for each group; `by` is the column whose values make
/// groups, with the number of all groups.
pub fn print(
    table: &Table,
    lines: &[Line],
    by: Option<(&str, u64)>,
    header: Header,
    console: &Console,
) -> Result<(), CliError> {
    let named = || lines.iter().map(|line| Named(table, line));
    let figures = match by {
        None => Figures::OfAll { aggregates: named().next() },
        Some((by, group_count)) => Figures::OfGroups { by, group_count, groups: named().collect() },
    };
    console.print(&Aggregated { header, figures }, |_| match lines {
        // Names would be in the way of a script that asks for one number.
        [line] if by.is_none() && line.figures.len() > 1 => {
            let rows: Vec<_> =
                Named(table, line).cells().map(|(name, cell)| (name.to_owned(), cell.to_string())).collect();
            let rows: Vec<_> = rows.iter().map(|(name, cell)| (name.as_str(), cell.clone())).collect();
            text::table(&rows)
        }
        _ => named().map(|line| line.joined(" ", Cell::to_string) + "\n").collect(),
    })
}

/// Writes the lines to a file, in the form that its name says.
pub fn write(table: &Table, lines: &[Line], path: &Path) -> Result<(), CliError> {
    let mut output = Output::create(path).map_err(CliError::Output)?;
    let named = || lines.iter().map(|line| Named(table, line));
    let json = |line: &Named<'_>| serde_json::to_string(line).map_err(|error| unwritten(path, error.into()));
    let content = match PropertyFormat::of_name(path) {
        Some(PropertyFormat::Csv) => {
            let key = table.by.iter().map(|_| KEY);
            let names = key.chain(table.columns.iter().map(|column| column.name.as_str()));
            let header = names.map(csv_field).collect::<Vec<_>>().join(",") + "\n";
            header + &named().map(|line| line.joined(",", Cell::csv) + "\n").collect::<String>()
        }
        Some(PropertyFormat::JsonLines) => {
            named().map(|line| Ok(json(&line)? + "\n")).collect::<Result<String, CliError>>()?
        }
        None if is_json_array(path) => {
            let lines = named().map(|line| json(&line)).collect::<Result<Vec<_>, _>>()?;
            format!("[\n{}\n]\n", lines.join(",\n"))
        }
        None => named().map(|line| line.joined(" ", Cell::to_string) + "\n").collect(),
    };
    output.write_all(content.as_bytes()).map_err(|source| unwritten(path, source))?;
    output.finish().map_err(CliError::Output)
}
