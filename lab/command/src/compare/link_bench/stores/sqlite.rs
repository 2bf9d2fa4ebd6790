//! SQLite, by the crate rusqlite.

use super::store::{Answer, Base, Kind, Level, LinkStore, found};
use crate::link_bench::{Link, Node, Request, Served};
use anyhow::{Result, ensure};
use hedgerow::VertexId;
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicU32, Ordering};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};

pub(super) const KIND: Kind = Kind {
    name: "sqlite",
    setup: "tables of nodes, links (primary key source, type, destination), counts, and an index of links by time that covers lists; write-ahead log, \
            checkpointed every 64 MiB; the file mapped into memory; prepared statements; writers take turns on one connection, readers have \
            theirs. None: synchronous = OFF; buffered: NORMAL; sync: FULL; filled node by node, in the order of ids",
    load,
};

const TABLES: &str = "
    CREATE TABLE nodes (id INTEGER PRIMARY KEY, type INTEGER, version INTEGER, time INTEGER, data BLOB);
    CREATE TABLE links (id1 INTEGER, type INTEGER, id2 INTEGER, visibility INTEGER, version INTEGER, time INTEGER, data BLOB,
        PRIMARY KEY (id1, type, id2)) WITHOUT ROWID;
    CREATE INDEX lists ON links (id1, type, time DESC, id2, visibility, version, data);
    CREATE TABLE counts (id1 INTEGER, type INTEGER, count INTEGER, PRIMARY KEY (id1, type)) WITHOUT ROWID;";
const PUT_NODE: &str = "INSERT INTO nodes VALUES (?, ?, ?, ?, ?)";
const UPDATE_NODE: &str = "UPDATE nodes SET type = ?, version = ?, time = ?, data = ? WHERE id = ?";
const DELETE_NODE: &str = "DELETE FROM nodes WHERE id = ?";
const GET_NODE: &str = "SELECT type, version, time, data FROM nodes WHERE id = ?";
const ADD_LINK: &str = "INSERT OR IGNORE INTO links VALUES (?, 1, ?, ?, ?, ?, ?)";
const UPDATE_LINK: &str = "UPDATE links SET visibility = ?3, version = ?4, time = ?5, data = ?6 WHERE id1 = ?1 AND type = 1 AND id2 = ?2";
const DELETE_LINK: &str = "DELETE FROM links WHERE id1 = ? AND type = 1 AND id2 = ?";
const COUNT: &str =
    "INSERT INTO counts VALUES (?1, 1, ?2) ON CONFLICT DO UPDATE SET count = count + excluded.count";
const COUNT_LINKS: &str = "SELECT count FROM counts WHERE id1 = ? AND type = 1";
const GET_LINK: &str =
    "SELECT id2, visibility, version, time, data FROM links WHERE id1 = ? AND type = 1 AND id2 = ?";
const LIST_LINKS: &str = "SELECT id2, visibility, version, time, data FROM links INDEXED BY lists
    WHERE id1 = ? AND type = 1 AND time <= ? ORDER BY time DESC LIMIT ?";

struct Sqlite {
    path: PathBuf,
    writer: Mutex<Connection>,
    /// Idle connections.
    readers: Mutex<Vec<Connection>>,
    next_node: AtomicU32,
}

fn load(folder: &Path, level: Level, base: &Base<'_>) -> Result<Box<dyn LinkStore>> {
    let path = folder.join("links.sqlite");
    let writer = open(&path)?;
    writer.execute_batch(&format!("PRAGMA synchronous = OFF; {TABLES}"))?;
    for batch in base.batches() {
        let transaction = Transaction::new_unchecked(&writer, TransactionBehavior::Immediate)?;
        for id in batch {
            put_node(&transaction, id, &base.content.base_node(id))?;
            for link in base.links_of(id) {
                put_link(&transaction, &link)?;
            }
        }
        transaction.commit()?;
    }
    let synchronous = match level {
        Level::None => "OFF",
        Level::Buffered => "NORMAL",
        Level::Sync => "FULL",
    };
    writer.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    writer.execute_batch(&format!("PRAGMA synchronous = {synchronous}"))?;
    let next_node = AtomicU32::new(base.graph.nodes());
    Ok(Box::new(Sqlite { path, writer: Mutex::new(writer), readers: Mutex::new(Vec::new()), next_node }))
}

fn open(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA mmap_size = 68719476736; PRAGMA cache_size = -65536;
         PRAGMA wal_autocheckpoint = 16384",
    )?;
    Ok(connection)
}

fn put_node(connection: &Connection, id: VertexId, node: &Node<'_>) -> Result<()> {
    let mut put = connection.prepare_cached(PUT_NODE)?;
    put.execute(params![id.get(), node.kind, node.version, node.time, node.data])?;
    Ok(())
}

/// Puts a link; returns true if it is new.
fn put_link(connection: &Connection, link: &Link<'_>) -> Result<bool> {
    let Link { source, destination, is_visible, version, time, data } = *link;
    let fields = params![source.get(), destination.get(), is_visible, version, time, data];
    let is_new = connection.prepare_cached(ADD_LINK)?.execute(fields)? == 1;
    if is_new {
        count(connection, source, 1)?;
    } else {
        connection.prepare_cached(UPDATE_LINK)?.execute(fields)?;
    }
    Ok(is_new)
}

fn count(connection: &Connection, source: VertexId, change: i64) -> Result<()> {
    connection.prepare_cached(COUNT)?.execute(params![source.get(), change])?;
    Ok(())
}

/// Passes a link of `source` to the client.
fn hand_over(row: &Row<'_>, source: VertexId, answer: &mut dyn Answer) -> Result<()> {
    let (destination, data) = (VertexId::new(row.get(0)?), row.get_ref(4)?.as_blob()?);
    let (is_visible, version, time) = (row.get(1)?, row.get(2)?, row.get(3)?);
    answer.link(Link { source, destination, is_visible, version, time, data });
    Ok(())
}

fn read(connection: &Connection, request: &Request<'_>, answer: &mut dyn Answer) -> Result<u64> {
    match *request {
        Request::GetNode(id) => {
            let mut get = connection.prepare_cached(GET_NODE)?;
            let mut rows = get.query(params![id.get()])?;
            let Some(row) = rows.next()? else { return Ok(0) };
            let (kind, version, time) = (row.get(0)?, row.get(1)?, row.get(2)?);
            answer.node(Node { kind, version, time, data: row.get_ref(3)?.as_blob()? });
            Ok(1)
        }
        Request::CountLinks(source) => {
            let mut count = connection.prepare_cached(COUNT_LINKS)?;
            let count = count.query_row(params![source.get()], |row| row.get::<_, i64>(0)).optional()?;
            Ok(u64::try_from(count.unwrap_or(0))?)
        }
        Request::GetLinks { source, destinations } => {
            let (transaction, mut links) = (connection.unchecked_transaction()?, 0);
            let mut get = transaction.prepare_cached(GET_LINK)?;
            for destination in destinations {
                let mut rows = get.query(params![source.get(), destination.get()])?;
                if let Some(row) = rows.next()? {
                    hand_over(row, source, answer)?;
                    links += 1;
                }
            }
            Ok(links)
        }
        Request::ListLinks { source, before, limit } => {
            let latest = before.map_or(i64::MAX, |time| time.saturating_sub(1));
            let (mut list, mut links) = (connection.prepare_cached(LIST_LINKS)?, 0);
            let mut rows = list.query(params![source.get(), latest, limit as i64])?;
            while let Some(row) = rows.next()? {
                hand_over(row, source, answer)?;
                links += 1;
            }
            Ok(links)
        }
        _ => anyhow::bail!("a write as a read"),
    }
}

impl Sqlite {
    fn write(&self, request: &Request<'_>) -> Result<Served> {
        let connection = self.writer.lock();
        let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
        let served = match *request {
            Request::AddNode(node) => {
                let id = VertexId::new(self.next_node.fetch_add(1, Ordering::Relaxed));
                put_node(&transaction, id, &node)?;
                Served::default()
            }
            Request::UpdateNode(id, node) => {
                let fields = params![node.kind, node.version, node.time, node.data, id.get()];
                found(transaction.prepare_cached(UPDATE_NODE)?.execute(fields)? as u64)
            }
            Request::DeleteNode(id) => {
                transaction.prepare_cached(DELETE_NODE)?.execute(params![id.get()])?;
                Served::default()
            }
            Request::AddLink(link) | Request::UpdateLink(link) => {
                Served { links_added: u64::from(put_link(&transaction, &link)?), ..Served::default() }
            }
            Request::DeleteLink { source, destination } => {
                let ends = params![source.get(), destination.get()];
                let removed = transaction.prepare_cached(DELETE_LINK)?.execute(ends)? as u64;
                if removed == 1 {
                    count(&transaction, source, -1)?;
                }
                Served { links_removed: removed, ..Served::default() }
            }
            _ => anyhow::bail!("a read as a write"),
        };
        transaction.commit()?;
        Ok(served)
    }
}

impl LinkStore for Sqlite {
    fn serve(&self, request: &Request<'_>, answer: &mut dyn Answer) -> Result<Served> {
        if request.operation().is_write() {
            return self.write(request);
        }
        let unused = self.readers.lock().pop();
        let reader = unused.map_or_else(|| open(&self.path), Ok)?;
        let links = read(&reader, request, answer)?;
        self.readers.lock().push(reader);
        Ok(found(links))
    }

    fn links(&self) -> Result<u64> {
        let connection = self.writer.lock();
        let number = |query| connection.query_row(query, [], |row| row.get::<_, i64>(0));
        let links = number("SELECT count(*) FROM links NOT INDEXED")?;
        let listed = number("SELECT count(*) FROM links INDEXED BY lists")?;
        let counted = number("SELECT coalesce(sum(count), 0) FROM counts")?;
        ensure!(links == listed && links == counted, "{links} links, {listed} in lists, {counted} counted");
        Ok(u64::try_from(links)?)
    }
}
