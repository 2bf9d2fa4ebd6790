//! The numbers of adjacencies in files and in memory.
//!
//! Vertices are an adjacency, too: a vertex that exists has an edge to vertex 0, whose record is
//! its key and its properties. So flushes, compactions and readers handle only adjacencies.

use hedgerow_model::{Catalog, ColumnType, Direction, LabelId, LabelSchema, StoredPart, VertexId};

/// Number of the adjacency of the vertices.
pub(crate) const VERTICES: u32 = 0;

/// The neighbor in the adjacency of the vertices.
pub(crate) const ITSELF: VertexId = VertexId::new(0);

/// The number of the adjacency of a label in a stored direction.
pub(crate) fn number_of(label: LabelId, stored: Direction) -> u32 {
    1 + 2 * u32::from(label.0) + u32::from(stored == Direction::In)
}

/// Returns the part of the graph that an adjacency stores.
pub(crate) fn part_of(adjacency: u32) -> StoredPart {
    match adjacency.checked_sub(1) {
        None => StoredPart::Vertices,
        Some(number) => StoredPart::Edges {
            // The catalog checked that its labels fit in 16 bits.
            label: LabelId((number / 2) as u16),
            direction: if number % 2 == 0 { Direction::Out } else { Direction::In },
        },
    }
}

/// The type of the values of each adjacency.
pub(crate) fn columns(catalog: &Catalog) -> Vec<ColumnType> {
    std::iter::once(ColumnType::Record).chain(catalog.labels().iter().flat_map(columns_of)).collect()
}

/// The types of the values of the adjacencies of a label, which have consecutive numbers.
pub(crate) fn columns_of(label: &LabelSchema) -> [ColumnType; 2] {
    [label.edges.column(); 2]
}
