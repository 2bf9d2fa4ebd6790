//! Subscriptions that programs wait for without a thread of their own.

use super::subscription::is_end;
use super::{Changes, Subscription};
use crate::error::{Error, Reason};
use async_channel::Receiver;
use futures_core::Stream;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

/// The time after which a thread that waits for changes notices that its stream is gone.
const LOOK: Duration = Duration::from_millis(100);

/// Changes that a subscription pulls, as a stream for any asynchronous runtime: see
/// [`Subscription::into_stream`].
#[derive(Debug)]
pub struct ChangeStream {
    pulled: Pin<Box<Receiver<Result<Changes, Error>>>>,
}

impl Subscription {
    /// Turns the subscription into a stream that returns what the iterator would: it waits for
    /// changes, and ends when the store is closed, after the last commit, and after an error.
    ///
    /// A thread pulls and waits, up to two pulls ahead; it ends with the stream, a tenth of a
    /// second later at most. What was pulled ahead is not lost: [`Changes::token`] is the position
    /// after what the program has got.
    ///
    /// ```
    /// use futures::StreamExt;
    /// use hedgerow::prelude::*;
    /// use hedgerow::{ChangeStream, SubscribeOptions};
    ///
    /// async fn next(changes: &mut ChangeStream) -> Result<usize, Error> {
    ///     let pulled = changes.next().await.expect("the graph is open")?;
    ///     Ok(pulled.len())
    /// }
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows"))?;
    /// let mut changes = graph.subscribe(&SubscribeOptions::new())?.into_stream()?;
    /// graph.put_edge(graph.label::<()>("follows")?, 1, 2)?;
    /// // Two vertices and an edge.
    /// assert_eq!(futures::executor::block_on(next(&mut changes))?, 3);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn into_stream(mut self) -> Result<ChangeStream, Error> {
        let (sender, receiver) = async_channel::bounded(1);
        let pull = move || {
            while !sender.is_closed() && !self.is_complete() {
                let pulled = self.pull_within(LOOK);
                let is_last = pulled.is_err();
                match pulled {
                    Ok(changes) if changes.is_empty() => {}
                    Err(error) if is_end(&error) => break,
                    pulled => {
                        let is_gone = sender.send_blocking(pulled).is_err();
                        if is_gone || is_last {
                            break;
                        }
                    }
                }
            }
        };
        let thread = thread::Builder::new().name("changes".into()).spawn(pull);
        thread.map_err(Reason::NoThread)?;
        Ok(ChangeStream { pulled: Box::pin(receiver) })
    }
}

impl Stream for ChangeStream {
    type Item = Result<Changes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.pulled.as_mut().poll_next(context)
    }
}
