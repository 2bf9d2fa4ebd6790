//! The schema of a new store, from the columns of its files.

use super::args::{ImportArgs, OnRepeat};
use super::tables::Table;
use crate::error::StoredError;
use crate::options::{FormatName, KeysName, table_format};
use crate::stored::declared::quoted;
use hedgerow::{ColumnType, EdgeSchema, Field, LabelSchema, ParallelSchema, RecordSchema};
use hedgerow_formats::{FormatError, HasHeader, PropertyFormat, SurveyColumn, hints_at_end, is_name_of_ends};
use std::path::Path;

/// The name of a column that alone is the value of an edge, and no property.
const WEIGHT: &str = "weight";

/// The name of the number of parallel edges, unless a column has it.
pub const NUMBER: &str = "number";

/// The schema of a new store, as its files tell it.
#[derive(Debug)]
pub struct Inferred {
    edges: EdgeSchema,
    vertices: Option<RecordSchema>,
    keys: KeysName,
}

impl Inferred {
    /// Infers from all columns of files of edges and of the file of vertices.
    pub fn of(tables: &[Table], vertices: Option<&Table>, args: &ImportArgs) -> Self {
        let keys = tables.iter().chain(vertices).flat_map(Table::keys);
        let are_numbers = keys.into_iter().all(SurveyColumn::holds_number_keys);
        Inferred {
            edges: edges(&joined(tables), args),
            vertices: vertices.map(|table| record(table.properties())),
            keys: if are_numbers { KeysName::Number } else { KeysName::Text },
        }
    }

    /// Adds to the options what they do not say, the content of edges if `decides_edges`; returns
    /// true if that was the content of edges or vertices.
    pub fn complete(self, args: &mut ImportArgs, decides_edges: bool) -> bool {
        if decides_edges {
            args.format.keys.get_or_insert(self.keys);
            let name = args.target.label.clone().unwrap_or_else(|| "edge".into());
            args.target.labels = vec![LabelSchema { name, edges: self.edges }];
        }
        let decides_vertices = self.vertices.is_some();
        args.target.vertex_properties.extend(self.vertices.unwrap_or_default().fields);
        decides_edges || decides_vertices
    }
}

/// The content of edges with these columns.
fn edges(columns: &[SurveyColumn], args: &ImportArgs) -> EdgeSchema {
    if args.on_repeat == Some(OnRepeat::Parallel) {
        let is_given = |column: &SurveyColumn| args.number_column.as_deref() == Some(column.name());
        let is_number =
            |column: &&SurveyColumn| is_given(column) || args.number_column.is_none() && is_numbering(column);
        let is_taken = |name: &str| columns.iter().any(|column| column.name() == name && !is_number(&column));
        let free = || (0..).map(|taken| NUMBER.to_owned() + &"_".repeat(taken)).find(|name| !is_taken(name));
        let numbering = columns.iter().find(is_number).map(|column| column.name().to_owned());
        let key = args.number_column.clone().or(numbering).or_else(free).unwrap_or_default();
        let record = record(columns.iter().filter(|column| !is_number(column)));
        return EdgeSchema::Parallel(ParallelSchema { key, record });
    }
    match columns {
        [] => EdgeSchema::Topology,
        [weight] if weight.name().eq_ignore_ascii_case(WEIGHT) && is_number(weight) => {
            EdgeSchema::Value(ColumnType::F64)
        }
        columns => EdgeSchema::Record(record(columns)),
    }
}

/// Returns true if a column without nulls has the usual name of numbers, as in exported files.
fn is_numbering(column: &SurveyColumn) -> bool {
    column.name() == NUMBER && column.holds_number_keys() && !column.has_nulls()
}

/// Returns true if a 64-bit float is exactly each cell of a column, in general.
fn is_number(column: &SurveyColumn) -> bool {
    !column.has_nulls() && column.fits_float()
}

fn record<'a>(columns: impl IntoIterator<Item = &'a SurveyColumn>) -> RecordSchema {
    let field = |column: &SurveyColumn| Field {
        name: column.name().to_owned(),
        value_type: column.value_type(),
        nullable: true,
    };
    RecordSchema { fields: columns.into_iter().map(field).collect() }
}

/// The columns of all files that are no keys, each name once.
fn joined(tables: &[Table]) -> Vec<SurveyColumn> {
    let mut joined: Vec<SurveyColumn> = Vec::new();
    for column in tables.iter().flat_map(Table::properties) {
        match joined.iter_mut().find(|other| other.name() == column.name()) {
            Some(other) => other.join(column),
            None => joined.push(column.clone()),
        }
    }
    joined
}

/// Returns true if an edge list can hold what was inferred.
pub fn fits_edge_list(args: &ImportArgs) -> bool {
    let is_plain = |label: &LabelSchema| matches!(label.edges.column(), ColumnType::Unit | ColumnType::F64);
    args.target.labels.iter().all(is_plain) && args.format.keys == Some(KeysName::Number)
}

/// Sets the format of files with `named` columns, unless their names and the content of the edges
/// decide it. All other files are `lists`.
pub fn read_as_tables(
    args: &mut ImportArgs,
    known: Option<&EdgeSchema>,
    named: &[&Path],
    lists: &[&Path],
) -> Result<(), StoredError> {
    let inferred = args.target.labels.first().map(|label| &label.edges);
    let edges = known.or(inferred).unwrap_or(&EdgeSchema::Topology);
    if named.iter().all(|path| args.format.format.of_edges(path, edges).is_some()) {
        return Ok(());
    }
    let is_json = |path: &&&Path| table_format(path) == Some(PropertyFormat::JsonLines);
    if let Some(other) = lists.iter().chain(named.iter().filter(is_json)).next() {
        let message = format!(
            "{} has another format than the other files: import them in two commands",
            other.display()
        );
        return Err(StoredError::Import(message));
    }
    args.format.format = FormatName::PropertiesCsv;
    Ok(())
}

/// Checks that the first two columns may be the ends of edges in files whose columns have no usual
/// names.
pub fn check_ends(tables: &[Table]) -> Result<(), StoredError> {
    let is_doubtful = |table: &&Table| {
        let hints = table.columns.iter().any(|column| hints_at_end(column.name()));
        !table.names_keys && (hints || !table.keys().iter().all(|key| key.looks_like_keys()))
    };
    let Some(table) = tables.iter().find(is_doubtful) else { return Ok(()) };
    let names: Vec<_> = table.columns.iter().map(|column| quoted(column.name())).collect();
    Err(StoredError::Import(format!(
        "{}: which of the columns {} are the ends of edges? --source-column and --destination-column name them",
        table.path.display(),
        names.join(", ")
    )))
}

/// Checks that there are rows, from which a schema can be inferred.
pub fn check_rows(tables: &[Table]) -> Result<(), StoredError> {
    let Some(table) = tables.iter().find(|table| table.rows == 0) else { return Ok(()) };
    Err(StoredError::Import(format!(
        "{}: there are no rows from which the types of the columns can be inferred; --labels declares them",
        table.path.display()
    )))
}

/// Checks that the values of each column have a type in common, if they have types. Options decide
/// about the numbers of parallel edges, and may about keys.
pub fn check_types<'a>(
    tables: impl IntoIterator<Item = &'a Table>,
    args: &ImportArgs,
) -> Result<(), FormatError> {
    let is_inferred = |column: &&SurveyColumn| {
        let is_number = args.number_column.as_deref() == Some(column.name());
        !is_number && (column.key().is_none() || args.format.keys.is_none())
    };
    let mut columns = tables.into_iter().flat_map(|table| &table.columns).filter(is_inferred);
    let misfit = columns.find_map(SurveyColumn::misfit);
    misfit.map_or(Ok(()), |misfit| Err(Box::new(misfit.clone()).into()))
}

/// The names of the columns of the ends, if all files have the same, and they are not usual.
pub fn unusual_ends(tables: &[Table]) -> Option<[String; 2]> {
    let ends = |table: &Table| match table.keys()[..] {
        [source, destination] => Some([source.name().to_owned(), destination.name().to_owned()]),
        _ => None,
    };
    let first = ends(tables.first()?)?;
    let is_same = |table: &Table| ends(table).as_ref() == Some(&first) && table.has_header == HasHeader::Yes;
    (tables.iter().all(is_same) && !is_name_of_ends(&first[0], &first[1])).then_some(first)
}

/// The error for a file whose first line may name columns or be an edge.
pub fn unclear(path: &Path, table: &Table) -> StoredError {
    let names: Vec<_> = table.columns.iter().map(|column| quoted(column.name())).collect();
    let (source, destination) = (names.first().cloned(), names.get(1).cloned());
    StoredError::Import(format!(
        "{}: the first line, {}, may name the columns or be an edge: with --source-column {} --destination-column {} it names them, \
         with --keys text it is an edge",
        path.display(),
        names.join(","),
        source.unwrap_or_default(),
        destination.unwrap_or_default(),
    ))
}
