//! Reads by key on one state of the graph: a snapshot, or a transaction.
//!
//! - `view_reads`, `records`, `newest_in_view`: reads of a view by key;
//! - `label_reads`: repeated reads of one label;
//! - `overlay`: a transaction's own writes over a view, which is a view again;
//! - `newest`, `dated`, `selection`: queries for the newest edges of a vertex.

mod dated;
mod label_reads;
mod newest;
mod newest_in_view;
mod overlay;
mod records;
mod selection;
mod view_reads;

pub use label_reads::LabelReads;
pub use newest::Newest;
pub(crate) use newest::place_of;
pub use overlay::{Overlay, StagedChanges};
pub use records::{LentEdge, VisitEdge, Which};
pub use view_reads::ViewReads;
