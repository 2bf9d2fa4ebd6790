//! Looks at the files before an import: what they tell of a new store, how they are read, and
//! whether rows would be lost.

use super::args::{ImportArgs, OnRepeat};
use super::conflict::{self, Reader};
use super::infer::{self, Inferred};
use super::repeats::{Repeats, Rows};
use super::sources::can_be_read_again;
use super::tables::{self, Table};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::options::{ColumnsName, FormatName, KeysName, table_format};
use crate::stored;
use crate::threads::Threads;
use hedgerow::store::{self, StoreOptions};
use hedgerow::{ColumnType, EdgeSchema, ErrorKind, KeyKind, LabelSchema, RecordSchema, Topology};
use hedgerow_formats::{GraphFormat, HasHeader, LineSchema, PropertyFormat, PropertyOptions, SurveyColumn};
use std::path::Path;
use std::time::{Duration, Instant};

/// An import, with what its files tell.
#[derive(Debug)]
pub struct Plan {
    /// The options as given.
    pub given: ImportArgs,
    /// The options with what was inferred.
    pub args: ImportArgs,
    /// True if the store will be created.
    pub is_new: bool,
    /// True if the files decided about the schema of a new store.
    pub is_inferred: bool,
    /// The files with named columns that were read.
    pub tables: Vec<Table>,
    pub vertices: Option<Table>,
    /// The comparison of all rows with each other, if it was necessary.
    pub repeats: Option<Repeats>,
    /// The time that this look at the files took.
    pub took: Duration,
    /// True if the columns of a file have names.
    has_names: bool,
}

/// The first look at a file of edges.
struct Look {
    /// The options for reading it, unless it is an edge list or another graph file.
    options: Option<PropertyOptions>,
    /// True if its columns have names.
    has_names: bool,
    /// The names of the columns of its ends, if they are not usual.
    ends: Option<[String; 2]>,
}

/// The parts of an import that are known before its files are read.
struct Known {
    store: Option<StoreOptions>,
    /// The content of the edges; `None` if the files decide.
    edges: Option<EdgeSchema>,
    vertices: Option<RecordSchema>,
    keys: Option<KeyKind>,
    is_undirected: bool,
}

impl Plan {
    /// Reads the files as far as necessary.
    ///
    /// # Errors
    /// A file cannot be read; its first line could be names or values; or rows would be lost.
    pub fn of(given: &ImportArgs, threads: &Threads, console: &Console) -> Result<Self, CliError> {
        let started = Instant::now();
        let mut args = given.clone();
        let known = Known::of(&args)?;
        let mut rows = Rows::new(known.is_undirected);
        let (mut tables, mut has_names) = (Vec::new(), false);
        let (mut named, mut lists) = (Vec::<&Path>::new(), Vec::<&Path>::new());
        let mut ends = None;
        for path in &given.files {
            let look = known.look(path, &args)?;
            has_names |= look.has_names;
            ends = ends.or(look.ends);
            if look.options.is_none() {
                lists.push(path);
            }
            if let Some(options) = look.options {
                named.push(path);
                if can_be_read_again(path) && known.reads_all(&args) {
                    let are_parallel = args.on_repeat == Some(OnRepeat::Parallel)
                        || known.edges.as_ref().is_some_and(|edges| edges.key().is_some());
                    tables.push(Table::read(path, &options, are_parallel, &mut rows, (threads, console))?);
                }
            }
        }
        let vertices = known.vertex_table(&args, (threads, console))?;
        let mut is_inferred = false;
        if known.edges.is_none() {
            infer::check_rows(&tables)?;
            infer::check_ends(&tables)?;
            infer::check_types(&tables, &args)?;
        }
        if known.store.is_none() {
            infer::check_types(&vertices, &args)?;
        }
        if known.store.is_none() && !tables.is_empty() | vertices.is_some() {
            let inferred = Inferred::of(&tables, vertices.as_ref(), &args);
            is_inferred = inferred.complete(&mut args, known.edges.is_none() && !tables.is_empty());
        }
        let is_edge_list = known.edges.is_none()
            && !is_forced(given)
            && !tables.is_empty()
            && tables.iter().all(Table::is_like_edge_list)
            && infer::fits_edge_list(&args);
        if !named.is_empty() && !is_edge_list {
            infer::read_as_tables(&mut args, known.edges.as_ref(), &named, &lists)?;
            if let Some([source, destination]) = infer::unusual_ends(&tables).or(ends) {
                args.source_column.get_or_insert(source);
                args.destination_column.get_or_insert(destination);
            }
        }
        let mut plan = Plan {
            given: given.clone(),
            args,
            is_new: known.store.is_none(),
            is_inferred,
            tables,
            vertices,
            repeats: None,
            took: Duration::ZERO,
            has_names,
        };
        let keys = known.keys.unwrap_or(plan.args.format.keys().kind());
        let reader = Reader { args: &plan.args.clone(), keys, threads, console };
        plan.compare(&known, rows, reader)?;
        plan.took = started.elapsed();
        Ok(plan)
    }

    /// Compares the rows with each other, if rows could be lost.
    fn compare(&mut self, known: &Known, mut rows: Rows, reader: Reader<'_>) -> Result<(), CliError> {
        let label = self.label(known);
        let edges = &label.edges;
        if self.args.on_repeat == Some(OnRepeat::Parallel) && edges.key().is_none() {
            return Err(conflict::not_parallel(&self.args, &label.name, edges, self.is_new).into());
        }
        let files: Vec<_> = self.args.files.iter().filter(|path| can_be_read_again(path)).cloned().collect();
        let is_checked = self.must_compare(edges) && !files.is_empty();
        let are_lists = self.tables.is_empty();
        if are_lists && is_checked && edges.column() == ColumnType::F64 {
            reader.read_weights(&files, &mut rows)?;
        } else if are_lists {
            return Ok(());
        }
        let repeats = rows.compare(reader.threads);
        if is_checked && !repeats.conflicts.is_empty() {
            let example = match are_lists {
                true => reader.example(&files, &rows, &repeats)?,
                false => {
                    let options = |table: &Table| (table.path.clone(), table.options.clone());
                    let tables: Vec<_> = self.tables.iter().map(options).collect();
                    reader.example_in_tables(&tables, edges.key().is_some(), &rows, &repeats)?
                }
            };
            if let Some([first, second]) = example {
                let (replaced, rows) = (repeats.replaced, repeats.rows);
                return Err(StoredError::Repeats { replaced, rows, first, second }.into());
            }
        }
        self.repeats = Some(repeats);
        Ok(())
    }

    /// Returns true if rows with the values of these edges must not replace each other.
    pub fn must_compare(&self, edges: &EdgeSchema) -> bool {
        must_compare(&self.args, edges, self.has_names)
    }

    /// The time zone of times without an offset, if a file has some.
    pub fn time_zone(&self) -> Option<String> {
        let mut columns = self.tables.iter().chain(&self.vertices).flat_map(Table::properties);
        columns
            .any(SurveyColumn::needs_zone)
            .then(|| self.args.time_zone.clone().unwrap_or_default().to_string())
    }

    /// The label of the edges.
    fn label(&self, known: &Known) -> LabelSchema {
        let named =
            |label: &&LabelSchema| self.args.target.label.as_ref().is_none_or(|name| label.name == *name);
        let inferred = self.args.target.labels.iter().find(named).or(self.args.target.labels.first());
        let name = self.args.target.label.clone().or(inferred.map(|label| label.name.clone()));
        let edges = known.edges.clone().or(inferred.map(|label| label.edges.clone()));
        LabelSchema {
            name: name.unwrap_or_else(|| "edge".into()),
            edges: edges.unwrap_or(EdgeSchema::Topology),
        }
    }
}

impl Known {
    fn of(args: &ImportArgs) -> Result<Self, CliError> {
        let store = match store::manifest(&args.store) {
            Ok(manifest) => Some(manifest.options),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(StoredError::from(error).into()),
        };
        let edges = match &store {
            Some(store) => {
                let (_, schema) = stored::label(&store.catalog, args.target.label.as_deref(), &args.store)?;
                Some(schema.edges.clone())
            }
            None if args.target.weights => Some(EdgeSchema::Value(ColumnType::F64)),
            None => {
                let is_named =
                    |label: &&LabelSchema| args.target.label.as_ref().is_none_or(|name| label.name == *name);
                args.target.labels.iter().find(is_named).map(|label| label.edges.clone())
            }
        };
        let vertices = match &store {
            Some(store) => Some(store.catalog.vertices().clone()),
            None if args.target.vertex_properties.is_empty() => None,
            None => Some(RecordSchema { fields: args.target.vertex_properties.clone() }),
        };
        let keys = store.as_ref().map(|store| store.keys);
        let is_undirected = match &store {
            Some(store) => store.topology == Topology::Undirected,
            None => args.target.undirected,
        };
        Ok(Known {
            store,
            edges,
            vertices,
            keys: keys.or(args.format.keys.map(KeysName::kind)),
            is_undirected,
        })
    }

    /// Looks at the first lines of a file of edges.
    fn look(&self, path: &Path, args: &ImportArgs) -> Result<Look, CliError> {
        let list = |has_names| Ok(Look { options: None, has_names, ends: None });
        let Some(format) = format_of(path, args) else { return list(false) };
        let edges = self.edges.clone().unwrap_or(EdgeSchema::Topology);
        let usual =
            (self.edges.is_none() && args.on_repeat == Some(OnRepeat::Parallel)).then_some(infer::NUMBER);
        let number_column = args.number_column.as_deref().or(edges.key()).or(usual).map(str::to_owned);
        let options = tables::options(args, format, LineSchema::Edges(edges.clone()));
        // Keys with zeros before them are text if the files decide.
        let keys = self.keys.or(self.edges.as_ref().map(|_| args.format.keys().kind()));
        let has_number_keys = keys.is_some_and(|keys| keys != KeyKind::String);
        let options = PropertyOptions { number_column, has_number_keys, ..options };
        let is_declared = self.edges.is_some() && args.format.format.of_edges(path, &edges).is_some();
        if is_forced(args) || is_declared || format == PropertyFormat::JsonLines {
            return Ok(Look { options: Some(options), has_names: true, ends: None });
        }
        if !can_be_read_again(path) {
            return list(false);
        }
        let table = match Table::judge(path, &options) {
            Ok(table) => table,
            Err((HasHeader::Yes | HasHeader::Unclear, error))
                if self.edges.is_none() && self.keys != Some(KeyKind::Number) =>
            {
                return Err(error.into());
            }
            // It may be an edge list, whose reader has better messages.
            Err((has_header, _)) => return list(has_header == HasHeader::Yes),
        };
        match (table.has_header, &self.edges) {
            (HasHeader::Unclear, None) if self.keys.is_none() => Err(infer::unclear(path, &table).into()),
            (HasHeader::No | HasHeader::Unclear, _) => list(false),
            (HasHeader::Yes, Some(_)) if self.keys != Some(KeyKind::String) && table.is_like_edge_list() => {
                list(true)
            }
            (HasHeader::Yes, _) => {
                let ends = infer::unusual_ends(std::slice::from_ref(&table));
                Ok(Look { options: Some(options), has_names: true, ends })
            }
        }
    }

    /// Returns true if all rows must be read before anything is imported.
    fn reads_all(&self, args: &ImportArgs) -> bool {
        self.edges.as_ref().is_none_or(|edges| args.dry_run || must_compare(args, edges, true))
    }

    /// The file of vertices, if its columns have names and no declaration.
    fn vertex_table(
        &self,
        args: &ImportArgs,
        means: (&Threads, &Console),
    ) -> Result<Option<Table>, CliError> {
        let Some(path) = args.format.vertices.as_deref() else { return Ok(None) };
        let named = table_format(path).or(args.format.format.properties());
        let is_declared = self.vertices.as_ref().is_some_and(|schema| !schema.fields.is_empty());
        let Some(format) = named.filter(|_| !is_declared && can_be_read_again(path)) else {
            return Ok(None);
        };
        let lines = LineSchema::Vertices(RecordSchema::default());
        let options = tables::options(args, format, lines);
        let Ok(table) = Table::judge(path, &options) else { return Ok(None) };
        if table.has_header != HasHeader::Yes {
            return Ok(None);
        }
        Table::read(path, &options, false, &mut Rows::new(false), means).map(Some)
    }
}

/// Returns true if rows with the values of these edges must not replace each other. Edges of graph
/// files, whose columns have no names, have the last weight by default.
fn must_compare(args: &ImportArgs, edges: &EdgeSchema, has_names: bool) -> bool {
    let is_error = match args.on_repeat {
        None => has_names,
        Some(what) => what == OnRepeat::Error || what == OnRepeat::Parallel && edges.key().is_some(),
    };
    is_error && edges.column() != ColumnType::Unit
}

/// Returns true if options say that the files of edges have named columns.
fn is_forced(args: &ImportArgs) -> bool {
    args.format.format.properties().is_some()
        || matches!(args.format.columns, ColumnsName::Names(_))
        || args.delimiter.is_some()
        || !args.ignore.is_empty()
        || [&args.source_column, &args.destination_column, &args.number_column]
            .iter()
            .any(|name| name.is_some())
}

/// The format of a file, if its columns may have names.
fn format_of(path: &Path, args: &ImportArgs) -> Option<PropertyFormat> {
    let named = (args.format.format == FormatName::Auto).then(|| table_format(path)).flatten();
    let may_have_names =
        matches!(GraphFormat::of_name(path), None | Some(GraphFormat::Csv | GraphFormat::Tsv));
    let is_forced = may_have_names && args.format.format == FormatName::Auto && is_forced(args);
    let forced = is_forced.then_some(PropertyFormat::Csv);
    args.format.format.properties().or(named).or(forced)
}
