//! Options for reading graph files.

use super::{FormatName, graph_format};
use clap::builder::EnumValueParser;
use clap::{Args, ValueEnum};
use hedgerow::KeyKind;
use hedgerow_formats::{Columns, ReadOptions};
use std::path::{Path, PathBuf};

/// The name of standard input, in place of the name of a graph file.
pub const STANDARD_INPUT: &str = "-";

/// Options for reading a graph file.
#[derive(Clone, Debug, Args)]
pub struct FormatArgs {
    /// The format of the file
    #[arg(long, help_heading = "Input", value_parser = graph_format(), default_value = "auto")]
    pub format: FormatName,
    /// Also the vertices in this file, one key per line, with or without edges
    #[arg(long, help_heading = "Input", value_name = "FILE")]
    pub vertices: Option<PathBuf>,
    /// The kind of vertex keys [default: number]
    #[arg(long, help_heading = "Input", value_enum)]
    pub keys: Option<KeysName>,
    /// The meaning of the third and fourth column of an edge list
    #[arg(long, help_heading = "Input", value_parser = EnumValueParser::<ColumnsName>::new(), default_value = "auto")]
    pub columns: ColumnsName,
    /// Count and skip invalid lines, instead of stopping
    #[arg(long, help_heading = "Input")]
    pub skip_bad_lines: bool,
}

impl FormatArgs {
    /// The kind of vertex keys, if only these options determine it.
    pub fn keys(&self) -> KeysName {
        self.keys.unwrap_or(KeysName::Number)
    }

    /// The files that are read for this graph: the files of its format, and the file of
    /// `--vertices`.
    pub fn files(&self, graph: &Path) -> Vec<PathBuf> {
        self.read_options(1).files(graph).into_iter().chain(self.vertices.clone()).collect()
    }

    /// The options for reading the files, in batches of about `batch_size` edges and vertices.
    pub fn read_options(&self, batch_size: usize) -> ReadOptions {
        let (format, columns) = (self.format.format(), self.columns.columns());
        let skip_bad_lines = self.skip_bad_lines;
        ReadOptions { format, columns, skip_bad_lines, batch_size, ..ReadOptions::default() }
    }
}

/// The kind of vertex keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KeysName {
    /// Numbers from 0 to 2^64 - 1, mapped to dense ids
    Number,
    /// Text without blanks and commas, mapped to dense ids
    Text,
    /// Numbers from 0 to 2^32 - 2 that are the ids themselves; gaps cost memory
    Dense,
}

impl KeysName {
    /// The kind of keys.
    pub fn kind(self) -> KeyKind {
        match self {
            KeysName::Number => KeyKind::Number,
            KeysName::Text => KeyKind::String,
            KeysName::Dense => KeyKind::Dense,
        }
    }
}

/// The meaning of the columns of an edge list.
#[derive(Clone, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColumnsName {
    /// A weight, then a timestamp
    Auto,
    /// A timestamp, then a weight
    Timestamp,
    /// Ignored
    Topology,
    /// The names of all columns
    #[value(skip)]
    Names(Vec<String>),
}

impl ColumnsName {
    /// The columns.
    pub fn columns(&self) -> Columns {
        match self {
            ColumnsName::Auto | ColumnsName::Names(_) => Columns::Auto,
            ColumnsName::Timestamp => Columns::Timestamp,
            ColumnsName::Topology => Columns::Topology,
        }
    }

    /// Parses a meaning, or names separated by commas, of files with properties.
    pub fn with_names(text: &str) -> Result<Self, String> {
        let names: Vec<_> = text.split(',').map(|name| name.trim().to_owned()).collect();
        match &*names {
            [_] => ColumnsName::from_str(text, false).map_err(|_| {
                "expected auto, timestamp or topology, or the names of all columns, separated by commas"
                    .into()
            }),
            names if names.iter().any(String::is_empty) => Err("expected a name for each column".into()),
            _ => Ok(ColumnsName::Names(names)),
        }
    }
}
