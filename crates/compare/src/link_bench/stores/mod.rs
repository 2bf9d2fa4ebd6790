//! How each store keeps nodes and links, and answers LinkBench's requests.
//!
//! All answer by the same trait, and hand over every field of every node and link that is asked for.

mod hedgerow;
#[cfg(any(feature = "lmdb", feature = "rocksdb"))]
mod keys;
#[cfg(feature = "lmdb")]
mod lmdb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "sqlite")]
mod sqlite;

use ::hedgerow::VertexId;
use anyhow::Result;
use clap::ValueEnum;
use hedgerow_driver::link_bench::Served;
use hedgerow_formats::link_bench::{BaseGraph, Content, Link, Node, Request};
use serde::Serialize;
use std::path::Path;

/// How much a commit survives when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing is logged, where a store can do without.
    None,
    /// Logged, not synced.
    Buffered,
    /// A loss of power.
    Sync,
}

/// Who gets what was asked for.
pub trait Answer {
    /// A node.
    fn node(&mut self, node: Node<'_>);
    /// A link; those of a list in its order.
    fn link(&mut self, link: Link<'_>);
}

/// A store of nodes and links, open for any number of clients.
pub trait LinkStore: Send + Sync {
    /// Does what is asked for, as one transaction.
    fn serve(&self, request: &Request<'_>, answer: &mut dyn Answer) -> Result<Served>;

    /// How many links there are; an error where rows, lists and counters differ.
    fn links(&self) -> Result<u64>;
}

/// What a store holds before the first request.
#[derive(Clone, Copy, Debug)]
pub struct Base<'b> {
    /// Which links there are.
    pub graph: BaseGraph<'b>,
    /// The same, in the order in which stores that are filled link by link get them.
    pub stream: &'b [(VertexId, VertexId)],
    /// What nodes and links hold.
    pub content: &'b Content,
}

impl<'b> Base<'b> {
    /// All nodes, in the order of their ids.
    pub fn nodes(&self) -> impl Iterator<Item = (VertexId, Node<'b>)> {
        let content = self.content;
        (0..self.graph.nodes()).map(VertexId::new).map(move |id| (id, content.base_node(id)))
    }

    /// The links of a node.
    pub fn links_of(&self, source: VertexId) -> impl Iterator<Item = Link<'b>> {
        let content = self.content;
        self.graph.links_of(source).iter().map(move |destination| content.base_link(source, *destination))
    }

    /// Nodes in groups, each to be put in one transaction with its links.
    #[cfg(any(feature = "lmdb", feature = "rocksdb", feature = "sqlite"))]
    fn batches(&self) -> Vec<Vec<VertexId>> {
        let nodes: Vec<VertexId> = self.nodes().map(|(id, _)| id).collect();
        nodes.chunks(1 << 10).map(<[VertexId]>::to_vec).collect()
    }
}

/// Makes and fills a store in an empty folder.
type Load = fn(&Path, Level, &Base<'_>) -> Result<Box<dyn LinkStore>>;

/// A sort of store.
#[derive(Debug)]
pub struct Kind {
    /// What it is called.
    pub name: &'static str,
    /// How it is set up.
    pub setup: &'static str,
    /// Makes one.
    pub load: Load,
}

/// All that were built.
pub const KINDS: &[Kind] = &[
    hedgerow::RAPID,
    hedgerow::TEL,
    #[cfg(feature = "rocksdb")]
    rocksdb::KIND,
    #[cfg(feature = "lmdb")]
    lmdb::KIND,
    #[cfg(feature = "sqlite")]
    sqlite::KIND,
];

impl Kind {
    /// The one called `name`.
    pub fn named(name: &str) -> Result<&'static Kind, String> {
        let names = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
        let found = KINDS.iter().find(|kind| kind.name == name);
        found.ok_or_else(|| format!("no such store was built; there are: {}", names()))
    }
}

/// So many nodes or links were found.
fn found(found: u64) -> Served {
    Served { found, ..Served::default() }
}
