//! RocksDB, by the crate of that name.

use super::keys::{destination, key};
use super::store::{EdgeStore, Kind};
use crate::compare::graph::Edge;
use anyhow::Result;
use hedgerow::{Durability, VertexId};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, Options, ReadOptions, SliceTransform, WriteBatch,
    WriteOptions,
};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "rocksdb",
    setup: "one column family; write-ahead log synced with every write (sync = true), writers grouped as by default; a cache of 1 GiB, \
            filters of 10 bits per key, the source as prefix, LZ4, as many background threads as cores. Buffered: sync = false, the \
            log in the system's cache, and synced at the end; settled by a flush of the memtable",
    open,
};

/// Bytes of blocks cached in memory.
const CACHE: usize = 1 << 30;

/// Bytes of the source of an edge in its key.
pub(crate) const SOURCE: usize = 4;

struct RocksDb {
    db: DB,
    write: Durability,
}

/// Options of a database whose keys begin with the source of an edge, `source` bytes long.
pub(crate) fn options(compression: DBCompressionType, source: usize) -> Options {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&Cache::new_lru_cache(CACHE));
    blocks.set_bloom_filter(10.0, false);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&blocks);
    options.set_prefix_extractor(SliceTransform::create_fixed_prefix(source));
    options.set_compression_type(compression);
    options.increase_parallelism(std::thread::available_parallelism().map_or(1, usize::from) as i32);
    options
}

fn open(folder: &Path, durability: Durability, _: u32) -> Result<Box<dyn EdgeStore>> {
    let options = options(DBCompressionType::Lz4, SOURCE);
    Ok(Box::new(RocksDb { db: DB::open(&options, folder)?, write: durability }))
}

impl RocksDb {
    fn write(&self) -> WriteOptions {
        let mut options = WriteOptions::default();
        options.set_sync(self.write == Durability::Sync);
        options
    }
}

impl EdgeStore for RocksDb {
    fn put(&self, edge: Edge) -> Result<()> {
        Ok(self.db.put_opt(key(edge), [], &self.write())?)
    }

    fn put_all(&self, edges: &[Edge]) -> Result<()> {
        let mut batch = WriteBatch::default();
        edges.iter().for_each(|edge| batch.put(key(*edge), []));
        Ok(self.db.write_opt(batch, &self.write())?)
    }

    fn sum_neighbors(&self, sources: &[VertexId], most: usize) -> Result<u64> {
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        let (mut edges, mut sum) = (self.db.raw_iterator_opt(options), 0);
        for source in sources {
            edges.seek(source.get().to_be_bytes());
            let mut left = most;
            while let Some(key) = edges.key() {
                sum += destination(key)?;
                left -= 1;
                if left == 0 {
                    break;
                }
                edges.next();
            }
            edges.status()?;
        }
        Ok(sum)
    }

    fn count(&self, edges: &[Edge]) -> Result<usize> {
        let mut found = 0;
        for edge in edges {
            found += usize::from(self.db.get_pinned(key(*edge))?.is_some());
        }
        Ok(found)
    }

    fn flush(&self) -> Result<()> {
        Ok(self.db.flush_wal(true)?)
    }

    fn settle(&self) -> Result<()> {
        Ok(self.db.flush()?)
    }
}
