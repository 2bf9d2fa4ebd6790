//! Verifies the contents of a store after the process was killed.

use crate::load::acknowledged::Acknowledged;
use crate::load::client::{client_key, count};
use crate::load::expected::Part;
use crate::load::plan::{CLIENTS, Change, plan};
use crate::load::{LEDGER, NUMBERED};
use hedgerow::{CommitTimestamp, Direction, Graph, Key, ReadGraph, Snapshot, Topology};
use std::collections::BTreeMap;

/// The acknowledgements that a kill must not undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// All acknowledgements.
    EveryCommit,
    /// Acknowledgements of flushes, of checkpoints, and of commits that waited until they were
    /// durable.
    WhatIsDurable,
}

/// The counts of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Commits of this round that are in the store.
    pub found: u64,
    /// Commits that were acknowledged.
    pub acknowledged: u64,
    /// Commits that were acknowledged and are missing.
    pub lost: u64,
    /// Number of openings from a checkpoint: one or zero.
    pub from_checkpoint: u64,
}

/// A forbidden state of a store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// An acknowledged commit is missing.
    #[error("commits up to {promised} were acknowledged, and the store ends with {found}")]
    Lost {
        /// The last acknowledged commit.
        promised: CommitTimestamp,
        /// The last commit found.
        found: CommitTimestamp,
    },
    /// A client's part of the graph is in none of its possible states.
    #[error("client {client} is in no state between its commits {first} and {last}")]
    NoSuchState {
        /// The client.
        client: u64,
        /// The first of the possible states.
        first: u64,
        /// The last of the possible states.
        last: u64,
    },
    /// The number of commits differs from the last timestamp.
    #[error("there are {commits} commits, and the last timestamp is {last}")]
    Count {
        /// Commits in the states of all clients.
        commits: u64,
        /// The newest commit of the store.
        last: CommitTimestamp,
    },
    /// The shared ledger does not match the counts of the clients.
    #[error("the ledger: {0}")]
    Ledger(String),
    /// A foreign object, or a read that failed.
    #[error("{0}")]
    Foreign(String),
}

/// The progress of a client, as found in the store.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// The client's last commit in the store.
    number: u64,
    /// The client's part of the graph.
    part: Part,
    /// Number of the client's increments of the ledger.
    chained: u64,
    /// The number of the client's last commit that incremented the ledger.
    last_chained: u64,
}

impl Progress {
    /// Advances the client by one commit.
    fn commit(&mut self, topology: Topology, changes: &[Change]) {
        self.number += 1;
        self.part.commit(topology, self.number, changes);
        if changes.contains(&Change::Chain) {
            self.chained += 1;
            self.last_chained = self.number;
        }
    }
}

/// Verifies a store from round to round.
#[derive(Clone, Debug)]
pub struct Verifier {
    seed: u64,
    topology: Topology,
    clients: Vec<Progress>,
}

impl Verifier {
    /// Creates a verifier of an empty store.
    #[must_use]
    pub fn new(seed: u64, topology: Topology) -> Self {
        Verifier { seed, topology, clients: vec![Progress::default(); CLIENTS as usize] }
    }

    /// The number of each client's last commit that was found in the store.
    #[must_use]
    pub fn committed(&self) -> Vec<u64> {
        self.clients.iter().map(|client| client.number).collect()
    }

    /// Verifies a store that was opened after a kill; `acknowledged` are all acknowledgements of
    /// the process.
    ///
    /// # Errors
    /// The first violation found.
    pub fn verify(
        &mut self,
        graph: &Graph,
        acknowledged: &[Acknowledged],
        promise: Promise,
    ) -> Result<Round, Violation> {
        let recovery = graph.recovery().cloned().unwrap_or_default();
        let found = recovery.last;
        let promised = promised(acknowledged, promise);
        if found < promised {
            return Err(Violation::Lost { promised, found });
        }
        let snapshot = graph.snapshot().map_err(|error| Violation::Foreign(error.to_string()))?;
        let before: u64 = self.committed().iter().sum();
        let mut round =
            Round { from_checkpoint: u64::from(recovery.checkpoint.is_some()), ..Round::default() };
        for client in 0..CLIENTS {
            self.follow(client, &snapshot, acknowledged, found, &mut round)?;
        }
        let commits: u64 = self.committed().iter().sum();
        round.found = commits - before;
        // Each commit changes something, so each has a timestamp, and there are no other
        // timestamps.
        if commits != found.0 {
            return Err(Violation::Count { commits, last: found });
        }
        self.check_ledger(&snapshot, acknowledged)?;
        self.check_totals(&snapshot)?;
        Ok(round)
    }

    /// Advances a client to the state in the snapshot.
    fn follow(
        &mut self,
        client: u64,
        snapshot: &Snapshot,
        acknowledged: &[Acknowledged],
        found: CommitTimestamp,
        round: &mut Round,
    ) -> Result<(), Violation> {
        let (seed, topology) = (self.seed, self.topology);
        let progress = &mut self.clients[client as usize];
        let before = progress.number;
        let told = commits_of(client, acknowledged);
        let told_last = told.iter().map(|(number, _)| *number).max().unwrap_or(before);
        // Acknowledged commits with a timestamp up to the last commit found are in the store. After
        // the last acknowledgement, one call was in progress.
        let first =
            told.iter().filter(|(_, at)| *at <= found).map(|(number, _)| *number).max().unwrap_or(before);
        let last = told_last + plan(seed, client, told_last + 1).commit_count();
        let there = Part::found(snapshot, client).map_err(Violation::Foreign)?;
        let is_it = |progress: &Progress| progress.number >= first && progress.part == there;
        'calls: while !is_it(progress) {
            for changes in plan(seed, client, progress.number + 1).commits() {
                if progress.number == last {
                    return Err(Violation::NoSuchState { client, first, last });
                }
                progress.commit(topology, changes);
                if is_it(progress) {
                    break 'calls;
                }
            }
        }
        round.acknowledged += told_last - before;
        round.lost += told_last.saturating_sub(progress.number);
        Ok(())
    }

    /// Checks that the ledger's commits are in the store in the order in which they counted.
    fn check_ledger(&self, snapshot: &Snapshot, acknowledged: &[Acknowledged]) -> Result<(), Violation> {
        let read = |error: hedgerow::Error| Violation::Ledger(error.to_string());
        let record = snapshot.properties(LEDGER).map_err(read)?;
        let counted = record.as_ref().and_then(|record| record.values().first()).map_or(0, count);
        let expected: u64 = self.clients.iter().map(|client| client.chained).sum();
        if counted != expected {
            return Err(Violation::Ledger(format!(
                "it says {counted}, and the clients counted to {expected}"
            )));
        }
        let noted = snapshot.edges::<u64>((NUMBERED, Direction::Out), LEDGER).map_err(read)?;
        let noted: BTreeMap<Key, u64> = noted.into_iter().collect();
        let has_counted = |client: &u64| self.clients[*client as usize].chained > 0;
        let expected: Vec<Key> =
            (0..CLIENTS).filter(has_counted).map(|client| Key::Number(client_key(client, 0))).collect();
        if !noted.keys().eq(&expected) {
            return Err(Violation::Ledger(format!("{noted:?} where {expected:?} counted")));
        }
        let mut positions: Vec<u64> = noted.values().copied().collect();
        positions.sort_unstable();
        positions.dedup();
        if positions.len() != noted.len() || positions.last().is_some_and(|last| *last != counted) {
            return Err(Violation::Ledger(format!("{noted:?} with {counted} counted")));
        }
        for told in acknowledged {
            let &Acknowledged::Committed { client, number, chained: Some(position), .. } = told else {
                continue;
            };
            let noted = noted.get(&Key::Number(client_key(client, 0)));
            if self.clients[client as usize].last_chained == number && noted != Some(&position) {
                return Err(Violation::Ledger(format!(
                    "client {client} counted up to {position} with its commit {number}, and {noted:?} is there"
                )));
            }
        }
        Ok(())
    }

    /// Checks that the store contains only the clients' objects and the ledger.
    fn check_totals(&self, snapshot: &Snapshot) -> Result<(), Violation> {
        let counting = self.clients.iter().filter(|client| client.chained > 0).count() as u64;
        let parts = self.clients.iter().map(|client| &client.part);
        let edges = parts.clone().map(Part::edge_count).sum::<u64>() + counting;
        let vertices = parts.map(Part::vertex_count).sum::<u64>() + u64::from(counting > 0);
        let found = (snapshot.vertex_count(), snapshot.edge_count().at_most());
        if found != (vertices, edges) {
            return Err(Violation::Foreign(format!(
                "{} vertices and {} edges are there, {vertices} and {edges} are the clients'",
                found.0, found.1
            )));
        }
        Ok(())
    }
}

/// Returns the timestamp up to which no commit may be missing.
fn promised(acknowledged: &[Acknowledged], promise: Promise) -> CommitTimestamp {
    let promised = acknowledged.iter().filter_map(|told| match *told {
        Acknowledged::Durable(at) => Some(at),
        Acknowledged::Committed { at, .. } if promise == Promise::EveryCommit => Some(at),
        _ => None,
    });
    promised.max().unwrap_or_default()
}

/// Returns the acknowledged commits of a client, each with its latest possible position in the
/// order of commits.
fn commits_of(client: u64, acknowledged: &[Acknowledged]) -> Vec<(u64, CommitTimestamp)> {
    let of = |told: &Acknowledged| match *told {
        Acknowledged::Committed { client: other, number, at, .. } if other == client => Some((number, at)),
        _ => None,
    };
    acknowledged.iter().filter_map(of).collect()
}
