//! Operations made from random numbers, and their requests by an application.

use super::{LARGE_KEY, PARALLEL, RECORDS, SAID, SENT};
use hedgerow::{
    Column, Commit, Commits, EdgeUpdate, Error, Graph, Key, LabelId, Record, StreamError, Updated, Value,
    WriteGraph,
};
use hedgerow_model::{EdgeValue, Operation, RecordChange, RecordMode};

/// Returns the operation that random numbers determine.
pub fn operation(keys: &[Key], (choice, first, second, value): (u8, u16, u16, u32)) -> Operation {
    let key = |number: u16| keys[usize::from(number) % keys.len()].clone();
    let label = LabelId(value as u16 % 5);
    let bits = match label.0 {
        0 | 3 | 4 => Column::to_bits(()),
        1 => Column::to_bits(f64::from(value)),
        _ => Column::to_bits(value),
    };
    match choice % 20 {
        0 => Operation::AddVertex { key: key(first) },
        1 | 2 => Operation::DeleteVertex { key: key(first) },
        3 => {
            Operation::SetProperties { key: key(first), properties: vec![(0, Value::I64(i64::from(value)))] }
        }
        4 => {
            let name = Value::String(format!("name {value}").into());
            Operation::SetProperties { key: key(first), properties: vec![(0, Value::Null), (1, name)] }
        }
        5..=8 => Operation::DeleteEdge { label, source: key(first), destination: key(second) },
        _ if label == RECORDS || label == PARALLEL => {
            let (source, destination, change) = (key(first), key(second), record_change(value));
            let number = if value.is_multiple_of(13) { LARGE_KEY } else { u64::from(value / 64 % 6) };
            let number = (label == PARALLEL).then_some(number);
            Operation::ChangeRecord { label, source, destination, key: number, change }
        }
        _ => Operation::PutEdge { label, source: key(first), destination: key(second), value: bits },
    }
}

/// Returns the change of a record that a random number determines. There are few different amounts,
/// so conditions hold now and then.
fn record_change(value: u32) -> RecordChange {
    let amount = |number: u32| (0, Value::I64(i64::from(number % 3)));
    // Some times are late.
    let when = |number: u32| (3, Value::Timestamp(i64::from(number % 5) - i64::from(number % 2)));
    // Most notes are short, some about the longest that an engine embeds, some longer.
    let length = match value / 64 % 5 {
        0 => 235 + value % 20,
        1 => 300,
        _ => value % 40,
    };
    let note = (1, Value::String("x".repeat(length as usize).into()));
    let of =
        if value.is_multiple_of(2) { amount(value / 7) } else { (2, Value::I64(i64::from(value / 7 % 3))) };
    let condition = Some(vec![of]);
    match value / 4 % 8 {
        0 | 1 => RecordChange::new(RecordMode::Put, vec![amount(value), note, when(value / 9)]),
        2 => RecordChange::new(RecordMode::Put, vec![]),
        3 => RecordChange::new(RecordMode::Insert, vec![note]),
        4 => RecordChange::new(RecordMode::Update, vec![amount(value), when(value / 11)]),
        5 => RecordChange::new(RecordMode::Update, vec![(1, Value::Null)]),
        6 => RecordChange { condition, ..RecordChange::new(RecordMode::Update, vec![amount(value), note]) },
        _ => RecordChange { condition, ..RecordChange::new(RecordMode::Delete, vec![]) },
    }
}

/// Returns the request of an application for a change.
fn update(change: &RecordChange) -> EdgeUpdate<'static> {
    let mut update = match change.mode {
        RecordMode::Put => EdgeUpdate::put(),
        RecordMode::Insert => EdgeUpdate::insert(),
        RecordMode::Update => EdgeUpdate::upsert(),
        RecordMode::Delete => EdgeUpdate::delete(),
    };
    for (position, value) in &change.fields {
        update = update.set(SENT[*position], value.clone());
    }
    for (position, value) in change.condition.iter().flatten() {
        update = update.only_if(SENT[*position], value.clone());
    }
    update
}

/// The report of a commit by a method of the graph.
pub enum Report {
    /// The whole report.
    Commit(Commit),
    /// True if the commit changed anything; `None` if the engine does not know yet.
    Changed(Option<bool>),
}

/// Adds the names of vertex properties to their values.
fn named(properties: &[(usize, Value)]) -> Vec<(&'static str, Value)> {
    properties.iter().map(|(at, value)| (["age", "name"][*at], value.clone())).collect()
}

/// Commits one operation, by the method of the graph for this operation.
pub fn commit(graph: &Graph, operation: &Operation) -> Report {
    let commit = match operation {
        Operation::AddVertex { key } => return Report::Changed(graph.add_vertex(key).unwrap().changed),
        Operation::DeleteVertex { key } => return Report::Changed(graph.delete_vertex(key).unwrap().changed),
        Operation::DeleteEdge { label: LabelId(0), source, destination } => {
            return Report::Changed(
                graph.delete_edge(LabelId::DEFAULT, source, destination).unwrap().changed,
            );
        }
        Operation::DeleteEdge { label, source, destination } => {
            return Report::Changed(graph.delete_edge(*label, source, destination).unwrap().changed);
        }
        Operation::SetProperties { key, properties } => graph.set_properties(key, &named(properties)),
        Operation::PutEdge { label, source, destination, value } => match label.0 {
            0 => graph.put_edge(LabelId::DEFAULT, source, destination),
            1 => graph.put_edge_with(*label, source, destination, f64::from_bits(value.0)),
            _ => graph.put_edge_with(*label, source, destination, <u32 as Column>::from_bits(*value)),
        },
        Operation::ChangeRecord { label, source, destination, key: None, change } => {
            graph.update_edge(*label, source, destination, &update(change)).map(|updated| updated.written)
        }
        Operation::ChangeRecord { label, source, destination, key: Some(key), change } => {
            let updated = graph.update_parallel_edge(*label, source, destination, *key, &update(change));
            updated.map(|updated| updated.written)
        }
    };
    Report::Commit(commit.unwrap())
}

/// Returns the record of an edge of a stream. There are few different records, so some edges have
/// theirs already.
fn record(number: u32) -> Record {
    let note = (number > 1).then(|| format!("note {number}"));
    let when = Value::Timestamp(i64::from(number) * 3);
    // Whatever is said of the version.
    Record::new(vec![Value::I64(number.into()), note.into(), Value::I64(-1), when])
}

/// A stream of edges of one label, all put or all deleted; parallel edges can only be deleted.
#[derive(Clone, Debug)]
pub struct Stream {
    pub label: LabelId,
    pub deletes: bool,
    pub edges: Vec<(Key, Key, u32)>,
}

impl Stream {
    /// Runs the stream by the methods of the graph for streams.
    pub fn run(&self, graph: &Graph) -> Result<Commits, StreamError> {
        let ends = || self.edges.iter().map(|(source, destination, _)| (source.clone(), destination.clone()));
        if self.deletes {
            return match self.label.0 {
                0 => graph.delete_each(LabelId::DEFAULT, &ends().collect::<Vec<_>>()),
                _ => graph.delete_each(self.label, &ends().collect::<Vec<_>>()),
            };
        }
        let floats = || -> Vec<(Key, Key, f64)> {
            let numbers = self.edges.iter().map(|(.., number)| f64::from(*number));
            ends().zip(numbers).map(|((source, destination), number)| (source, destination, number)).collect()
        };
        let records = || -> Vec<(Key, Key, Record)> {
            let records = self.edges.iter().map(|(.., number)| record(*number));
            ends().zip(records).map(|((source, destination), record)| (source, destination, record)).collect()
        };
        match self.label.0 {
            0 => graph.put_each(LabelId::DEFAULT, &ends().collect::<Vec<_>>()),
            1 => graph.put_each(self.label, &floats()),
            2 => graph.put_each(self.label, &self.edges),
            _ => graph.put_each(self.label, &records()),
        }
    }

    /// Returns the operations of the stream, one by one.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        self.edges.iter().map(|(source, destination, number)| {
            let (label, source, destination) = (self.label, source.clone(), destination.clone());
            if label == RECORDS && !self.deletes {
                let fields = SAID.map(|position| (position, record(*number).values()[position].clone()));
                let change = RecordChange::new(RecordMode::Put, fields.into());
                return Operation::ChangeRecord { label, source, destination, key: None, change };
            }
            let value: EdgeValue = match label.0 {
                0 | 3 | 4 => Column::to_bits(()),
                1 => Column::to_bits(f64::from(*number)),
                _ => Column::to_bits(*number),
            };
            match self.deletes {
                true => Operation::DeleteEdge { label, source, destination },
                false => Operation::PutEdge { label, source, destination, value },
            }
        })
    }
}

/// Stages an operation in a transaction; returns the report of an update.
pub fn stage(
    transaction: &impl WriteGraph<Written = ()>,
    operation: &Operation,
) -> Result<Option<Updated<()>>, Error> {
    let staged = match operation {
        Operation::AddVertex { key } => transaction.add_vertex(key),
        Operation::DeleteVertex { key } => transaction.delete_vertex(key),
        Operation::SetProperties { key, properties } => transaction.set_properties(key, &named(properties)),
        Operation::PutEdge { label, source, destination, value } => match label.0 {
            0 => transaction.put_edge_with(*label, source, destination, ()),
            1 => transaction.put_edge_with(*label, source, destination, f64::from_bits(value.0)),
            _ => transaction.put_edge_with(*label, source, destination, <u32 as Column>::from_bits(*value)),
        },
        Operation::DeleteEdge { label, source, destination } => {
            transaction.delete_edge(*label, source, destination)
        }
        Operation::ChangeRecord { label, source, destination, key: None, change } => {
            return transaction.update_edge(*label, source, destination, &update(change)).map(Some);
        }
        Operation::ChangeRecord { label, source, destination, key: Some(key), change } => {
            let update = update(change);
            return transaction.update_parallel_edge(*label, source, destination, *key, &update).map(Some);
        }
    };
    staged.map(|()| None)
}
