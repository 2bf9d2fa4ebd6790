//! The location of a superseded version.

use hedgerow_model::VertexId;

/// The location of an old version: a vertex's own, or an entry of one of its logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VersionPlace {
    pub(crate) owner: VertexId,
    /// The number of the table of the log, or [`VersionPlace::VERTEX`].
    pub(crate) table: u32,
    pub(crate) neighbor: VertexId,
    /// The entry's position when it was filed; compaction may move it to a lower one.
    pub(crate) position: u32,
}

impl VersionPlace {
    /// Table number of a vertex's own version.
    const VERTEX: u32 = u32::MAX;

    /// The place of a vertex's own version.
    pub(crate) fn of_vertex(owner: VertexId) -> Self {
        VersionPlace { owner, table: Self::VERTEX, neighbor: owner, position: 0 }
    }

    /// The number of the table, if the version is an entry.
    pub(crate) fn table(&self) -> Option<usize> {
        (self.table != Self::VERTEX).then_some(self.table as usize)
    }
}

/// A superseded or deleted version.
pub(crate) type Superseded = hedgerow_in_memory::reclamation::Superseded<VersionPlace>;

/// Bytes of the note that files an old version.
///
/// For an old entry, only the note is counted: the block that contains the entry is counted as a
/// whole.
pub(crate) const NOTE_BYTES: usize = size_of::<Superseded>();

/// A vertex of the graph.
pub(crate) type Vertex = hedgerow_in_memory::vertices::Vertex<NOTE_BYTES>;
