//! Requests to a store of a social graph, as LinkBench makes them.
//!
//! LinkBench ("LinkBench: a Database Benchmark Based on the Facebook Social Graph", SIGMOD 2013) keeps **nodes** and
//! **links** between them, each with a little data and a time, and asks for them in the shares that were seen in production.
//! This module has what it is made of, and knows no store: the operations and their shares ([`Mix`]), which node a request is
//! about ([`Requests`]), and what nodes and links hold ([`Content`]). The figures are those of its file `FBWorkload.properties`.
//!
//! | | here | in LinkBench |
//! |---|---|---|
//! | the graph before the first request | any ([`BaseGraph`]) | degrees as seen in production |
//! | types of links | one | two, with separate lists |
//! | nodes of requests | a power law over shuffled ids, its exponent by kind of request | the same, blended with one in the order of degrees: 0.5 % of reads, 5 % of writes |
//! | the other end of a link | a link of the base graph with the same probability (0.5 to get, 0.9 to update and delete, 0.05 to add), else any node | else one of the next ids |
//! | deletions | of any node, whose links stay; a link goes | the same; a link is hidden |
//! | how many links are got at once | geometric, 2.6 in the mean, 128 at most | the same |
//! | a list of links | the newest 10,000; of few requests those before some time | the same |
//! | sizes of data | log-normal with the medians 128 (nodes) and 8 bytes (links), and a sigma of 1 | the same |
//! | bytes of data | random ones of the same ranges | some repeat, so that data can be compressed |
//!
//! ```
//! use hedgerow_formats::link_bench::{BaseGraph, Content, Mix, Request, Requests};
//! use hedgerow_model::VertexId;
//!
//! // Three nodes, of which the first one has links to the others.
//! let (offsets, ends) = ([0, 2, 2, 2], [1, 2].map(VertexId::new));
//! let (base, content) = (BaseGraph::new(&offsets, &ends)?, Content::new(7));
//! let mut requests = Requests::new(base, &content, &Mix::tao(), 7, 0);
//! match requests.next_request(1_700_000_000_000_000) {
//!     Request::ListLinks { source, .. } => println!("the newest links of {source:?}"),
//!     other => println!("{:?}", other.operation()),
//! }
//! # Ok::<(), hedgerow_formats::link_bench::LinkBenchError>(())
//! ```

mod access;
mod content;
mod mix;
mod requests;

pub use content::{Content, LOADED, Link, Node};
pub use mix::{Mix, Operation};
pub use requests::{BaseGraph, Request, Requests};

/// Requests that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkBenchError {
    /// Not a share.
    #[error("a share of {0} writes, expected 0 to 1")]
    WriteShare(f64),
    /// A graph without nodes cannot be asked for anything.
    #[error("a base graph without nodes")]
    NoNodes,
    /// Offsets that are not those of rows.
    #[error(
        "offsets of a base graph must rise from 0 to the number of links, {links}, and those of node {node} do not"
    )]
    Offsets {
        /// The first node whose links do not lie where they must.
        node: usize,
        /// How many links there are.
        links: usize,
    },
}
