//! The environment of a computation over a whole graph: its memory, its cancellation, and its
//! threads.
//!
//! [`MemoryBudget`] checks whether arrays over all vertices fit into memory, [`CancelToken`] stops
//! a computation from another thread, and [`map_chunks`] runs one on a pool or on the calling
//! thread.

mod cancel;
mod chunks;
mod memory;

pub use cancel::CancelToken;
pub use chunks::map_chunks;
pub use memory::{MemoryBudget, MemoryError};
