//! `hedgerow checkpoint`

use super::rewrite::Rewrite;
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::stored::checkpoint::{self, Checkpointed};
use crate::text;
use hedgerow::Graph;

impl Rewrite for Checkpointed {
    fn write(graph: &Graph, console: &Console, interrupt: &Interrupt) -> Result<Self, CliError> {
        checkpoint::write(graph, console, interrupt)
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let count = |number| text::Count(number).to_string();
        let removed = text::counted(self.pruned_segments as u64, "segment", "segments");
        let mut rows = vec![("checkpoint", self.to_string()), ("vertices", count(self.vertices))];
        if !self.is_in_engine_files() {
            rows.push(("edges", count(self.edges)));
        }
        rows.push(("log", format!("{removed} removed")));
        rows
    }
}
