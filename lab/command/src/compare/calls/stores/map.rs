//! The structure of programs without a graph library: a hash map from a vertex to its sorted
//! neighbors.

use super::kind::Kind;
use super::store::{Reads, Store};
use crate::compare::calls::work::{Ends, Payment, number_of, payment_of};
use anyhow::Result;
use std::collections::HashMap;

pub(super) const KIND: Kind = Kind {
    name: "map",
    setup: "a HashMap<u64, Vec<(u64, data)>> per kind of edge, with the hash function as by default; neighbors sorted, found by halving; \
            no transactions",
    make: |_, work| {
        let mut maps = Maps::default();
        for ends in &work.edges {
            put(&mut maps.knows, *ends, ());
            put(&mut maps.rates, *ends, number_of(*ends));
            put(&mut maps.pays, *ends, payment_of(*ends));
        }
        Ok(Box::new(maps))
    },
};

type Map<T> = HashMap<u64, Vec<(u64, T)>>;

#[derive(Default)]
struct Maps {
    knows: Map<()>,
    rates: Map<f64>,
    pays: Map<Payment>,
}

fn put<T>(map: &mut Map<T>, (source, destination): Ends, data: T) {
    let row = map.entry(source).or_default();
    match row.binary_search_by_key(&destination, |(neighbor, _)| *neighbor) {
        Ok(position) => row[position].1 = data,
        Err(position) => row.insert(position, (destination, data)),
    }
}

fn find<T>(map: &Map<T>, source: u64, destination: u64) -> Option<&T> {
    let row = map.get(&source)?;
    let position = row.binary_search_by_key(&destination, |(neighbor, _)| *neighbor).ok()?;
    Some(&row[position].1)
}

impl Store for Maps {
    type Reader<'s> = &'s Maps;

    fn reader(&self) -> Result<&Maps> {
        Ok(self)
    }

    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        put(&mut self.knows, (source, destination), ());
        Ok(())
    }

    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        if let Some(row) = self.knows.get_mut(&source)
            && let Ok(position) = row.binary_search_by_key(&destination, |(neighbor, ())| *neighbor)
        {
            row.remove(position);
        }
        Ok(())
    }
}

impl Reads for &Maps {
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool> {
        Ok(find(&self.knows, source, destination).is_some())
    }

    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>> {
        let row = self.knows.get(&source).map_or(&[][..], Vec::as_slice);
        let neighbors: Vec<u64> = row.iter().map(|(neighbor, ())| *neighbor).collect();
        Ok(neighbors.into_iter())
    }

    fn visit_neighbors(&mut self, source: u64, mut visit: impl FnMut(u64)) -> Result<()> {
        let row = self.knows.get(&source).map_or(&[][..], Vec::as_slice);
        row.iter().for_each(|(neighbor, ())| visit(*neighbor));
        Ok(())
    }

    fn degree(&mut self, source: u64) -> Result<usize> {
        Ok(self.knows.get(&source).map_or(0, Vec::len))
    }

    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>> {
        Ok(find(&self.rates, source, destination).copied())
    }

    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>> {
        Ok(find(&self.pays, source, destination).copied())
    }
}
