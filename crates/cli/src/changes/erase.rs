//! `hedgerow erase`

use super::args::{EraseObject, EraseVertexArgs};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::keys::{self, JsonKey};
use crate::maintenance::{Compacted, rewrite::Rewrite};
use crate::objects::neighbors::exists;
use crate::progress;
use crate::stored::{self, checkpoint::Checkpointed};
use crate::text::{Bytes, counted, table};
use hedgerow::store::{self, Trace, TraceKind, TraceReport};
use hedgerow::{Graph, Key, VertexId, WriteGraph};
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Debug, Serialize)]
struct Erased {
    store: String,
    keys: Vec<JsonKey>,
    /// Keys that had no vertex, but whose former vertices left traces.
    without_vertex: Vec<JsonKey>,
    edges_deleted: u64,
    /// True if neither a file nor another process holds a trace.
    erased: bool,
    files: Vec<File>,
    traces: Vec<Found>,
    /// Keys that other keys, properties or names contain.
    mentioned: Vec<JsonKey>,
    /// Processes that still have removed files of the store open.
    held_by: Vec<u32>,
}

#[derive(Debug, Serialize)]
struct File {
    file: String,
    bytes: u64,
    /// True if the content was decoded; else only the bytes of text keys were looked for.
    decoded: bool,
}

/// A trace.
#[derive(Debug, Serialize)]
struct Found {
    file: String,
    /// Null if it is unknown which vertex left it.
    key: Option<JsonKey>,
    found: &'static str,
}

impl From<Trace> for Found {
    fn from(trace: Trace) -> Self {
        let found = match trace.kind {
            TraceKind::Key => "the key",
            TraceKind::Record => "a record of the vertex or of an edge",
            TraceKind::Deletion => "a deletion, of a vertex or of edges whose records may be left",
            TraceKind::Bytes => "the bytes of the key",
            TraceKind::Leftover => "a leftover, which is not part of the store and cannot be decoded",
            TraceKind::Damage => "damage, so it cannot be decoded",
        };
        Found { file: trace.file, key: trace.key.map(JsonKey::from), found }
    }
}

/// Vertices to erase: their keys, and their ids if they exist.
type Vertices = Vec<(Key, Option<VertexId>)>;

/// Deletes vertices, rewrites the files, and searches them for traces; if there are any, returns an
/// error.
pub fn execute(object: &EraseObject, console: &Console) -> Result<(), CliError> {
    let EraseObject::Vertex(args) = object;
    let (keys, path) = args.vertices.with_store(args.store.as_deref())?;
    let made_with = store::manifest(path).map_err(StoredError::from)?.options;
    let keys = args.vertices.parse(keys, made_with.keys)?;
    confirm(args, &keys, path, console)?;
    // Not before: the first signal ends a question.
    let interrupt = &Interrupt::listen()?;
    let (vertices, edges_deleted) = delete(args, &keys, path, console, interrupt)?;
    let (unknown, has_deletions) = unknown(&vertices, path, console)?;
    let no_vertex = |key: &Key| StoredError::NoVertex { key: keys::text(key), store: path.into() };
    // After a compaction that was stopped, edges of a vertex may be left whose key is gone.
    if let (Some(key), true) = (unknown.first(), unknown.len() == vertices.len() && !has_deletions) {
        return Err(no_vertex(key).into());
    }
    let owns_files = made_with.engine_name() != made_with.engine;
    rewrite(args, path, owns_files, console, interrupt).map_err(|error| match error.signal() {
        Some(signal) => {
            let kept = "the vertices are deleted, and the same command goes on to erase them".to_owned();
            StoredError::Interrupted { signal, kept }.into()
        }
        None => error,
    })?;
    let TraceReport { files, traces, mentioned, .. } = search(&vertices, path, console)?;
    let held_by = holders(path);
    let absent = vertices.iter().filter(|(_, id)| id.is_none());
    let erased = Erased {
        store: path.display().to_string(),
        without_vertex: absent.map(|(key, _)| key.clone().into()).collect(),
        keys: keys.into_iter().map(JsonKey::from).collect(),
        edges_deleted,
        erased: traces.is_empty() && held_by.is_empty(),
        files: files
            .into_iter()
            .map(|file| File { file: file.name, bytes: file.bytes, decoded: file.decoded })
            .collect(),
        traces: traces.into_iter().map(Found::from).collect(),
        mentioned: mentioned.into_iter().map(JsonKey::from).collect(),
        held_by,
    };
    let printed = console.summarize(None, &erased, Erased::describe);
    printed.map_err(|error| error.but("the vertices are deleted and the files rewritten"))?;
    match unknown.first() {
        _ if !erased.erased => Err(erased.failure(path).into()),
        Some(key) => Err(no_vertex(key).into()),
        None => Ok(()),
    }
}

/// The keys that have neither a vertex nor a trace. Returns true if, besides, the engine's files
/// have deletions.
fn unknown(vertices: &Vertices, path: &Path, console: &Console) -> Result<(Vec<Key>, bool), CliError> {
    let absent: Vertices = vertices.iter().filter(|(_, id)| id.is_none()).cloned().collect();
    if absent.is_empty() {
        return Ok((Vec::new(), false));
    }
    let traces = search(&absent, path, console)?.traces;
    let (deletions, traces): (Vec<_>, Vec<_>) =
        traces.into_iter().partition(|trace| trace.kind == TraceKind::Deletion);
    let has_trace =
        |key: &Key| traces.iter().any(|trace| trace.key.as_ref().is_none_or(|found| found == key));
    let unknown = absent.into_iter().map(|(key, _)| key).filter(|key| !has_trace(key)).collect();
    Ok((unknown, !deletions.is_empty()))
}

/// Asks at a terminal; elsewhere `--yes` must be given.
fn confirm(args: &EraseVertexArgs, keys: &[Key], store: &Path, console: &Console) -> Result<(), CliError> {
    if args.yes {
        return Ok(());
    }
    let question = format!(
        "Erase {} with all edges from {}, and rewrite its files, which drops its past states?",
        described(keys.iter().map(keys::text)),
        store.display()
    );
    match console.can_ask() && console.asks(&question, false) {
        true => Ok(()),
        false => Err(StoredError::EraseUnconfirmed(store.into()).into()),
    }
}

/// Deletes the vertices that exist, as one commit. Returns all of them with their ids, and the
/// number of deleted edges.
fn delete(
    args: &EraseVertexArgs,
    keys: &[Key],
    path: &Path,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(Vertices, u64), CliError> {
    let graph = open(args, path, console, interrupt)?;
    let snapshot = graph.snapshot().map_err(StoredError::from)?;
    let mut vertices = Vertices::new();
    for key in keys {
        let id =
            if exists(&snapshot, key)? { snapshot.vertex_id(key).map_err(StoredError::from)? } else { None };
        vertices.push((key.clone(), id));
    }
    drop(snapshot);
    let transaction = graph.begin().map_err(StoredError::from)?;
    for (key, _) in vertices.iter().filter(|(_, id)| id.is_some()) {
        transaction.delete_vertex(key).map_err(StoredError::from)?;
    }
    let commit = transaction.commit().map_err(StoredError::from)?;
    graph.close().map_err(StoredError::from)?;
    Ok((vertices, commit.edges_removed.at_least()))
}

/// Writes the state anew. The graph was closed since the deletion, so that the log of the deletion
/// can be removed, too.
fn rewrite(
    args: &EraseVertexArgs,
    path: &Path,
    owns_files: bool,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let graph = open(args, path, console, interrupt)?;
    <Checkpointed as Rewrite>::write(&graph, console, interrupt)?;
    if owns_files {
        Compacted::write(&graph, console, interrupt)?;
    }
    Ok(graph.close().map_err(StoredError::from)?)
}

fn open(
    args: &EraseVertexArgs,
    path: &Path,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<Graph, CliError> {
    let settings = |options| args.memory.limit(options);
    interrupt.or_interrupted(stored::open(path, settings, args.wait, console, Some(interrupt)))
}

fn search(vertices: &Vertices, path: &Path, console: &Console) -> Result<TraceReport, StoredError> {
    let bar = progress::spinner(console, "searching");
    let report = store::traces(path, vertices)?;
    bar.finish_and_clear();
    Ok(report)
}

/// The processes that have removed files of the store open, as far as the system tells.
fn holders(store: &Path) -> Vec<u32> {
    let Ok(store) = store.canonicalize() else { return Vec::new() };
    let holds = |process: &PathBuf| {
        let open = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        open.filter_map(|file| fs::read_link(file.path()).ok()).any(|file| {
            file.starts_with(&store) && file.as_os_str().to_string_lossy().ends_with(" (deleted)")
        })
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten().map(|process| process.path());
    let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
    processes.filter(holds).filter_map(number).collect()
}

/// One vertex by its key, several by their number.
fn described(mut keys: impl ExactSizeIterator<Item = String>) -> String {
    match (keys.len(), keys.next()) {
        (1, Some(key)) => format!("vertex {key}"),
        (count, _) => counted(count as u64, "vertex", "vertices"),
    }
}

impl Erased {
    fn vertices(&self) -> String {
        described(self.keys.iter().map(JsonKey::to_string))
    }

    fn describe(&self) -> String {
        let bytes = self.files.iter().map(|file| file.bytes).sum();
        let deleted = match self.keys.len() - self.without_vertex.len() {
            0 => "no vertex".to_owned(),
            count if count == self.keys.len() => self.vertices(),
            count => counted(count as u64, "vertex", "vertices"),
        };
        let undecoded = self.files.iter().filter(|file| !file.decoded).count() as u64;
        let mut rows = vec![
            ("store", self.store.clone()),
            ("deleted", format!("{deleted}, with {}", counted(self.edges_deleted, "edge", "edges"))),
            ("searched", format!("{}, {}", counted(self.files.len() as u64, "file", "files"), Bytes(bytes))),
        ];
        if undecoded > 0 {
            let files = counted(undecoded, "file", "files");
            rows.push((
                "note",
                format!("{files} that no store writes: only the bytes of keys were looked for"),
            ));
        }
        for key in &self.without_vertex {
            rows.push(("note", format!("{key} had no vertex; deletions in the files were completed")));
        }
        for key in &self.mentioned {
            rows.push(("note", format!("other keys, properties or names contain the text {key}, and stay")));
        }
        for Found { file, key, found } in &self.traces {
            let of = key.as_ref().map_or(String::new(), |key| format!(", {key}"));
            rows.push(("trace", format!("{file}: {found}{of}")));
        }
        let held = |process: &u32| ("held by", format!("process {process}, which has removed files open"));
        rows.extend(self.held_by.iter().map(held));
        if self.erased {
            rows.push((
                "result",
                "no trace; copies of the store, such as backups, have to be erased by themselves".to_owned(),
            ));
        }
        table(&rows)
    }

    fn failure(&self, store: &Path) -> StoredError {
        let mut what = Vec::new();
        if !self.traces.is_empty() {
            let traces = counted(self.traces.len() as u64, "trace", "traces");
            let first = &self.traces[0].file;
            what.push(format!(
                "{traces} in its files, such as {first}; move files aside that are no part of the store, and run the command again"
            ));
        }
        if !self.held_by.is_empty() {
            let processes: Vec<String> = self.held_by.iter().map(u32::to_string).collect();
            what.push(format!(
                "removed files stay on the disk until the processes that read them end: {}",
                processes.join(", ")
            ));
        }
        StoredError::NotErased { store: store.into(), vertices: self.vertices(), what: what.join("; ") }
    }
}
