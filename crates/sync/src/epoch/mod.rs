//! Epoch-based reclamation: unlinked memory is freed once no reader can be accessing it any more.
//!
//! Each graph has a [`Domain`] of its own, so a reader holds back no other graph's memory. A reader
//! pins the domain only while it follows links; see `docs/concurrency.md`. Unlinked memory waits in
//! queues that any thread empties, and counts as used until then.
//!
//! Under the model checker a small exact substitute frees at the earliest moment that the contract
//! allows and remembers what was freed, so that [`check_live`] catches a use after free. The
//! protocol of production, [`Readers`], has a model of its own in `tests/shuttle.rs`.

mod readers;

pub use readers::{Entered, Readers};

#[cfg(not(hedgerow_shuttle))]
mod production;
#[cfg(not(hedgerow_shuttle))]
pub use production::{Domain, Guard, Waiting, check_live};

#[cfg(hedgerow_shuttle)]
mod modelled;
#[cfg(hedgerow_shuttle)]
pub use modelled::{Domain, Guard, Waiting, check_live};

/// This many bytes that wait are worth a look whether they can be freed.
const DUE_BYTES: usize = 1 << 16;
