//! Files with named columns: their columns, their first rows, and digests of all rows.

use super::args::ImportArgs;
use super::repeats::{RowDigest, Rows, digest};
use crate::console::Console;
use crate::error::CliError;
use crate::options::ColumnsName;
use crate::progress;
use crate::threads::Threads;
use hedgerow_formats::{
    FormatError, HasHeader, LineSchema, PropertyFormat, PropertyOptions, Row, Survey, SurveyColumn,
    read_ahead,
};
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Rows that are read to judge the first line.
const JUDGED: usize = 1000;

/// A file with named columns.
#[derive(Debug)]
pub struct Table {
    pub path: PathBuf,
    pub options: PropertyOptions,
    pub has_header: HasHeader,
    /// True if the names of columns, or options, say which are the keys.
    pub names_keys: bool,
    pub delimiter: Option<u8>,
    /// The columns that are not left out, in the order of the file.
    pub columns: Vec<SurveyColumn>,
    /// The rows read.
    pub rows: u64,
    /// The cells of the first rows, those of columns that are left out, too.
    pub first: Vec<Vec<String>>,
}

/// The options that files with named columns are surveyed with.
pub fn options(args: &ImportArgs, format: PropertyFormat, lines: LineSchema) -> PropertyOptions {
    PropertyOptions {
        source_column: args.source_column.clone(),
        destination_column: args.destination_column.clone(),
        number_column: args.number_column.clone(),
        delimiter: args.delimiter,
        columns: match &args.format.columns {
            ColumnsName::Names(names) if matches!(lines, LineSchema::Edges(_)) => Some(names.clone()),
            _ => None,
        },
        ignored: args.ignore.clone(),
        zone: args.time_zone.clone().unwrap_or_default(),
        ..PropertyOptions::new(format, lines)
    }
}

/// The digest of a row. Each row without a number is an edge of its own if edges `are_parallel`.
pub fn row_digest(rows: &Rows, path: &Path, row: &Row, are_parallel: bool) -> RowDigest {
    let own = || if are_parallel { digest((path, row.line)) } else { 0 };
    rows.row(row.keys, row.number.unwrap_or_else(own), row.content)
}

impl Table {
    /// Reads as much of the file as it takes to judge its first line. An error comes with the
    /// judgement.
    pub fn judge(path: &Path, options: &PropertyOptions) -> Result<Self, (HasHeader, FormatError)> {
        let mut survey = Survey::open(path, options).map_err(|error| (HasHeader::No, error))?;
        survey.sample(JUDGED).map_err(|error| (survey.has_header(), error))?;
        Ok(Table::of(path, options, &survey))
    }

    /// Reads the whole file, each row into `rows`; each without a number is an edge of its own if
    /// edges `are_parallel`.
    pub fn read(
        path: &Path,
        options: &PropertyOptions,
        are_parallel: bool,
        rows: &mut Rows,
        (threads, console): (&Threads, &Console),
    ) -> Result<Self, CliError> {
        let mut survey = Survey::open(path, options)?;
        let bar = progress::of_bytes(console, "looking", survey.progress().total);
        let (end, Ok(())) = read_ahead(
            threads.pool(),
            |(some, done): &mut (Vec<Row>, u64)| {
                let read = survey.read_on(threads.pool())?;
                *done = survey.progress().done;
                let has_read = read.is_some();
                *some = read.unwrap_or_default();
                Ok::<_, FormatError>(has_read)
            },
            |(some, done)| {
                some.drain(..).for_each(|row| rows.push(row_digest(rows, path, &row, are_parallel)));
                bar.set_position(*done);
                Ok::<_, Infallible>(())
            },
        );
        end?;
        bar.finish_and_clear();
        Ok(Table::of(path, options, &survey))
    }

    fn of(path: &Path, options: &PropertyOptions, survey: &Survey) -> Self {
        Table {
            path: path.into(),
            options: options.clone(),
            has_header: survey.has_header(),
            names_keys: survey.names_keys(),
            delimiter: survey.delimiter(),
            columns: survey.columns().cloned().collect(),
            rows: survey.rows(),
            first: survey.first().to_vec(),
        }
    }

    /// The columns of the keys, in their order.
    pub fn keys(&self) -> Vec<&SurveyColumn> {
        let mut keys: Vec<_> = self.columns.iter().filter(|column| column.key().is_some()).collect();
        keys.sort_by_key(|column| column.key());
        keys
    }

    /// The columns that are no keys.
    pub fn properties(&self) -> impl Iterator<Item = &SurveyColumn> {
        self.columns.iter().filter(|column| column.key().is_none())
    }

    /// Returns true if the reader of edge lists, which is faster, reads edges between numbers from
    /// this file: its first columns are the ends.
    pub fn is_like_edge_list(&self) -> bool {
        let mut ends = self.columns.iter().map(SurveyColumn::key).take(2);
        matches!(self.delimiter, Some(b',' | b'\t'))
            && self.has_header == HasHeader::Yes
            && ends.by_ref().eq([Some(0), Some(1)])
            && self.keys().iter().all(|key| key.holds_number_keys())
    }
}
