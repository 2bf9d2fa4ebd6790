//! RocksDB, by the crate of that name.

use super::bytes::{Encoding, number, number_value, payment, payment_value};
use super::kind::{AT_ONCE, Kind};
use super::store::{Reads, Store};
use crate::compare::calls::measure::Calls;
use crate::compare::calls::work::{Payment, Work, number_of, payment_of};
use anyhow::{Context, Result};
use rocksdb::{
    ColumnFamily, DB, DBCompressionType, DBRawIterator, ReadOptions, Snapshot, WriteBatch, WriteOptions,
};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "rocksdb",
    setup: "a column family per kind of edge, source and destination as key; filters, a cache of 1 GiB per table and the source as prefix, \
            as in the other work, no compression; no write-ahead log; one iterator for all scans of a reader; filled, then flushed and \
            compacted",
    make,
};

/// The column families.
const KNOWS: &str = "knows";
const RATES: &str = "rates";
const PAYS: &str = "pays";

struct RocksDb {
    db: DB,
    write: WriteOptions,
    encoding: Encoding,
}

#[derive(Clone, Copy)]
struct Tables<'s> {
    knows: &'s ColumnFamily,
    rates: &'s ColumnFamily,
    pays: &'s ColumnFamily,
}

fn make(folder: &Path, work: &Work) -> Result<Box<dyn Calls>> {
    let encoding = Encoding::new(work.keys);
    let mut options = crate::compare::stores::rocksdb::options(DBCompressionType::None, encoding.width);
    options.create_missing_column_families(true);
    let tables = [KNOWS, RATES, PAYS].map(|name| (name, options.clone()));
    let mut write = WriteOptions::default();
    write.disable_wal(true);
    let store = RocksDb { db: DB::open_cf_with_opts(&options, folder, tables)?, write, encoding };
    let tables = store.tables()?;
    for edges in work.edges.chunks(AT_ONCE) {
        let mut batch = WriteBatch::default();
        for ends in edges {
            let key = encoding.edge(*ends);
            batch.put_cf(tables.knows, &key, []);
            batch.put_cf(tables.rates, &key, number_value(number_of(*ends)));
            batch.put_cf(tables.pays, &key, payment_value(payment_of(*ends)));
        }
        store.db.write_opt(batch, &store.write)?;
    }
    for table in [tables.knows, tables.rates, tables.pays] {
        store.db.flush_cf(table)?;
        store.db.compact_range_cf(table, None::<&[u8]>, None::<&[u8]>);
    }
    Ok(Box::new(store))
}

impl RocksDb {
    fn tables(&self) -> Result<Tables<'_>> {
        let table = |name| self.db.cf_handle(name).context(name);
        Ok(Tables { knows: table(KNOWS)?, rates: table(RATES)?, pays: table(PAYS)? })
    }
}

impl Store for RocksDb {
    type Reader<'s> = Reader<'s>;

    fn reader(&self) -> Result<Reader<'_>> {
        let tables = self.tables()?;
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        // An iterator reads the state at its creation, which equals the snapshot's, as only this
        // thread writes.
        let edges = self.db.raw_iterator_cf_opt(tables.knows, options);
        Ok(Reader { snapshot: self.db.snapshot(), edges, tables, encoding: self.encoding })
    }

    fn open_snapshot(&self) -> Result<bool> {
        drop(self.db.snapshot());
        Ok(true)
    }

    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        let key = self.encoding.edge((source, destination));
        Ok(self.db.put_cf_opt(self.tables()?.knows, key, [], &self.write)?)
    }

    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        let key = self.encoding.edge((source, destination));
        Ok(self.db.delete_cf_opt(self.tables()?.knows, key, &self.write)?)
    }
}

struct Reader<'s> {
    snapshot: Snapshot<'s>,
    edges: DBRawIterator<'s>,
    tables: Tables<'s>,
    encoding: Encoding,
}

impl Reads for Reader<'_> {
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool> {
        let key = self.encoding.edge((source, destination));
        Ok(self.snapshot.get_pinned_cf(self.tables.knows, key)?.is_some())
    }

    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>> {
        let mut neighbors = Vec::new();
        self.visit_neighbors(source, |neighbor| neighbors.push(neighbor))?;
        Ok(neighbors.into_iter())
    }

    fn visit_neighbors(&mut self, source: u64, mut visit: impl FnMut(u64)) -> Result<()> {
        self.edges.seek(self.encoding.source(source));
        while let Some(key) = self.edges.key() {
            visit(self.encoding.destination(key)?);
            self.edges.next();
        }
        Ok(self.edges.status()?)
    }

    fn degree(&mut self, source: u64) -> Result<usize> {
        let mut degree = 0;
        self.visit_neighbors(source, |_| degree += 1)?;
        Ok(degree)
    }

    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>> {
        let key = self.encoding.edge((source, destination));
        let value = self.snapshot.get_pinned_cf(self.tables.rates, key)?;
        value.map(|value| number(&value)).transpose()
    }

    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>> {
        let key = self.encoding.edge((source, destination));
        let value = self.snapshot.get_pinned_cf(self.tables.pays, key)?;
        value.map(|value| payment(&value)).transpose()
    }
}
