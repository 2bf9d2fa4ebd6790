//! LMDB, by the crate heed.

use super::keys::{
    count_key, count_value, link, link_key, link_value, list_key, list_start, listed, listed_value, node,
    node_key, node_value, time,
};
use super::store::{Answer, Base, Kind, Level, LinkStore, found};
use crate::link_bench::{Link, Request, Served};
use anyhow::{Result, ensure};
use hedgerow::{Durability, VertexId};
use hedgerow_sync::atomic::{AtomicU32, Ordering};
use heed::types::Bytes;
use heed::{Database, Env, RwTxn};
use std::ops::Bound;
use std::path::Path;

pub(super) const KIND: Kind = Kind {
    name: "lmdb",
    setup: "four databases: nodes, links, lists by time, counts; one write transaction at a time, a read transaction per read. None and \
            buffered: MDB_NOSYNC; sync: as by default; filled node by node, in the order of ids",
    load,
};

struct Lmdb {
    env: Env,
    tables: Tables,
    next_node: AtomicU32,
}

/// The database of each kind of data.
struct Tables {
    nodes: Database<Bytes, Bytes>,
    links: Database<Bytes, Bytes>,
    lists: Database<Bytes, Bytes>,
    counts: Database<Bytes, Bytes>,
}

fn load(folder: &Path, level: Level, base: &Base<'_>) -> Result<Box<dyn LinkStore>> {
    {
        let (env, tables) = open(folder, Durability::Buffered)?;
        for batch in base.batches() {
            let mut transaction = env.write_txn()?;
            for id in batch {
                let node = node_value(&base.content.base_node(id));
                tables.nodes.put(&mut transaction, &node_key(id), &node)?;
                for link in base.links_of(id) {
                    tables.put_link(&mut transaction, &link)?;
                }
            }
            transaction.commit()?;
        }
        env.force_sync()?;
        // A process can open an environment only once.
        env.prepare_for_closing().wait();
    }
    let durability = if level == Level::Sync { Durability::Sync } else { Durability::Buffered };
    let (env, tables) = open(folder, durability)?;
    Ok(Box::new(Lmdb { env, tables, next_node: AtomicU32::new(base.graph.nodes()) }))
}

fn open(folder: &Path, durability: Durability) -> Result<(Env, Tables)> {
    let env = crate::compare::stores::lmdb::environment(folder, durability, 4)?;
    let mut transaction = env.write_txn()?;
    let mut database = |name| env.create_database(&mut transaction, Some(name));
    let tables = Tables {
        nodes: database("nodes")?,
        links: database("links")?,
        lists: database("lists")?,
        counts: database("counts")?,
    };
    transaction.commit()?;
    Ok((env, tables))
}

impl Tables {
    /// Puts a link; returns true if it is new.
    fn put_link(&self, transaction: &mut RwTxn<'_>, link: &Link<'_>) -> Result<bool> {
        let (source, destination) = (link.source, link.destination);
        let key = link_key(source, destination);
        let before = self.links.get(transaction, &key)?.map(time).transpose()?;
        match before {
            Some(before) if before != link.time => {
                self.lists.delete(transaction, &list_key(source, before, destination))?;
            }
            Some(_) => {}
            None => self.count(transaction, source, 1)?,
        }
        let value = link_value(link);
        self.links.put(transaction, &key, &value)?;
        self.lists.put(transaction, &list_key(source, link.time, destination), listed_value(&value))?;
        Ok(before.is_none())
    }

    /// Deletes a link; returns true if it existed.
    fn delete_link(
        &self,
        transaction: &mut RwTxn<'_>,
        source: VertexId,
        destination: VertexId,
    ) -> Result<bool> {
        let key = link_key(source, destination);
        let Some(time) = self.links.get(transaction, &key)?.map(time).transpose()? else { return Ok(false) };
        self.links.delete(transaction, &key)?;
        self.lists.delete(transaction, &list_key(source, time, destination))?;
        self.count(transaction, source, -1)?;
        Ok(true)
    }

    fn count(&self, transaction: &mut RwTxn<'_>, source: VertexId, change: i64) -> Result<()> {
        let key = count_key(source);
        let before = self.counts.get(transaction, &key)?.map_or(Ok(0), count_value)?;
        let after = before.wrapping_add_signed(change);
        Ok(self.counts.put(transaction, &key, &after.to_le_bytes())?)
    }
}

impl Lmdb {
    fn write(&self, request: &Request<'_>) -> Result<Served> {
        let tables = &self.tables;
        let mut transaction = self.env.write_txn()?;
        let served = match *request {
            Request::AddNode(node) => {
                let id = VertexId::new(self.next_node.fetch_add(1, Ordering::Relaxed));
                tables.nodes.put(&mut transaction, &node_key(id), &node_value(&node))?;
                Served::default()
            }
            Request::UpdateNode(id, node) => {
                let exists = tables.nodes.get(&transaction, &node_key(id))?.is_some();
                if exists {
                    tables.nodes.put(&mut transaction, &node_key(id), &node_value(&node))?;
                }
                found(u64::from(exists))
            }
            Request::DeleteNode(id) => {
                tables.nodes.delete(&mut transaction, &node_key(id))?;
                Served::default()
            }
            Request::AddLink(link) | Request::UpdateLink(link) => {
                let added = tables.put_link(&mut transaction, &link)?;
                Served { links_added: u64::from(added), ..Served::default() }
            }
            Request::DeleteLink { source, destination } => {
                let removed = tables.delete_link(&mut transaction, source, destination)?;
                Served { links_removed: u64::from(removed), ..Served::default() }
            }
            _ => anyhow::bail!("a read as a write"),
        };
        transaction.commit()?;
        Ok(served)
    }
}

impl LinkStore for Lmdb {
    fn serve(&self, request: &Request<'_>, answer: &mut dyn Answer) -> Result<Served> {
        if request.operation().is_write() {
            return self.write(request);
        }
        let (transaction, tables) = (self.env.read_txn()?, &self.tables);
        let mut links = 0;
        match *request {
            Request::GetNode(id) => {
                let value = tables.nodes.get(&transaction, &node_key(id))?;
                if let Some(value) = value {
                    answer.node(node(value)?);
                }
                return Ok(found(u64::from(value.is_some())));
            }
            Request::CountLinks(source) => {
                let count = tables.counts.get(&transaction, &count_key(source))?;
                return Ok(found(count.map_or(Ok(0), count_value)?));
            }
            Request::GetLinks { source, destinations } => {
                for destination in destinations {
                    if let Some(value) = tables.links.get(&transaction, &link_key(source, *destination))? {
                        answer.link(link(source, *destination, value)?);
                        links += 1;
                    }
                }
            }
            Request::ListLinks { source, before, limit } => {
                let latest = before.map_or(i64::MAX, |time| time.saturating_sub(1));
                let (first, last) = (list_start(source, latest), list_key(source, i64::MIN, VertexId::MAX));
                let range = (Bound::Included(&first[..]), Bound::Included(&last[..]));
                for entry in tables.lists.range(&transaction, &range)?.take(limit) {
                    let (key, value) = entry?;
                    answer.link(listed(source, key, value)?);
                    links += 1;
                }
            }
            _ => anyhow::bail!("a write as a read"),
        }
        Ok(found(links))
    }

    fn links(&self) -> Result<u64> {
        let (transaction, tables) = (self.env.read_txn()?, &self.tables);
        let (links, listed) = (tables.links.len(&transaction)?, tables.lists.len(&transaction)?);
        let mut counted = 0;
        for entry in tables.counts.iter(&transaction)? {
            counted += count_value(entry?.1)?;
        }
        ensure!(links == listed && links == counted, "{links} links, {listed} in lists, {counted} counted");
        Ok(links)
    }
}
