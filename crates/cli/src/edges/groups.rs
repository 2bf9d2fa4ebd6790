//! Groups of edges, and their aggregates: memory proportional to the groups.

use super::accumulator::Accumulator;
use super::aggregate::{By, Table};
use super::cell::{Cell, printed};
use super::filter::{borrowed, read_failed};
use super::layout::Row;
use super::select::{Selection, failed, key};
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use foldhash::fast::FixedState;
use hedgerow::{Error, Key, Snapshot, Value, ValueRef, VertexId};
use std::collections::HashMap;
use std::num::NonZeroUsize;

/// The groups of some edges.
pub struct Groups<'t> {
    table: &'t Table,
    /// A row of accumulators for each group, one after the other.
    accumulators: Vec<Accumulator>,
    /// The groups of vertices, by id, or of labels, by position.
    numbers: HashMap<u32, usize, FixedState>,
    /// The groups of values, by their bytes, with a value of each.
    values: HashMap<Box<[u8]>, (usize, Value), FixedState>,
    /// The last group of `numbers`: edges come ordered by one of their ends.
    last: Option<(u32, usize)>,
    /// The bytes of the last value.
    bytes: Vec<u8>,
}

/// A line of the table of groups.
#[derive(Debug)]
pub struct Line {
    /// `None` for all edges.
    pub key: Option<Cell>,
    pub figures: Vec<Cell>,
}

/// The key of a group, before the vertex is looked up.
enum GroupKey {
    All,
    Number(u32),
    Value(Value),
}

impl<'t> Groups<'t> {
    /// Adds up the selected edges.
    pub fn of(
        table: &'t Table,
        selection: &Selection<'_>,
        threads: &Threads,
        interrupt: &Interrupt,
    ) -> Result<Self, CliError> {
        let mut all = Groups::new(table);
        selection.fold(
            threads,
            interrupt,
            |label| (label, Groups::new(table)),
            |(label, groups), row| groups.add(*label, row),
            |(_, groups)| all.merge(groups),
        )?;
        Ok(all)
    }

    fn new(table: &'t Table) -> Self {
        let (numbers, values) = (HashMap::default(), HashMap::default());
        let mut groups =
            Groups { table, accumulators: Vec::new(), numbers, values, last: None, bytes: Vec::new() };
        if table.by.is_none() {
            groups.append();
        }
        groups
    }

    /// Adds an edge of a label.
    fn add(&mut self, label: usize, row: &Row<'_>) -> Result<(), Error> {
        let group = match &self.table.by {
            None => 0,
            Some(By::Source) => self.of_number(row.source.get()),
            Some(By::Destination) => self.of_number(row.destination.get()),
            Some(By::Label) => self.of_number(label as u32),
            Some(By::Property(places)) => {
                self.of_value(row.get(places.by_label[label]).map_err(read_failed)?)
            }
        };
        let columns = &self.table.columns;
        let accumulators = &mut self.accumulators[group * columns.len()..];
        for (accumulator, column) in accumulators.iter_mut().zip(columns) {
            accumulator.add(row.get(column.places.by_label[label]).map_err(read_failed)?);
        }
        Ok(())
    }

    fn of_number(&mut self, number: u32) -> usize {
        match self.last {
            Some((last, group)) if last == number => group,
            _ => {
                let next = self.accumulators.len() / self.table.columns.len();
                let group = *self.numbers.entry(number).or_insert(next);
                if group == next {
                    self.append();
                }
                self.last = Some((number, group));
                group
            }
        }
    }

    fn of_value(&mut self, value: ValueRef<'_>) -> usize {
        put_bytes(value, &mut self.bytes);
        if let Some((group, _)) = self.values.get(&*self.bytes) {
            return *group;
        }
        let group = self.append();
        self.values.insert(self.bytes.as_slice().into(), (group, value.into()));
        group
    }

    /// Appends a group, and returns its number.
    fn append(&mut self) -> usize {
        let columns = &self.table.columns;
        let group = self.accumulators.len() / columns.len();
        self.accumulators.extend(columns.iter().map(|column| Accumulator::new(column.operation)));
        group
    }

    /// Adds later edges.
    fn merge(&mut self, other: Groups<'_>) {
        let Groups { accumulators, numbers, values, .. } = other;
        let all = self.table.by.is_none().then_some((0, 0));
        let numbers = numbers.into_iter().map(|(number, from)| (self.of_number(number), from));
        let numbers: Vec<_> = numbers.collect();
        let values = values.into_values().map(|(from, value)| (self.of_value(borrowed(&value)), from));
        let values: Vec<_> = values.collect();
        let columns = self.table.columns.len();
        for (to, from) in all.into_iter().chain(numbers).chain(values) {
            let to = &mut self.accumulators[to * columns..];
            let from = &accumulators[from * columns..][..columns];
            to.iter_mut().zip(from).for_each(|(to, from)| to.merge(from.clone()));
        }
    }

    /// The number of groups.
    pub fn count(&self) -> usize {
        self.accumulators.len() / self.table.columns.len()
    }

    /// The lines of the table, by key; of the `top` groups only, those with the largest first
    /// figure, the largest first. Keys are looked up for these lines only, and for groups whose
    /// figure equals the last one.
    pub fn lines(self, top: Option<NonZeroUsize>, selection: &Selection<'_>) -> Result<Vec<Line>, CliError> {
        let Groups { table, accumulators, numbers, values, .. } = self;
        let figure = |group: usize, column: usize| {
            let accumulator = &accumulators[group * table.columns.len() + column];
            table.columns[column].figure(accumulator, table.raw_times)
        };
        let all = table.by.is_none().then_some((GroupKey::All, 0));
        let numbers = numbers.into_iter().map(|(number, group)| (GroupKey::Number(number), group));
        let values = values.into_values().map(|(group, value)| (GroupKey::Value(value), group));
        let mut groups: Vec<_> = all.into_iter().chain(numbers).chain(values).collect();
        if let Some(top) = top.map(NonZeroUsize::get).filter(|top| *top < groups.len()) {
            let (_, last, _) = groups.select_nth_unstable_by(top - 1, |(_, one), (_, other)| {
                figure(*other, 0).order(&figure(*one, 0))
            });
            let last = figure(last.1, 0);
            groups.retain(|(_, group)| figure(*group, 0).order(&last).is_ge());
        }
        let line = |(key, group)| {
            let figures = (0..table.columns.len()).map(|column| figure(group, column)).collect();
            Ok(Line { key: table.key(key, selection)?, figures })
        };
        let mut lines = groups.into_iter().map(line).collect::<Result<Vec<_>, CliError>>()?;
        lines.sort_by(|one, other| {
            let by_figure = top.map(|_| other.figures[0].order(&one.figures[0]));
            let by_key = || one.key.as_ref().zip(other.key.as_ref()).map(|(one, other)| one.order(other));
            by_figure.filter(|order| order.is_ne()).or_else(by_key).unwrap_or(std::cmp::Ordering::Equal)
        });
        lines.truncate(top.map_or(usize::MAX, NonZeroUsize::get));
        Ok(lines)
    }
}

impl Table {
    fn key(&self, key: GroupKey, selection: &Selection<'_>) -> Result<Option<Cell>, CliError> {
        Ok(Some(match (&self.by, key) {
            (Some(By::Label), GroupKey::Number(label)) => {
                Cell::Key(Key::Text(selection.labels[label as usize].layout.name.as_str().into()))
            }
            (_, GroupKey::Number(vertex)) => Cell::Key(key_of(selection.snapshot, vertex)?),
            (Some(By::Property(places)), GroupKey::Value(value)) => {
                Cell::Value(printed(borrowed(&value), places.is_single, self.raw_times))
            }
            _ => return Ok(None),
        }))
    }
}

fn key_of(snapshot: &Snapshot, vertex: u32) -> Result<Key, CliError> {
    key(snapshot, VertexId::new(vertex)).map_err(failed)
}

/// Writes the bytes that distinguish a value from all others. Zeros are one value, NaNs, too.
fn put_bytes(value: ValueRef<'_>, bytes: &mut Vec<u8>) {
    bytes.clear();
    let mut put = |tag: u8, content: &[u8]| {
        bytes.push(tag);
        bytes.extend_from_slice(content);
    };
    match value {
        ValueRef::Null => put(0, &[]),
        ValueRef::Bool(truth) => put(1, &[truth.into()]),
        ValueRef::I64(number) => put(2, &i128::from(number).to_le_bytes()),
        ValueRef::U64(number) => put(2, &i128::from(number).to_le_bytes()),
        ValueRef::F64(number) if number.is_nan() => put(3, &f64::NAN.to_le_bytes()),
        ValueRef::F64(number) => put(3, &(number + 0.0).to_le_bytes()),
        ValueRef::String(text) => put(4, text.as_bytes()),
        ValueRef::Bytes(content) => put(5, content),
        ValueRef::Timestamp(time) => put(6, &time.to_le_bytes()),
    }
}
