//! The edges that a command selects, and passes over them.

use super::args::QueryArgs;
use super::clock::Clock;
use super::filter::{Schema, Test};
use super::layout::{Layout, Row};
use super::scan::{Cuts, Flow, Scan};
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::keys;
use crate::objects::{Reading, no_vertex};
use crate::stored;
use crate::threads::Threads;
use hedgerow::{Direction, Error, ErrorKind, Key, LabelId, Snapshot, VertexId};
use hedgerow_sync::map_chunks;
use std::iter;
use std::ops::{ControlFlow, Range};

/// The edges of one label that are selected.
pub struct Selected {
    pub layout: Layout,
    test: Test,
    clock: Option<Clock>,
    /// True if values or properties are read; else a pass reads only the ends.
    pub with_data: bool,
}

/// The selected edges.
pub struct Selection<'a> {
    pub snapshot: &'a Snapshot,
    /// The labels that are asked for.
    pub labels: Vec<Selected>,
    /// The vertex whose edges are read; `None` for all.
    owner: Option<VertexId>,
    /// The end that the owners are: the source, or, with [`Direction::In`], the destination.
    direction: Direction,
    /// The destination of the edges, unless it is the owner.
    to: Option<VertexId>,
}

impl<'a> Selection<'a> {
    /// The edges that the options select.
    pub fn of(args: &QueryArgs, reading: &Reading<'a, Snapshot>) -> Result<Self, CliError> {
        let snapshot = reading.graph;
        let layouts = labels(args, reading)?;
        let find = |key: &Key| find(snapshot, key);
        let schema = Schema { layouts: &layouts, keys: reading.keys, find: &find };
        let tests = match &args.filter {
            Some(text) => schema.compile(text)?,
            None => vec![Test::Always(true); layouts.len()],
        };
        let clocks = layouts.iter().map(|layout| args.times.clock(layout));
        let clocks = clocks.collect::<Result<Vec<_>, _>>()?;
        let end = |option, given: Option<&str>| {
            let vertex = |given| {
                let key = keys::parse(option, given, reading.keys)?;
                find(&key)?.ok_or_else(|| no_vertex(&key, reading.store))
            };
            given.map(vertex).transpose()
        };
        let (from, to) = (end("--from", args.from.as_deref())?, end("--to", args.to.as_deref())?);
        let has_in = reading.topology.stored(Direction::In).is_some();
        let (owner, direction, to) = match (from, to) {
            (None, Some(to)) if has_in => (Some(to), Direction::In, None),
            (from, to) => (from, Direction::Out, to),
        };
        let labels = layouts.into_iter().zip(tests).zip(clocks).map(|((layout, test), clock)| {
            let with_data = test.reads_data() || clock.is_some();
            Selected { layout, test, clock, with_data }
        });
        Ok(Selection { snapshot, labels: labels.collect(), owner, direction, to })
    }

    /// Visits the selected edges one after the other: by label, then ascending by owner.
    pub fn for_each(
        &self,
        interrupt: &Interrupt,
        visit: &mut dyn FnMut(&Selected, Row<'_>) -> Flow,
    ) -> Result<(), CliError> {
        for selected in &self.labels {
            for range in self.ranges(selected)? {
                interrupt.check()?;
                if let ControlFlow::Break(end) =
                    self.pass(selected, range, &mut |row| visit(selected, row))?
                {
                    return end;
                }
            }
        }
        Ok(())
    }

    /// Passes over the selected edges on threads: `see` adds each edge to a part that `new` made,
    /// and `merge` gets the parts in order, by label, then ascending by owner. There are few parts
    /// at a time.
    pub fn fold<S: Send>(
        &self,
        threads: &Threads,
        interrupt: &Interrupt,
        new: impl Fn(usize) -> S + Sync,
        see: impl Fn(&mut S, &Row<'_>) -> Result<(), Error> + Sync,
        mut merge: impl FnMut(S),
    ) -> Result<(), CliError> {
        for (index, selected) in self.labels.iter().enumerate() {
            for ranges in self.ranges(selected)?.chunks(4 * threads.count()) {
                let parts = map_chunks(threads.pool(), ranges.to_vec(), |range| {
                    interrupt.check()?;
                    let mut part = new(index);
                    let flow = self.pass(selected, range, &mut |row| match see(&mut part, &row) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(error) => ControlFlow::Break(Err(failed(error))),
                    })?;
                    flow.break_value().unwrap_or(Ok(())).map(|()| part)
                });
                parts?.into_iter().for_each(&mut merge);
            }
        }
        Ok(())
    }

    /// The ranges of owners of a pass.
    fn ranges(&self, selected: &Selected) -> Result<Vec<Range<u32>>, CliError> {
        if selected.test == Test::Always(false) {
            return Ok(Vec::new());
        }
        if let Some(owner) = self.owner {
            return Ok(iter::once(owner.get()..owner.get() + 1).collect());
        }
        let cuts = Cuts { label: selected.layout.label, direction: self.direction };
        self.snapshot.run(cuts).map_err(failed)
    }

    /// Visits the selected edges of some owners. An undirected edge is visited once, unless one of
    /// its ends is given.
    fn pass(
        &self,
        selected: &Selected,
        range: Range<u32>,
        visit: &mut dyn FnMut(Row<'_>) -> Flow,
    ) -> Result<Flow, CliError> {
        let is_once = self.owner.is_none() && self.snapshot.topology().is_undirected();
        let key_of = |vertex| key(self.snapshot, vertex);
        let matches = |row: &Row<'_>| {
            let is_here =
                self.to.is_none_or(|to| row.destination == to) && (!is_once || row.source <= row.destination);
            Ok::<_, Error>(is_here && selected.is_timely(row)? && selected.test.holds(row, &key_of)?)
        };
        let scan = Scan {
            layout: &selected.layout,
            direction: self.direction,
            with_data: selected.with_data,
            range,
            visit: &mut |row| match matches(&row) {
                Ok(true) => visit(row),
                Ok(false) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(Err(failed(error))),
            },
        };
        self.snapshot.run(scan).map_err(failed)
    }
}

impl Selected {
    /// Returns true if the time of an edge is wanted.
    #[inline]
    fn is_timely(&self, row: &Row<'_>) -> Result<bool, Error> {
        match &self.clock {
            Some(clock) => Ok(clock.time(row)?.is_some()),
            None => Ok(true),
        }
    }

    /// The time of a selected edge, which has one.
    pub fn time(&self, row: &Row<'_>) -> Result<i128, Error> {
        let time = self.clock.as_ref().map_or(Ok(None), |clock| clock.time(row))?;
        Ok(time.unwrap_or(i128::MIN))
    }
}

/// The labels that are asked for.
fn labels(args: &QueryArgs, reading: &Reading<'_, Snapshot>) -> Result<Vec<Layout>, CliError> {
    if args.label.is_some() {
        let (label, schema) = stored::label(&reading.catalog, args.label.as_deref(), reading.store)?;
        return Ok(vec![Layout::of(label, schema)]);
    }
    let labels = (0..).map(LabelId).zip(reading.catalog.labels());
    Ok(labels.map(|(label, schema)| Layout::of(label, schema)).collect())
}

/// The vertex with a key. No vertex of a dense graph has a number beyond the ids.
fn find(snapshot: &Snapshot, key: &Key) -> Result<Option<VertexId>, CliError> {
    match snapshot.vertex_id(key) {
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(None),
        found => found.map_err(failed),
    }
}

/// The key of a vertex of an edge.
pub fn key(snapshot: &Snapshot, vertex: VertexId) -> Result<Key, Error> {
    snapshot.key(vertex)?.ok_or_else(|| Error::other(format!("an edge has no vertex {vertex} at its end")))
}

/// An error of the graph in a store.
pub fn failed(error: Error) -> CliError {
    StoredError::from(error).into()
}
