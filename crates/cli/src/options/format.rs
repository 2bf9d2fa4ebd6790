//! The formats of graph files by their names on the command line.

use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hedgerow::{ColumnType, EdgeSchema};
use hedgerow_formats::{GraphFormat, PropertyFormat, without_compression};
use std::path::Path;

/// The format of a graph file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// By the name or the first line of the file, else edges
    Auto,
    /// `source destination [weight] [timestamp]`; also .el and .wel of the GAP benchmark suite
    Edges,
    /// Like edges, written with tabs
    Tsv,
    /// Like edges, written with commas
    Csv,
    /// Edges in x.e, vertices in x.v beside it, as in LDBC Graphalytics
    Graphalytics,
    /// `vertex neighbor neighbor ...`
    Adjacency,
    /// Matrix Market: `row column [value]`
    Mtx,
    /// The serialized graph of the GAP benchmark suite
    Sg,
    /// The serialized graph of the GAP benchmark suite with weights
    Wsg,
    /// CSV with a first line of column names: the ends of an edge, and its properties; also .csv if
    /// edges have records
    PropertiesCsv,
    /// A JSON object per line, with the same names; also .jsonl and .ndjson
    Jsonl,
}

impl FormatName {
    /// The format of a graph without properties; `None` to detect it from the file.
    pub fn format(self) -> Option<GraphFormat> {
        Some(match self {
            FormatName::Auto | FormatName::PropertiesCsv | FormatName::Jsonl => return None,
            FormatName::Edges => GraphFormat::EdgeList,
            FormatName::Tsv => GraphFormat::Tsv,
            FormatName::Csv => GraphFormat::Csv,
            FormatName::Graphalytics => GraphFormat::Graphalytics,
            FormatName::Adjacency => GraphFormat::Adjacency,
            FormatName::Mtx => GraphFormat::MatrixMarket,
            FormatName::Sg => GraphFormat::Serialized,
            FormatName::Wsg => GraphFormat::WeightedSerialized,
        })
    }

    /// The format of lines with properties; `None` for formats without.
    pub fn properties(self) -> Option<PropertyFormat> {
        match self {
            FormatName::PropertiesCsv => Some(PropertyFormat::Csv),
            FormatName::Jsonl => Some(PropertyFormat::JsonLines),
            _ => None,
        }
    }

    /// The format of a file of edges with properties; `None` for a file without. A `.csv`, `.tsv`
    /// or `.psv` file is an edge list if an edge list can hold the data of the edges.
    pub fn of_edges(self, path: &Path, edges: &EdgeSchema) -> Option<PropertyFormat> {
        let named = (self == FormatName::Auto).then(|| table_format(path)).flatten();
        match named {
            None => self.properties(),
            Some(PropertyFormat::Csv) => {
                let is_edge_list = matches!(edges.column(), ColumnType::Unit | ColumnType::F64);
                (!is_edge_list).then_some(PropertyFormat::Csv)
            }
            named => named,
        }
    }

    /// The format of a file of vertices with properties; `None` if each of its lines is a key.
    pub fn of_vertices(self, path: &Path, has_properties: bool) -> Option<PropertyFormat> {
        match table_format(path) {
            None => self.properties(),
            Some(PropertyFormat::Csv) => {
                (has_properties || self.properties().is_some()).then_some(PropertyFormat::Csv)
            }
            named => named,
        }
    }
}

/// The format that the name of a file with properties has.
pub fn table_format(path: &Path) -> Option<PropertyFormat> {
    PropertyFormat::of_name(path).or_else(|| {
        let end = without_compression(path).extension()?.to_str()?.to_ascii_lowercase();
        matches!(&*end, "tsv" | "psv").then_some(PropertyFormat::Csv)
    })
}

/// Parses one of the formats without properties.
pub fn graph_format() -> impl TypedValueParser<Value = FormatName> {
    let names = FormatName::value_variants().iter().filter(|name| name.properties().is_none());
    let names = names.filter_map(ValueEnum::to_possible_value).collect::<Vec<_>>();
    PossibleValuesParser::new(names).try_map(|name| FormatName::from_str(&name, false))
}
