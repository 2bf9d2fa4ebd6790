//! Rows that would replace other rows with other values: found, and two of them as the example.

use super::args::ImportArgs;
use super::in_order;
use super::repeats::{Repeats, RowDigest, Rows};
use super::tables::row_digest;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::input;
use crate::progress;
use crate::stored::declared::{labels_text, quoted};
use crate::threads::Threads;
use hedgerow::{AsKey, EdgeSchema, KeyKind, LabelSchema, ParallelSchema, RecordSchema};
use hedgerow_formats::{Batch, Edge, PropertyOptions, Row, RowText, Survey, VertexKey};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Edges per batch.
const BATCH: usize = 1 << 18;

/// Reads the rows of edges.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    pub args: &'a ImportArgs,
    pub keys: KeyKind,
    pub threads: &'a Threads,
    pub console: &'a Console,
}

/// Looks for two rows of one edge.
struct Search<'a> {
    repeats: &'a Repeats,
    firsts: HashMap<(u64, u64), Shown>,
}

/// A row for comparison with others of the same digest.
struct Shown {
    keys: [String; 2],
    content: u64,
    /// The place and the text.
    text: String,
}

impl Reader<'_> {
    /// Adds the rows of edge lists, with their weights.
    pub fn read_weights(&self, files: &[PathBuf], rows: &mut Rows) -> Result<(), CliError> {
        match self.keys {
            KeyKind::Number | KeyKind::Dense => self.read_weights_of::<u64>(files, rows),
            KeyKind::String => self.read_weights_of::<Box<str>>(files, rows),
        }
    }

    fn read_weights_of<K: VertexKey + AsKey>(
        &self,
        files: &[PathBuf],
        rows: &mut Rows,
    ) -> Result<(), CliError> {
        files.iter().try_for_each(|path| {
            let end = self.each_edge::<K, _>(path, |edge| {
                rows.push(in_order::row_digest(rows, edge, false));
                ControlFlow::<()>::Continue(())
            });
            end.map(drop)
        })
    }

    /// Finds two rows of one edge with different values in edge lists; `None` if only digests were
    /// equal.
    pub fn example(
        &self,
        files: &[PathBuf],
        rows: &Rows,
        repeats: &Repeats,
    ) -> Result<Option<[String; 2]>, CliError> {
        match self.keys {
            KeyKind::Number | KeyKind::Dense => self.example_of::<u64>(files, rows, repeats),
            KeyKind::String => self.example_of::<Box<str>>(files, rows, repeats),
        }
    }

    fn example_of<K: VertexKey + AsKey>(
        &self,
        files: &[PathBuf],
        rows: &Rows,
        repeats: &Repeats,
    ) -> Result<Option<[String; 2]>, CliError> {
        let mut search = Search { repeats, firsts: HashMap::new() };
        for path in files {
            let found = self.each_edge::<K, _>(path, |edge| {
                let keys = || [&edge.source, &edge.destination].map(|key| key.as_key().to_string());
                let text = || {
                    let weight = edge.weight.map_or(String::new(), |weight| format!(" {weight}"));
                    format!("{}: {}{weight}", path.display(), keys().join(" "))
                };
                search.see(in_order::row_digest(rows, edge, false), || (keys(), text()))
            })?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Passes each edge of an edge list to `see` until it breaks.
    fn each_edge<K: VertexKey + AsKey, B>(
        &self,
        path: &Path,
        mut see: impl FnMut(&Edge<K>) -> ControlFlow<B>,
    ) -> Result<Option<B>, CliError> {
        let mut reader = input::open::<K>(path, self.args.format.read_options(BATCH))?;
        let bar = progress::of_bytes(self.console, "comparing", reader.progress().total);
        let mut batch = Batch::new();
        while reader.read_batch_on(self.threads.pool(), &mut batch)? {
            if let ControlFlow::Break(found) = batch.edges.iter().try_for_each(&mut see) {
                return Ok(Some(found));
            }
            bar.set_position(reader.progress().done);
        }
        bar.finish_and_clear();
        Ok(None)
    }

    /// Finds two rows of one edge with different values in files with named columns; `None` if only
    /// digests were equal.
    pub fn example_in_tables(
        &self,
        files: &[(PathBuf, PropertyOptions)],
        are_parallel: bool,
        rows: &Rows,
        repeats: &Repeats,
    ) -> Result<Option<[String; 2]>, CliError> {
        let mut search = Search { repeats, firsts: HashMap::new() };
        for (path, options) in files {
            let mut survey = Survey::open(path, options)?;
            let digest = |row: &Row| row_digest(rows, path, row, are_parallel);
            let is_conflict = |row: &Row| repeats.conflicts.contains(&digest(row).edge());
            while let Some(found) = survey.find_on(self.threads.pool(), &is_conflict)? {
                for RowText { row, keys, cells } in found {
                    let text = || format!("{}:{}: {}", path.display(), row.line, cells.join(","));
                    let shown = || (keys.try_into().unwrap_or_default(), text());
                    if let ControlFlow::Break(found) = search.see(digest(&row), shown) {
                        return Ok(Some(found));
                    }
                }
            }
        }
        Ok(None)
    }
}

impl Search<'_> {
    /// Breaks with two rows if an earlier one is of the same edge with other values.
    fn see(
        &mut self,
        row: RowDigest,
        show: impl FnOnce() -> ([String; 2], String),
    ) -> ControlFlow<[String; 2]> {
        if !self.repeats.conflicts.contains(&row.edge()) {
            return ControlFlow::Continue(());
        }
        let (mut keys, text) = show();
        keys.sort();
        match self.firsts.get(&row.edge()) {
            Some(first) if first.keys == keys && first.content != row.content => {
                ControlFlow::Break([first.text.clone(), text])
            }
            Some(_) => ControlFlow::Continue(()),
            None => {
                self.firsts.insert(row.edge(), Shown { keys, content: row.content, text });
                ControlFlow::Continue(())
            }
        }
    }
}

/// The error for parallel edges of a label that keeps one edge per pair of vertices.
pub fn not_parallel(args: &ImportArgs, name: &str, edges: &EdgeSchema, is_new: bool) -> StoredError {
    let record = edges.record().cloned().unwrap_or(RecordSchema::default());
    let edges = EdgeSchema::Parallel(ParallelSchema { key: "number".into(), record });
    let parallel = |name: String| labels_text(&[LabelSchema { name, edges: edges.clone() }]);
    let how = match is_new {
        true => parallel(name.to_owned()).map(|text| format!("declare it with --labels {}", quoted(&text))),
        false => parallel(format!("{name}s")).map(|text| {
            let store = quoted(&args.store.display().to_string());
            format!("`hedgerow label add {} {store}` adds one that does, for --label", quoted(&text))
        }),
    };
    StoredError::Import(format!(
        "--on-repeat parallel: the label {name:?} keeps one edge per pair of vertices; {}",
        how.unwrap_or_else(|| "import into a label that keeps several".into())
    ))
}
