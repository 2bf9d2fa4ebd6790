//! SQLite, by the crate rusqlite.

use super::store::{EdgeStore, Kind};
use crate::compare::graph::Edge;
use anyhow::Result;
use hedgerow::{Durability, VertexId};
use hedgerow_sync::Mutex;
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "sqlite",
    setup: "a table without row ids, (source, destination) its primary key; write-ahead log with synchronous = FULL, checkpointed every \
            64 MiB; a cache of 1 GiB; prepared statements; clients take turns on one connection, which beats waiting for its lock file. \
            Buffered: synchronous = NORMAL",
    open,
};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS edges (source INTEGER NOT NULL, destination INTEGER NOT NULL,
    PRIMARY KEY (source, destination)) WITHOUT ROWID";
const PUT: &str = "INSERT OR IGNORE INTO edges VALUES (?, ?)";
const NEIGHBORS: &str = "SELECT destination FROM edges WHERE source = ?";
const FIND: &str = "SELECT 1 FROM edges WHERE source = ? AND destination = ?";

struct Sqlite(Mutex<Connection>);

fn open(folder: &Path, durability: Durability, _: u32) -> Result<Box<dyn EdgeStore>> {
    let connection = Connection::open(folder.join("edges.sqlite"))?;
    let synchronous = if durability == Durability::Sync { "FULL" } else { "NORMAL" };
    connection.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; PRAGMA cache_size = -1048576;
         PRAGMA wal_autocheckpoint = 16384; {TABLE}"
    ))?;
    Ok(Box::new(Sqlite(Mutex::new(connection))))
}

impl EdgeStore for Sqlite {
    fn put(&self, edge: Edge) -> Result<()> {
        // A statement outside a transaction is a transaction.
        let (source, destination) = edge;
        let connection = self.0.lock();
        connection.prepare_cached(PUT)?.execute(params![source.get(), destination.get()])?;
        Ok(())
    }

    fn put_all(&self, edges: &[Edge]) -> Result<()> {
        let connection = self.0.lock();
        let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
        {
            let mut put = transaction.prepare_cached(PUT)?;
            for (source, destination) in edges {
                put.execute(params![source.get(), destination.get()])?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn sum_neighbors(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        let (connection, mut sum) = (self.0.lock(), 0);
        let transaction = connection.unchecked_transaction()?;
        let mut neighbors = transaction.prepare_cached(NEIGHBORS)?;
        for source in sources {
            let (mut rows, mut left) = (neighbors.query(params![source.get()])?, most);
            while let Some(row) = if left > 0 { rows.next()? } else { None } {
                sum += u64::from(row.get::<_, u32>(0)?);
                left -= 1;
            }
        }
        Ok(sum)
    }

    fn count(&self, edges: &[Edge]) -> Result<usize> {
        let (connection, mut found) = (self.0.lock(), 0);
        let transaction = connection.unchecked_transaction()?;
        let mut find = transaction.prepare_cached(FIND)?;
        for (source, destination) in edges {
            found += usize::from(find.exists(params![source.get(), destination.get()])?);
        }
        Ok(found)
    }

    fn flush(&self) -> Result<()> {
        // Unless every commit is synced, only a checkpoint syncs the write-ahead log.
        self.0.lock().query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?;
        Ok(())
    }

    fn settle(&self) -> Result<()> {
        self.0.lock().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        Ok(())
    }
}
