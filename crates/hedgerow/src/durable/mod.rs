//! Graphs in stores.

pub(crate) mod backup;
#[cfg(feature = "kernels")]
pub(crate) mod edge_records;
pub(crate) mod examine;
#[cfg(feature = "kernels")]
mod first_source;
#[cfg(feature = "kernels")]
pub(crate) mod first_state;
mod graph;
mod info;
mod open;
mod opening;
mod settings;
pub(crate) mod traces;

pub use info::StoreInfo;
pub(crate) use open::{LOOKS, keys_of_store, newest_checkpoint};
