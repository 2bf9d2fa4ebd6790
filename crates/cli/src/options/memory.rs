//! Limits on the memory of a graph.

use bytesize::ByteSize;
use clap::Args;
use hedgerow::{EngineKind, GraphOptions};
use std::path::PathBuf;

/// Limits on the memory of a graph, and where its edges are stored.
#[derive(Clone, Debug, Args)]
pub struct MemoryArgs {
    /// The memory limit of the graph, for example 2GiB, 500MB, or a number of bytes; exceeding it
    /// is an error
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<ByteSize>,
    /// The memory of the engine lsm: for edges that are not in files yet, and for cached blocks of
    /// files; for example 256MiB [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory: Option<ByteSize>,
    /// Keep the edges of the graph in a file in this directory, for graphs larger than memory, with
    /// the engine tel; the file disappears afterwards
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// The requested engine, for commands with such an option.
    #[arg(skip)]
    pub engine: Option<EngineKind>,
}

impl MemoryArgs {
    /// Adds the limits to the options of a graph. If edges are to be kept in a file and no engine
    /// was requested, also the engine that can do so.
    pub fn limit(&self, options: GraphOptions) -> GraphOptions {
        let in_file = self.scratch.as_ref().map(|_| EngineKind::Tel);
        let options = self.engine.or(in_file).into_iter().fold(options, GraphOptions::engine);
        let options = self.scratch.iter().fold(options, GraphOptions::scratch);
        let options = self.engine_bytes().into_iter().fold(options, GraphOptions::memory_budget);
        self.limit_bytes().into_iter().fold(options, GraphOptions::memory_limit)
    }

    /// Returns true if an option asks for an engine, or for something that only an engine has.
    pub fn asks_for_engine(&self) -> bool {
        self.engine.is_some() || self.scratch.is_some() || self.memory.is_some()
    }

    /// The memory limit, if there is one.
    pub fn limit_bytes(&self) -> Option<usize> {
        self.memory_limit.map(bytes)
    }

    /// The memory of the engine lsm, if it is given.
    pub fn engine_bytes(&self) -> Option<usize> {
        self.memory.map(bytes)
    }
}

/// The number of bytes; a size beyond the address space is no limit.
fn bytes(size: ByteSize) -> usize {
    usize::try_from(size.as_u64()).unwrap_or(usize::MAX)
}

fn size(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.as_u64() > 0 => Ok(size),
        _ => Err("expected a size above 0, such as 2GiB, 500MB, or a number of bytes".into()),
    }
}
