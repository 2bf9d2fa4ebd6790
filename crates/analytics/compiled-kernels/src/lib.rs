//! The kernels of the library, compiled once for every engine.
//!
//! A kernel is generic over the view that it reads, so a crate that calls
//! [`Snapshot::run`](hedgerow::Snapshot::run) compiles it for each engine: with ten kernels, most
//! of a minute. The command, the test driver and bindings of other languages call
//! [`Target::compute`] instead, whose kernels are compiled in this crate, at the same time as the
//! caller.
//!
//! ```
//! use hedgerow::kernels::Bfs;
//! use hedgerow::prelude::*;
//! use hedgerow_compiled_kernels::Target;
//!
//! let graph = Graph::in_memory(GraphOptions::new().label::<()>("knows"))?;
//! graph.ingest(graph.label::<()>("knows")?, &[(1, 2), (2, 3)])?;
//! let target = Target::from(graph.snapshot()?);
//! let source = graph.snapshot()?.vertex_id(1)?.ok_or(Error::other("no such vertex"))?;
//! assert_eq!(target.compute(Bfs::new(source))?.depths, [0, 1, 2]);
//! # Ok::<(), Error>(())
//! ```
//!
//! - `target.rs`: the graph that a kernel runs on;
//! - `compiled.rs`: the kernels;
//! - `topology.rs`: a view that is read with another topology.

mod compiled;
mod target;
mod topology;

pub use compiled::Compiled;
pub use target::Target;
