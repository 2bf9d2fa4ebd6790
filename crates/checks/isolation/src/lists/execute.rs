//! Transactions on lists.

use crate::lists::protocol::{Answer, Answered, MicroOperation};
use crate::lists::representation::Representation;
use crate::mistake::Mistake;
use crate::named::Named;
use hedgerow::{Error, ErrorKind, Graph, Isolation, ReadGraph, WriteGraph, WriteTxn};
use rand::RngExt;
use rand::rngs::SmallRng;
use std::thread;
use std::time::Duration;

/// The kinds of transactions of a history. In every history, read-only transactions use snapshots
/// half of the time. Interactive transactions in conflict are retried half of the time, and fail
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transactions {
    /// Interactive transactions at isolation [`Isolation::Snapshot`].
    Snapshot,
    /// Interactive transactions at isolation [`Isolation::Serializable`].
    Serializable,
    /// Transactions that declare their vertices.
    Declared,
    /// Serializable or declared, at random.
    Mixed,
}

impl Named for Transactions {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("snapshot", Transactions::Snapshot),
        ("serializable", Transactions::Serializable),
        ("declared", Transactions::Declared),
        ("mixed", Transactions::Mixed),
    ];
}

/// Executes the transactions of one client.
pub struct Executor {
    /// The lists.
    pub graph: Graph,
    /// The kind of transactions.
    pub transactions: Transactions,
    /// The representation of lists in the graph.
    pub representation: Representation,
    /// The mistake to make.
    pub mistake: Mistake,
    /// The source of all random choices, such as when to hesitate.
    pub random: SmallRng,
    /// The transaction that [`Mistake::Early`] has answered but not committed.
    pub unfinished: Option<WriteTxn>,
}

impl Executor {
    /// Runs a transaction.
    ///
    /// # Errors
    /// Errors with which no transaction may fail.
    pub fn answer(&mut self, operations: &[MicroOperation]) -> Result<Answer, Error> {
        match self.run(operations) {
            Ok(value) => Ok(Answer::Ok { value }),
            Err(error) if error.is_conflict() => Ok(Answer::Fail { error: error.to_string() }),
            Err(error) if error.kind() == ErrorKind::LogFailed => {
                Ok(Answer::Info { error: error.to_string() })
            }
            Err(error) => Err(error),
        }
    }

    /// Commits the transaction that was answered early.
    pub fn finish(&mut self) {
        if let Some(transaction) = self.unfinished.take() {
            hesitate(&mut self.random);
            // The client has its answer already, and does not learn of a conflict.
            let _ = transaction.commit();
        }
    }

    fn run(&mut self, operations: &[MicroOperation]) -> Result<Vec<Answered>, Error> {
        if self.mistake == Mistake::Split {
            let (first, second) = operations.split_at(operations.len() / 2);
            let mut answered = self.interactive(Isolation::Snapshot, first)?;
            answered.extend(self.interactive(Isolation::Snapshot, second)?);
            return Ok(answered);
        }
        if !operations.iter().any(|operation| operation.is_append()) && self.random.random_bool(0.5) {
            return self.read_snapshot(operations);
        }
        match self.transactions {
            Transactions::Snapshot => self.interactive(Isolation::Snapshot, operations),
            Transactions::Declared => self.declared(operations),
            Transactions::Mixed if self.random.random_bool(0.5) => self.declared(operations),
            Transactions::Serializable | Transactions::Mixed => {
                self.interactive(Isolation::Serializable, operations)
            }
        }
    }

    fn read_snapshot(&mut self, operations: &[MicroOperation]) -> Result<Vec<Answered>, Error> {
        let snapshot = self.graph.snapshot()?;
        let lists = operations.iter().map(|operation| operation.list());
        lists.map(|list| read(self.representation, &snapshot, list, &mut self.random)).collect()
    }

    fn interactive(
        &mut self,
        isolation: Isolation,
        operations: &[MicroOperation],
    ) -> Result<Vec<Answered>, Error> {
        if self.mistake == Mistake::Nothing && self.random.random_bool(0.5) {
            let (representation, random) = (self.representation, &mut self.random);
            let run = |transaction: &WriteTxn| perform(representation, transaction, operations, random);
            return self.graph.transact_with(isolation, run);
        }
        let transaction = self.graph.begin_with(isolation)?;
        let answered = perform(self.representation, &transaction, operations, &mut self.random)?;
        if self.mistake == Mistake::Early {
            self.unfinished = Some(transaction);
        } else {
            transaction.commit()?;
        }
        Ok(answered)
    }

    fn declared(&mut self, operations: &[MicroOperation]) -> Result<Vec<Answered>, Error> {
        let representation = self.representation;
        let of =
            |operation: &MicroOperation| representation.declared(operation.list(), operation.is_append());
        let vertices: Vec<u64> = operations.iter().flat_map(of).collect();
        let random = &mut self.random;
        let run = |transaction: &hedgerow::DeclaredTxn<'_>| {
            perform(representation, transaction, operations, random)
        };
        Ok(self.graph.transact_declared(&vertices, run)?.0)
    }
}

fn perform(
    representation: Representation,
    transaction: &(impl ReadGraph + WriteGraph<Written = ()>),
    operations: &[MicroOperation],
    random: &mut SmallRng,
) -> Result<Vec<Answered>, Error> {
    let step = |operation: &MicroOperation| match *operation {
        MicroOperation::Read { list } => read(representation, transaction, list, random),
        MicroOperation::Append { list, element } => {
            representation.append(transaction, list, element)?;
            hesitate(random);
            Ok(Answered::append(list, element))
        }
    };
    operations.iter().map(step).collect()
}

fn read(
    representation: Representation,
    reads: &impl ReadGraph,
    list: u64,
    random: &mut SmallRng,
) -> Result<Answered, Error> {
    let elements = representation.read(reads, list)?;
    hesitate(random);
    Ok(Answered::read(list, elements))
}

/// Sometimes lets other transactions in between: otherwise each would end before the next begins.
fn hesitate(random: &mut SmallRng) {
    match random.random_range(0..8) {
        0 => thread::sleep(Duration::from_micros(random.random_range(1..100))),
        1..4 => thread::yield_now(),
        _ => {}
    }
}
