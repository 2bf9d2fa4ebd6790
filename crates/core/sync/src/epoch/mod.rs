//! Epoch-based reclamation: frees unlinked memory once no reader can access it any more.
//!
//! Each graph has its own [`Domain`], so a reader holds back no other graph's memory. A reader pins
//! the domain only while it follows links; see `docs/concurrency.md`. Unlinked memory waits in
//! queues that any thread empties, and counts as used until then.
//!
//! Under the model checker, a small exact substitute frees at the earliest moment that the contract
//! allows and remembers the freed memory, so that [`check_live`] catches a use after free. The
//! production protocol, [`Readers`], has its own model in `tests/shuttle.rs`.

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

/// Number of waiting bytes that justifies an attempt to free them.
const DUE_BYTES: usize = 1 << 16;
