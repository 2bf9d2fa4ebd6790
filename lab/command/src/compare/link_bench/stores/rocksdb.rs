//! RocksDB, by the crate of that name.

use super::keys::{
    count_key, count_value, link, link_key, link_value, list_key, list_start, listed, listed_value, node,
    node_key, node_value, time,
};
use super::store::{Answer, Base, Kind, Level, LinkStore, found};
use crate::link_bench::{Link, Request, Served};
use anyhow::{Context, Result, ensure};
use hedgerow::VertexId;
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicU32, Ordering};
use rocksdb::{ColumnFamily, DB, DBCompressionType, IteratorMode, ReadOptions, WriteBatch, WriteOptions};
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "rocksdb",
    setup: "four column families: nodes, links, lists by time, counts; what a request changes in one WriteBatch, under one of 4,096 locks by \
            node while it is read, changed and written; reads of one snapshot each where they read more than one key of a table; filters, \
            a cache of 1 GiB per table, threads and prefixes as in the other work, no compression. None: without write-ahead log; buffered: \
            sync = false; sync: sync = true, writers grouped as by default; filled node by node, in the order of ids, then flushed and \
            compacted",
    load,
};

/// The column families.
const NODES: &str = "nodes";
const LINKS: &str = "links";
const LISTS: &str = "lists";
const COUNTS: &str = "counts";

const LOCKS: usize = 4096;

struct RocksDb {
    db: DB,
    level: Level,
    /// Each mutex protects nodes while their links and link counts are read, changed and written.
    locks: Vec<Mutex<()>>,
    next_node: AtomicU32,
}

fn load(folder: &Path, level: Level, base: &Base<'_>) -> Result<Box<dyn LinkStore>> {
    let mut options = crate::compare::stores::rocksdb::options(
        DBCompressionType::None,
        crate::compare::stores::rocksdb::SOURCE,
    );
    options.create_missing_column_families(true);
    let tables = [NODES, LINKS, LISTS, COUNTS].map(|name| (name, options.clone()));
    let db = DB::open_cf_with_opts(&options, folder, tables)?;
    let locks = (0..LOCKS).map(|_| Mutex::new(())).collect();
    let next_node = AtomicU32::new(base.graph.nodes());
    let store = RocksDb { db, level, locks, next_node };
    let tables = store.tables()?;
    let mut unlogged = WriteOptions::default();
    unlogged.disable_wal(true);
    for batch_of in base.batches() {
        let mut batch = WriteBatch::default();
        for id in batch_of {
            batch.put_cf(tables.nodes, node_key(id), node_value(&base.content.base_node(id)));
            let mut links = 0u64;
            for link in base.links_of(id) {
                tables.put(&mut batch, &link);
                links += 1;
            }
            batch.put_cf(tables.counts, count_key(id), links.to_le_bytes());
        }
        store.db.write_opt(batch, &unlogged)?;
    }
    for table in [tables.nodes, tables.links, tables.lists, tables.counts] {
        store.db.flush_cf(table)?;
        store.db.compact_range_cf(table, None::<&[u8]>, None::<&[u8]>);
    }
    Ok(Box::new(store))
}

/// The column family of each kind of data.
struct Tables<'d> {
    nodes: &'d ColumnFamily,
    links: &'d ColumnFamily,
    lists: &'d ColumnFamily,
    counts: &'d ColumnFamily,
}

impl Tables<'_> {
    fn put(&self, batch: &mut WriteBatch, link: &Link<'_>) {
        let (source, destination, value) = (link.source, link.destination, link_value(link));
        batch.put_cf(self.links, link_key(source, destination), &value);
        batch.put_cf(self.lists, list_key(source, link.time, destination), listed_value(&value));
    }
}

impl RocksDb {
    fn tables(&self) -> Result<Tables<'_>> {
        let table = |name| self.db.cf_handle(name).context(name);
        Ok(Tables {
            nodes: table(NODES)?,
            links: table(LINKS)?,
            lists: table(LISTS)?,
            counts: table(COUNTS)?,
        })
    }

    fn commit(&self, batch: WriteBatch) -> Result<()> {
        let mut options = WriteOptions::default();
        options.set_sync(self.level == Level::Sync);
        options.disable_wal(self.level == Level::None);
        Ok(self.db.write_opt(batch, &options)?)
    }

    fn lock(&self, node: VertexId) -> &Mutex<()> {
        // Hot nodes have random ids.
        &self.locks[node.index() % LOCKS]
    }

    /// The time of a link, if it exists.
    fn time(&self, tables: &Tables<'_>, key: &[u8]) -> Result<Option<i64>> {
        self.db.get_pinned_cf(tables.links, key)?.map(|value| time(&value)).transpose()
    }

    fn count(&self, tables: &Tables<'_>, source: VertexId) -> Result<u64> {
        self.db.get_pinned_cf(tables.counts, count_key(source))?.map_or(Ok(0), |value| count_value(&value))
    }

    fn put_link(&self, tables: &Tables<'_>, link: &Link<'_>) -> Result<Served> {
        let (source, destination, mut batch) = (link.source, link.destination, WriteBatch::default());
        let _held = self.lock(source).lock();
        let before = self.time(tables, &link_key(source, destination))?;
        match before {
            Some(before) if before != link.time => {
                batch.delete_cf(tables.lists, list_key(source, before, destination));
            }
            Some(_) => {}
            None => {
                let count = self.count(tables, source)? + 1;
                batch.put_cf(tables.counts, count_key(source), count.to_le_bytes());
            }
        }
        tables.put(&mut batch, link);
        self.commit(batch)?;
        Ok(Served { links_added: u64::from(before.is_none()), ..Served::default() })
    }

    fn delete_link(&self, tables: &Tables<'_>, source: VertexId, destination: VertexId) -> Result<Served> {
        let (key, mut batch) = (link_key(source, destination), WriteBatch::default());
        let _held = self.lock(source).lock();
        let Some(time) = self.time(tables, &key)? else { return Ok(Served::default()) };
        batch.delete_cf(tables.links, key);
        batch.delete_cf(tables.lists, list_key(source, time, destination));
        let count = self.count(tables, source)?.wrapping_sub(1);
        batch.put_cf(tables.counts, count_key(source), count.to_le_bytes());
        self.commit(batch)?;
        Ok(Served { links_removed: 1, ..Served::default() })
    }

    /// Puts the contents of a node; returns false if it must exist and does not.
    fn put_node(&self, tables: &Tables<'_>, id: VertexId, value: &[u8], must_exist: bool) -> Result<bool> {
        let _held = self.lock(id).lock();
        if must_exist && self.db.get_pinned_cf(tables.nodes, node_key(id))?.is_none() {
            return Ok(false);
        }
        let mut batch = WriteBatch::default();
        batch.put_cf(tables.nodes, node_key(id), value);
        self.commit(batch)?;
        Ok(true)
    }

    fn list(
        &self,
        tables: &Tables<'_>,
        (source, before, limit): (VertexId, Option<i64>, usize),
        answer: &mut dyn Answer,
    ) -> Result<u64> {
        let mut options = ReadOptions::default();
        options.set_prefix_same_as_start(true);
        let mut entries = self.db.raw_iterator_cf_opt(tables.lists, options);
        let latest = before.map_or(i64::MAX, |time| time.saturating_sub(1));
        entries.seek(list_start(source, latest));
        let mut links = 0;
        while links < limit as u64
            && let Some((key, value)) = entries.item()
        {
            answer.link(listed(source, key, value)?);
            links += 1;
            entries.next();
        }
        entries.status()?;
        Ok(links)
    }
}

impl LinkStore for RocksDb {
    fn serve(&self, request: &Request<'_>, answer: &mut dyn Answer) -> Result<Served> {
        let tables = &self.tables()?;
        match *request {
            Request::AddNode(node) => {
                let id = VertexId::new(self.next_node.fetch_add(1, Ordering::Relaxed));
                self.put_node(tables, id, &node_value(&node), false)?;
                Ok(Served::default())
            }
            Request::UpdateNode(id, node) => {
                Ok(found(u64::from(self.put_node(tables, id, &node_value(&node), true)?)))
            }
            Request::DeleteNode(id) => {
                let mut batch = WriteBatch::default();
                batch.delete_cf(tables.nodes, node_key(id));
                let _held = self.lock(id).lock();
                self.commit(batch)?;
                Ok(Served::default())
            }
            Request::GetNode(id) => {
                let value = self.db.get_pinned_cf(tables.nodes, node_key(id))?;
                if let Some(value) = &value {
                    answer.node(node(value)?);
                }
                Ok(found(u64::from(value.is_some())))
            }
            Request::AddLink(link) | Request::UpdateLink(link) => self.put_link(tables, &link),
            Request::DeleteLink { source, destination } => self.delete_link(tables, source, destination),
            Request::CountLinks(source) => Ok(found(self.count(tables, source)?)),
            Request::GetLinks { source, destinations } => {
                let (snapshot, mut links) = (self.db.snapshot(), 0);
                for destination in destinations {
                    let value = snapshot.get_pinned_cf(tables.links, link_key(source, *destination))?;
                    if let Some(value) = value {
                        answer.link(link(source, *destination, &value)?);
                        links += 1;
                    }
                }
                Ok(found(links))
            }
            Request::ListLinks { source, before, limit } => {
                Ok(found(self.list(tables, (source, before, limit), answer)?))
            }
        }
    }

    fn links(&self) -> Result<u64> {
        let tables = self.tables()?;
        let mut counted = 0;
        let mut rows = |table, count: &mut dyn FnMut(&[u8]) -> Result<u64>| {
            let mut options = ReadOptions::default();
            options.set_total_order_seek(true);
            let mut rows = 0;
            for entry in self.db.iterator_cf_opt(table, options, IteratorMode::Start) {
                counted += count(&entry?.1)?;
                rows += 1;
            }
            Ok::<u64, anyhow::Error>(rows)
        };
        let (links, listed) = (rows(tables.links, &mut |_| Ok(0))?, rows(tables.lists, &mut |_| Ok(0))?);
        rows(tables.counts, &mut count_value)?;
        ensure!(links == listed && links == counted, "{links} links, {listed} in lists, {counted} counted");
        Ok(links)
    }
}
