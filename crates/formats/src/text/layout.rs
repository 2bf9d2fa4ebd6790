//! The layout of the lines of a file.

use super::matrix::Matrix;

/// The layout of the lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Vertices,
    Edges,
    Adjacency,
    /// The entries of a matrix.
    Entries(Matrix),
}
