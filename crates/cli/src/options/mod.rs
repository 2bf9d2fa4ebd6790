//! Options that several commands share.
//!
//! | file | content |
//! |---|---|
//! | `at` | the action of a command, and its place |
//! | `graph` | the graph that a command reads: a file, or the graph in a store |
//! | `input` | options for reading a graph file |
//! | `format` | the formats of graph files |
//! | `memory` | limits on the memory of a graph, and where its edges are stored |
//! | `time` | times, absolute and relative to the present |
//! | `value` | numbers and files in options |

mod at;
mod format;
mod graph;
mod input;
mod memory;
mod time;
mod value;

pub use at::At;
pub use format::{FormatName, graph_format, table_format};
pub use graph::{GraphArgs, Place, is_large_file};
pub use input::{ColumnsName, FormatArgs, KeysName, STANDARD_INPUT};
pub use memory::MemoryArgs;
pub use time::{edge_time, past_time, time};
pub use value::{at_least_one, file_to_write, result_file, threads};
