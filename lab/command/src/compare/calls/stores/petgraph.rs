//! petgraph's `GraphMap`: its only graph type that finds vertices by key and edges by both ends,
//! each in one look-up. (`StableGraph` walks the edges of a vertex to find one, which takes
//! milliseconds at a hub, and needs an additional map from keys to ids.)

use super::kind::Kind;
use super::store::{Reads, Store};
use crate::compare::calls::measure::Calls;
use crate::compare::calls::work::{Keys, Payment, Work, number_of, payment_of};
use anyhow::Result;
use petgraph::Direction::Outgoing;
use petgraph::graphmap::{DiGraphMap, NodeTrait};

pub(super) const KIND: Kind = Kind {
    name: "petgraph",
    setup: "a DiGraphMap per kind of edge, over u64, of dense ids over u32, with the hash function as by default; no transactions",
    make: |_, work| match work.keys {
        Keys::Numbers => make::<u64>(work),
        Keys::Dense => make::<u32>(work),
    },
};

/// A vertex of a graph in petgraph.
trait Node: NodeTrait + Into<u64> {
    /// The vertex with this key.
    fn of(key: u64) -> Self;
}

impl Node for u64 {
    fn of(key: u64) -> Self {
        key
    }
}

impl Node for u32 {
    fn of(key: u64) -> Self {
        key as u32
    }
}

struct Graphs<N: Node> {
    knows: DiGraphMap<N, ()>,
    rates: DiGraphMap<N, f64>,
    pays: DiGraphMap<N, Payment>,
}

fn make<N: Node + 'static>(work: &Work) -> Result<Box<dyn Calls>> {
    let mut graphs =
        Graphs::<N> { knows: DiGraphMap::new(), rates: DiGraphMap::new(), pays: DiGraphMap::new() };
    for ends in &work.edges {
        let (source, destination) = (N::of(ends.0), N::of(ends.1));
        graphs.knows.add_edge(source, destination, ());
        graphs.rates.add_edge(source, destination, number_of(*ends));
        graphs.pays.add_edge(source, destination, payment_of(*ends));
    }
    Ok(Box::new(graphs))
}

impl<N: Node> Store for Graphs<N> {
    type Reader<'s>
        = &'s Graphs<N>
    where
        N: 's;

    fn reader(&self) -> Result<&Graphs<N>> {
        Ok(self)
    }

    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        self.knows.add_edge(N::of(source), N::of(destination), ());
        Ok(())
    }

    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        self.knows.remove_edge(N::of(source), N::of(destination));
        Ok(())
    }
}

impl<N: Node> Reads for &Graphs<N> {
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool> {
        Ok(self.knows.contains_edge(N::of(source), N::of(destination)))
    }

    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>> {
        let neighbors: Vec<N> = self.knows.neighbors_directed(N::of(source), Outgoing).collect();
        Ok(neighbors.into_iter().map(Into::into))
    }

    fn visit_neighbors(&mut self, source: u64, mut visit: impl FnMut(u64)) -> Result<()> {
        let neighbors = self.knows.neighbors_directed(N::of(source), Outgoing);
        neighbors.for_each(|neighbor| visit(neighbor.into()));
        Ok(())
    }

    fn degree(&mut self, source: u64) -> Result<usize> {
        Ok(self.knows.neighbors_directed(N::of(source), Outgoing).count())
    }

    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>> {
        Ok(self.rates.edge_weight(N::of(source), N::of(destination)).copied())
    }

    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>> {
        Ok(self.pays.edge_weight(N::of(source), N::of(destination)).copied())
    }
}
