//! Point reads by key on one state of the graph.

mod by_key;
mod dated;
mod label_reads;
mod newest;
mod newest_in_view;
mod selection;
mod state;
mod view_reads;

pub use label_reads::LabelReads;
pub(crate) use newest::place_of;
pub use newest::{Newest, NewestBy, time_of};
pub use newest_in_view::{NewestEdge, VisitEdge};
pub use state::{StateReads, VisitParallel, VisitParallelNeighbor};
pub use view_reads::{KeyReads, ViewReads};
