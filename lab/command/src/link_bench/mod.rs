//! Requests to a store of a social graph, as LinkBench makes them.
//!
//! LinkBench ("LinkBench: a Database Benchmark Based on the Facebook Social Graph", SIGMOD 2013)
//! stores **nodes** and **links** between them, each with a little data and a time, and requests
//! them in the shares that were measured in production. This module contains its parts and is
//! independent of any store: the operations and their shares ([`Mix`]), the nodes of requests
//! ([`Requests`]), and the contents of nodes and links ([`Content`]). The figures come from
//! LinkBench's file `FBWorkload.properties`.
//!
//! | | here | in LinkBench |
//! |---|---|---|
//! | the graph before the first request | any ([`BaseGraph`]) | degrees as seen in production |
//! | types of links | one | two, with separate lists |
//! | nodes of requests | a power law over shuffled ids, its exponent by kind of request | a power law, blended with one in the order of degrees: 0.5 % of reads, 5 % of writes |
//! | the other end of a link | a link of the base graph with the same probability (0.5 to get, 0.9 to update and delete, 0.05 to add), else a random node | else one of the next ids |
//! | deletions | of any node, whose links stay; a link is removed | of any node; a link is hidden |
//! | links read at once | geometric, 2.6 in the mean, 128 at most | as here |
//! | a list of links | the newest 10,000; for few requests the newest before some time | as here |
//! | sizes of data | log-normal with the medians 128 (nodes) and 8 bytes (links), and a sigma of 1 | as here |
//! | bytes of data | random, of equal ranges | some repeat, so that data can be compressed |
//!
//! Clients ([`run`]) send the requests to any store; [`LinkStore`] is a graph that serves them.

mod access;
mod clients;
mod content;
mod mix;
mod requests;
mod store;

pub use clients::{Measured, run};
use content::LOADED;
pub use content::{Content, Link, Node};
pub use mix::{Mix, Operation};
pub use requests::{BaseGraph, Request, Requests};
pub use store::{LinkStore, Served, options};

/// The parameters of requests are invalid.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LinkBenchError {
    /// Not a share.
    #[error("a share of {0} writes, expected 0 to 1")]
    WriteShare(f64),
    /// The base graph has no nodes.
    #[error("a base graph without nodes")]
    NoNodes,
    /// The offsets do not delimit rows.
    #[error(
        "offsets of a base graph must rise from 0 to the number of links, {links}, and those of node {node} do not"
    )]
    Offsets {
        /// The first node whose links are misplaced.
        node: usize,
        /// The number of links.
        links: usize,
    },
}
