//! The graph of a new store, built from the files and written as its first checkpoint, or into the
//! files of its engine: no commit takes the edges.

use super::args::OnRepeat;
use super::context::Context;
use super::encoded::Encoded;
use super::importer::{Importer, changed, no_weight, see};
use super::position::Tallies;
use super::report::Contents;
use super::sources::Source;
use crate::error::{CliError, StoredError};
use crate::input::{self, Means, Portions, add_skipped};
use crate::lint::Lint;
use crate::progress;
use crate::stored::checkpoint::When;
use crate::stored::checkpoint::{Checkpointed, write_with};
use hedgerow::kernels::{BuildOptions, GraphView, MemoryBudget};
use hedgerow::store::{EdgeRecords, FirstState};
use hedgerow::{AsKey, CheckpointOptions, Column, EdgeSchema, Field, KeyKind, Topology, ValueType, VertexId};
use hedgerow_formats::{
    Batch, Edge, PropertyBatch, PropertyOptions, StaticGraphBuilder, VertexKey, read_ahead,
};
use hedgerow_model::Record;
use std::collections::HashMap;

/// Bytes of memory per byte of a file, while an undirected graph of it is built for an engine with
/// files of its own. Measured were 1.4 and 1.7 of text, 2.9 of a serialized graph; with properties
/// 2.3 of long lines, 11 of very short ones, and 17 of vertices with one small property each.
const MEMORY_PER_BYTE: u64 = 4;
const MEMORY_PER_BYTE_OF_PROPERTIES: u64 = 24;

/// A new store, which no graph was opened for.
#[derive(Debug)]
pub struct Built {
    pub contents: Contents,
    pub checkpoint: Checkpointed,
}

impl Context<'_> {
    /// Returns true if the store is new, and no option asks for commits, nor are there versions,
    /// which only commits can give, nor is the graph perhaps too large for memory, if its engine
    /// need not hold it there.
    pub fn builds(&self) -> bool {
        let Context { args, target, sources, .. } = self;
        let edges = &target.schema.edges;
        // The log counts the versions of records.
        let is_version = |field: &Field| field.value_type == ValueType::Version;
        let mut fields =
            edges.record().into_iter().chain([&target.vertices]).flat_map(|record| &record.fields);
        let has_versions = fields.any(is_version);
        let asks_for_commits =
            args.chunk.is_some() || args.checkpoint == When::Never || args.on_repeat == Some(OnRepeat::First);
        let is_limited = args.memory.limit_bytes().is_some() || args.memory.asks_for_engine();
        // Dense keys that are too sparse for a static graph are read once more.
        let can_go_back =
            || target.keys != KeyKind::Dense || sources.iter().all(|one| one.can_be_read_again());
        let fits = || {
            let most = sources.iter().map(|source| {
                let has_properties = self.properties(source).is_some();
                let per_byte = if has_properties { MEMORY_PER_BYTE_OF_PROPERTIES } else { MEMORY_PER_BYTE };
                Some(source.most_bytes()?.saturating_mul(per_byte))
            });
            let most: Option<u64> = most.sum();
            !target.is_on_disk() || most.is_some_and(|most| most <= MemoryBudget::detect().available())
        };
        let is_refused = target.exists() || asks_for_commits || is_limited;
        !is_refused && !has_versions && can_go_back() && fits()
    }
}

/// The graph of a new store, while its files are read.
struct Unfinished<'p, K> {
    builder: StaticGraphBuilder<'p, K>,
    records: EdgeRecords,
    /// The properties of the vertices that have any.
    properties: HashMap<VertexId, Record>,
}

impl<K: VertexKey + AsKey> Unfinished<'_, K> {
    /// Sets the properties of a vertex that was added.
    fn set_properties(&mut self, key: &K, properties: Record) {
        if let Some(vertex) = self.builder.vertex_id(key.as_key()) {
            self.properties.insert(vertex, properties);
        }
    }
}

impl Importer<'_> {
    /// Reads all files, and makes the store of their graph. If reading is stopped, the store gets
    /// what was read until then, unless all or nothing is to be imported.
    pub(super) fn build<K: VertexKey + AsKey>(&mut self) -> Result<(), CliError> {
        let target = self.context.target;
        let builder = match &target.schema.edges {
            EdgeSchema::Topology => StaticGraphBuilder::<K>::new(Topology::Directed, target.keys),
            EdgeSchema::Value(column) => StaticGraphBuilder::valued(Topology::Directed, target.keys, *column),
            // The places of their records.
            EdgeSchema::Record(_) | EdgeSchema::Parallel(_) => {
                StaticGraphBuilder::valued(Topology::Directed, target.keys, u64::TYPE)
            }
        };
        let builder = if target.is_parallel() { builder.with_duplicates() } else { builder };
        // A checkpoint has each edge once, whatever ends it is stored from.
        let builder = if target.is_undirected() { builder.from_lesser_ends() } else { builder };
        let builder = builder.on(self.context.threads.pool());
        let mut graph = Unfinished { builder, records: EdgeRecords::new(), properties: HashMap::new() };
        let read = self.read_files(&mut graph);
        match &read {
            Ok(()) => self.position.finished = true,
            // A graph that could not take an edge has a part of its batch.
            Err(CliError::Static(_)) => return read,
            Err(_) if self.context.args.atomic || self.position.is_at_start() => return read,
            Err(_) => {}
        }
        let written = self.write(graph);
        read.and(written)
    }

    fn read_files<K: VertexKey + AsKey>(&mut self, graph: &mut Unfinished<'_, K>) -> Result<(), CliError> {
        let Context { sources, args, target, threads, console, interrupt, .. } = self.context;
        let means = Means { threads, console, interrupt };
        for (number, source) in sources.iter().enumerate() {
            (self.position.file, self.position.read) = (number, Tallies::default());
            if let Some(options) = self.context.properties(source) {
                self.read_lines(graph, source, &options)?;
                continue;
            }
            let reader = sources.open::<K>(source, None)?;
            let lint = Lint::new(source.path(), &args.format, target.is_weighted());
            let mut add = |batch: &mut Batch<K>| self.add(&mut graph.builder, source, batch);
            let skipped = input::read(reader, Portions::Pieces, lint, means, &mut add)?;
            add_skipped(&mut self.skipped, &skipped);
        }
        Ok(())
    }

    /// Reads a file whose lines carry properties.
    fn read_lines<K: VertexKey + AsKey>(
        &mut self,
        graph: &mut Unfinished<'_, K>,
        source: Source<'_>,
        options: &PropertyOptions,
    ) -> Result<(), CliError> {
        let Context { target, threads, console, interrupt, .. } = self.context;
        let mut reader = source.open_properties::<K>(options)?;
        let bar = progress::of_bytes(console, "reading", reader.progress().total);
        let (mut seen, mut pieces) = (self.seen.take(), Vec::new());
        let (end, added) = read_ahead(
            threads.pool(),
            |(encoded, done): &mut (Vec<Encoded<K>>, u64)| {
                encoded.clear();
                let has_read = reader.read_pieces_on(threads.pool(), &mut pieces)?;
                let mut refused = Ok(());
                let is_kept = |piece: &&PropertyBatch<K>| {
                    refused = see(&mut seen, source, &piece.edges);
                    refused.is_ok()
                };
                let kept = pieces.iter().take_while(is_kept).count();
                *encoded = Encoded::all(pieces.drain(..).take(kept), &target.schema.edges, threads.pool());
                *done = reader.progress().done;
                refused.map(|()| has_read).map_err(CliError::from)
            },
            |(encoded, done)| {
                interrupt.check()?;
                bar.set_position(*done);
                encoded.drain(..).try_for_each(|piece| self.add_lines(graph, piece))
            },
        );
        self.seen = seen;
        added?;
        end.map(|()| bar.finish_and_clear())
    }

    fn add_lines<K: VertexKey + AsKey>(
        &mut self,
        graph: &mut Unfinished<'_, K>,
        piece: Encoded<K>,
    ) -> Result<(), CliError> {
        let Encoded { batch, properties, mut values, records, tallies } = piece;
        match &self.context.target.schema.edges {
            EdgeSchema::Topology => graph.builder.add(&batch)?,
            EdgeSchema::Value(_) => graph.builder.add_valued(&batch, &values)?,
            EdgeSchema::Record(_) | EdgeSchema::Parallel(_) => {
                let base = graph.records.append(records);
                values.iter_mut().for_each(|place| *place += base);
                graph.builder.add_valued(&batch, &values)?;
            }
        }
        for (vertex, record) in batch.vertices.iter().zip(properties).filter(|(_, record)| !record.is_empty())
        {
            graph.set_properties(vertex, record);
        }
        self.rows += batch.edges.len() as u64;
        self.position.read.pass_piece(&tallies);
        Ok(())
    }

    fn add<K: VertexKey + AsKey>(
        &mut self,
        builder: &mut StaticGraphBuilder<'_, K>,
        source: Source<'_>,
        batch: &mut Batch<K>,
    ) -> Result<(), CliError> {
        see(&mut self.seen, source, &batch.edges)?;
        let mut read = self.position.read;
        read.pass(&Tallies::default(), batch).map_err(|_| changed(source))?;
        if self.context.target.is_weighted() {
            let weight = |edge: &Edge<K>| edge.weight.ok_or_else(|| no_weight(edge, source.path()));
            let weights = batch.edges.iter().map(weight).collect::<Result<Vec<_>, _>>()?;
            builder.add_weighted(batch, &weights)?;
        } else {
            builder.add(batch)?;
            self.weights_left_out += batch.edges.iter().filter(|edge| edge.weight.is_some()).count() as u64;
        }
        self.rows += batch.edges.len() as u64;
        self.position.read = read;
        Ok(())
    }

    /// Makes the store of the graph, which was read up to the position.
    fn write<K: VertexKey>(&mut self, graph: Unfinished<'_, K>) -> Result<(), CliError> {
        let Context { target, threads, console, interrupt, .. } = self.context;
        // After a signal, what was read is still written.
        let cancel = interrupt.check().is_ok().then(|| interrupt.token());
        let bar = progress::spinner(console, "building");
        let build = BuildOptions { pool: threads.pool(), cancel, ..BuildOptions::default() };
        let Unfinished { builder, records, properties } = graph;
        let graph = interrupt.or_interrupted(builder.finish(build))?;
        bar.finish_and_clear();
        let (csr, input) = (graph.csr(), self.position.encode());
        let key = |vertex| graph.key(vertex).expect("only vertices of the graph are written");
        let properties_of = |vertex: VertexId| properties.get(&vertex).cloned().unwrap_or_default().into();
        let state = FirstState {
            graph: csr,
            label: target.label,
            key: &key,
            records: target.schema.edges.record().map(|_| &records),
            properties: (!properties.is_empty()).then_some(&properties_of),
            input: Some(&input),
        };
        let options = cancel.into_iter().fold(CheckpointOptions::new(), CheckpointOptions::cancelled_by);
        let written = write_with(options, console, |options| target.create_from(&state, options));
        let checkpoint = interrupt.or_interrupted(written.map_err(StoredError::from))?;
        let contents = Contents {
            engine: target.engine(),
            topology: target.topology(),
            vertices: csr.vertex_count(),
            edges: checkpoint.edges.0,
        };
        self.commits = 1;
        self.built = Some(Built { contents, checkpoint });
        Ok(())
    }
}
