//! How much a graph may hold.

use bytesize::ByteSize;
use clap::Args;
use hedgerow::{EngineKind, GraphOptions};
use std::path::PathBuf;

/// How much a graph may hold, and where it lies.
#[derive(Clone, Debug, Args)]
pub struct MemoryArgs {
    /// The graph holds at most so much, for example 2GiB, 500MB, or a number of bytes; more is an error
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<ByteSize>,
    /// Keep the edges of the graph in a file in this directory, for graphs larger than memory, with the engine tel; nothing is
    /// left of it afterwards
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// The engine that was asked for, by commands that let one choose.
    #[arg(skip)]
    pub engine: Option<EngineKind>,
}

impl MemoryArgs {
    /// Puts them among the options of a graph. If no engine was asked for, with the one that can keep edges in a file, if they are to be in
    /// one.
    pub fn limit(&self, options: GraphOptions) -> GraphOptions {
        let in_file = self.scratch.as_ref().map(|_| EngineKind::Tel);
        let options = self.engine.or(in_file).into_iter().fold(options, GraphOptions::engine);
        let options = self.scratch.iter().fold(options, GraphOptions::scratch);
        match self.memory_limit {
            // More than can be addressed is no limit.
            Some(limit) => options.memory_limit(usize::try_from(limit.as_u64()).unwrap_or(usize::MAX)),
            None => options,
        }
    }
}

fn size(text: &str) -> Result<ByteSize, String> {
    match text.parse::<ByteSize>() {
        Ok(size) if size.as_u64() > 0 => Ok(size),
        _ => Err("expected a size above 0, such as 2GiB, 500MB, or a number of bytes".into()),
    }
}
