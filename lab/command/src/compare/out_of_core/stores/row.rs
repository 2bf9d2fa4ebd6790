//! Rows, gathered from a scan of edges.

use anyhow::Result;
use hedgerow::VertexId;

/// The neighbors of one vertex, gathered edge by edge.
#[derive(Debug, Default)]
pub struct RowOf {
    source: VertexId,
    neighbors: Vec<VertexId>,
}

impl RowOf {
    /// Adds an edge; passes the previous row on if the edge has another source.
    pub fn push(
        &mut self,
        source: VertexId,
        neighbor: VertexId,
        visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>,
    ) -> Result<()> {
        if source != self.source {
            self.end(visit)?;
            self.source = source;
        }
        self.neighbors.push(neighbor);
        Ok(())
    }

    /// Passes the row on.
    pub fn end(&mut self, visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>) -> Result<()> {
        if !self.neighbors.is_empty() {
            visit(self.source, &self.neighbors)?;
            self.neighbors.clear();
        }
        Ok(())
    }
}
