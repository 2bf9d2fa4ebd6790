//! Batches of edges and vertices that readers fill.

/// An edge in a file.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Edge<K> {
    /// The source vertex.
    pub source: K,
    /// The destination vertex.
    pub destination: K,
    /// The weight, if the line has one; always finite.
    pub weight: Option<f64>,
    /// The timestamp, if the line has one, in the unit of the file.
    pub timestamp: Option<i64>,
}

impl<K> Edge<K> {
    /// An edge with neither weight nor timestamp.
    pub fn new(source: K, destination: K) -> Self {
        Edge { source, destination, weight: None, timestamp: None }
    }
}

/// Edges and vertices in the order of the file. Allocated once, filled repeatedly.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch<K> {
    /// Edges.
    pub edges: Vec<Edge<K>>,
    /// Vertices that a file names separately; they may have edges, here or elsewhere.
    pub vertices: Vec<K>,
}

impl<K> Batch<K> {
    /// An empty batch.
    #[must_use]
    pub fn new() -> Self {
        Batch { edges: Vec::new(), vertices: Vec::new() }
    }

    /// The number of edges and vertices together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len() + self.vertices.len()
    }

    /// Returns true if the batch is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes everything, keeps the memory.
    pub fn clear(&mut self) {
        self.edges.clear();
        self.vertices.clear();
    }
}

impl<K> Default for Batch<K> {
    fn default() -> Self {
        Batch::new()
    }
}
