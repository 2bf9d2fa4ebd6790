//! The store that a command puts many edges into: an existing one, or one that will be created.

use super::args::DurabilityName;
use super::declared::{self, label, property};
use super::wait::WaitArgs;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::options::{KeysName, MemoryArgs};
use clap::Args;
use hedgerow::store::{self, FirstState, StoreOptions};
use hedgerow::{
    Catalog, CheckpointOptions, CheckpointReport, Column, ColumnType, EdgeSchema, EngineKind, ErrorKind,
    Field, Graph, GraphOptions, KeyKind, LabelId, LabelSchema, RecordSchema, Topology,
};
use std::num::NonZeroUsize;
use std::path::Path;

/// Options of a store that edges are put into, most of them for a new one.
#[derive(Clone, Debug, Args)]
pub struct TargetArgs {
    /// The engine that commits go to, and that a new store is made with [default: the store's, in a
    /// new one rapid]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineKind>,
    /// Every edge of a new store is visible from both ends
    #[arg(long, conflicts_with = "reverse")]
    pub undirected: bool,
    /// A new directed store also keeps in-neighbors, for twice the memory
    #[arg(long)]
    pub reverse: bool,
    /// The labels of a new store, separated by commas, each NAME, or NAME:TYPE with the type of its
    /// values: u32, u64, i64, f32 or f64, or NAME:PROPERTY=TYPE+PROPERTY=TYPE with the properties
    /// of its records: bool, i64, u64, f64, string, bytes or timestamp, with ! after the type if
    /// each edge must have it, or version, which counts the changes of an edge; a first property
    /// KEY=key lets edges be parallel, distinguished by that number [default: the one of --label,
    /// or edge]
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = label)]
    pub labels: Vec<LabelSchema>,
    /// The properties of the vertices of a new store, separated by commas, each PROPERTY=TYPE
    #[arg(long, value_name = "PROPERTIES", value_delimiter = ',', value_parser = property)]
    pub vertex_properties: Vec<Field>,
    /// The label that the edges get [default: the first of the store]
    #[arg(long, value_name = "NAME")]
    pub label: Option<String>,
    /// Keep the weights of the edges, as values of type f64: every edge must have one
    #[arg(long)]
    pub weights: bool,
    /// When the commit of a chunk returns; in any case the command ends only when everything
    /// survives a loss of power, and an import in commits that a crash ends resumes where the last
    /// one was
    #[arg(long, value_enum, default_value_t = DurabilityName::Buffered)]
    pub durability: DurabilityName,
}

/// The store that a command line asks for.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    pub store: &'a Path,
    pub args: &'a TargetArgs,
    /// The kind of keys, if it is given.
    pub keys: Option<KeysName>,
    pub memory: &'a MemoryArgs,
    /// Edges per commit, if it is given.
    pub chunk: Option<NonZeroUsize>,
}

/// A store, and the options to open or create its graph.
#[derive(Debug)]
pub struct Target<'a> {
    asked: Asked<'a>,
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
    pub fn look(asked: Asked<'a>, threads: usize) -> Result<Self, CliError> {
        let Asked { store, args, memory, .. } = asked;
        let (exists, made_with) = match store::manifest(store) {
            Ok(manifest) => (true, asked.of(manifest.options)?),
            Err(error) if error.kind() == ErrorKind::NotFound => (false, asked.of_new()?),
            Err(error) => return Err(StoredError::from(error).into()),
        };
        let is_on_disk = made_with.engine_name().parse().is_ok_and(EngineKind::owns_files);
        let StoreOptions { keys, topology, strict, catalog, .. } = made_with;
        let chunk = asked.chunk.or_else(|| is_on_disk.then(|| chunk_on_disk(memory.engine_bytes())));
        let (label, schema) = super::label(&catalog, args.label.as_deref(), store)?;
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
        let options = memory.limit(options);
        // The requested engine, even if it cannot keep edges in a file: opening then returns the
        // error.
        let options = args.engine.into_iter().fold(options, GraphOptions::engine);
        let (schema, vertices) = (schema.clone(), catalog.vertices().clone());
        Ok(Target { asked, exists, is_on_disk, options, label, schema, vertices, keys, topology, chunk })
    }

    /// The directory of the store.
    pub fn path(&self) -> &'a Path {
        self.asked.store
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
        self.asked.args.engine.unwrap_or_default().name()
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
            true => self.options.open(self.asked.store),
            false => self.options.create(self.asked.store),
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
        store::create_from(self.asked.store, &self.options, state, options)
    }

    /// The given options that define a new store.
    fn given_options(&self) -> String {
        let TargetArgs { undirected, reverse, labels, vertex_properties, .. } = self.asked.args;
        let given = [
            ("--undirected", *undirected),
            ("--reverse", *reverse),
            ("--keys", self.asked.keys.is_some()),
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

impl Asked<'_> {
    /// The options of an existing store, changed as the command line says.
    fn of(&self, stored: StoreOptions) -> Result<StoreOptions, CliError> {
        let topology = self.topology().unwrap_or(stored.topology);
        let vertices = match &*self.args.vertex_properties {
            [] => stored.catalog.vertices().clone(),
            fields => RecordSchema { fields: fields.to_vec() },
        };
        let labels = if self.args.labels.is_empty() { stored.catalog.labels() } else { &self.args.labels };
        check_labels(self.store, stored.catalog.labels(), labels)?;
        let catalog = catalog(labels.to_vec(), vertices)?;
        let keys = self.keys.map_or(stored.keys, KeysName::kind);
        Ok(StoreOptions { keys, topology, catalog, ..stored })
    }

    /// The options of a new store.
    fn of_new(&self) -> Result<StoreOptions, CliError> {
        let TargetArgs { engine, labels, vertex_properties, label, weights, .. } = self.args;
        let edges = if *weights { EdgeSchema::Value(ColumnType::F64) } else { EdgeSchema::Topology };
        let labels = match (&**labels, label) {
            ([], name) => vec![LabelSchema { name: name.clone().unwrap_or_else(|| "edge".into()), edges }],
            (labels, _) => labels.to_vec(),
        };
        Ok(StoreOptions {
            engine: engine.unwrap_or_default().name().into(),
            keys: self.keys.unwrap_or(KeysName::Number).kind(),
            topology: self.topology().unwrap_or(Topology::Directed),
            strict: false,
            catalog: catalog(labels, RecordSchema { fields: vertex_properties.clone() })?,
        })
    }

    /// The topology, if it is given.
    fn topology(&self) -> Option<Topology> {
        let undirected = self.args.undirected.then_some(Topology::Undirected);
        undirected.or(self.args.reverse.then_some(Topology::DirectedWithReverse))
    }
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

fn catalog(labels: Vec<LabelSchema>, vertices: RecordSchema) -> Result<Catalog, CliError> {
    Catalog::new(labels, vertices).map_err(|error| StoredError::from(hedgerow::Error::from(error)).into())
}
