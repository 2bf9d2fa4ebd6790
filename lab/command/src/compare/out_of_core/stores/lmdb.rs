//! LMDB: sources as keys, their neighbors as sorted duplicates of fixed size.

use super::row::RowOf;
use super::store::{Kind, Setup, Store};
use crate::compare::graph::Edge;
use crate::compare::out_of_core::algorithms::Reader;
use anyhow::{Context, Result};
use hedgerow::VertexId;
use heed::types::Bytes;
use heed::{Database, DatabaseFlags, Env, PutFlags, RoTxn};

pub(super) const KIND: Kind = Kind {
    name: "lmdb",
    setup: "a key per source, its neighbors as sorted duplicates of 4 bytes (DUPSORT, DUPFIXED); transactions of 512 edges, in the mixed \
            part with 26 deletions; MDB_NOSYNC, MDB_NORDAHEAD; memory as the system gives; the first 80 % of the edges loaded in order; \
            settled by a sync",
    batch: 512,
    is_loaded_in_order: true,
    has_analytics: false,
    open,
};

struct Lmdb {
    env: Env,
    edges: Database<Bytes, Bytes>,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Store>> {
    let env = crate::compare::stores::lmdb::larger_than_memory(setup.folder)?;
    let mut transaction = env.write_txn()?;
    let options = env.database_options().types::<Bytes, Bytes>();
    let edges =
        { options }.flags(DatabaseFlags::DUP_SORT | DatabaseFlags::DUP_FIXED).create(&mut transaction)?;
    transaction.commit()?;
    Ok(Box::new(Lmdb { env, edges }))
}

fn bytes(vertex: VertexId) -> [u8; 4] {
    vertex.get().to_be_bytes()
}

fn vertex(bytes: &[u8]) -> Result<VertexId> {
    Ok(VertexId::new(u32::from_be_bytes(bytes.try_into().context("a key that is no vertex")?)))
}

impl Store for Lmdb {
    fn write(&self, puts: &[Edge], deletions: &[Edge]) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        for (one, other) in puts {
            self.edges.put(&mut transaction, &bytes(*one), &bytes(*other))?;
            self.edges.put(&mut transaction, &bytes(*other), &bytes(*one))?;
        }
        for (one, other) in deletions {
            self.edges.delete_one_duplicate(&mut transaction, &bytes(*one), &bytes(*other))?;
            self.edges.delete_one_duplicate(&mut transaction, &bytes(*other), &bytes(*one))?;
        }
        Ok(transaction.commit()?)
    }

    fn load_in_order(&self, edges: &[Edge]) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        for (source, destination) in edges {
            let (source, destination) = (bytes(*source), bytes(*destination));
            self.edges.put_with_flags(&mut transaction, PutFlags::APPEND_DUP, &source, &destination)?;
        }
        Ok(transaction.commit()?)
    }

    fn settle(&self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reader) -> Result<()>) -> Result<()> {
        let transaction = self.env.read_txn()?;
        work(&mut Rows { edges: self.edges, transaction: &transaction, neighbors: Vec::new() })
    }
}

struct Rows<'t> {
    edges: Database<Bytes, Bytes>,
    transaction: &'t RoTxn<'t>,
    neighbors: Vec<VertexId>,
}

impl Reader for Rows<'_> {
    fn neighbors(&mut self, source: VertexId, visit: &mut dyn FnMut(&[VertexId])) -> Result<()> {
        self.neighbors.clear();
        for edge in self.edges.get_duplicates(self.transaction, &bytes(source))?.into_iter().flatten() {
            self.neighbors.push(vertex(edge?.1)?);
        }
        visit(&self.neighbors);
        Ok(())
    }

    fn scan(&mut self, visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>) -> Result<()> {
        let mut row = RowOf::default();
        for edge in self.edges.iter(self.transaction)? {
            let (source, destination) = edge?;
            row.push(vertex(source)?, vertex(destination)?, visit)?;
        }
        row.end(visit)
    }
}
