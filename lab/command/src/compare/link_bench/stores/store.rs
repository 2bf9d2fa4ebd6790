//! The trait of stores, their content before the first request, and their description.

use crate::link_bench::{BaseGraph, Content, Link, Node, Request, Served};
use anyhow::Result;
use clap::ValueEnum;
use hedgerow::VertexId;
use serde::Serialize;
use std::path::Path;

/// The durability of a commit when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Not logged, if the store allows that.
    None,
    /// Logged, not synced.
    Buffered,
    /// Survives a loss of power.
    Sync,
}

/// Receives the results of a request.
pub trait Answer {
    /// A node.
    fn node(&mut self, node: Node<'_>);
    /// A link; the links of a list come in its order.
    fn link(&mut self, link: Link<'_>);
}

/// A store of nodes and links, open for any number of clients.
pub trait LinkStore: Send + Sync {
    /// Serves a request as one transaction.
    fn serve(&self, request: &Request<'_>, answer: &mut dyn Answer) -> Result<Served>;

    /// The number of links; an error if rows, lists and counters disagree.
    fn links(&self) -> Result<u64>;
}

/// The contents of a store before the first request.
#[derive(Clone, Copy, Debug)]
pub struct Base<'b> {
    /// The links.
    pub graph: BaseGraph<'b>,
    /// The links in the order of insertion for stores that are filled link by link.
    pub stream: &'b [(VertexId, VertexId)],
    /// The contents of nodes and links.
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
    pub fn batches(&self) -> Vec<Vec<VertexId>> {
        let nodes: Vec<VertexId> = self.nodes().map(|(id, _)| id).collect();
        nodes.chunks(1 << 10).map(<[VertexId]>::to_vec).collect()
    }
}

/// Creates and fills a store in an empty folder.
type Load = fn(&Path, Level, &Base<'_>) -> Result<Box<dyn LinkStore>>;

/// A kind of store.
#[derive(Debug)]
pub struct Kind {
    /// Its name.
    pub name: &'static str,
    /// Its setup.
    pub setup: &'static str,
    /// Creates a store.
    pub load: Load,
}

/// A result with this number of nodes or links found.
pub fn found(found: u64) -> Served {
    Served { found, ..Served::default() }
}
