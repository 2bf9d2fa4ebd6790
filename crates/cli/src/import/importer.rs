//! Imports files into the store, chunk by chunk.

use super::args::OnRepeat;
use super::bar::ImportBar;
use super::build::Built;
use super::context::Context;
use super::in_order::{Row, SeenRows, keep_first};
use super::lines;
use super::noted::Noted;
use super::position::{Position, Tallies};
use super::sources::{Source, can_be_read_again};
use crate::error::{CliError, StoredError};
use crate::input::{add_skipped, add_vertices, cause_of};
use crate::lint::Lint;
use crate::{progress, stored, text};
use hedgerow::{AsKey, Count, EdgeTuple, Graph};
use hedgerow_formats::{Batch, Edge, GraphReader, PropertyBatch, PropertyOptions, SkippedLines, VertexKey};
use std::path::Path;

/// An import in progress.
pub struct Importer<'a> {
    pub(super) context: Context<'a>,
    /// `None` until there is something to put into a new store.
    graph: Option<Graph>,
    /// The new store, if it was made without a graph.
    pub(super) built: Option<Built>,
    /// The position, as recorded in the store.
    pub(super) position: Position,
    /// True if this resumes an interrupted import.
    resumed: bool,
    before: Before,
    /// The rows that this call read, if they must not repeat an edge with other values and some are
    /// from a pipe: without one, all were compared before.
    pub(super) seen: Option<SeenRows>,
    pub(super) rows: u64,
    /// Rows after the first of an edge.
    rows_left_out: u64,
    pub(super) commits: u64,
    pub(super) weights_left_out: u64,
    pub(super) skipped: SkippedLines,
}

/// The graph before the import.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before {
    pub vertices: u64,
    pub edges: Count,
}

impl<'a> Importer<'a> {
    /// Opens the store, if it exists, and determines the start position.
    pub fn begin(context: Context<'a>) -> Result<Self, CliError> {
        let input = context.sources.list(&context.target.schema.name);
        let start = Position::start(input);
        let (plan, target) = (context.plan, context.target);
        let has_pipe = context.args.files.iter().any(|path| !can_be_read_again(path));
        let seen = (has_pipe && plan.must_compare(&target.schema.edges))
            .then(|| SeenRows::new(target.is_undirected(), target.is_parallel()));
        let mut importer = Importer {
            context,
            graph: None,
            built: None,
            position: start,
            resumed: false,
            before: Before::default(),
            seen,
            rows: 0,
            rows_left_out: 0,
            commits: 0,
            weights_left_out: 0,
            skipped: SkippedLines::default(),
        };
        if context.target.exists() {
            let bar = progress::spinner(context.console, "opening");
            let graph = context.open()?;
            bar.finish_and_clear();
            stored::note_clock(&graph, &context.args.store, context.console);
            let snapshot = graph.snapshot().map_err(StoredError::from)?;
            importer.before = Before { vertices: snapshot.vertex_count(), edges: snapshot.edge_count() };
            if let Some(noted) = graph.input_position() {
                importer.go_on(&noted)?;
            }
            importer.graph = Some(graph);
        }
        Ok(importer)
    }

    /// Resumes the last import, if it stopped before its end.
    fn go_on(&mut self, noted: &[u8]) -> Result<(), StoredError> {
        if self.context.args.anew {
            return Ok(());
        }
        let store = &self.context.args.store;
        let Some(last) = Position::decode(noted) else {
            let unfinished = Noted::of(noted).unfinished(store);
            return unfinished.map_or(Ok(()), |message| Err(StoredError::OtherImport(message)));
        };
        if last.finished {
            return Ok(());
        }
        if last.input != self.position.input {
            let message = format!(
                "an import of other files into {} was interrupted: of {}; give these to finish it",
                store.display(),
                last.input
            );
            return Err(StoredError::OtherImport(message));
        }
        self.position = last;
        self.resumed = true;
        Ok(())
    }

    /// Imports the rest of the files; with `builds`, makes the store of them at once.
    pub fn run<K: VertexKey + AsKey>(&mut self, builds: bool) -> Result<(), CliError> {
        if builds {
            match self.build::<K>() {
                Err(error) if self.is_for_commits(&error) => *self = Importer::begin(self.context)?,
                done => return done,
            }
        }
        let first = self.position.file;
        for (number, source) in self.context.sources.iter().enumerate().skip(first) {
            if number > first {
                (self.position.file, self.position.read) = (number, Tallies::default());
            }
            self.import_file::<K>(source)?;
        }
        self.position.finished = true;
        self.note_end()
    }

    /// Returns true if the graph did not fit into memory, but commits may take it.
    fn is_for_commits(&self, error: &CliError) -> bool {
        let is_about_memory = match error {
            CliError::Static(error) if error.is_about_sparse_ids() => return true,
            CliError::Static(error) => error.is_about_memory(),
            CliError::Stored(StoredError::Graph(error)) => error.memory().is_some(),
            _ => false,
        };
        is_about_memory && self.context.target.is_on_disk()
    }

    fn import_file<K: VertexKey + AsKey>(&mut self, source: Source<'_>) -> Result<(), CliError> {
        match self.context.properties(source) {
            Some(options) => self.import_lines::<K>(source, &options),
            None => self.import_graph::<K>(source),
        }
    }

    /// Imports a file of plain edges: the next batch is read while one is committed.
    fn import_graph<K: VertexKey + AsKey>(&mut self, source: Source<'_>) -> Result<(), CliError> {
        let Context { sources, threads, console, interrupt, args, target, .. } = self.context;
        let mut reader = sources.open::<K>(source, target.chunk)?;
        let imported = self.position.read;
        let mut bar = ImportBar::new(console, reader.progress().total, imported);
        let (mut seen, mut seen_rows) = (Tallies::default(), self.seen.take());
        let mut lint = Lint::new(source.path(), &args.format, self.context.target.is_weighted());
        let mut read = |reader: &mut GraphReader<K>, batch: &mut Batch<K>| -> Result<_, CliError> {
            if !reader.read_batch_on(threads.pool(), batch)? {
                return Ok(None);
            }
            lint.see(batch);
            see(&mut seen_rows, source, &batch.edges)?;
            seen.pass(&imported, batch).map_err(|_| changed(source))?;
            Ok(Some(seen))
        };
        let (mut batch, mut next, mut ends) = (Batch::new(), Batch::new(), Vec::new());
        let mut is_read = read(&mut reader, &mut batch)?;
        let mut passed = Tallies::default();
        while let Some(tallies) = is_read {
            interrupt.check()?;
            passed = tallies;
            let position = self.position.after(passed);
            let commit = || self.commit(&mut batch, &mut ends, position);
            let (committed, next_read) = threads.both(commit, || read(&mut reader, &mut next));
            committed.map_err(|error| cause_of(error, &mut reader))?;
            is_read = next_read?;
            std::mem::swap(&mut batch, &mut next);
            bar.show(reader.progress().done, &passed);
        }
        self.seen = seen_rows;
        bar.finish();
        interrupt.check()?;
        if !passed.have_passed(&imported) {
            return Err(changed(source).into());
        }
        lint.tell(console);
        add_skipped(&mut self.skipped, reader.skipped());
        Ok(())
    }

    /// Commits a chunk with the position after it, if it is not empty. Vertices without edges are
    /// put in a separate commit before it, which may be repeated without effect. `ends` is reusable
    /// memory for edges without weights.
    fn commit<K: VertexKey + AsKey>(
        &mut self,
        batch: &mut Batch<K>,
        ends: &mut Vec<(K, K)>,
        position: Position,
    ) -> Result<(), CliError> {
        if batch.is_empty() {
            return Ok(());
        }
        let rows = batch.edges.len() as u64;
        self.keep_first(&mut batch.edges)?;
        if self.context.target.is_weighted() {
            let edges =
                batch.edges.drain(..).map(|edge| self.weighted(edge)).collect::<Result<Vec<_>, _>>()?;
            self.commit_edges(&batch.vertices, &edges, &position)?;
        } else {
            let weights = batch.edges.iter().filter(|edge| edge.weight.is_some()).count() as u64;
            ends.clear();
            ends.extend(batch.edges.drain(..).map(|edge| (edge.source, edge.destination)));
            self.commit_edges(&batch.vertices, ends, &position)?;
            self.weights_left_out += weights;
        }
        self.rows += rows;
        self.position = position;
        Ok(())
    }

    fn commit_edges<K: AsKey, B: EdgeTuple + Sync>(
        &mut self,
        vertices: &[K],
        edges: &[B],
        position: &Position,
    ) -> Result<(), CliError> {
        let label = self.context.target.label;
        let graph = self.opened()?;
        add_vertices(graph, vertices)?;
        graph.ingest_from(label, edges, &position.encode())?;
        self.commits += 1;
        Ok(())
    }

    /// Imports a file whose lines carry properties: the next batch is read while one is committed.
    fn import_lines<K: VertexKey + AsKey>(
        &mut self,
        source: Source<'_>,
        options: &PropertyOptions,
    ) -> Result<(), CliError> {
        let Context { console, interrupt, threads, .. } = self.context;
        let mut reader = source.open_properties::<K>(options)?;
        let imported = self.position.read;
        let mut bar = ImportBar::new(console, reader.progress().total, imported);
        let (mut seen, mut batch, mut next) =
            (Tallies::default(), PropertyBatch::new(), PropertyBatch::new());
        let mut is_read = reader.read_batch_on(threads.pool(), &mut batch)?;
        while is_read {
            interrupt.check()?;
            see(&mut self.seen, source, &batch.edges)?;
            seen.pass_lines(&imported, &mut batch).map_err(|_| changed(source))?;
            let position = self.position.after(seen);
            let commit = || self.commit_lines(&mut batch, position);
            let (committed, read) = threads.both(commit, || reader.read_batch_on(threads.pool(), &mut next));
            committed?;
            is_read = read?;
            std::mem::swap(&mut batch, &mut next);
            bar.show(reader.progress().done, &seen);
        }
        bar.finish();
        interrupt.check()?;
        seen.have_passed(&imported).then_some(()).ok_or_else(|| changed(source).into())
    }

    /// Commits a batch with the position after it, if it is not empty.
    fn commit_lines<K: VertexKey + AsKey>(
        &mut self,
        batch: &mut PropertyBatch<K>,
        position: Position,
    ) -> Result<(), CliError> {
        if batch.is_empty() {
            return Ok(());
        }
        let (rows, target) = (batch.edges.len() as u64, self.context.target);
        self.keep_first(&mut batch.edges)?;
        lines::put(self.opened()?, target, batch, &position.encode())?;
        self.position = position;
        self.commits += 1;
        self.rows += rows;
        Ok(())
    }

    /// Removes rows of edges that came before or exist, if the first one counts.
    fn keep_first<K: VertexKey + AsKey, R: Row<K>>(&mut self, rows: &mut Vec<R>) -> Result<(), CliError> {
        if self.context.args.on_repeat == Some(OnRepeat::First) {
            let target = self.context.target;
            self.rows_left_out += keep_first(self.opened()?, target.label, target.is_parallel(), rows)?;
        }
        Ok(())
    }

    /// Records that everything was imported.
    fn note_end(&mut self) -> Result<(), CliError> {
        let position = self.position.encode();
        let transaction = self.opened()?.begin()?;
        transaction.note_input(&position);
        transaction.commit()?;
        self.commits += 1;
        Ok(())
    }

    /// The graph; opens or creates it first.
    fn opened(&mut self) -> Result<&Graph, CliError> {
        Ok(match &mut self.graph {
            Some(graph) => graph,
            none => none.insert(self.context.open()?),
        })
    }

    /// An edge with its weight.
    fn weighted<K: VertexKey + AsKey>(&self, edge: Edge<K>) -> Result<(K, K, f64), CliError> {
        match edge.weight {
            Some(weight) => Ok((edge.source, edge.destination, weight)),
            None => {
                let file = self.context.sources.iter().nth(self.position.file);
                Err(no_weight(&edge, file.map_or(Path::new(""), |source| source.path())))
            }
        }
    }

    /// Adds to the error of a stopped import what stays, and the way to resume.
    pub fn stopped(&self, error: CliError) -> CliError {
        let position = &self.position;
        if self.contents_are_unchanged() {
            return error;
        }
        let edges = text::counted(position.read.edges.count, "edge", "edges");
        let (file, store) = (position.file_name(), self.context.args.store.display());
        let kept = format!(
            "{edges} of {file} and all that was named before it are in {store}: the same command goes on from there"
        );
        match error {
            CliError::Interrupted(signal) => StoredError::Interrupted { signal, kept }.into(),
            cause @ CliError::Stored(StoredError::OtherImport(_)) => cause,
            cause => StoredError::Stopped { cause: Box::new(cause), kept }.into(),
        }
    }

    fn contents_are_unchanged(&self) -> bool {
        self.built.is_none() && self.graph.is_none() || !self.resumed && self.commits == 0
    }

    /// The new store, if it was made without a graph.
    pub fn built(&self) -> Option<&Built> {
        self.built.as_ref()
    }

    /// The graph, if anything was committed.
    pub fn graph(&self) -> Option<&Graph> {
        self.graph.as_ref()
    }

    /// Returns true if this resumes an interrupted import.
    pub fn resumed(&self) -> bool {
        self.resumed
    }

    /// The graph before the import.
    pub fn before(&self) -> Before {
        self.before
    }

    /// Edges that were read and committed.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of edges that came before or existed.
    pub fn rows_left_out(&self) -> u64 {
        self.rows_left_out
    }

    /// Commits of edges, and the final one, which records the end.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// Weights of edges whose label carries none.
    pub fn weights_left_out(&self) -> u64 {
        self.weights_left_out
    }

    /// Invalid lines.
    pub fn skipped(&self) -> &SkippedLines {
        &self.skipped
    }
}

/// Fails if rows repeat an edge with other values, and must not.
pub(super) fn see<K: VertexKey + AsKey, R: Row<K>>(
    seen: &mut Option<SeenRows>,
    source: Source<'_>,
    rows: &[R],
) -> Result<(), StoredError> {
    seen.as_mut().map_or(Ok(()), |seen| seen.see(source.path(), rows))
}

/// The error for a file whose imported part was changed.
pub(super) fn changed(source: Source<'_>) -> StoredError {
    let message = format!("{} was changed where it is imported already", source.path().display());
    StoredError::OtherImport(message)
}

/// The error for an edge without the weight that it must have.
pub fn no_weight<K: AsKey>(edge: &Edge<K>, path: &Path) -> CliError {
    let (from, to) = (edge.source.as_key().to_string(), edge.destination.as_key().to_string());
    StoredError::NoWeight { file: path.into(), from, to }.into()
}
