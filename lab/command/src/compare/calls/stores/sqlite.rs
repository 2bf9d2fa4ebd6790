//! SQLite, by the crate rusqlite.

use super::kind::{AT_ONCE, Kind};
use super::store::{Reads, Store};
use crate::compare::calls::measure::Calls;
use crate::compare::calls::work::{Payment, Work, number_of, payment_of};
use anyhow::Result;
use rusqlite::{Connection, OptionalExtension, Statement, Transaction, params};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "sqlite",
    setup: "a table without row ids per kind of edge, (source, destination) its primary key; write-ahead log, synchronous = OFF, the file \
            mapped into memory; prepared statements",
    make,
};

const TABLES: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA mmap_size = 68719476736; PRAGMA cache_size = -65536;
    PRAGMA wal_autocheckpoint = 16384;
    CREATE TABLE knows (source INTEGER, destination INTEGER, PRIMARY KEY (source, destination)) WITHOUT ROWID;
    CREATE TABLE rates (source INTEGER, destination INTEGER, number REAL, PRIMARY KEY (source, destination)) WITHOUT ROWID;
    CREATE TABLE pays (source INTEGER, destination INTEGER, amount REAL, time INTEGER,
        PRIMARY KEY (source, destination)) WITHOUT ROWID;";
const PUT: &str = "INSERT OR IGNORE INTO knows VALUES (?, ?)";
const DELETE: &str = "DELETE FROM knows WHERE source = ? AND destination = ?";

struct Sqlite(Connection);

/// SQLite's integers are signed: a number above their range is stored as a negative number.
fn integer(key: u64) -> i64 {
    key.cast_signed()
}

fn make(folder: &Path, work: &Work) -> Result<Box<dyn Calls>> {
    let connection = Connection::open(folder.join("edges.sqlite"))?;
    connection.execute_batch(TABLES)?;
    for edges in work.edges.chunks(AT_ONCE) {
        let transaction = connection.unchecked_transaction()?;
        {
            let mut knows = transaction.prepare_cached(PUT)?;
            let mut rates = transaction.prepare_cached("INSERT INTO rates VALUES (?, ?, ?)")?;
            let mut pays = transaction.prepare_cached("INSERT INTO pays VALUES (?, ?, ?, ?)")?;
            for ends in edges {
                let (source, destination) = (integer(ends.0), integer(ends.1));
                let Payment { amount, time } = payment_of(*ends);
                knows.execute(params![source, destination])?;
                rates.execute(params![source, destination, number_of(*ends)])?;
                pays.execute(params![source, destination, amount, time])?;
            }
        }
        transaction.commit()?;
    }
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(Box::new(Sqlite(connection)))
}

impl Store for Sqlite {
    type Reader<'s> = Reader<'s>;

    fn reader(&self) -> Result<Reader<'_>> {
        let prepare = |query| self.0.prepare(query);
        Ok(Reader {
            _transaction: self.0.unchecked_transaction()?,
            contains: prepare("SELECT 1 FROM knows WHERE source = ? AND destination = ?")?,
            neighbors: prepare("SELECT destination FROM knows WHERE source = ?")?,
            degree: prepare("SELECT count(*) FROM knows WHERE source = ?")?,
            number: prepare("SELECT number FROM rates WHERE source = ? AND destination = ?")?,
            payment: prepare("SELECT amount, time FROM pays WHERE source = ? AND destination = ?")?,
        })
    }

    fn open_snapshot(&self) -> Result<bool> {
        // A transaction takes its snapshot at its first read.
        self.0.prepare_cached("BEGIN")?.execute([])?;
        self.0.prepare_cached("SELECT 1 FROM knows LIMIT 1")?.exists([])?;
        self.0.prepare_cached("COMMIT")?.execute([])?;
        Ok(true)
    }

    fn put_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        // A statement outside a transaction is a transaction.
        self.0.prepare_cached(PUT)?.execute(params![integer(source), integer(destination)])?;
        Ok(())
    }

    fn delete_edge(&mut self, source: u64, destination: u64) -> Result<()> {
        self.0.prepare_cached(DELETE)?.execute(params![integer(source), integer(destination)])?;
        Ok(())
    }
}

struct Reader<'s> {
    _transaction: Transaction<'s>,
    contains: Statement<'s>,
    neighbors: Statement<'s>,
    degree: Statement<'s>,
    number: Statement<'s>,
    payment: Statement<'s>,
}

impl Reads for Reader<'_> {
    fn contains_edge(&mut self, source: u64, destination: u64) -> Result<bool> {
        Ok(self.contains.exists(params![integer(source), integer(destination)])?)
    }

    fn neighbors(&mut self, source: u64) -> Result<impl Iterator<Item = u64>> {
        let mut neighbors = Vec::new();
        self.visit_neighbors(source, |neighbor| neighbors.push(neighbor))?;
        Ok(neighbors.into_iter())
    }

    fn visit_neighbors(&mut self, source: u64, mut visit: impl FnMut(u64)) -> Result<()> {
        let mut rows = self.neighbors.query(params![integer(source)])?;
        while let Some(row) = rows.next()? {
            visit(row.get::<_, i64>(0)?.cast_unsigned());
        }
        Ok(())
    }

    fn degree(&mut self, source: u64) -> Result<usize> {
        Ok(usize::try_from(self.degree.query_row(params![integer(source)], |row| row.get::<_, i64>(0))?)?)
    }

    fn number(&mut self, source: u64, destination: u64) -> Result<Option<f64>> {
        let ends = params![integer(source), integer(destination)];
        Ok(self.number.query_row(ends, |row| row.get(0)).optional()?)
    }

    fn payment(&mut self, source: u64, destination: u64) -> Result<Option<Payment>> {
        let ends = params![integer(source), integer(destination)];
        let payment = |row: &rusqlite::Row<'_>| Ok(Payment { amount: row.get(0)?, time: row.get(1)? });
        Ok(self.payment.query_row(ends, payment).optional()?)
    }
}
