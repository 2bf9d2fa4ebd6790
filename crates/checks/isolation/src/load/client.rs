//! The process that commits until it is killed.

use crate::give_up;
use crate::load::acknowledged::Acknowledged;
use crate::load::plan::{Change, Plan, Way, plan};
use crate::load::{COUNT, LEDGER, NUMBERED, PLAIN, graph_options};
use crate::mistake::Mistake;
use crate::named::Named;
use hedgerow::{
    CheckpointOptions, Commit, CommitTimestamp, DeclaredTxn, Durability, Error, ErrorKind, Graph, ReadGraph,
    Topology, Value, WriteGraph, WriteTxn,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The arguments of the process that commits.
#[derive(Clone, Debug, clap::Args)]
pub struct LoadOptions {
    /// The directory of the store; it is created if it does not exist.
    #[arg(long)]
    pub store: PathBuf,
    /// The topology of the graph.
    #[arg(long)]
    pub topology: Topology,
    /// The durability at which a commit returns.
    #[arg(long)]
    pub durability: Durability,
    /// The seed of the commits.
    #[arg(long)]
    pub seed: u64,
    /// The number of each client's last commit in the store.
    #[arg(long, value_delimiter = ',')]
    pub committed: Vec<u64>,
    /// The mistake to make.
    #[arg(long, value_parser = Mistake::of_name, default_value = "nothing")]
    pub mistake: Mistake,
}

/// Opens or creates the store and commits from one thread per client, concurrently with
/// checkpoints. Writes a line per acknowledgement ([`Acknowledged`]) to its output, and ends when
/// it is killed or the output is closed.
///
/// # Errors
/// The store cannot be opened.
pub fn run(options: &LoadOptions) -> Result<(), Box<dyn std::error::Error>> {
    let graph_options = graph_options(options.topology, options.durability);
    let graph = match graph_options.open(&options.store) {
        Err(error) if error.kind() == ErrorKind::NotFound => graph_options.create(&options.store)?,
        opened => opened?,
    };
    tell(Acknowledged::Open);
    thread::scope(|scope| {
        for (client, &committed) in (0..).zip(&options.committed) {
            let graph = &graph;
            let mistake = options.mistake;
            scope.spawn(move || {
                let mut client = Client { graph, client, seed: options.seed, number: committed + 1, mistake };
                let failed = loop {
                    if let Err(error) = client.step() {
                        break error;
                    }
                };
                give_up("a commit failed", &failed);
            });
        }
        let mut random = SmallRng::seed_from_u64(options.seed);
        loop {
            thread::sleep(Duration::from_millis(random.random_range(1..60)));
            match graph.checkpoint(&CheckpointOptions::new()) {
                Ok(report) => tell(Acknowledged::Durable(report.timestamp)),
                Err(error) => give_up("a checkpoint failed", &error),
            }
        }
    })
}

/// Writes an acknowledgement. The line is written in one piece, so that a kill cannot tear it.
fn tell(acknowledged: Acknowledged) {
    let line = format!("{acknowledged}\n");
    if let Err(error) = io::stdout().lock().write_all(line.as_bytes()) {
        give_up("the output is closed", &error);
    }
}

struct Client<'g> {
    graph: &'g Graph,
    client: u64,
    seed: u64,
    /// The number of the next commit.
    number: u64,
    mistake: Mistake,
}

impl Client<'_> {
    fn key(&self, vertex: u64) -> u64 {
        client_key(self.client, vertex)
    }

    /// Executes the next step, and acknowledges it.
    fn step(&mut self) -> Result<(), Error> {
        let plan = plan(self.seed, self.client, self.number);
        if self.mistake == Mistake::Early {
            self.acknowledge(&plan, CommitTimestamp::ZERO, None);
        }
        let (at, chained) = self.commit(&plan)?;
        if self.mistake != Mistake::Early {
            self.acknowledge(&plan, at, chained);
        }
        self.number += plan.commit_count();
        if plan.way == Way::DurableTransaction {
            tell(Acknowledged::Durable(at));
        } else if self.number.is_multiple_of(64) {
            self.graph.flush()?;
            tell(Acknowledged::Durable(at));
        }
        Ok(())
    }

    fn acknowledge(&self, plan: &Plan, at: CommitTimestamp, chained: Option<u64>) {
        let number = self.number + plan.commit_count() - 1;
        tell(Acknowledged::Committed { client: self.client, number, at, chained });
    }

    fn commit(&self, plan: &Plan) -> Result<(CommitTimestamp, Option<u64>), Error> {
        let changes: Vec<Change> = plan.commits().flatten().copied().collect();
        let at = match plan.way {
            Way::Single => self.single(changes[0])?,
            Way::Transaction if self.mistake == Mistake::Split => {
                let (first, second) = changes.split_at(changes.len() / 2);
                self.transact(first, Durability::None)?;
                return self.transact(second, Durability::None);
            }
            Way::Transaction => return self.transact(&changes, Durability::None),
            Way::DurableTransaction => return self.transact(&changes, Durability::Sync),
            Way::Declared => self.declared(&changes)?.at,
            Way::Ingest => self.graph.ingest(NUMBERED, &self.edges(&changes, 0))?.at,
            Way::Stream => self.graph.put_each(NUMBERED, &self.edges(&changes, 1))?.at,
        };
        Ok((at, None))
    }

    /// Returns the edges to put; the n-th has the number of the commit plus n times `step`.
    fn edges(&self, changes: &[Change], step: u64) -> Vec<(u64, u64, u64)> {
        let ends = changes.iter().filter_map(|change| match *change {
            Change::Put(source, destination) => Some((self.key(source), self.key(destination))),
            _ => None,
        });
        (0..)
            .zip(ends)
            .map(|(n, (source, destination))| (source, destination, self.number + n * step))
            .collect()
    }

    fn single(&self, change: Change) -> Result<CommitTimestamp, Error> {
        let (graph, number) = (self.graph, self.number);
        match change {
            Change::Put(source, destination) => {
                Ok(graph.put_edge_with(NUMBERED, self.key(source), self.key(destination), number)?.at)
            }
            Change::Count(vertex) => {
                Ok(graph.set_properties(self.key(vertex), &[(COUNT, Value::I64(number as i64))])?.at)
            }
            Change::Toggle(source, destination) => {
                let (source, destination) = (self.key(source), self.key(destination));
                // No other thread writes this edge.
                if graph.get_edge::<()>(PLAIN, source, destination)?.is_none() {
                    return Ok(graph.put_edge_with(PLAIN, source, destination, ())?.at);
                }
                graph.delete_edge(PLAIN, source, destination)?;
                // The call returns no timestamp. The snapshot's timestamp is not before the
                // commit's.
                Ok(graph.snapshot()?.timestamp())
            }
            Change::Delete(..) | Change::DeleteVertex(_) | Change::Chain => {
                unreachable!("{change:?} is part of a transaction")
            }
        }
    }

    fn declared(&self, changes: &[Change]) -> Result<Commit, Error> {
        let ends = |change: &Change| match *change {
            Change::Put(source, destination) => vec![self.key(source), self.key(destination)],
            Change::Count(vertex) => vec![self.key(vertex)],
            _ => Vec::new(),
        };
        let declared: Vec<u64> = changes.iter().flat_map(ends).collect();
        let run = |transaction: &DeclaredTxn<'_>| {
            for change in changes {
                match *change {
                    Change::Put(source, destination) => {
                        let (source, destination) = (self.key(source), self.key(destination));
                        transaction.put_edge_with(NUMBERED, source, destination, self.number)?;
                    }
                    Change::Count(vertex) => {
                        let count = Value::I64(self.number as i64);
                        transaction.set_properties(self.key(vertex), &[(COUNT, count)])?;
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        Ok(self.graph.transact_declared(&declared, run)?.1)
    }

    /// Commits changes in one transaction, and retries while other clients count first. Also
    /// returns the count that the transaction reached.
    fn transact(
        &self,
        changes: &[Change],
        durability: Durability,
    ) -> Result<(CommitTimestamp, Option<u64>), Error> {
        loop {
            let transaction = self.graph.begin()?;
            let mut chained = None;
            for change in changes {
                chained = self.stage(&transaction, *change)?.or(chained);
            }
            match transaction.commit_with(durability) {
                Ok(commit) => return Ok((commit.at, chained)),
                // The earlier commit may not be published yet.
                Err(error) if error.is_conflict() => thread::sleep(Duration::from_micros(200)),
                Err(error) => return Err(error),
            }
        }
    }

    fn stage(&self, transaction: &WriteTxn, change: Change) -> Result<Option<u64>, Error> {
        match change {
            Change::Put(source, destination) => {
                let (source, destination) = (self.key(source), self.key(destination));
                transaction.put_edge_with(NUMBERED, source, destination, self.number)?;
            }
            Change::Delete(source, destination) => {
                transaction.delete_edge(NUMBERED, self.key(source), self.key(destination))?;
            }
            Change::DeleteVertex(vertex) => transaction.delete_vertex(self.key(vertex))?,
            Change::Count(vertex) => {
                let count = Value::I64(self.number as i64);
                transaction.set_properties(self.key(vertex), &[(COUNT, count)])?;
            }
            Change::Toggle(..) => unreachable!("a toggle is a commit of its own"),
            Change::Chain => {
                let record = transaction.properties(LEDGER)?;
                let position =
                    record.as_ref().and_then(|record| record.values().first()).map_or(0, count) + 1;
                transaction.set_properties(LEDGER, &[(COUNT, Value::I64(position as i64))])?;
                transaction.put_edge_with(NUMBERED, LEDGER, self.key(0), position)?;
                return Ok(Some(position));
            }
        }
        Ok(None)
    }
}

/// The key of a client's vertex.
pub(crate) fn client_key(client: u64, vertex: u64) -> u64 {
    (client + 1) * 1_000 + vertex
}

/// A property as a number; null is zero.
pub(crate) fn count(value: &Value) -> u64 {
    match value {
        Value::I64(count) => *count as u64,
        _ => 0,
    }
}
