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
        let removed = text::counted(self.pruned_segments as u64, "segment", "segments");
        vec![
            ("checkpoint", self.to_string()),
            ("vertices", text::Count(self.vertices).to_string()),
            ("edges", self.edges.to_string()),
            ("log", format!("{removed} removed")),
        ]
    }
}
