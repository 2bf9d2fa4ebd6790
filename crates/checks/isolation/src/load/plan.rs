//! The plan of each commit.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Number of clients of a store.
pub const CLIENTS: u64 = 4;

/// Number of vertices of a client.
pub const VERTICES: u64 = 64;

/// The ends of the edge that stores the number of most commits. These vertices are never deleted.
pub const MARKED: (u64, u64) = (0, 1);

/// A change to a client's part of the graph. Vertices are numbered from the client's first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Puts an edge with the number of the commit.
    Put(u64, u64),
    /// Deletes an edge with a number, if it exists.
    Delete(u64, u64),
    /// Puts an edge without a number, or deletes it if it exists.
    Toggle(u64, u64),
    /// Deletes a vertex with its edges, if it exists.
    DeleteVertex(u64),
    /// Sets the property of a vertex to the number of the commit.
    Count(u64),
    /// Increments the shared ledger, and records this client's commit number there.
    Chain,
}

/// The API that commits a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// One call for the only change.
    Single,
    /// An interactive transaction, which may be in conflict over [`Change::Chain`].
    Transaction,
    /// An interactive transaction that waits until it survives a loss of power.
    DurableTransaction,
    /// A transaction that declares its vertices.
    Declared,
    /// A bulk ingest.
    Ingest,
    /// A stream in which each change is a commit.
    Stream,
}

/// The next step of a client: one commit or several, numbered consecutively.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The API that commits the changes.
    pub way: Way,
    changes: Vec<Change>,
}

impl Plan {
    /// The changes of each commit. Each commit changes something.
    pub fn commits(&self) -> impl Iterator<Item = &[Change]> {
        let size = if self.way == Way::Stream { 1 } else { self.changes.len() };
        self.changes.chunks(size)
    }

    /// Number of commits.
    pub fn commit_count(&self) -> u64 {
        self.commits().count() as u64
    }
}

/// Returns the step of a client whose next commit has this `number`.
pub fn plan(seed: u64, client: u64, number: u64) -> Plan {
    let chosen = seed ^ (number * CLIENTS + client).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let random = &mut SmallRng::seed_from_u64(chosen);
    let (way, changes) = match random.random_range(0..16) {
        0 => (Way::Ingest, (0..random.random_range(20..200)).map(|_| put(random)).collect()),
        1 | 2 => (Way::Stream, (0..random.random_range(2..=16)).map(|_| put(random)).collect()),
        3 => (Way::Single, vec![Change::Count(vertex(random))]),
        // A pair recurs only after all other pairs have occurred, so no state recurs.
        4 => (Way::Single, vec![Change::Toggle(number % VERTICES, (number / VERTICES) % VERTICES)]),
        5 | 6 => (Way::Single, vec![put(random)]),
        7 | 8 => (Way::Declared, vec![put(random), Change::Count(vertex(random)), mark()]),
        9 | 10 => (Way::Transaction, vec![Change::Chain, put(random), mark()]),
        11 => (Way::DurableTransaction, several(random)),
        _ => (Way::Transaction, several(random)),
    };
    Plan { way, changes }
}

fn several(random: &mut SmallRng) -> Vec<Change> {
    let count = random.random_range(1..8);
    let mut changes: Vec<Change> = (0..count).map(|_| any(random)).collect();
    changes.push(mark());
    changes
}

fn any(random: &mut SmallRng) -> Change {
    match random.random_range(0..10) {
        0..4 => put(random),
        4..8 => Change::Delete(vertex(random), vertex(random)),
        8 => Change::DeleteVertex(random.random_range(MARKED.1 + 1..VERTICES)),
        _ => Change::Count(vertex(random)),
    }
}

fn mark() -> Change {
    Change::Put(MARKED.0, MARKED.1)
}

fn put(random: &mut SmallRng) -> Change {
    Change::Put(vertex(random), vertex(random))
}

fn vertex(random: &mut SmallRng) -> u64 {
    random.random_range(0..VERTICES)
}
