//! The loops over calls, compiled for each store, and their times.

use super::stores::{Reads, Store};
use super::work::{Edges, Ends, Sources, Work};
use anyhow::{Result, ensure};
use clap::ValueEnum;
use serde::Serialize;
use std::time::{Duration, Instant};

/// A measured call, in the order of measurement: reads before writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The existence of edges, of which half exist.
    ContainsEdge,
    /// The look-ups of `ContainsEdge`, many in a row through one of Hedgerow's readers.
    ContainsInARow,
    /// The look-ups of `ContainsEdge` by ids over Hedgerow's cursor, without the look-ups of keys.
    FindByCursor,
    /// The neighbors of a vertex as a vector.
    Neighbors,
    /// The neighbors of a vertex, visited.
    VisitNeighbors,
    /// The number of neighbors.
    Degree,
    /// The number on an edge.
    GetNumber,
    /// The two properties of an edge.
    GetRecord,
    /// A snapshot, opened and closed.
    Snapshot,
    /// A new edge, by a call.
    PutEdge,
    /// New edges, each a commit, in one call.
    PutEach,
    /// An edge deleted, by a call.
    DeleteEdge,
}

impl Operation {
    /// Its name in tables.
    pub fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The feature that a store without the operation lacks.
    pub fn lacking(self) -> &'static str {
        match self {
            Operation::ContainsInARow => "no reader",
            Operation::FindByCursor => "no ids",
            Operation::Snapshot => "no snapshots",
            Operation::PutEach => "no streams",
            _ => "not supported",
        }
    }
}

/// A store whose calls can be timed.
pub trait Calls {
    /// Makes calls of one kind for about `time`, beginning with batch number `from`. Returns
    /// nanoseconds per call, or `None` if the store has no such operation. Wrong answers are an
    /// error. Writes are undone.
    fn measure(
        &mut self,
        operation: Operation,
        work: &Work,
        from: usize,
        time: Duration,
    ) -> Result<Option<f64>>;
}

impl<S: Store> Calls for S {
    fn measure(
        &mut self,
        operation: Operation,
        work: &Work,
        from: usize,
        time: Duration,
    ) -> Result<Option<f64>> {
        let mut clock = Clock { from, limit: time, spent: Duration::ZERO, calls: 0 };
        let is_there = match operation {
            Operation::Snapshot => snapshots(self, &mut clock)?,
            Operation::PutEdge | Operation::PutEach | Operation::DeleteEdge => {
                writes(self, operation, work, &mut clock)?
            }
            _ => reads(&mut self.reader()?, operation, work, &mut clock)?,
        };
        Ok(is_there.then(|| clock.spent.as_nanos() as f64 / clock.calls as f64))
    }
}

/// The time of calls so far.
struct Clock {
    /// The first batch.
    from: usize,
    limit: Duration,
    spent: Duration,
    calls: usize,
}

impl Clock {
    /// Passes batches to `calls`, cyclically and from a different one in each repetition, until the
    /// time is over.
    fn over<B>(&mut self, batches: &[B], mut calls: impl FnMut(&mut Self, &B) -> Result<()>) -> Result<()> {
        let from = self.from % batches.len();
        for batch in batches.iter().cycle().skip(from) {
            calls(self, batch)?;
            if self.spent >= self.limit {
                break;
            }
        }
        Ok(())
    }

    /// Adds the time of some calls.
    fn add<T>(&mut self, calls: usize, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let begin = Instant::now();
        let result = work()?;
        self.spent += begin.elapsed();
        self.calls += calls;
        Ok(result)
    }
}

/// Sums the answers of calls, one after the other.
#[inline]
fn sum<C: Copy>(calls: &[C], mut answer: impl FnMut(C) -> Result<u64>) -> Result<u64> {
    let mut sum = 0u64;
    for call in calls {
        sum = sum.wrapping_add(answer(*call)?);
    }
    Ok(sum)
}

fn check(operation: Operation, answered: u64, expected: u64) -> Result<()> {
    let name = operation.name();
    ensure!(answered == expected, "{name}: the answers add up to {answered}, not to {expected}");
    Ok(())
}

/// Times a loop over the ends of edges, and checks the sum of its answers.
fn of_edges(
    (operation, clock): (Operation, &mut Clock),
    (batches, expected): (&[Edges], fn(&Edges) -> u64),
    mut answer: impl FnMut(Ends) -> Result<u64>,
) -> Result<()> {
    clock.over(batches, |clock, batch| {
        let answered = clock.add(batch.ends.len(), || sum(&batch.ends, &mut answer))?;
        check(operation, answered, expected(batch))
    })
}

/// Times a loop over vertices, and checks the sum of its answers.
fn of_sources(
    (operation, clock): (Operation, &mut Clock),
    (batches, expected): (&[Sources], fn(&Sources) -> u64),
    mut answer: impl FnMut(u64) -> Result<u64>,
) -> Result<()> {
    clock.over(batches, |clock, batch| {
        let answered = clock.add(batch.keys.len(), || sum(&batch.keys, &mut answer))?;
        check(operation, answered, expected(batch))
    })
}

fn reads(reader: &mut impl Reads, operation: Operation, work: &Work, clock: &mut Clock) -> Result<bool> {
    let (some, existing) = (&work.some[..], &work.existing[..]);
    let timed = (operation, &mut *clock);
    match operation {
        Operation::ContainsEdge => of_edges(timed, (some, |batch| batch.found), |(source, destination)| {
            Ok(u64::from(reader.contains_edge(source, destination)?))
        }),
        Operation::GetNumber => {
            of_edges(timed, (existing, |batch| batch.numbers), |(source, destination)| {
                Ok(reader.number(source, destination)?.map_or(0, |number| number as u64))
            })
        }
        Operation::GetRecord => {
            of_edges(timed, (existing, |batch| batch.payments), |(source, destination)| {
                Ok(reader.payment(source, destination)?.map_or(0, |payment| payment.sum()))
            })
        }
        Operation::Neighbors => of_sources(timed, (&work.sources, |batch| batch.neighbors), |source| {
            Ok(reader.neighbors(source)?.fold(0, u64::wrapping_add))
        }),
        Operation::VisitNeighbors => of_sources(timed, (&work.sources, |batch| batch.neighbors), |source| {
            let mut sum = 0u64;
            reader.visit_neighbors(source, |neighbor| sum = sum.wrapping_add(neighbor))?;
            Ok(sum)
        }),
        Operation::Degree => of_sources(timed, (&work.sources, |batch| batch.degrees), |source| {
            Ok(reader.degree(source)? as u64)
        }),
        Operation::ContainsInARow => return in_a_row(reader, work, clock),
        _ => return by_cursor(reader, work, clock),
    }?;
    Ok(true)
}

fn in_a_row(reader: &mut impl Reads, work: &Work, clock: &mut Clock) -> Result<bool> {
    let mut is_there = true;
    clock.over(&work.some, |clock, batch| {
        let found = clock.add(batch.ends.len(), || reader.find_in_a_row(&batch.ends))?;
        is_there = found.is_some();
        match found {
            Some(found) => check(Operation::ContainsInARow, found, batch.found),
            None => {
                clock.limit = Duration::ZERO;
                Ok(())
            }
        }
    })?;
    Ok(is_there)
}

fn by_cursor(reader: &mut impl Reads, work: &Work, clock: &mut Clock) -> Result<bool> {
    let mut is_there = true;
    clock.over(&work.some, |clock, batch| {
        let Some((found, spent)) = reader.find_by_cursor(&batch.ends)? else {
            is_there = false;
            clock.limit = Duration::ZERO;
            return Ok(());
        };
        (clock.spent, clock.calls) = (clock.spent + spent, clock.calls + batch.ends.len());
        check(Operation::FindByCursor, found, batch.found)
    })?;
    Ok(is_there)
}

fn snapshots(store: &impl Store, clock: &mut Clock) -> Result<bool> {
    if !store.open_snapshot()? {
        return Ok(false);
    }
    const AT_ONCE: [(); 1 << 10] = [(); 1 << 10];
    clock.over(&[AT_ONCE], |clock, batch| {
        let opened = clock.add(batch.len(), || sum(batch, |()| Ok(u64::from(store.open_snapshot()?))))?;
        check(Operation::Snapshot, opened, batch.len() as u64)
    })?;
    Ok(true)
}

/// Puts edges and deletes them again; times only puts or only deletions.
fn writes(store: &mut impl Store, operation: Operation, work: &Work, clock: &mut Clock) -> Result<bool> {
    if operation == Operation::PutEach && !store.put_each(&[])? {
        return Ok(false);
    }
    clock.over(&work.absent, |clock, batch| {
        let mut untimed = Clock { calls: 0, ..*clock };
        let mut timed = |this, calls: &mut dyn FnMut() -> Result<()>| {
            let clock = if this == operation { &mut *clock } else { &mut untimed };
            clock.add(batch.len(), calls)
        };
        if operation == Operation::PutEach {
            timed(operation, &mut || store.put_each(batch).map(drop))?;
        } else {
            timed(Operation::PutEdge, &mut || {
                batch.iter().try_for_each(|ends| store.put_edge(ends.0, ends.1))
            })?;
        }
        check(operation, found(store, batch)?, batch.len() as u64)?;
        timed(Operation::DeleteEdge, &mut || {
            batch.iter().try_for_each(|ends| store.delete_edge(ends.0, ends.1))
        })?;
        check(operation, found(store, batch)?, 0)
    })?;
    Ok(true)
}

/// The number of edges in `edges` that exist.
fn found(store: &impl Store, edges: &[Ends]) -> Result<u64> {
    let mut reader = store.reader()?;
    sum(edges, |(source, destination)| Ok(u64::from(reader.contains_edge(source, destination)?)))
}
