//! Options that several commands share.
//!
//! | file | what |
//! |---|---|
//! | `input` | how a graph file is read |
//! | `format` | the formats of graph files |
//! | `memory` | limits on the memory of a graph, and where its edges are stored |
//! | `value` | numbers, times and files as options take them |

mod format;
mod input;
mod memory;
mod value;

pub use format::{FormatName, graph_format};
pub use input::{FormatArgs, KeysName, STANDARD_INPUT};
pub use memory::MemoryArgs;
pub use value::{at_least_one, file_to_write, past_time, threads, time};
