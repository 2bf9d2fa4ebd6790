//! MemGraphs that were flushed while snapshots read them.

use super::MemGraph;
use hedgerow_sync::{Arc, Mutex};
use std::sync::Weak;

/// Flushed MemGraphs, which snapshots may still read.
#[derive(Debug, Default)]
pub(crate) struct FlushedMemGraphs(Mutex<Vec<Weak<MemGraph>>>);

impl FlushedMemGraphs {
    /// Adds MemGraphs, and forgets MemGraphs that are gone. O(MemGraphs).
    pub(crate) fn add<'m>(&self, mem_graphs: impl Iterator<Item = &'m Arc<MemGraph>>) {
        let mut flushed = self.0.lock();
        flushed.retain(|mem_graph| mem_graph.strong_count() > 0);
        flushed.extend(mem_graphs.map(Arc::downgrade));
    }

    /// Returns the bytes of the MemGraphs that snapshots read. O(MemGraphs).
    pub(crate) fn bytes(&self) -> usize {
        let flushed = self.0.lock();
        flushed.iter().filter_map(Weak::upgrade).map(|mem_graph| mem_graph.bytes()).sum()
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use hedgerow_model::{ColumnType, CommitTimestamp};

    #[test]
    fn flushed_mem_graphs_count_while_they_are_read() {
        let flushed = FlushedMemGraphs::default();
        let mem_graphs =
            [1, 2].map(|_| Arc::new(MemGraph::new(&[ColumnType::Unit], CommitTimestamp(0), 64, 16)));
        flushed.add(mem_graphs.iter());
        assert_eq!(flushed.bytes(), mem_graphs.iter().map(|mem_graph| mem_graph.bytes()).sum());
        let [one, other] = mem_graphs;
        drop(other);
        assert_eq!(flushed.bytes(), one.bytes());
        drop(one);
        flushed.add([].iter());
        assert_eq!(flushed.0.lock().len(), 0);
    }
}
