//! Following a graph: subscriptions, and the changes that they pull.
//!
//! | file | content |
//! |---|---|
//! | `options.rs` | where a subscription begins, and what it passes on |
//! | `subscription.rs` | pulling, waiting, the hand-over from a snapshot |
//! | `batch.rs` | changes in memory, in columns |
//! | `change.rs` | one change, as it is lent |
//! | `latest.rs` | leaving out intermediate states |
//! | `token.rs` | positions as text |
//! | `replica.rs` | applying changes to another graph |

mod batch;
mod change;
mod latest;
mod options;
mod replica;
mod subscription;
mod token;

pub use batch::{Changes, CommitChanges};
pub use change::{Change, ChangedEdge, ChangedVertex};
pub use options::{Begin, SubscribeOptions};
pub use subscription::{Lag, Subscription};
pub use token::{ChangeToken, InvalidToken};
