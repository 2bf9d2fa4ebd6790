//! Following a graph: subscriptions, the changes that they pull, and views and windows over them.
//!
//! | file | content |
//! |---|---|
//! | `options.rs` | where a subscription begins, and what it passes on |
//! | `subscription.rs` | pulling, waiting, the hand-over from a snapshot |
//! | `stream.rs` | subscriptions as asynchronous streams |
//! | `source.rs` | the commits of an open graph, or of a store that another process writes |
//! | `named.rs` | positions that a store keeps, with the state of a program |
//! | `view.rs` | states, each with the changes that lead to it |
//! | `kept.rs` | computations that are kept up to date |
//! | `window.rs` | sliding and tumbling windows of edges |
//! | `span.rs` | the extent of a window, and the times of edges |
//! | `retained.rs` | the edges of a window in memory |
//! | `batch.rs` | changes in memory, in columns |
//! | `change.rs` | one change, as it is lent |
//! | `latest.rs` | leaving out intermediate states |
//! | `token.rs` | positions as text |
//! | `replica.rs` | applying changes to another graph |

mod batch;
mod change;
#[cfg(feature = "kernels")]
mod kept;
mod latest;
mod named;
mod options;
mod replica;
mod retained;
mod source;
mod span;
#[cfg(feature = "async")]
mod stream;
mod subscription;
mod token;
mod view;
mod window;

pub use batch::{Changes, CommitChanges};
pub use change::{Change, ChangedEdge, ChangedVertex};
#[cfg(feature = "kernels")]
pub use kept::Kept;
pub use named::{NamedPosition, NamedSubscription};
pub use options::{Begin, SubscribeOptions};
pub use span::Span;
#[cfg(feature = "async")]
pub use stream::ChangeStream;
pub use subscription::{Lag, Subscription};
pub use token::{ChangeToken, InvalidToken};
pub use view::StreamView;
pub use window::Window;

use std::time::Duration;

/// Time between looks for a commit that is there but may not be passed on yet.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
