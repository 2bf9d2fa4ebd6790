//! RocksDB: a key of eight bytes per direction of an edge, the source first, without a value.

use super::row::RowOf;
use super::store::{Kind, Setup, Store};
use crate::compare::graph::Edge;
use crate::compare::out_of_core::algorithms::Reader;
use crate::compare::stores::keys::key;
use crate::compare::stores::rocksdb::SOURCE;
use anyhow::{Context, Result};
use hedgerow::VertexId;
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, DBRawIterator, Options, ReadOptions, SliceTransform,
    Snapshot, WaitForCompactOptions, WriteBatch, WriteOptions,
};

pub(super) const KIND: Kind = Kind {
    name: "rocksdb",
    setup: "keys of 8 bytes in both directions; batches of 1,000 edges, in the mixed part with 50 deletions, without write-ahead log; \
            half of the budget for two write buffers, half for cached blocks; filters of 10 bits per source; LZ4; a fan-out of 10, \
            256 MiB on level 1, as many background threads as cores; reads of a snapshot, by one iterator within prefixes, scans by \
            one over everything with 2 MiB read ahead; settled by a flush and waiting for compactions",
    batch: 1000,
    is_loaded_in_order: false,
    has_analytics: false,
    open,
};

/// Bytes that a scan reads ahead.
const READ_AHEAD: usize = 2 << 20;

const WRITE_BUFFERS: usize = 2;

struct RocksDb(DB);

fn open(setup: Setup<'_>) -> Result<Box<dyn Store>> {
    let half = setup.budget as usize / 2;
    let mut blocks = BlockBasedOptions::default();
    blocks.set_block_cache(&Cache::new_lru_cache(half));
    // Filters of whole keys would be larger than the budget, and no edge is looked up.
    blocks.set_bloom_filter(10.0, false);
    blocks.set_whole_key_filtering(false);
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_block_based_table_factory(&blocks);
    options.set_prefix_extractor(SliceTransform::create_fixed_prefix(SOURCE));
    options.set_memtable_prefix_bloom_ratio(0.1);
    options.set_compression_type(DBCompressionType::Lz4);
    options.increase_parallelism(std::thread::available_parallelism().map_or(1, usize::from) as i32);
    options.set_write_buffer_size(half / WRITE_BUFFERS);
    options.set_max_write_buffer_number(WRITE_BUFFERS as i32);
    options.set_max_bytes_for_level_multiplier(10.0);
    Ok(Box::new(RocksDb(DB::open(&options, setup.folder)?)))
}

/// The edge of a key.
fn edge(key: &[u8]) -> Result<Edge> {
    let edge = u64::from_be_bytes(key.try_into().context("a key that is no edge")?);
    Ok((VertexId::new((edge >> 32) as u32), VertexId::new(edge as u32)))
}

impl RocksDb {
    fn commit(&self, batch: WriteBatch) -> Result<()> {
        let mut options = WriteOptions::default();
        options.disable_wal(true);
        Ok(self.0.write_opt(batch, &options)?)
    }
}

impl Store for RocksDb {
    fn write(&self, puts: &[Edge], deletions: &[Edge]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for (one, other) in puts {
            batch.put(key((*one, *other)), []);
            batch.put(key((*other, *one)), []);
        }
        for (one, other) in deletions {
            batch.delete(key((*one, *other)));
            batch.delete(key((*other, *one)));
        }
        self.commit(batch)
    }

    fn load_in_order(&self, edges: &[Edge]) -> Result<()> {
        let mut batch = WriteBatch::default();
        edges.iter().for_each(|edge| batch.put(key(*edge), []));
        self.commit(batch)
    }

    fn settle(&self) -> Result<()> {
        self.0.flush()?;
        Ok(self.0.wait_for_compact(&WaitForCompactOptions::default())?)
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reader) -> Result<()>) -> Result<()> {
        let snapshot = self.0.snapshot();
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        let rows = snapshot.raw_iterator_opt(options);
        work(&mut Rows { snapshot: &snapshot, rows, neighbors: Vec::new() })
    }
}

struct Rows<'s> {
    snapshot: &'s Snapshot<'s>,
    rows: DBRawIterator<'s>,
    neighbors: Vec<VertexId>,
}

impl Reader for Rows<'_> {
    fn neighbors(&mut self, vertex: VertexId, visit: &mut dyn FnMut(&[VertexId])) -> Result<()> {
        self.neighbors.clear();
        self.rows.seek(vertex.get().to_be_bytes());
        while let Some(key) = self.rows.key() {
            self.neighbors.push(edge(key)?.1);
            self.rows.next();
        }
        self.rows.status()?;
        visit(&self.neighbors);
        Ok(())
    }

    fn scan(&mut self, visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>) -> Result<()> {
        let mut options = ReadOptions::default();
        options.set_total_order_seek(true);
        options.set_readahead_size(READ_AHEAD);
        let mut all = self.snapshot.raw_iterator_opt(options);
        all.seek_to_first();
        let mut row = RowOf::default();
        while let Some(key) = all.key() {
            let (source, neighbor) = edge(key)?;
            row.push(source, neighbor, visit)?;
            all.next();
        }
        all.status()?;
        row.end(visit)
    }
}
