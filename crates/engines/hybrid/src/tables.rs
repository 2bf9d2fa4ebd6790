//! The adjacencies of all labels, and the counts that archiving keeps of their edges.

use crate::adjacency::{AddedAndRemoved, BlockSizes, RowTable};
use crate::edge_log::Ends;
use hedgerow_model::{Catalog, ColumnType, Direction, LabelId, LabelSchema, Topology, ViewError};
use hedgerow_sync::GrowingList;
use hedgerow_sync::atomic::{AtomicIsize, Ordering};

/// One label in one stored direction.
pub(crate) struct AdjacencyTable {
    pub(crate) rows: RowTable,
    pub(crate) column: ColumnType,
    /// Entries of the newest version and, in `loops`, entries from a vertex to itself.
    entries: AtomicIsize,
    loops: AtomicIsize,
}

impl AdjacencyTable {
    pub(crate) fn count(&self, AddedAndRemoved { added, removed, loops }: AddedAndRemoved) {
        self.entries.fetch_add(added as isize - removed as isize, Ordering::Relaxed);
        self.loops.fetch_add(loops, Ordering::Relaxed);
    }
}

/// The adjacencies of all labels. The number of an adjacency is its label times the number of
/// stored directions, plus its direction.
pub(crate) struct AdjacencyTables {
    topology: Topology,
    block_sizes: BlockSizes,
    tables: GrowingList<AdjacencyTable>,
}

impl AdjacencyTables {
    pub(crate) fn new(topology: Topology, block_sizes: BlockSizes, catalog: &Catalog) -> Self {
        let tables = AdjacencyTables { topology, block_sizes, tables: GrowingList::default() };
        catalog.labels().iter().for_each(|label| tables.add_label(label));
        tables
    }

    /// Adds the adjacencies of a further label. Calls must not be concurrent.
    pub(crate) fn add_label(&self, label: &LabelSchema) {
        let column = label.edges.column();
        for _ in self.topology.directions() {
            let rows = RowTable::new(column, self.block_sizes);
            self.tables.push(AdjacencyTable {
                rows,
                column,
                entries: AtomicIsize::new(0),
                loops: AtomicIsize::new(0),
            });
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.tables.len()
    }

    pub(crate) fn labels(&self) -> usize {
        self.len() / self.topology.directions().len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &AdjacencyTable> {
        self.tables.iter()
    }

    /// Returns an adjacency by its number, which comes from a label or from the log.
    #[inline]
    pub(crate) fn at(&self, number: u32) -> &AdjacencyTable {
        self.tables.get(number as usize).expect("numbers of adjacencies are those of labels")
    }

    /// Returns the number of the adjacency of a label in a stored direction.
    #[inline]
    pub(crate) fn number_of(&self, LabelId(label): LabelId, stored: Direction) -> u32 {
        let directions = self.topology.directions().len() as u32;
        u32::from(label) * directions + u32::from(stored == Direction::In)
    }

    /// The number of the adjacency that answers reads of a label in a direction.
    ///
    /// # Errors
    /// There is no such label, or the direction is not stored.
    pub(crate) fn number_for(&self, label: LabelId, direction: Direction) -> Result<u32, ViewError> {
        if label.index() >= self.labels() {
            return Err(ViewError::UnknownLabel(label));
        }
        let stored = self.topology.stored(direction).ok_or(ViewError::NoReverse)?;
        Ok(self.number_of(label, stored))
    }

    /// Returns the adjacencies that have the edges of a label.
    #[inline]
    pub(crate) fn ends_of(&self, label: u16) -> Ends {
        let out = self.number_of(LabelId(label), Direction::Out);
        let back = match self.topology {
            Topology::Directed => None,
            Topology::DirectedWithReverse => Some(out + 1),
            Topology::Undirected => Some(out),
        };
        Ends { out, back }
    }

    /// Returns the number of edges of each label in the newest version. No round of archiving runs.
    pub(crate) fn edge_counts(&self) -> Vec<u64> {
        let tables = self.tables.iter().step_by(self.topology.directions().len());
        let edges = tables.map(|table| {
            let entries = table.entries.load(Ordering::Relaxed);
            let edges = match self.topology {
                // An edge has two entries, or one.
                Topology::Undirected => (entries + table.loops.load(Ordering::Relaxed)) / 2,
                _ => entries,
            };
            u64::try_from(edges).unwrap_or(0)
        });
        edges.collect()
    }
}
