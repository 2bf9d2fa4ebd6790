//! Clients of which each commit is known beforehand, and what a store must hold when they were killed.
//!
//! Each client numbers its commits and writes to vertices of its own, so that its part of the graph tells how many of them
//! there are; some commits also count in one place, where all clients meet. What a commit does depends on the seed, the
//! client and the number alone. A process that is killed leaves its acknowledgements behind ([`Acknowledged`]);
//! the [`Verifier`] knows from them which states the store may be in.

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

/// Edges with a number beside them.
const NUMBERED: LabelId = LabelId(0);

/// Edges without.
const PLAIN: LabelId = LabelId(1);

/// The property of vertices.
const COUNT: &str = "count";

/// The vertex where the commits of all clients are counted.
const LEDGER: u64 = 0;

/// What the graph is made and opened with.
#[must_use]
pub fn graph_options(topology: Topology, durability: Durability) -> GraphOptions {
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    GraphOptions::new()
        .topology(topology)
        .durability(durability)
        .label(label("numbered", EdgeSchema::Value(ColumnType::U64)))
        .label(label("plain", EdgeSchema::Topology))
        .vertex_properties(RecordSchema {
            fields: vec![Field { name: COUNT.to_owned(), value_type: ValueType::I64, nullable: true }],
        })
        .segment_bytes(256 << 10)
        .buffer_bytes(32 << 10)
        .threads(2)
}
