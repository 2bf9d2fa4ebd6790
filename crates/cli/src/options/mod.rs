//! Options that several commands share.
//!
//! | file | content |
//! |---|---|
//! | `at` | the action of a command, and its place |
//! | `graph` | the graph that a command reads: a file, or the graph in a store |
//! | `input` | options for reading a graph file |
//! | `format` | the formats of graph files |
//! | `memory` | limits on the memory of a graph, and where its edges are stored |
//! | `value` | numbers, times and files in options |

mod at;
mod format;
mod graph;
mod input;
mod memory;
mod value;

pub use at::At;
pub use format::{FormatName, graph_format};
pub use graph::{GraphArgs, Place};
pub use input::{ColumnsName, FormatArgs, KeysName, STANDARD_INPUT};
pub use memory::MemoryArgs;
pub use value::{at_least_one, edge_time, file_to_write, past_time, result_file, threads, time};
