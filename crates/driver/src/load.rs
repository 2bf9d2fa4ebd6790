//! Creates and fills graphs.

use crate::data_set::Entry;
use crate::monitor::{Latencies, operate_on_each};
use crate::stores::TemporaryStore;
use crate::{DataSet, Failure};
use hedgerow::kernels::CancelToken;
use hedgerow::{AsKey, EngineKind, Error, Graph, GraphOptions, KeyKind, LabelId, VertexId, WriteGraph};
use std::thread;
use std::time::{Duration, Instant};

/// The batch size of contract metrics.
pub const CONTRACT_BATCH: usize = 1 << 16;

/// Entries per commit of unmeasured loads.
pub const LOAD_BATCH: usize = 1 << 19;

/// Entries of a stream between two checks for cancellation.
const STREAMED: usize = 1 << 14;

/// Number of segments of the stream if the writing time is limited.
const SEGMENTS: usize = 64;

/// A directed graph with all vertices of the data set and no edge; its commits use at most
/// `threads` threads.
///
/// # Errors
/// The graph cannot be made.
pub fn empty_graph(kind: EngineKind, threads: usize, vertices: u32) -> Result<Graph, Failure> {
    with_vertices(options(kind, threads), vertices)
}

/// A directed graph of dense ids, whose commits use at most `threads` threads.
#[must_use]
pub fn options(kind: EngineKind, threads: usize) -> GraphOptions {
    GraphOptions::new().engine(kind).threads(threads).keys(KeyKind::Dense)
}

/// Like [`empty_graph`], but in a new store.
pub(crate) fn stored_graph(
    store: &TemporaryStore,
    options: &GraphOptions,
    vertices: u32,
) -> Result<Graph, Failure> {
    add_vertices(options.create(store.path())?, vertices)
}

/// A graph of dense ids with the vertices below `vertices`.
///
/// # Errors
/// The graph cannot be made.
pub fn with_vertices(options: GraphOptions, vertices: u32) -> Result<Graph, Failure> {
    add_vertices(Graph::in_memory(options.keys(KeyKind::Dense))?, vertices)
}

fn add_vertices(graph: Graph, vertices: u32) -> Result<Graph, Failure> {
    add_keys(graph, (0..vertices).map(VertexId::new))
}

/// Makes a graph with vertices of these keys.
pub(crate) fn with_keys(
    options: GraphOptions,
    keys: impl Iterator<Item = impl AsKey>,
) -> Result<Graph, Failure> {
    add_keys(Graph::in_memory(options)?, keys)
}

fn add_keys(graph: Graph, keys: impl Iterator<Item = impl AsKey>) -> Result<Graph, Failure> {
    let keys: Vec<_> = keys.collect();
    for some in keys.chunks(LOAD_BATCH) {
        let transaction = graph.begin()?;
        some.iter().try_for_each(|key| transaction.add_vertex(key))?;
        transaction.commit()?;
    }
    Ok(graph)
}

/// Ingests the whole data set in batches, unmeasured.
///
/// # Errors
/// Errors of the graph, missing edges, and cancellation.
pub fn in_batches(graph: &Graph, data: &DataSet, cancel: &CancelToken) -> Result<(), Failure> {
    ingest(graph, data.stream(), LOAD_BATCH, cancel)?;
    check_edges(graph, data)
}

/// Ingests `entries` in commits of `batch` entries.
///
/// # Errors
/// Errors of the graph, and cancellation.
pub fn ingest(graph: &Graph, entries: &[Entry], batch: usize, cancel: &CancelToken) -> Result<(), Failure> {
    for batch in entries.chunks(batch) {
        graph.ingest(LabelId::DEFAULT, batch)?;
        crate::watch::check(cancel)?;
    }
    Ok(())
}

/// Puts every entry in a transaction of its own, by one stream per thread over disjoint parts.
/// Returns the time.
///
/// # Errors
/// Errors of the graph, and cancellation.
pub fn put_streams(
    graph: &Graph,
    entries: &[Entry],
    threads: usize,
    cancel: &CancelToken,
) -> Result<Duration, Failure> {
    let started = Instant::now();
    on_threads(threads, entries, |part| {
        stream(part, cancel, None, |some| {
            Ok(graph.put_each(LabelId::DEFAULT, some).map(drop).map_err(Error::from)?)
        })
    })?;
    Ok(started.elapsed())
}

/// Streams entries through `operate` until the deadline; returns the number processed.
pub(crate) fn stream(
    entries: &[Entry],
    cancel: &CancelToken,
    deadline: Option<Instant>,
    mut operate: impl FnMut(&[Entry]) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let mut done = 0;
    for some in entries.chunks(STREAMED) {
        operate(some)?;
        done += some.len();
        crate::watch::check(cancel)?;
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            break;
        }
    }
    Ok(done)
}

/// Puts every entry in a transaction of its own, by single calls from several threads over disjoint
/// parts. Returns the time.
pub(crate) fn put_one_by_one(
    graph: &Graph,
    entries: &[Entry],
    threads: usize,
    latencies: &mut Latencies,
    cancel: &CancelToken,
) -> Result<Duration, Failure> {
    let started = Instant::now();
    let parts = on_threads(threads, entries, |part| {
        let mut latencies = Latencies::new();
        operate_on_each(part, &mut latencies, cancel, None, |(source, destination)| {
            graph.put_edge(LabelId::DEFAULT, source, destination)?;
            Ok(())
        })?;
        Ok(latencies)
    })?;
    let elapsed = started.elapsed();
    parts.iter().for_each(|part| latencies.merge(part));
    Ok(elapsed)
}

/// Runs `work` on up to `threads` disjoint parts of `items`, each on its own thread; with one
/// thread, on the calling thread.
///
/// # Errors
/// Those of `work`, and a thread that cannot be started.
pub fn on_threads<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&[T]) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    if threads == 1 {
        return Ok(vec![work(items)?]);
    }
    let part = items.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let work = &work;
        let start = |part| thread::Builder::new().spawn_scoped(scope, move || work(part));
        let started: Vec<_> = items.chunks(part).map(start).collect::<Result<_, _>>()?;
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked))
        };
        started.into_iter().map(join).collect()
    })
}

/// The rate, in entries per second, at which `write` writes the whole data set into `graph`.
///
/// With a limit, the stream is cut into segments. A segment is measured if the time spent so far is
/// within its share of the limit. Otherwise it is put in large batches and counts with the time of
/// the last measured segment. So the measured segments are spread evenly over the filling of the
/// graph, which is complete at the end.
pub(crate) fn rate_of_writing(
    graph: &Graph,
    data: &DataSet,
    limit: Option<Duration>,
    cancel: &CancelToken,
    mut write: impl FnMut(&[Entry]) -> Result<Duration, Failure>,
) -> Result<f64, Failure> {
    let stream = data.stream();
    let segment = match limit {
        None => stream.len(),
        // A multiple of the batch size, so that no batch is cut short.
        Some(_) => stream.len().div_ceil(SEGMENTS).next_multiple_of(CONTRACT_BATCH),
    };
    let (mut measured, mut estimated, mut written, mut seconds_per_entry) = (0.0, 0.0, 0, 0.0);
    for entries in stream.chunks(segment) {
        let share = written as f64 / stream.len() as f64;
        if limit.is_none_or(|limit| measured <= share * limit.as_secs_f64()) {
            let seconds = write(entries)?.as_secs_f64();
            measured += seconds;
            seconds_per_entry = seconds / entries.len() as f64;
        } else {
            ingest(graph, entries, LOAD_BATCH, cancel)?;
        }
        estimated += seconds_per_entry * entries.len() as f64;
        written += entries.len();
    }
    check_edges(graph, data)?;
    Ok(stream.len() as f64 / estimated)
}

/// Checks that the number of edges of the graph equals that of the data set.
///
/// # Errors
/// The numbers differ.
pub fn check_edges(graph: &Graph, data: &DataSet) -> Result<(), Failure> {
    check_edge_count(graph, data.stream().len())
}

/// Checks the number of edges of the graph. Makes an engine that defers counting count now.
///
/// # Errors
/// The numbers differ.
pub fn check_edge_count(graph: &Graph, expected: usize) -> Result<(), Failure> {
    if graph.snapshot()?.edge_count().exact().is_none() {
        reclaim_all(graph)?;
    }
    let (found, expected) = (graph.snapshot()?.edge_count(), expected as u64);
    if found == expected {
        return Ok(());
    }
    let what = "the number of edges".to_owned();
    Err(Failure::WrongResult { what, found: found.to_string(), expected: expected.to_string() })
}

/// Frees all garbage.
///
/// # Errors
/// Errors of the graph.
pub fn reclaim_all(graph: &Graph) -> Result<(), Error> {
    while graph.reclaim()?.more {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Watch;

    fn data() -> DataSet {
        DataSet::named("kron-14", 1, &Watch::default()).unwrap()
    }

    #[test]
    fn what_is_not_measured_is_written_all_the_same_and_counts_like_its_neighbor() {
        let (data, cancel) = (data(), CancelToken::new());
        let graph = empty_graph(EngineKind::Rapid, 1, data.vertices()).unwrap();
        let (mut measured, mut segments) = (0, 0);
        // Each entry is reported to take a millionth of a second, four times what the limit allows.
        let limit = Duration::from_secs_f64(data.stream().len() as f64 / 4e6);
        let rate = rate_of_writing(&graph, &data, Some(limit), &cancel, |entries| {
            ingest(&graph, entries, 1000, &cancel)?;
            measured += entries.len();
            segments += 1;
            Ok(Duration::from_secs_f64(entries.len() as f64 / 1e6))
        });
        assert!((rate.unwrap() - 1e6).abs() < 1.0);
        assert!(segments > 1 && measured < data.stream().len(), "{segments} segments, {measured} entries");
        check_edges(&graph, &data).unwrap();
    }

    #[test]
    fn without_a_limit_all_is_measured_at_once() {
        let (data, cancel) = (data(), CancelToken::new());
        let graph = empty_graph(EngineKind::Rapid, 1, data.vertices()).unwrap();
        let mut latencies = Latencies::new();
        let rate = rate_of_writing(&graph, &data, None, &cancel, |entries| {
            assert_eq!(entries.len(), data.stream().len());
            put_one_by_one(&graph, entries, 3, &mut latencies, &cancel)
        });
        assert!(rate.unwrap() > 0.0);
    }

    #[test]
    fn a_graph_that_lacks_edges_is_noticed() {
        let (data, cancel) = (data(), CancelToken::new());
        let graph = empty_graph(EngineKind::Rapid, 1, data.vertices()).unwrap();
        let lazy = rate_of_writing(&graph, &data, None, &cancel, |_| Ok(Duration::from_secs(1)));
        assert!(matches!(lazy, Err(Failure::WrongResult { .. })));
    }

    #[test]
    fn parts_are_disjoint_and_cover_all() {
        for threads in 1..5 {
            for length in [0, 1, 2, 7] {
                let items: Vec<u32> = (0..length).collect();
                let parts = on_threads(threads, &items, |part| Ok(part.to_vec())).unwrap();
                assert_eq!(parts.concat(), items);
            }
        }
    }
}
