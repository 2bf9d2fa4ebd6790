//! The serialized graphs of the GAP benchmark suite, `.sg` and `.wsg`.
//!
//! All numbers are little-endian and follow each other without gaps:
//!
//! | bytes | what |
//! |---|---|
//! | 1 | 1 if the graph is directed, else 0 |
//! | 8 | m, the number of neighbours: edges, or of an undirected graph twice as many |
//! | 8 | n, the number of vertices; their ids are 0 to n - 1 |
//! | 8 (n + 1) | where the neighbours of each vertex start among all neighbours, and m |
//! | 4 m, with weights 8 m | the neighbours, row by row: an id of 32 bits, then with weights a weight of 32 bits with a sign |
//! | as many as the last two | of a directed graph: the same for in-neighbours |
//!
//! The suite itself writes rows that ascend, without self loops and repeated neighbours; it reads what is laid out so, whatever
//! it holds.

mod read;
mod write;

pub(crate) use read::SerializedReader;
pub(crate) use write::write;

/// Ids have 32 bits with a sign, and the suite counts offsets, of which there is one more than vertices, in such a number.
const MAX_VERTICES: u64 = (1 << 31) - 2;
