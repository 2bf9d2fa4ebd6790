//! Growing lists in a stored graph: the data of the isolation checker.
//!
//! A transaction appends elements to lists and reads whole lists, so that each read shows the order
//! of all earlier appends. An append reads the end of its list and writes there, in the same
//! transaction.

mod disturbance;
mod execute;
mod protocol;
mod relay;
mod representation;
mod server;

pub use execute::Transactions;
pub use relay::relay;
pub use representation::{LONGEST_LIST, Representation};
pub use server::{ServerOptions, serve};
