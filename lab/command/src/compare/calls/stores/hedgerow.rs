//! Hedgerow, in memory.

use super::kind::{AT_ONCE, Kind};
use super::store::{Reads, Store};
use crate::compare::calls::measure::Calls;
use crate::compare::calls::work::{Ends, Keys, Payment, Work, number_of, payment_of};
use anyhow::{Context, Result};
use hedgerow::kernels::{Adjacency, Cursor, GraphView};
use hedgerow::kernels::{Kernel, KernelError};
use hedgerow::prelude::*;
use hedgerow::{LabelId, VertexId};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

const SETUP: &str = "directed, in memory, a label without data, one with a number and one with a record of two properties; all else as by default";

pub(super) const RAPID: Kind =
    Kind { name: "rapid", setup: SETUP, make: |_, work| make(work, EngineKind::Rapid) };

pub(super) const TEL: Kind = Kind { name: "tel", setup: SETUP, make: |_, work| make(work, EngineKind::Tel) };

struct Hedgerow {
    graph: Graph,
    labels: Labels,
}

#[derive(Clone, Copy)]
struct Labels {
    knows: Label,
    rates: Label<f64>,
    pays: Label<Payment>,
}

fn make(work: &Work, engine: EngineKind) -> Result<Box<dyn Calls>> {
    let keys = match work.keys {
        Keys::Numbers => KeyKind::Number,
        Keys::Dense => KeyKind::Dense,
    };
    let options = GraphOptions::new().keys(keys).engine(engine);
    let options = options.label::<()>("knows").label::<f64>("rates").label::<Payment>("pays");
    let graph = Graph::in_memory(options)?;
    let labels =
        Labels { knows: graph.label("knows")?, rates: graph.label("rates")?, pays: graph.label("pays")? };
    // Edge by edge, in random order, as a dynamic graph is filled.
    graph.put_each(labels.knows, &work.edges)?;
    let with_number = |ends: &Ends| (ends.0, ends.1, number_of(*ends));
    graph.put_each(labels.rates, &work.edges.iter().map(with_number).collect::<Vec<_>>())?;
    for edges in work.edges.chunks(AT_ONCE) {
        let with_payment = |ends: &Ends| (ends.0, ends.1, payment_of(*ends));
        graph.ingest(labels.pays, &edges.iter().map(with_payment).collect::<Vec<_>>())?;
    }
    graph.reclaim()?;
    Ok(Box::new(Hedgerow { graph, labels }))
}

impl Store for Hedgerow {
    type Reader<'s> = Reader;

    fn reader(&self) -> Result<Reader> {
        Ok(Reader { snapshot: self.graph.snapshot()?, labels: self.labels })
    }

    fn open_snapshot(&self) -> Result<bool> {
        drop(self.graph.snapshot()?);
        Ok(true)
    }

    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        self.graph.put_edge(self.labels.knows, source, destination)?;
        Ok(())
    }

    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        self.graph.delete_edge(self.labels.knows, source, destination)?;
        Ok(())
    }

    fn put_each(&mut self, edges: &[Ends]) -> Result<bool> {
        self.graph.put_each(self.labels.knows, edges)?;
        Ok(true)
    }
}

struct Reader {
    snapshot: Snapshot,
    labels: Labels,
}

/// The number in a key; the graph has no other keys.
fn number(key: &Key) -> u64 {
    key.as_u64().unwrap_or_default()
}

impl Reads for Reader {
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool> {
        Ok(self.snapshot.contains_edge(self.labels.knows, source, destination)?)
    }

    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>> {
        Ok(self.snapshot.neighbors(self.labels.knows, source)?.into_iter().map(|key| number(&key)))
    }

    fn visit_neighbors(&mut self, source: u64, mut visit: impl FnMut(u64)) -> Result<()> {
        let _ = self.snapshot.visit_neighbors(self.labels.knows, source, |neighbor| {
            visit(number(&neighbor));
            ControlFlow::<()>::Continue(())
        })?;
        Ok(())
    }

    fn degree(&mut self, source: u64) -> Result<usize> {
        Ok(self.snapshot.degree(self.labels.knows, source)?)
    }

    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>> {
        Ok(self.snapshot.get_edge(self.labels.rates, source, destination)?)
    }

    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>> {
        Ok(self.snapshot.get_edge(self.labels.pays, source, destination)?)
    }

    fn find_in_a_row(&mut self, edges: &[Ends]) -> Result<Option<u64>> {
        let found = self.snapshot.with_edges(self.labels.knows, |reader| {
            let mut found = 0;
            for (source, destination) in edges {
                found += u64::from(reader.contains(*source, *destination)?);
            }
            Ok(found)
        })?;
        Ok(Some(found))
    }

    fn find_by_cursor(&mut self, edges: &[Ends]) -> Result<Option<(u64, Duration)>> {
        let id = |key| self.snapshot.vertex_id(key)?.context("a vertex is missing");
        let ids = |(source, destination): &Ends| Ok((id(*source)?, id(*destination)?));
        let edges = edges.iter().map(ids).collect::<Result<Vec<_>>>()?;
        Ok(Some(self.snapshot.run(Find { label: self.labels.knows.id(), edges: &edges })?))
    }
}

/// Counts the edges that exist, and measures its time without the start of the kernel.
struct Find<'e> {
    label: LabelId,
    edges: &'e [(VertexId, VertexId)],
}

impl Kernel for Find<'_> {
    type Output = (u64, Duration);

    fn run<V: GraphView>(self, view: &V) -> Result<(u64, Duration), KernelError> {
        let adjacency = view.adjacency::<()>(self.label, Direction::Out)?;
        let (mut found, mut cursor, begin) = (0, adjacency.cursor(), Instant::now());
        for (source, destination) in self.edges {
            found += u64::from(cursor.find(*source, *destination)?.is_some());
        }
        Ok((found, begin.elapsed()))
    }
}
