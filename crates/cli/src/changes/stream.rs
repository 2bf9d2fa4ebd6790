//! `hedgerow changes`

use super::args::{ChangesArgs, Position, StateArg, To};
use super::content::{Content, of_vertex, row_of};
use super::item::{COLUMNS, Item};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::kafka::{Sink, TopicAddress};
use crate::keys;
use crate::listing::{Form, Listing, NoFields};
use crate::stored::args::{AsOfArgs, ReadArgs};
use crate::stored::number::EdgeNumber;
use crate::stored::properties::Properties;
use crate::stored::{self, StoredState};
use crate::text::{self, Moment};
use hedgerow::store::{self, CommitRange, Manifest};
use hedgerow::{
    Begin, Catalog, Change, ChangeToken, ChangedEdge, Changes, CommitTimestamp, EdgeSchema, Error, ErrorKind,
    Key, LabelId, LabelSchema, SubscribeOptions, Subscription,
};
use hedgerow_formats::STANDARD_OUTPUT;
use hedgerow_model::with_column;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait before a signal is noticed.
const NAP: Duration = Duration::from_millis(50);

/// The time in which changes that are followed are written to a broker that does not answer.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(500);

/// A change, and its commit. Of a row of the graph that comes first, the commit of the state.
#[derive(Serialize)]
struct Line<'a> {
    commit: u64,
    time: Moment,
    change: &'static str,
    #[serde(flatten)]
    item: Item<'a>,
}

/// Inserted, or replaced.
const PUT: &str = "put";
const DELETED: &str = "deleted";

/// A position at which a later call goes on.
#[derive(Serialize)]
struct Reached {
    token: String,
    /// The commit whose state was printed, if these are the rows of the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<u64>,
}

/// The changes that were written to a topic.
#[derive(Debug, Default, Serialize)]
struct Written {
    topic: String,
    /// The last commit that the topic had before.
    resumed_after: Option<u64>,
    changes: u64,
    transactions: u64,
    /// The position after the last change.
    token: String,
    /// The topic could be written once.
    #[serde(skip)]
    is_open: bool,
}

/// Prints the changes of a store as far as requested, or writes them to a topic.
pub fn execute(args: &ChangesArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let manifest = store::manifest(args.place.path()).map_err(StoredError::from)?;
    let Some(To::Topic(address)) = &args.to else {
        let mut printer = Printer::begin(args, &manifest)?;
        let passed = pass(args, console, interrupt, &mut printer, args.from);
        return passed.and(printer.finish());
    };
    if args.csv {
        let message = format!("--csv: the records of {address} are lines of JSON; leave it out");
        return Err(CliError::Usage(message));
    }
    let mut written = Written { topic: address.to_string(), ..Written::default() };
    let mut worked = Instant::now();
    loop {
        let (begin, before) = (Instant::now(), written.transactions);
        let Err(error) = write(args, console, interrupt, address, &mut written) else {
            return console.summarize(None, &written, Written::describe);
        };
        if written.transactions > before || begin.elapsed() >= PATIENCE {
            worked = Instant::now();
        }
        let may_pass = args.follow && written.is_open && error.is_passing();
        if !may_pass || worked.elapsed() >= PATIENCE {
            return Err(error);
        }
        interrupt.check()?;
        thread::sleep(PAUSE);
    }
}

/// Writes changes to a topic, after those that it has.
fn write(
    args: &ChangesArgs,
    console: &Console,
    interrupt: &Interrupt,
    address: &TopicAddress,
    written: &mut Written,
) -> Result<(), CliError> {
    let manifest = store::manifest(args.place.path()).map_err(StoredError::from)?;
    let mut sink = Sink::open(address, manifest.store)?;
    let last = sink.last()?;
    written.is_open = true;
    if written.transactions == 0 {
        written.resumed_after = last.map(|(token, _)| token.commit().0);
    }
    let from = last.map(|(token, _)| Position::Token(token)).or(args.from);
    let mut printer = Printer::of(Output::Topic(Box::new(sink)), args, &manifest);
    let passed = pass(args, console, interrupt, &mut printer, from);
    let Output::Topic(sink) = &mut printer.output else { return passed.map(drop) };
    let (changes, transactions) = sink.written();
    (written.changes, written.transactions) =
        (written.changes + changes, written.transactions + transactions);
    match (passed, last) {
        (Ok(token), _) => {
            written.token = token.to_string();
            Ok(())
        }
        (Err(CliError::Stored(StoredError::Graph(error))), Some((_, offset)))
            if error.kind() == ErrorKind::InvalidInput =>
        {
            Err(sink.of_another_store(offset))
        }
        (Err(error), _) => {
            if !error.is_passing() {
                sink.abort();
            }
            Err(error)
        }
    }
}

/// Passes changes on as far as requested, and returns the position after them.
fn pass(
    args: &ChangesArgs,
    console: &Console,
    interrupt: &Interrupt,
    printer: &mut Printer,
    from: Option<Position>,
) -> Result<ChangeToken, CliError> {
    let path = args.place.path();
    let manifest = store::manifest(path).map_err(StoredError::from)?;
    let options = options(args, &manifest)?;
    let (begin, state) = match from {
        Some(Position::Start) if manifest.oldest_readable > CommitTimestamp::ZERO => {
            let (from_checkpoint, as_of, memory) = (true, AsOfArgs::default(), args.memory.clone());
            let state = stored::read(path, &ReadArgs { from_checkpoint, as_of, memory }, None, console)?;
            let token = state.snapshot.token().map_err(StoredError::from)?;
            (Begin::After(token), Some(state))
        }
        from => (begin(from, args, &manifest)?, None),
    };
    let subscription = store::subscribe(path, &options.begin(begin));
    let mut subscription = subscription.map_err(StoredError::from)?;
    if let Some(state) = state {
        printer.rows(&state, subscription.token(), args, interrupt)?;
    }
    let followed = follow(&mut subscription, args.follow, printer, interrupt);
    if !console.is_json() {
        console.detail(|| format!("go on with --from {}", subscription.token()));
    }
    followed.map(|()| subscription.token())
}

/// Prints changes until there are none, or if it waits for more, until a signal.
fn follow(
    subscription: &mut Subscription,
    waits: bool,
    printer: &mut Printer,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    loop {
        match interrupt.check() {
            Err(CliError::Interrupted(_)) if waits => return Ok(()),
            checked => checked?,
        }
        let before = subscription.token();
        let pulled = if waits { subscription.pull_within(NAP) } else { subscription.pull() };
        let changes = pulled.map_err(StoredError::from)?;
        printer.changes(&changes)?;
        let has_moved = changes.token() != before;
        if has_moved {
            printer.reached(changes.token(), None)?;
        }
        if subscription.is_complete() || !(has_moved || waits) {
            return Ok(());
        }
    }
}

/// The filters, and the last commit.
fn options(args: &ChangesArgs, manifest: &Manifest) -> Result<SubscribeOptions, CliError> {
    let mut options = SubscribeOptions::new().undurable(args.undurable);
    for label in labels(args, &manifest.options.catalog)? {
        options = options.label(label);
    }
    for vertex in vertices(args, manifest)? {
        options = options.vertex(vertex);
    }
    Ok(match args.to {
        Some(To::State(StateArg::Commit(commit))) => options.through(CommitTimestamp(commit)),
        Some(To::State(StateArg::Time(time))) => options.through(newest_at(args.place.path(), time)?),
        Some(To::State(StateArg::Newest | StateArg::Checkpoint)) => {
            options.through(newest_at(args.place.path(), u64::MAX)?)
        }
        Some(To::Topic(_)) | None => options,
    })
}

/// The labels whose edges are printed; empty for all.
fn labels(args: &ChangesArgs, catalog: &Catalog) -> Result<Vec<LabelId>, CliError> {
    let id = |name: &String| Ok(stored::label(catalog, Some(name), args.place.path())?.0);
    args.label.iter().map(id).collect()
}

/// The vertices whose changes are printed; empty for all.
fn vertices(args: &ChangesArgs, manifest: &Manifest) -> Result<Vec<Key>, CliError> {
    args.vertex.iter().map(|key| keys::parse("--vertex", key, manifest.options.keys)).collect()
}

/// The place at which changes begin.
fn begin(from: Option<Position>, args: &ChangesArgs, manifest: &Manifest) -> Result<Begin, CliError> {
    let oldest = manifest.oldest_readable;
    Ok(match from {
        // A topic would lack the changes before a second beginning.
        None if args.follow && !matches!(args.to, Some(To::Topic(_))) => Begin::Now,
        None => Begin::AfterCommit(oldest),
        Some(Position::Start) => Begin::AfterCommit(CommitTimestamp::ZERO),
        Some(Position::Token(token)) => Begin::After(token),
        Some(Position::State(StateArg::Newest | StateArg::Checkpoint)) => Begin::Now,
        Some(Position::State(StateArg::Commit(commit))) => Begin::AfterCommit(CommitTimestamp(commit)),
        Some(Position::State(StateArg::Time(time))) => {
            let at = newest_at(args.place.path(), time)?;
            if at == oldest && manifest.oldest_wall_clock > time {
                let (at, time) = (oldest.0, Moment(manifest.oldest_wall_clock));
                return Err(StoredError::ChangesOnlyInCheckpoint { at, time }.into());
            }
            Begin::AfterCommit(at)
        }
    })
}

/// The newest commit of the log that was made at a time or before, or the one before the log.
fn newest_at(path: &Path, time: u64) -> Result<CommitTimestamp, CliError> {
    let mut newest = None;
    let range = CommitRange { until: time, ..CommitRange::default() };
    let manifest = store::commits(path, &range, |commit| {
        newest = Some(commit.at);
        Ok::<_, Error>(ControlFlow::Break(()))
    });
    Ok(newest.unwrap_or(manifest.map_err(StoredError::from)?.oldest_readable))
}

/// The destination of changes.
enum Output {
    Lines(Box<Listing>, Form),
    Topic(Box<Sink>),
}

/// Prints changes in the requested form.
struct Printer {
    output: Output,
    is_csv: bool,
    names_labels: bool,
}

impl Printer {
    fn begin(args: &ChangesArgs, manifest: &Manifest) -> Result<Self, CliError> {
        let form = if args.json { Form::JsonLines } else { Form::Text };
        let mut listing = Listing::begin(Path::new(STANDARD_OUTPUT), form, &NoFields {})?;
        if args.csv {
            listing.line(&format!("commit,time,change,{COLUMNS}"))?;
        }
        Ok(Printer::of(Output::Lines(Box::new(listing), form), args, manifest))
    }

    fn of(output: Output, args: &ChangesArgs, manifest: &Manifest) -> Self {
        let names_labels = manifest.options.catalog.labels().len() > 1;
        Printer { output, is_csv: args.csv, names_labels }
    }

    fn finish(self) -> Result<(), CliError> {
        match self.output {
            Output::Lines(listing, _) => listing.finish(&NoFields {}),
            Output::Topic(_) => Ok(()),
        }
    }

    /// Prints the whole graph, and its position.
    fn rows(
        &mut self,
        state: &StoredState,
        at: ChangeToken,
        args: &ChangesArgs,
        interrupt: &Interrupt,
    ) -> Result<(), CliError> {
        let (path, snapshot) = (args.place.path(), &state.snapshot);
        let manifest = store::manifest(path).map_err(StoredError::from)?;
        let catalog = snapshot.catalog();
        let (chosen, vertices) = (labels(args, &catalog)?, vertices(args, &manifest)?);
        let has = |key: &Key| vertices.is_empty() || vertices.contains(key);
        snapshot.try_for_each_vertex(|_, key| {
            interrupt.check()?;
            if chosen.is_empty() && has(&key) {
                let after = of_vertex(snapshot, catalog.vertices(), &key)?;
                self.print(at, PUT, Item::vertex(key.clone(), [None, Some(after)]))?;
            }
            for (schema, label) in catalog.labels().iter().zip((0..).map(LabelId)) {
                if !chosen.is_empty() && !chosen.contains(&label) {
                    continue;
                }
                for ((other, number), after) in row_of(snapshot, label, &schema.edges, &key)? {
                    if has(&key) || has(&other) {
                        let (ends, contents) = ((key.clone(), other), [None, Some(after)]);
                        self.print(at, PUT, Item::edge(&schema.name, ends, number, contents))?;
                    }
                }
            }
            Ok::<_, CliError>(())
        })?;
        self.reached(at, Some(at.commit()))
    }

    fn changes(&mut self, changes: &Changes) -> Result<(), CliError> {
        for commit in changes.commits() {
            let at = commit.token();
            for change in commit.iter() {
                let (change, item) = item(&change).map_err(StoredError::from)?;
                self.print(at, change, item)?;
            }
        }
        Ok(())
    }

    fn print(&mut self, at: ChangeToken, change: &'static str, item: Item<'_>) -> Result<(), CliError> {
        let (commit, time) = (at.commit().0, Moment(at.wall_clock()));
        let (is_csv, names_labels) = (self.is_csv, self.names_labels);
        let sign = if change == PUT { "+" } else { "-" };
        let line = Line { commit, time, change, item };
        match &mut self.output {
            Output::Lines(listing, _) => listing.item(&line, || match is_csv {
                true => format!("{commit},{time},{}", line.item.fields(change)),
                false => format!("{commit} {time} {}", line.item.line(sign, names_labels)),
            }),
            Output::Topic(sink) => sink.put(at, &line),
        }
    }

    /// Everything up to a position was printed.
    fn reached(&mut self, token: ChangeToken, state: Option<CommitTimestamp>) -> Result<(), CliError> {
        match &mut self.output {
            Output::Lines(listing, form) => {
                if *form == Form::JsonLines {
                    let state = state.map(|state| state.0);
                    listing.item(&Reached { token: token.to_string(), state }, String::new)?;
                }
                listing.flush()
            }
            Output::Topic(sink) => sink.commit(),
        }
    }
}

impl Written {
    fn describe(&self) -> String {
        let resumed = self.resumed_after.map(|commit| format!(", after commit {commit}"));
        let changes = text::counted(self.changes, "change", "changes");
        let transactions = text::counted(self.transactions, "transaction", "transactions");
        text::table(&[
            ("topic", format!("{}{}", self.topic, resumed.unwrap_or_default())),
            ("written", format!("{changes} in {transactions}")),
            ("position", self.token.clone()),
        ])
    }
}

/// The kind of a change, and what it changes.
fn item<'c>(change: &Change<'c>) -> Result<(&'static str, Item<'c>), Error> {
    let of_edge = |edge: &ChangedEdge<'c>, contents| {
        let ends = (edge.source().to_key(), edge.destination().to_key());
        Ok::<_, Error>(Item::edge(&edge.schema()?.name, ends, edge.number(), contents))
    };
    Ok(match change {
        Change::PutVertex(put) => {
            let after = Content::Properties(Properties::of(put.schema(), &put.record()));
            (PUT, Item::vertex(put.key().to_key(), [None, Some(after)]))
        }
        Change::PutEdge(put) => (PUT, of_edge(put, [None, Some(content(put, put.schema()?)?)])?),
        Change::DeleteVertex(deleted) => (DELETED, Item::vertex(deleted.key().to_key(), [None, None])),
        Change::DeleteEdge(deleted) => (DELETED, of_edge(deleted, [None, None])?),
    })
}

/// The content of an edge that was put.
fn content(edge: &ChangedEdge<'_>, schema: &LabelSchema) -> Result<Content, Error> {
    let record = edge.record()?.unwrap_or_default();
    Ok(match &schema.edges {
        EdgeSchema::Record(schema) => Content::Properties(Properties::of(schema, &record)),
        EdgeSchema::Parallel(schema) => {
            Content::Properties(Properties::of_parallel(schema, edge.number().unwrap_or_default(), &record))
        }
        EdgeSchema::Topology | EdgeSchema::Value(_) => Content::Number(with_column!(
            schema.edges.column(),
            W => edge.data::<W>(edge.label())?.map_or(EdgeNumber::None, EdgeNumber::of)
        )),
    })
}
