//! Clients with predetermined commits, and the contents that a store must have after they were
//! killed.
//!
//! Each client numbers its commits and writes to its own vertices, so that its part of the graph
//! shows how many commits it made; some commits also count in one ledger, which all clients share.
//! A commit depends only on the seed, the client and the number. A killed process leaves its
//! acknowledgements behind ([`Acknowledged`]), from which the [`Verifier`] derives the possible
//! states of the store.

mod acknowledged;
mod client;
mod expected;
mod plan;
mod verify;

pub use acknowledged::Acknowledged;
pub use client::{LoadOptions, run};
pub use plan::CLIENTS;
pub use verify::{Promise, Round, Verifier, Violation};

use hedgerow::{
    ColumnType, Durability, EdgeSchema, Field, GraphOptions, LabelId, LabelSchema, RecordSchema, Topology,
    ValueType,
};

/// The label of edges with a number.
const NUMBERED: LabelId = LabelId(0);

/// The label of edges without a number.
const PLAIN: LabelId = LabelId(1);

/// The property of vertices.
const COUNT: &str = "count";

/// The vertex that counts the commits of all clients.
const LEDGER: u64 = 0;

/// The options for creating and opening the graph.
#[must_use]
pub fn graph_options(topology: Topology, durability: Durability) -> GraphOptions {
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    GraphOptions::new()
        .topology(topology)
        .durability(durability)
        .label_schema(label("numbered", EdgeSchema::Value(ColumnType::U64)))
        .label_schema(label("plain", EdgeSchema::Topology))
        .vertex_properties(RecordSchema {
            fields: vec![Field { name: COUNT.to_owned(), value_type: ValueType::I64, nullable: true }],
        })
        .segment_bytes(256 << 10)
        .buffer_bytes(32 << 10)
        .threads(2)
}
