//! LMDB, by the crate heed.

use super::keys::{destination, key};
use super::store::{EdgeStore, Kind};
use crate::compare::graph::Edge;
use anyhow::Result;
use hedgerow::{Durability, VertexId};
use heed::types::{Bytes, Unit};
use heed::{Database, Env, EnvFlags, EnvOpenOptions};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "lmdb",
    setup: "one unnamed database, a map of 64 GiB; one write transaction at a time. Buffered: MDB_NOSYNC, so that a loss of power may \
            damage the file, and a sync at the end",
    open,
};

/// Addresses reserved for the file.
const MAP: usize = 64 << 30;

struct Lmdb {
    env: Env,
    edges: Database<Bytes, Unit>,
}

/// Opens an environment for `databases` named databases, with synced or unsynced commits.
pub(crate) fn environment(folder: &Path, durability: Durability, databases: u32) -> Result<Env> {
    let unsynced = if durability == Durability::Sync { EnvFlags::empty() } else { EnvFlags::NO_SYNC };
    with_flags(folder, unsynced, databases)
}

/// Opens an environment for a file larger than memory, without the system's read-ahead and with
/// unsynced commits.
pub(crate) fn larger_than_memory(folder: &Path) -> Result<Env> {
    with_flags(folder, EnvFlags::NO_SYNC | EnvFlags::NO_READ_AHEAD, 0)
}

fn with_flags(folder: &Path, flags: EnvFlags, databases: u32) -> Result<Env> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP).max_readers(256).max_dbs(databases);
    // SAFETY: without syncs a loss of power can damage the file, which is a temporary one that
    // is not opened after that. Otherwise these flags only affect speed.
    unsafe { options.flags(flags) };
    // SAFETY: the file is in our own folder, so only this environment changes it.
    Ok(unsafe { options.open(folder)? })
}

fn open(folder: &Path, durability: Durability, _: u32) -> Result<Box<dyn EdgeStore>> {
    let env = environment(folder, durability, 0)?;
    let mut transaction = env.write_txn()?;
    let edges = env.create_database(&mut transaction, None)?;
    transaction.commit()?;
    Ok(Box::new(Lmdb { env, edges }))
}

impl EdgeStore for Lmdb {
    fn put(&self, edge: Edge) -> Result<()> {
        self.put_all(&[edge])
    }

    fn put_all(&self, edges: &[Edge]) -> Result<()> {
        let mut transaction = self.env.write_txn()?;
        for edge in edges {
            self.edges.put(&mut transaction, &key(*edge), &())?;
        }
        Ok(transaction.commit()?)
    }

    fn sum_neighbors(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        let (transaction, mut sum) = (self.env.read_txn()?, 0);
        for source in sources {
            for edge in self.edges.prefix_iter(&transaction, &source.get().to_be_bytes())?.take(most) {
                sum += destination(edge?.0)?;
            }
        }
        Ok(sum)
    }

    fn count(&self, edges: &[Edge]) -> Result<usize> {
        let (transaction, mut found) = (self.env.read_txn()?, 0);
        for edge in edges {
            found += usize::from(self.edges.get(&transaction, &key(*edge))?.is_some());
        }
        Ok(found)
    }

    fn flush(&self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }

    fn settle(&self) -> Result<()> {
        self.flush()
    }
}
