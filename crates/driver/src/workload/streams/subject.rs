//! A graph, its writer and its subscription.

use crate::bench::Bench;
use crate::data_set::Entry;
use crate::stores::TemporaryStore;
use crate::watch::check;
use crate::{Failure, load};
use hedgerow::kernels::CancelToken;
use hedgerow::{Changes, Durability, EngineKind, Graph, LabelId, SubscribeOptions, Subscription, WriteGraph};
use hedgerow_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::fmt;
use std::ops::DerefMut;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait of a subscription that finds nothing.
const WAIT: Duration = Duration::from_millis(100);

/// The time between two commits of a writer that lets the subscription fall asleep.
const PAUSE: Duration = Duration::from_micros(200);

/// The name of a subscription in a store.
const NAME: &str = "bench";

/// The place of a graph.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Memory,
    Store,
}

impl Place {
    /// The ending of metrics in this place.
    pub(super) fn ending(self) -> &'static str {
        if self == Place::Memory { "" } else { "-stored" }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Place::Memory { "in memory" } else { "in a store" })
    }
}

/// A way to put edges, each in a transaction of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Stream,
    ByCall,
    WithPauses,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Stream => "as a stream",
            Way::ByCall | Way::WithPauses => "by call",
        })
    }
}

/// A new graph, and a subscription from its first edge on.
pub(super) struct Subject<'b> {
    /// In a store under a name, so that the log is kept until it was pulled.
    subscription: Box<dyn DerefMut<Target = Subscription>>,
    writer: Writer<'b>,
    /// Removed after the graph was dropped.
    _store: Option<TemporaryStore>,
}

struct Writer<'b> {
    graph: Graph,
    cancel: &'b CancelToken,
}

/// When each call began; of a stream, nothing.
pub(super) struct Times {
    origin: Instant,
    /// The commit before the first call.
    before: u64,
    /// Nanoseconds since the origin, by call.
    calls: Vec<AtomicU64>,
}

impl<'b> Subject<'b> {
    pub(super) fn new(
        bench: &'b Bench<'_>,
        kind: EngineKind,
        place: Place,
        options: &SubscribeOptions,
    ) -> Result<Self, Failure> {
        let (graph_options, vertices) = (load::options(kind, 1), bench.data.vertices());
        let (graph, store, subscription): (_, _, Box<dyn DerefMut<Target = Subscription>>) = match place {
            Place::Memory => {
                let graph = load::with_vertices(graph_options, vertices)?;
                let subscription = graph.subscribe(options)?;
                (graph, None, Box::new(Box::new(subscription)))
            }
            Place::Store => {
                let store = bench.new_store()?;
                let graph_options = graph_options.durability(Durability::Buffered);
                let graph = load::stored_graph(&store, &graph_options, vertices)?;
                let subscription = graph.subscribe_as(NAME, options)?;
                (graph, Some(store), Box::new(subscription))
            }
        };
        let writer = Writer { graph, cancel: &bench.watch.cancel };
        Ok(Subject { subscription, writer, _store: store })
    }

    /// Puts edges without a subscription.
    pub(super) fn write_alone(self, entries: &[Entry], way: Way) -> Result<f64, Failure> {
        let Subject { subscription, writer, _store } = self;
        let times = Times::new(&subscription, entries, way);
        drop(subscription);
        writer.write(entries, way, &times)
    }

    /// Puts edges; returns the seconds until all are committed, and flushed to a store.
    pub(super) fn write(&self, entries: &[Entry], way: Way) -> Result<f64, Failure> {
        self.writer.write(entries, way, &Times::new(&self.subscription, entries, way))
    }

    /// Pulls this number of edges that were put; returns the seconds.
    pub(super) fn pull(&mut self, edges: usize, visit: impl FnMut(&Changes)) -> Result<f64, Failure> {
        let started = Instant::now();
        pull(&mut self.subscription, edges, self.writer.cancel, &AtomicBool::new(true), visit)?;
        Ok(started.elapsed().as_secs_f64())
    }

    /// Puts edges while the subscription pulls them. Returns the seconds of the writer, and those
    /// until all were pulled and visited.
    pub(super) fn write_and_pull(
        mut self,
        entries: &[Entry],
        way: Way,
        mut visit: impl FnMut(&Changes, &Times),
    ) -> Result<(f64, f64), Failure> {
        let Subject { subscription, writer, .. } = &mut self;
        let (times, is_over) = (&Times::new(subscription, entries, way), &AtomicBool::new(false));
        thread::scope(|scope| {
            let writing = thread::Builder::new().spawn_scoped(scope, || {
                let written = writer.write(entries, way, times);
                is_over.store(true, Ordering::Release);
                written
            })?;
            let pulled = pull(subscription, entries.len(), writer.cancel, is_over, |changes| {
                visit(changes, times);
            });
            let until_pulled = times.origin.elapsed().as_secs_f64();
            let written = writing.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))?;
            pulled?;
            Ok((written, until_pulled))
        })
    }
}

impl Writer<'_> {
    fn write(&self, entries: &[Entry], way: Way, times: &Times) -> Result<f64, Failure> {
        let started = Instant::now();
        if way == Way::Stream {
            load::put_streams(&self.graph, entries, 1, self.cancel)?;
        } else {
            for ((source, destination), call) in entries.iter().zip(&times.calls) {
                call.store(times.now(), Ordering::Relaxed);
                self.graph.put_edge(LabelId::DEFAULT, source, destination)?;
                if way == Way::WithPauses {
                    thread::sleep(PAUSE);
                }
                check(self.cancel)?;
            }
        }
        if self.graph.durability().is_some() {
            self.graph.flush()?;
        }
        Ok(started.elapsed().as_secs_f64())
    }
}

/// Pulls until this number of edges was put, and passes on each pull. Fails if there are no more
/// when the writer is over.
fn pull(
    subscription: &mut Subscription,
    edges: usize,
    cancel: &CancelToken,
    is_over: &AtomicBool,
    mut visit: impl FnMut(&Changes),
) -> Result<(), Failure> {
    let mut pulled = 0;
    while pulled < edges {
        check(cancel)?;
        let was_over = is_over.load(Ordering::Acquire);
        let changes = subscription.pull_within(WAIT)?;
        if changes.is_empty() && was_over {
            let what = "the number of changes pulled".to_owned();
            let (found, expected) = (pulled.to_string(), edges.to_string());
            return Err(Failure::WrongResult { what, found, expected });
        }
        pulled += changes.len();
        visit(&changes);
    }
    Ok(())
}

impl Times {
    fn new(subscription: &Subscription, entries: &[Entry], way: Way) -> Self {
        let calls = if way == Way::Stream { 0 } else { entries.len() };
        let calls = (0..calls).map(|_| AtomicU64::new(0)).collect();
        Times { origin: Instant::now(), before: subscription.token().commit().0, calls }
    }

    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }

    /// The time that has passed since the call of each commit began.
    pub(super) fn since_calls(&self, changes: &Changes) -> impl Iterator<Item = Duration> {
        let now = self.now();
        changes.commits().map(move |commit| {
            let call = &self.calls[(commit.at().0 - self.before - 1) as usize];
            Duration::from_nanos(now.saturating_sub(call.load(Ordering::Relaxed)))
        })
    }
}
