//! Hedgerow, as in its own benchmark: vertices with properties, edges of one label with records.

use super::store::{Answer, Base, Kind, Level, LinkStore, found};
use crate::link_bench::{Link, LinkStore as Graphs, Node, Request, Served, options};
use anyhow::{Context, Result};
use hedgerow::kernels::CancelToken;
use hedgerow::{
    CheckpointOptions, Durability, EngineKind, Graph, Record, RecordRef, Value, ValueRef, VertexId,
};
use std::path::Path;

const SETUP: &str = "a vertex with properties per node, an edge with a record per link; lists by time. None: in memory; buffered: Durability::Buffered; \
                     sync: Durability::Sync; filled link by link in the order of their times";

pub(super) const RAPID: Kind = Kind {
    name: "rapid",
    setup: SETUP,
    load: |folder, level, base| load(folder, level, base, EngineKind::Rapid),
};

pub(super) const TEL: Kind = Kind {
    name: "tel",
    setup: SETUP,
    load: |folder, level, base| load(folder, level, base, EngineKind::Tel),
};

fn load(folder: &Path, level: Level, base: &Base<'_>, engine: EngineKind) -> Result<Box<dyn LinkStore>> {
    let options = options(engine);
    let buffered = options.clone().durability(Durability::Buffered);
    let graph = match level {
        Level::None => Graph::in_memory(options.clone())?,
        Level::Buffered | Level::Sync => buffered.create(folder)?,
    };
    let store = Graphs::load(graph, base.graph.nodes(), base.stream, base.content, &CancelToken::new())?;
    if level != Level::None {
        store.graph().checkpoint(&CheckpointOptions::new())?;
    }
    Ok(Box::new(match level {
        Level::Sync => store.reopened(folder, &options.durability(Durability::Sync))?,
        Level::None | Level::Buffered => store,
    }))
}

impl LinkStore for Graphs {
    fn serve(&self, request: &Request<'_>, answer: &mut dyn Answer) -> Result<Served> {
        match *request {
            Request::GetNode(id) => {
                let record = Graphs::node(self, id)?;
                if let Some(record) = &record {
                    answer.node(node(record)?);
                }
                Ok(found(u64::from(record.is_some())))
            }
            Request::GetLinks { source, destinations } => {
                let links = Graphs::links(self, source, destinations)?;
                for (destination, record) in &links {
                    answer.link(link(source, *destination, record)?);
                }
                Ok(found(links.len() as u64))
            }
            Request::ListLinks { source, before, limit } => {
                let mut wrong = None;
                let count = self.visit_newest(source, before, limit, |end, record| {
                    match link_in_place(source, end, record) {
                        Some(link) => answer.link(link),
                        None => wrong = Some(end),
                    }
                })?;
                anyhow::ensure!(wrong.is_none(), "a link to {wrong:?} without its fields");
                Ok(found(count))
            }
            _ => Ok(Graphs::serve(self, request)?),
        }
    }

    fn links(&self) -> Result<u64> {
        Ok(self.graph().snapshot()?.edge_count().at_most())
    }
}

fn node(record: &Record) -> Result<Node<'_>> {
    let [kind, version, time, data] = record.values() else { anyhow::bail!("a node without its fields") };
    let kind = kind.as_i64().context("a node without a type")?;
    let (version, time, data) = common(version, time, data).context("a node without its fields")?;
    Ok(Node { kind, version, time, data })
}

fn link(source: VertexId, destination: VertexId, record: &Record) -> Result<Link<'_>> {
    let [visibility, version, time, data] = record.values() else {
        anyhow::bail!("a link without its fields")
    };
    let is_visible = visibility.as_bool().context("a link without visibility")?;
    let (version, time, data) = common(version, time, data).context("a link without its fields")?;
    Ok(Link { source, destination, is_visible, version, time, data })
}

/// A link whose record is borrowed in place.
fn link_in_place<'r>(source: VertexId, destination: VertexId, record: RecordRef<'r>) -> Option<Link<'r>> {
    let mut values = record.values();
    let fields = [values.next()?, values.next()?, values.next()?, values.next()?];
    let [
        ValueRef::Bool(is_visible),
        ValueRef::I64(version),
        ValueRef::Timestamp(time),
        ValueRef::Bytes(data),
    ] = fields
    else {
        return None;
    };
    Some(Link { source, destination, is_visible, version, time, data })
}

fn common<'r>(version: &Value, time: &Value, data: &'r Value) -> Option<(i64, i64, &'r [u8])> {
    Some((version.as_i64()?, time.as_timestamp()?, data.as_bytes()?))
}
