//! LMDB, by the crate heed.

use super::bytes::{Encoding, number, number_value, payment, payment_value};
use super::kind::{AT_ONCE, Kind};
use super::store::{Reads, Store};
use crate::compare::calls::measure::Calls;
use crate::compare::calls::work::{Payment, Work, number_of, payment_of};
use anyhow::Result;
use hedgerow::Durability;
use heed::types::{Bytes, Unit};
use heed::{Database, Env, RoTxn, WithTls};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "lmdb",
    setup: "a database per kind of edge, source and destination as key; MDB_NOSYNC. The crate heed opens a cursor for every scan, and \
            lends none to be kept",
    make,
};

#[derive(Clone, Copy)]
struct Tables {
    knows: Database<Bytes, Unit>,
    rates: Database<Bytes, Bytes>,
    pays: Database<Bytes, Bytes>,
    encoding: Encoding,
}

struct Lmdb {
    env: Env,
    tables: Tables,
}

fn make(folder: &Path, work: &Work) -> Result<Box<dyn Calls>> {
    let env = crate::compare::stores::lmdb::environment(folder, Durability::Buffered, 3)?;
    let mut transaction = env.write_txn()?;
    let tables = Tables {
        knows: env.create_database(&mut transaction, Some("knows"))?,
        rates: env.create_database(&mut transaction, Some("rates"))?,
        pays: env.create_database(&mut transaction, Some("pays"))?,
        encoding: Encoding::new(work.keys),
    };
    transaction.commit()?;
    for edges in work.edges.chunks(AT_ONCE) {
        let mut transaction = env.write_txn()?;
        for ends in edges {
            let key = tables.encoding.edge(*ends);
            tables.knows.put(&mut transaction, key.as_ref(), &())?;
            tables.rates.put(&mut transaction, key.as_ref(), &number_value(number_of(*ends)))?;
            tables.pays.put(&mut transaction, key.as_ref(), &payment_value(payment_of(*ends)))?;
        }
        transaction.commit()?;
    }
    Ok(Box::new(Lmdb { env, tables }))
}

impl Store for Lmdb {
    type Reader<'s> = Reader<'s>;

    fn reader(&self) -> Result<Reader<'_>> {
        Ok(Reader { transaction: self.env.read_txn()?, tables: self.tables })
    }

    fn open_snapshot(&self) -> Result<bool> {
        drop(self.env.read_txn()?);
        Ok(true)
    }

    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        let key = self.tables.encoding.edge((source, destination));
        let mut transaction = self.env.write_txn()?;
        self.tables.knows.put(&mut transaction, key.as_ref(), &())?;
        Ok(transaction.commit()?)
    }

    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        let key = self.tables.encoding.edge((source, destination));
        let mut transaction = self.env.write_txn()?;
        self.tables.knows.delete(&mut transaction, key.as_ref())?;
        Ok(transaction.commit()?)
    }
}

struct Reader<'s> {
    transaction: RoTxn<'s, WithTls>,
    tables: Tables,
}

impl Reads for Reader<'_> {
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool> {
        let key = self.tables.encoding.edge((source, destination));
        Ok(self.tables.knows.get(&self.transaction, key.as_ref())?.is_some())
    }

    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>> {
        let mut neighbors = Vec::new();
        self.visit_neighbors(source, |neighbor| neighbors.push(neighbor))?;
        Ok(neighbors.into_iter())
    }

    fn visit_neighbors(&mut self, source: u64, mut visit: impl FnMut(u64)) -> Result<()> {
        let Tables { knows, encoding, .. } = self.tables;
        for edge in knows.prefix_iter(&self.transaction, encoding.source(source).as_ref())? {
            visit(encoding.destination(edge?.0)?);
        }
        Ok(())
    }

    fn degree(&mut self, source: u64) -> Result<usize> {
        let Tables { knows, encoding, .. } = self.tables;
        let edges = knows.prefix_iter(&self.transaction, encoding.source(source).as_ref())?;
        edges.map(|edge| edge.map(|_| 1)).sum::<Result<_, _>>().map_err(Into::into)
    }

    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>> {
        let key = self.tables.encoding.edge((source, destination));
        self.tables.rates.get(&self.transaction, key.as_ref())?.map(number).transpose()
    }

    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>> {
        let key = self.tables.encoding.edge((source, destination));
        self.tables.pays.get(&self.transaction, key.as_ref())?.map(payment).transpose()
    }
}
