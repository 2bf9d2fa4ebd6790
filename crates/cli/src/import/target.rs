//! The store to import into: an existing one, or one that will be created.

use super::ImportArgs;
use super::sources::Sources;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::options::KeysName;
use crate::stored::wait::WaitArgs;
use crate::stored::{self, declared, number};
use hedgerow::store::{self, FirstState, StoreOptions};
use hedgerow::{
    Catalog, CheckpointOptions, CheckpointReport, Column, ColumnType, EdgeSchema, EngineKind, ErrorKind,
    Graph, GraphOptions, KeyKind, LabelId, LabelSchema, RecordSchema, Topology,
};
use std::num::NonZeroUsize;
use std::path::Path;

/// A store, and the options to open or create its graph.
#[derive(Debug)]
pub struct Target<'a> {
    args: &'a ImportArgs,
    store: &'a Path,
    exists: bool,
    is_on_disk: bool,
    options: GraphOptions,
    /// The label that edges get.
    pub label: LabelId,
    pub schema: LabelSchema,
    /// The properties of vertices.
    pub vertices: RecordSchema,
    pub keys: KeyKind,
    topology: Topology,
    /// Edges and vertices per commit, unless it is the usual number.
    pub chunk: Option<NonZeroUsize>,
}

/// Minimum and maximum number of edges per commit of an engine that keeps edges on disk: few,
/// because a commit is in memory.
const SMALLEST_CHUNK_ON_DISK: NonZeroUsize = NonZeroUsize::new(1 << 12).expect("it is not 0");
const LARGEST_CHUNK_ON_DISK: usize = 1 << 16;

/// Bytes of the engine's memory per edge of a commit. An edge takes some hundred bytes while it is
/// read, sorted and logged. Smaller commits have fewer neighbors of a vertex together, and take
/// longer.
const MEMORY_PER_EDGE: usize = 1024;

impl<'a> Target<'a> {
    /// Looks for the store and collects the options. Options that contradict the store are refused
    /// when it is opened.
    pub fn look(args: &'a ImportArgs, sources: &Sources<'_>, threads: usize) -> Result<Self, CliError> {
        let (exists, made_with) = match store::manifest(&args.store) {
            Ok(manifest) => (true, asked_of(args, manifest.options)?),
            Err(error) if error.kind() == ErrorKind::NotFound => (false, asked_of_new(args)?),
            Err(error) => return Err(StoredError::from(error).into()),
        };
        let is_on_disk = made_with.engine_name().parse().is_ok_and(EngineKind::owns_files);
        let StoreOptions { keys, topology, strict, catalog, .. } = made_with;
        let chunk = args.chunk.or_else(|| is_on_disk.then(|| chunk_on_disk(args.memory.engine_bytes())));
        let (label, schema) = stored::label(&catalog, args.label.as_deref(), &args.store)?;
        sources.check_options(&schema.edges, catalog.vertices())?;
        check_values(args, sources, schema)?;
        let options = match exists && args.labels.is_empty() {
            // The labels come from the store when it is opened.
            true => GraphOptions::new(),
            false => catalog.labels().iter().cloned().fold(GraphOptions::new(), GraphOptions::label_schema),
        };
        let options = options
            .keys(keys)
            .topology(topology)
            .strict(strict)
            .vertex_properties(catalog.vertices().clone())
            .durability(args.durability.durability())
            .threads(threads);
        let options = args.memory.limit(options);
        // The requested engine, even if it cannot keep edges in a file: opening then returns the
        // error.
        let options = args.engine.into_iter().fold(options, GraphOptions::engine);
        let (schema, vertices) = (schema.clone(), catalog.vertices().clone());
        Ok(Target {
            args,
            store: &args.store,
            exists,
            is_on_disk,
            options,
            label,
            schema,
            vertices,
            keys,
            topology,
            chunk,
        })
    }

    /// Returns true if the edges keep their weights.
    pub fn is_weighted(&self) -> bool {
        self.schema.edges.column() == f64::TYPE
    }

    /// Returns true if edges may be parallel.
    pub fn is_parallel(&self) -> bool {
        self.schema.edges.key().is_some()
    }

    /// Returns true if edges have no direction.
    pub fn is_undirected(&self) -> bool {
        self.topology == Topology::Undirected
    }

    /// Returns true if the engine keeps edges in files of its own.
    pub fn is_on_disk(&self) -> bool {
        self.is_on_disk
    }

    /// The engine that a new store is made with.
    pub fn engine(&self) -> &'static str {
        self.args.engine.unwrap_or_default().name()
    }

    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// Returns true if the store exists.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// Opens the graph, or creates it.
    pub fn open(&self, wait: WaitArgs, interrupt: &Interrupt) -> Result<Graph, StoredError> {
        let opened = wait.until_open(Some(interrupt), || match self.exists {
            true => self.options.open(self.store),
            false => self.options.create(self.store),
        });
        opened.map_err(|cause| match cause.kind() {
            ErrorKind::InvalidInput if self.exists => {
                StoredError::OtherOptions { cause, options: self.given_options() }
            }
            _ => cause.into(),
        })
    }

    /// Makes the store with its first state.
    pub fn create_from(
        &self,
        state: &FirstState<'_>,
        options: &CheckpointOptions,
    ) -> Result<CheckpointReport, hedgerow::Error> {
        store::create_from(self.store, &self.options, state, options)
    }

    /// The given options that define a new store.
    fn given_options(&self) -> String {
        let ImportArgs { undirected, reverse, labels, vertex_properties, format, .. } = self.args;
        let given = [
            ("--undirected", *undirected),
            ("--reverse", *reverse),
            ("--keys", format.keys.is_some()),
            ("--labels", !labels.is_empty()),
            ("--vertex-properties", !vertex_properties.is_empty()),
        ];
        given
            .iter()
            .filter(|(_, is_given)| *is_given)
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(" and ")
    }
}

/// Edges per commit for an engine that keeps them on disk and has this memory.
fn chunk_on_disk(memory: Option<usize>) -> NonZeroUsize {
    let affordable = memory.map_or(LARGEST_CHUNK_ON_DISK, |bytes| bytes / MEMORY_PER_EDGE);
    let most = NonZeroUsize::new(affordable.min(LARGEST_CHUNK_ON_DISK));
    most.map_or(SMALLEST_CHUNK_ON_DISK, |most| most.max(SMALLEST_CHUNK_ON_DISK))
}

/// The options of an existing store, changed as the command line says.
fn asked_of(args: &ImportArgs, stored: StoreOptions) -> Result<StoreOptions, CliError> {
    let topology = match (args.undirected, args.reverse) {
        (true, _) => Topology::Undirected,
        (_, true) => Topology::DirectedWithReverse,
        _ => stored.topology,
    };
    let vertices = match &*args.vertex_properties {
        [] => stored.catalog.vertices().clone(),
        fields => RecordSchema { fields: fields.to_vec() },
    };
    let labels = if args.labels.is_empty() { stored.catalog.labels() } else { &args.labels };
    check_labels(&args.store, stored.catalog.labels(), labels)?;
    let catalog = catalog(labels.to_vec(), vertices)?;
    let keys = args.format.keys.map_or(stored.keys, KeysName::kind);
    Ok(StoreOptions { keys, topology, catalog, ..stored })
}

/// Fails if the given labels are not the labels of the store. A graph may be opened with the first
/// of its labels, but a command that names only some of them more probably means another store.
fn check_labels(store: &Path, stored: &[LabelSchema], asked: &[LabelSchema]) -> Result<(), StoredError> {
    if stored == asked {
        return Ok(());
    }
    let [stored, asked] = [stored, asked].map(|labels| declared::labels_text(labels).unwrap_or_default());
    let message = format!("the list of labels of {} is {stored}, not {asked}", store.display());
    Err(StoredError::OtherOptions { cause: hedgerow::Error::other(message), options: "--labels".into() })
}

/// The options of a new store.
fn asked_of_new(args: &ImportArgs) -> Result<StoreOptions, CliError> {
    let edges = if args.weights { EdgeSchema::Value(ColumnType::F64) } else { EdgeSchema::Topology };
    let labels = match (&*args.labels, &args.label) {
        ([], name) => vec![LabelSchema { name: name.clone().unwrap_or_else(|| "edge".into()), edges }],
        (labels, _) => labels.to_vec(),
    };
    let topology = match (args.undirected, args.reverse) {
        (true, _) => Topology::Undirected,
        (_, true) => Topology::DirectedWithReverse,
        _ => Topology::Directed,
    };
    Ok(StoreOptions {
        engine: args.engine.unwrap_or_default().name().into(),
        keys: args.format.keys().kind(),
        topology,
        strict: false,
        catalog: catalog(labels, RecordSchema { fields: args.vertex_properties.clone() })?,
    })
}

fn catalog(labels: Vec<LabelSchema>, vertices: RecordSchema) -> Result<Catalog, CliError> {
    Catalog::new(labels, vertices).map_err(|error| StoredError::from(hedgerow::Error::from(error)).into())
}

/// Checks that edges of this label can be imported from these files, with weights if requested.
fn check_values(args: &ImportArgs, sources: &Sources<'_>, label: &LabelSchema) -> Result<(), StoredError> {
    let column = label.edges.column();
    let given = if args.weights && column != ColumnType::F64 {
        "--weights".to_owned()
    } else if let (false, Some(file)) =
        (matches!(column, ColumnType::Unit | ColumnType::F64), sources.without_properties(&label.edges))
    {
        let what = match column {
            ColumnType::Record => "an edge in this file has a weight at most",
            _ => "the weights in this file are of type f64",
        };
        let file = file.display();
        format!(
            "{file}: {what}; edges of this label come in .csv with a header (--format properties-csv) or .jsonl"
        )
    } else {
        return Ok(());
    };
    let (label, declared) = (label.name.clone(), number::describe(column));
    Err(StoredError::Value { given, label, declared })
}
