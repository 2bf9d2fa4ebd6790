//! `hedgerow info`

use super::InfoArgs;
use super::engine::EngineFiles;
use super::files::{Files, LogFiles};
use super::problem::Torn;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::import::Noted;
use crate::stored::args::{AsOfArgs, ReadArgs};
use crate::stored::{self, StoredState, schema};
use crate::text;
use hedgerow::store::{self, Manifest, StoreError, StreamEntry, Watch};
use hedgerow::{Count, LabelId, LabelSchema, Recovery};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
struct Info {
    store: String,
    id: String,
    /// The engine with which the store was made.
    engine: String,
    topology: &'static str,
    keys: &'static str,
    strict: bool,
    labels: Vec<Label>,
    properties: Vec<Property>,
    /// The process that has the store open, if any.
    open_in: Option<Holder>,
    /// The state that was counted.
    counted: Counted,
    /// The commit of the counted state, and its time, if the graph was not opened.
    timestamp: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<text::Moment>,
    /// The last commit in the log, and the number of commits after the counted state.
    newest: u64,
    commits_since: u64,
    vertices: Option<u64>,
    /// Edges of all labels. Unknown if some are parallel and the counts are those of a checkpoint,
    /// which counts the pairs of vertices.
    edges: Option<text::Edges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_at_least: Option<u64>,
    checkpoint: Option<Checkpoint>,
    log: LogFiles,
    /// The files of an engine that keeps edges in its own files, if the graph was opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_files: Option<EngineFiles>,
    /// The size of all files of the directory.
    disk_bytes: u64,
    /// The oldest commit whose state log and checkpoint can restore.
    oldest_readable: u64,
    import: Option<Noted>,
    /// The subscriptions for which the store keeps its log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subscriptions: Vec<Subscribed>,
    recovery: Option<Recovered>,
}

#[derive(Debug, Serialize)]
struct Label {
    name: String,
    /// The type of the values of the label's edges.
    values: Option<String>,
    /// The number of edges; unknown if they may be parallel and the graph was not opened.
    edges: Option<text::Edges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edges_at_least: Option<u64>,
    /// The pairs of vertices that the edges connect, if edges of the label may be parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<text::Edges>,
}

/// The number of edges of a label, as far as it is known.
#[derive(Clone, Copy)]
struct Counts {
    edges: Option<text::Edges>,
    pairs: Option<text::Edges>,
}

impl Counts {
    /// The counts of an open graph, or of a checkpoint, which counts parallel edges as pairs of
    /// vertices.
    fn of(schema: &LabelSchema, edges: Option<Count>, pairs: Count) -> Self {
        let are_parallel = schema.edges.key().is_some();
        let edges = edges.or((!are_parallel || pairs == 0).then_some(pairs));
        Counts { edges: edges.map(text::Edges), pairs: are_parallel.then_some(text::Edges(pairs)) }
    }

    /// A lower bound, if the number of edges is not known exactly.
    fn at_least(self) -> Option<u64> {
        match self.edges {
            Some(edges) => edges.at_least(),
            None => self.pairs.map(|pairs| pairs.0.at_least()),
        }
    }
}

#[derive(Debug, Serialize)]
struct Property {
    name: String,
    r#type: &'static str,
}

/// A subscription that the store keeps.
#[derive(Debug, Serialize)]
struct Subscribed {
    name: String,
    /// The commit up to which it has noted that it pulled, and the time of that commit.
    timestamp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<text::Moment>,
    /// The number of later commits, and how many of them the log no longer has.
    commits_since: u64,
    lost: u64,
}

impl Subscribed {
    fn of(stream: &StreamEntry, manifest: &Manifest, newest: u64) -> Self {
        let at = stream.position.0;
        Subscribed {
            name: stream.name.clone(),
            timestamp: at,
            time: Some(text::Moment(stream.wall_clock)).filter(|time| time.0 > 0),
            commits_since: newest.saturating_sub(at),
            lost: manifest.oldest_readable.0.saturating_sub(at),
        }
    }

    fn described(&self) -> String {
        let at = text::commit_made(self.timestamp, self.time);
        let since = text::counted(self.commits_since, "commit", "commits");
        let lost = match self.lost {
            0 => String::new(),
            lost => format!(", {} of them lost", text::Count(lost)),
        };
        format!("{:?}, up to commit {at}; {since} since{lost}", self.name)
    }
}

/// Another process that has the store open.
#[derive(Debug, Serialize)]
pub struct Holder {
    pub process: Option<u32>,
}

/// The state that was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Counted {
    /// The graph was opened.
    Newest,
    /// The newest checkpoint, or the engine's files.
    Checkpoint,
    /// There is no checkpoint, and the graph was not opened.
    Nothing,
}

#[derive(Debug, Serialize)]
struct Checkpoint {
    file: String,
    timestamp: u64,
    bytes: u64,
}

/// The result of opening the graph.
#[derive(Debug, Serialize)]
struct Recovered {
    /// Commits that were replayed on top of the checkpoint, or of an empty graph.
    commits: u64,
    torn: Option<Torn>,
    loading_seconds: text::Seconds,
    replaying_seconds: text::Seconds,
}

/// Prints the information.
pub fn execute(args: &InfoArgs, console: &Console) -> Result<(), CliError> {
    let path = args.place.path();
    let (state, open_in) = open(path, args, console)?;
    print(path, state.as_ref(), open_in, args.exact, console)
}

/// Prints the contents of a store: in this state, or as of its checkpoint. Counts the edges of a
/// state exactly, or as far as the engine knows their number.
pub fn print(
    path: &Path,
    state: Option<&StoredState>,
    open_in: Option<Holder>,
    exact: bool,
    console: &Console,
) -> Result<(), CliError> {
    let manifest = store::manifest(path).map_err(StoredError::from)?;
    let files = Files::of(path, &manifest)?;
    console.print(&Info::new(path, &manifest, files, (state, exact), open_in)?, describe)
}

/// Opens the newest state; with `--quick`, or if another process has the store open, returns that
/// process instead.
fn open(
    path: &Path,
    args: &InfoArgs,
    console: &Console,
) -> Result<(Option<StoredState>, Option<Holder>), CliError> {
    if args.quick {
        return Ok((None, holder_of(path)));
    }
    match stored::read(
        path,
        &ReadArgs { from_checkpoint: false, as_of: AsOfArgs::default(), memory: args.memory.clone() },
        None,
        console,
    ) {
        Ok(state) => Ok((Some(state), None)),
        Err(StoredError::Graph(error)) => match error.store() {
            Some(StoreError::Locked { holder, .. }) => Ok((None, Some(Holder { process: *holder }))),
            _ => Err(StoredError::Graph(error).into()),
        },
        Err(error) => Err(error.into()),
    }
}

/// The process that has the store open to write, as far as this one can tell: none can write to a
/// directory that is not writable.
pub fn holder_of(path: &Path) -> Option<Holder> {
    store::holder(path).ok().flatten().map(|holder| Holder { process: holder.process })
}

impl Info {
    fn new(
        path: &Path,
        manifest: &Manifest,
        files: Files,
        (state, exact): (Option<&StoredState>, bool),
        open_in: Option<Holder>,
    ) -> Result<Self, CliError> {
        let described = match state {
            Some(_) => None,
            None => store::checkpoint(path).map_err(StoredError::from)?,
        };
        let counts = described.as_ref().map(|described| &described.counts);
        let options = &manifest.options;
        let labels = (0..).map(LabelId).zip(options.catalog.labels());
        let labels = labels.map(|(label, schema)| {
            let counts = match state {
                Some(StoredState { snapshot, .. }) => {
                    let edges = match exact {
                        true => snapshot.exact_edge_count_of(label).map_err(StoredError::from)?.into(),
                        false => snapshot.edge_count_of(label),
                    };
                    Some(Counts::of(schema, Some(edges), snapshot.pair_count_of(label)))
                }
                None => counts.map(|counts| {
                    let each = Some(counts.parallel_of(label)).filter(|each| *each > 0);
                    Counts::of(schema, each.map(Count::exactly), counts.edges_of(label))
                }),
            };
            Ok(Label::new(schema, counts))
        });
        let labels = labels.collect::<Result<Vec<_>, CliError>>()?;
        let edges = labels.iter().map(|label| label.edges.map(|edges| edges.0));
        let edges = edges.sum::<Option<Count>>().map(text::Edges);
        let at_least = |label: &Label| label.edges_at_least.or_else(|| Some(label.edges?.0.at_least()));
        let edges_at_least = labels.iter().map(at_least).sum::<Option<u64>>();
        let edges_at_least = edges_at_least.filter(|_| edges.is_none_or(|edges| edges.at_least().is_some()));
        let engine_files =
            state.map(|state| state.graph.engine_report()).transpose().map_err(StoredError::from)?;
        let engine_files = engine_files.flatten();
        let properties = options
            .catalog
            .vertices()
            .fields
            .iter()
            .map(|field| Property { name: field.name.clone(), r#type: field.value_type.name() });
        let timestamp = match state {
            Some(state) => Some(state.snapshot.timestamp().0),
            None => described.as_ref().map(|described| described.timestamp.0),
        };
        let newest = match state {
            Some(state) => state.snapshot.timestamp().0,
            None => Watch::new(path).look().map_err(StoredError::from)?.newest.0,
        };
        let time = described.as_ref().map(|described| described.wall_clock);
        let time = time.filter(|time| *time > 0).map(text::Moment);
        let input = state.map_or_else(
            || described.as_ref().and_then(|described| described.input.as_deref()),
            |state| state.input.as_deref(),
        );
        Ok(Info {
            store: path.display().to_string(),
            id: schema::hexadecimal(&manifest.store),
            engine: options.engine_name().to_owned(),
            topology: schema::topology(options.topology),
            keys: schema::keys(options.keys),
            strict: options.strict,
            labels,
            properties: properties.collect(),
            open_in,
            counted: match (state, &described) {
                (Some(_), _) => Counted::Newest,
                (None, Some(_)) => Counted::Checkpoint,
                (None, None) => Counted::Nothing,
            },
            timestamp,
            time,
            newest,
            commits_since: newest.saturating_sub(timestamp.unwrap_or(0)),
            vertices: match state {
                Some(state) => Some(state.snapshot.vertex_count()),
                None => counts.map(|counts| counts.vertices),
            },
            edges,
            edges_at_least,
            checkpoint: manifest.checkpoint.map(|entry| Checkpoint {
                file: entry.file_name(),
                timestamp: entry.at.0,
                bytes: entry.length,
            }),
            log: files.log,
            engine_files: engine_files.map(|report| EngineFiles::of(&report, &options.catalog)),
            disk_bytes: files.disk_bytes,
            oldest_readable: manifest.oldest_readable.0,
            import: input.map(Noted::of),
            subscriptions: manifest.streams.iter().map(|it| Subscribed::of(it, manifest, newest)).collect(),
            recovery: state.map(|state| Recovered::from(&state.recovery)),
        })
    }
}

impl Label {
    fn new(schema: &LabelSchema, counts: Option<Counts>) -> Self {
        Label {
            name: schema.name.clone(),
            values: schema::values(schema),
            edges: counts.and_then(|counts| counts.edges),
            edges_at_least: counts.and_then(Counts::at_least),
            pairs: counts.and_then(|counts| counts.pairs),
        }
    }

    /// The edges: `4 edges between 3 pairs of vertices`; empty if nothing is known.
    fn described(&self) -> String {
        let edges = self.edges.map(text::Edges::with_noun);
        let Some(text::Edges(pairs)) = self.pairs else { return edges.unwrap_or_default() };
        let pairs = text::counted(pairs.at_most(), "pair of vertices", "pairs of vertices");
        format!("{} between {pairs}", edges.as_deref().unwrap_or("edges"))
    }
}

impl From<&Recovery> for Recovered {
    fn from(recovery: &Recovery) -> Self {
        Recovered {
            commits: recovery.commits,
            torn: recovery.torn.as_ref().map(Torn::from),
            loading_seconds: text::Seconds(recovery.loading),
            replaying_seconds: text::Seconds(recovery.replaying),
        }
    }
}

fn describe(info: &Info) -> String {
    let count = |number: u64| text::Count(number).to_string();
    let bytes = |bytes: u64| text::Bytes(bytes).to_string();
    let unknown = || "unknown before the graph is opened: there is no checkpoint".to_owned();
    let strict = if info.strict { ", strict" } else { "" };
    let mut rows = vec![
        ("store", format!("{}, {}, made with engine {}", info.store, bytes(info.disk_bytes), info.engine)),
        ("graph", format!("{}, keys of kind {}{strict}", info.topology, info.keys)),
    ];
    if let Some(Holder { process }) = &info.open_in {
        let holder = process.map_or("another process".into(), |process| format!("process {process}"));
        rows.push(("open in", format!("{holder}, which may write to it")));
    }
    let since = text::counted(info.commits_since, "commit", "commits");
    match (info.counted, info.timestamp) {
        (Counted::Checkpoint, Some(counted)) => {
            let of = if info.checkpoint.is_some() { "the checkpoint" } else { "the engine's files" };
            let counted = text::commit_made(counted, info.time);
            rows.push(("counted", format!("{of}, as of commit {counted}; {since} since")));
        }
        (Counted::Nothing, _) => rows.push(("counted", format!("nothing; the log has {since}"))),
        _ => {}
    }
    rows.push(("vertices", info.vertices.map_or_else(unknown, count)));
    let edges = match (info.edges, info.edges_at_least) {
        (Some(edges), _) => edges.to_string(),
        (None, Some(least)) => format!("at least {}", count(least)),
        (None, None) => unknown(),
    };
    rows.push(("edges", edges));
    for label in &info.labels {
        let values = label.values.as_ref();
        let values = values.map_or("without values".into(), |column| format!("values of type {column}"));
        let edges = label.described();
        let separator = if edges.is_empty() { "" } else { ", " };
        rows.push(("label", format!("{:?}, {values}{separator}{edges}", label.name)));
    }
    let properties = info.properties.iter();
    rows.extend(properties.map(|Property { name, r#type }| ("property", format!("{name:?} of type {type}"))));
    if let (Counted::Newest, Some(timestamp)) = (info.counted, info.timestamp) {
        rows.push(("last commit", count(timestamp)));
    }
    // Engines with files of their own have no checkpoints.
    let has_checkpoints = info.checkpoint.is_some() || info.engine != "lsm";
    let loaded = if has_checkpoints { "checkpoint" } else { "the engine's files" };
    let checkpoint = info.checkpoint.as_ref();
    let checkpoint = checkpoint.map(|Checkpoint { timestamp, bytes: size, .. }| {
        format!("commit {}, {}", count(*timestamp), bytes(*size))
    });
    if has_checkpoints {
        rows.push(("checkpoint", checkpoint.unwrap_or_else(|| "none".into())));
    }
    let segments = text::counted(info.log.segments.len() as u64, "segment", "segments");
    rows.push(("log", format!("{segments}, {}", bytes(info.log.bytes))));
    rows.extend(info.engine_files.iter().flat_map(EngineFiles::rows));
    let subscriptions = info.subscriptions.iter();
    rows.extend(subscriptions.map(|subscribed| ("subscription", subscribed.described())));
    rows.extend(info.import.as_ref().map(|noted| ("import", noted.to_string())));
    if let Some(Recovered { commits, torn, loading_seconds, replaying_seconds }) = &info.recovery {
        let replayed = text::counted(*commits, "commit", "commits");
        let opening = format!("{loaded} in {loading_seconds}, {replayed} of the log in {replaying_seconds}");
        rows.push(("opening", opening));
        rows.extend(torn.as_ref().map(|torn| ("torn", format!("{torn}, which was cut"))));
    }
    text::table(&rows)
}
