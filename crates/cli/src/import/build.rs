//! The graph of a new store, built from the files and written as its first checkpoint: neither the
//! log nor an engine takes the edges.

use super::args::{OnRepeat, When};
use super::context::Context;
use super::importer::{Importer, changed, no_weight, see};
use super::position::Tallies;
use super::report::Contents;
use super::sources::Source;
use crate::error::{CliError, StoredError};
use crate::input::{self, Means, Portions, add_skipped};
use crate::lint::Lint;
use crate::progress;
use crate::stored::checkpoint::{Checkpointed, write_with};
use hedgerow::kernels::{BuildOptions, GraphView};
use hedgerow::store::FirstState;
use hedgerow::{AsKey, CheckpointOptions, Column, EdgeSchema, KeyKind, LabelId, Topology};
use hedgerow_formats::{Batch, Edge, StaticGraphBuilder, VertexKey};

/// A new store, which no graph was opened for.
#[derive(Debug)]
pub struct Built {
    pub contents: Contents,
    pub checkpoint: Checkpointed,
}

impl Context<'_> {
    /// Returns true if the store is new, and an option asks neither for commits nor for an engine
    /// with files of its own, nor do the files have properties.
    pub fn builds(&self) -> bool {
        let Context { args, target, sources, .. } = self;
        let are_plain = || sources.iter().all(|source| self.properties(source).is_none());
        let edges = &target.schema.edges;
        let has_values = matches!(edges, EdgeSchema::Topology) || edges.column() == f64::TYPE;
        let asks_for_commits =
            args.chunk.is_some() || args.checkpoint == When::Never || args.on_repeat == Some(OnRepeat::First);
        let is_limited = args.memory.limit_bytes().is_some() || args.memory.asks_for_engine();
        // Dense keys that are too sparse for a static graph are read once more.
        let can_go_back =
            || target.keys != KeyKind::Dense || sources.iter().all(|one| one.can_be_read_again());
        let is_refused = target.exists() || target.is_on_disk() || asks_for_commits || is_limited;
        !is_refused && has_values && are_plain() && can_go_back()
    }
}

impl Importer<'_> {
    /// Reads all files, and makes the store of their graph. If reading is stopped, the store gets
    /// what was read until then, unless all or nothing is to be imported.
    pub(super) fn build<K: VertexKey + AsKey>(&mut self) -> Result<(), CliError> {
        let target = self.context.target;
        let builder = match target.is_weighted() {
            true => StaticGraphBuilder::<K>::weighted(Topology::Directed, target.keys),
            false => StaticGraphBuilder::new(Topology::Directed, target.keys),
        };
        // A checkpoint has each edge once, whatever ends it is stored from.
        let mut builder = if target.is_undirected() { builder.from_lesser_ends() } else { builder };
        let read = self.read_files(&mut builder);
        match &read {
            Ok(()) => self.position.finished = true,
            // A graph that could not take an edge has a part of its batch.
            Err(CliError::Static(_)) => return read,
            Err(_) if self.context.args.atomic || self.position.is_at_start() => return read,
            Err(_) => {}
        }
        let written = self.write(builder);
        read.and(written)
    }

    fn read_files<K: VertexKey + AsKey>(
        &mut self,
        builder: &mut StaticGraphBuilder<K>,
    ) -> Result<(), CliError> {
        let Context { sources, args, target, threads, console, interrupt, .. } = self.context;
        let means = Means { threads, console, interrupt };
        for (number, source) in sources.iter().enumerate() {
            (self.position.file, self.position.read) = (number, Tallies::default());
            let reader = sources.open::<K>(source, None)?;
            let lint = Lint::new(source.path(), &args.format, target.is_weighted());
            let mut add = |batch: &mut Batch<K>| self.add(builder, source, batch);
            let skipped = input::read(reader, Portions::Pieces, lint, means, &mut add)?;
            add_skipped(&mut self.skipped, &skipped);
        }
        Ok(())
    }

    fn add<K: VertexKey + AsKey>(
        &mut self,
        builder: &mut StaticGraphBuilder<K>,
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
    fn write<K: VertexKey>(&mut self, builder: StaticGraphBuilder<K>) -> Result<(), CliError> {
        let Context { target, threads, console, interrupt, .. } = self.context;
        // After a signal, what was read is still written.
        let cancel = interrupt.check().is_ok().then(|| interrupt.token());
        let bar = progress::spinner(console, "building");
        let build = BuildOptions { pool: threads.pool(), cancel, ..BuildOptions::default() };
        let graph = interrupt.or_interrupted(builder.finish(build))?;
        bar.finish_and_clear();
        let (csr, input) = (graph.csr(), self.position.encode());
        let key = |vertex| graph.key(vertex).expect("only vertices of the graph are written");
        let state = FirstState { graph: csr, label: target.label, key: &key, input: Some(&input) };
        let options = cancel.into_iter().fold(CheckpointOptions::new(), CheckpointOptions::cancelled_by);
        let written = write_with(options, console, |options| target.create_from(&state, options));
        let checkpoint = interrupt.or_interrupted(written.map_err(StoredError::from))?;
        let contents = Contents {
            engine: target.engine(),
            topology: target.topology(),
            vertices: csr.vertex_count(),
            edges: csr.edge_count(LabelId::DEFAULT),
        };
        self.commits = 1;
        self.built = Some(Built { contents, checkpoint });
        Ok(())
    }
}
