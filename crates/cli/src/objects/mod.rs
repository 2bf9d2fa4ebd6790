//! `hedgerow neighbors`, `path`, `get`, `put` and `delete`: single vertices and edges in stores.

mod args;
pub mod delete;
pub mod get;
pub mod neighbors;
mod newest;
pub mod path;
pub mod put;

pub use args::{
    DeleteArgs, DeleteObject, GetArgs, GetObject, NeighborhoodArgs, NeighborsArgs, PathArgs, PathBetweenArgs,
    PutArgs, PutObject, ReadPlace, VerticesArgs,
};

use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::keys;
use crate::stored::args::{DurabilityName, WriteArgs};
use crate::stored::{self, StoredState, schema};
use args::{ConditionArgs, EdgeArgs};
use hedgerow::{
    Catalog, Commit, EdgeUpdate, Graph, GraphOptions, Key, KeyKind, LabelId, LabelSchema, ReadGraph,
    Snapshot, Topology, Updated, Value, WriteGraph, WriteTxn,
};
use serde::Serialize;
use std::path::Path;

/// An edge from the command line.
struct NamedEdge<'a> {
    from: Key,
    to: Key,
    label: LabelId,
    schema: &'a LabelSchema,
    /// The key of a parallel edge, if given.
    key: Option<u64>,
}

impl<'a> NamedEdge<'a> {
    fn of(args: &EdgeArgs, kind: KeyKind, catalog: &'a Catalog, store: &Path) -> Result<Self, CliError> {
        let (label, schema) = stored::label(catalog, args.label.as_deref(), store)?;
        let from = keys::parse("FROM", &args.from, kind)?;
        let to = keys::parse("TO", &args.to, kind)?;
        if let (Some(key), None) = (args.key, schema.edges.key()) {
            let problem =
                format!("between two vertices there is one edge of the label {:?} at most", schema.name);
            return Err(StoredError::EdgeKey { option: format!("--key {key}"), problem }.into());
        }
        Ok(NamedEdge { from, to, label, schema, key: args.key })
    }

    /// The key of a parallel edge, which must be given; `None` if the label has no parallel edges.
    fn needed_key(&self) -> Result<Option<u64>, StoredError> {
        let Some(name) = self.schema.edges.key() else { return Ok(None) };
        let problem = || {
            format!(
                "edges of the label {:?} are distinguished by {name:?}: say which it is",
                self.schema.name
            )
        };
        let missing = || StoredError::EdgeKey { option: "--key".to_owned(), problem: problem() };
        self.key.map(Some).ok_or_else(missing)
    }

    /// An update with the conditions of the command line, on properties of the label's records.
    fn conditions<'u>(
        &self,
        args: &'u ConditionArgs,
        update: EdgeUpdate<'u>,
    ) -> Result<EdgeUpdate<'u>, StoredError> {
        args.only_if.iter().try_fold(update, |update, given| {
            let (name, value) = self.property("--only-if", given)?;
            Ok(update.only_if(name, value))
        })
    }

    /// Parses the property `NAME=VALUE` that `option` gives.
    fn property<'p>(&self, option: &'static str, given: &'p str) -> Result<(&'p str, Value), StoredError> {
        let fields = self.schema.edges.record().map_or(&[][..], |schema| &schema.fields);
        schema::named_property(option, given, fields, &format!("edges of the label {:?}", self.schema.name))
    }

    /// Updates the edge, or the parallel edge with `key`.
    fn update(
        &self,
        transaction: &WriteTxn,
        key: Option<u64>,
        update: &EdgeUpdate<'_>,
    ) -> Result<Updated<()>, CliError> {
        let updated = match key {
            Some(key) => transaction.update_parallel_edge(self.label, &self.from, &self.to, key, update),
            None => transaction.update_edge(self.label, &self.from, &self.to, update),
        };
        Ok(updated.map_err(StoredError::from)?)
    }

    /// The error for a condition that does not hold.
    fn condition_failed(&self, store: &Path) -> CliError {
        let (from, to) = (keys::text(&self.from), keys::text(&self.to));
        StoredError::ConditionFailed { from, to, label: self.schema.name.clone(), store: store.into() }.into()
    }

    /// The error for an edge that does not exist.
    fn missing(&self, graph: &impl ReadGraph, store: &Path) -> CliError {
        let (from, to) = (keys::text(&self.from), keys::text(&self.to));
        let (label, store) = (self.schema.name.clone(), store.into());
        let parallel = self.key.and_then(|key| {
            let edges = graph.parallel_edges::<()>(self.label, &self.from, &self.to, ..).ok()?;
            let known = match &edges[..] {
                [] => return None,
                [(one, ())] => format!("one with the key {one}"),
                [(first, ()), .., (last, ())] => format!("{} with keys from {first} to {last}", edges.len()),
            };
            Some((key, known))
        });
        match parallel {
            Some((key, known)) => {
                let edge = format!("with the key {key} from {from} to {to}");
                StoredError::NoParallelEdge { edge, label, known, store }
            }
            None => StoredError::NoEdge { from, to, label, store },
        }
        .into()
    }
}

/// The error for a vertex that does not exist.
pub fn no_vertex(key: &Key, store: &Path) -> CliError {
    StoredError::NoVertex { key: keys::text(key), store: store.into() }.into()
}

/// A state of a graph that single vertices and edges are read from: a snapshot, or an open
/// transaction with its own changes.
pub struct Reading<'a, R> {
    pub graph: &'a R,
    pub catalog: Catalog,
    pub topology: Topology,
    pub keys: KeyKind,
    /// The directory of the graph's store.
    pub store: &'a Path,
}

impl<'a> Reading<'a, Snapshot> {
    pub fn of(state: &'a StoredState, store: &'a Path) -> Self {
        let (graph, keys) = (&state.snapshot, state.keys);
        Reading { graph, catalog: graph.catalog(), topology: graph.topology(), keys, store }
    }
}

impl<'a> Reading<'a, WriteTxn> {
    /// The state that a transaction on `graph` sees.
    pub fn within(transaction: &'a WriteTxn, graph: &Graph, store: &'a Path) -> Self {
        let (topology, keys) = (graph.topology(), graph.key_kind());
        Reading { graph: transaction, catalog: graph.catalog(), topology, keys, store }
    }
}

/// The outcome of a change whose condition does not hold, as a clause.
const UNCHANGED: &str = "the condition did not hold, nothing was changed";

/// The outcome of a change.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
enum Outcome<C> {
    /// The change was committed.
    Committed(C),
    /// The change was staged in the open transaction of a shell.
    Staged {
        /// Always true.
        staged: bool,
    },
}

impl<C> Outcome<C> {
    /// The outcome as a clause, for a result that cannot be printed.
    fn done(&self) -> &'static str {
        match self {
            Outcome::Committed(_) => "the change is committed",
            Outcome::Staged { .. } => "the change is staged in the open transaction",
        }
    }

    fn map<D>(self, of: impl FnOnce(C) -> D) -> Outcome<D> {
        match self {
            Outcome::Committed(commit) => Outcome::Committed(of(commit)),
            Outcome::Staged { staged } => Outcome::Staged { staged },
        }
    }
}

/// A store that is open for commits.
#[derive(Clone, Copy, Debug)]
pub struct Writing<'a> {
    pub graph: &'a Graph,
    /// The open transaction of a shell, which takes all changes instead of commits of their own.
    transaction: Option<&'a WriteTxn>,
    /// The directory of the store.
    pub store: &'a Path,
    /// The durability of each commit.
    pub durability: DurabilityName,
    /// True if the store is closed after one commit, before the result is printed.
    closes: bool,
}

impl<'a> Writing<'a> {
    /// A store that stays open after a commit, and the transaction that is open on it.
    pub fn on(
        graph: &'a Graph,
        transaction: Option<&'a WriteTxn>,
        store: &'a Path,
        durability: DurabilityName,
    ) -> Self {
        Writing { graph, transaction, store, durability, closes: false }
    }

    /// Opens a store for one commit, which `change` makes.
    fn once(
        store: &Path,
        write: &WriteArgs,
        console: &Console,
        change: impl FnOnce(&Writing<'_>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let settings = |options: GraphOptions| options.durability(write.durability.durability());
        let graph = stored::open(store, settings, write.wait, console, None)?;
        let (durability, transaction) = (write.durability, None);
        change(&Writing { graph: &graph, transaction, store, durability, closes: true })
    }

    /// Commits what `stage` stages, or leaves it in the open transaction.
    fn commit<T>(
        &self,
        stage: impl FnOnce(&WriteTxn) -> Result<T, CliError>,
    ) -> Result<(T, Outcome<Commit>), CliError> {
        if let Some(transaction) = self.transaction {
            return Ok((stage(transaction)?, Outcome::Staged { staged: true }));
        }
        let transaction = self.graph.begin().map_err(StoredError::from)?;
        let staged = stage(&transaction)?;
        let commit = transaction.commit().map_err(StoredError::from)?;
        if self.closes {
            self.graph.close().map_err(StoredError::from)?;
        }
        Ok((staged, Outcome::Committed(commit)))
    }
}
