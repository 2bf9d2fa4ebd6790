//! Tests progress and cancellation of all kernels, on one thread and on several.

use crate::support::rearranged::{Arrangement, Descending, Rearranged, Twice};
use crate::support::{Graph, TOPOLOGIES, execution, pool, scrambled};
use hedgerow_kernels::csr::Csr;
use hedgerow_kernels::{
    Betweenness, Bfs, CancelToken, Communities, Cores, Execution, Kernel, KernelError, LocalClustering,
    Neighborhood, PageRank, Progress, Sources, Sssp, TriangleCount, TriangleOrder, Wcc, WccMethod,
};
use hedgerow_model::{GraphView, LabelId, Topology, VertexId};
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

const SOURCES: [VertexId; 3] = [VertexId::new(1), VertexId::new(2), VertexId::new(3)];

type Run<V> = fn(&V, Execution<'_>) -> Result<(), KernelError>;

/// Every kernel with its name.
fn kernels<V: GraphView>() -> Vec<(&'static str, Run<V>)> {
    vec![
        ("breadth-first", |view, execution| Bfs { execution, ..Bfs::new(SOURCES[0]) }.run(view).map(drop)),
        ("breadth-first, top-down", |view, execution| {
            Bfs { execution, ..Bfs::top_down(SOURCES[0]) }.run(view).map(drop)
        }),
        ("ranks", |view, execution| PageRank { execution, ..PageRank::default() }.run(view).map(drop)),
        ("shortest paths", |view, execution| {
            Sssp::<f64> { execution, ..Sssp::new(SOURCES[0]) }.run(view).map(drop)
        }),
        ("components", |view, execution| Wcc { execution, ..Wcc::default() }.run(view).map(drop)),
        ("components, plain", |view, execution| {
            Wcc { method: WccMethod::Plain, execution, ..Wcc::default() }.run(view).map(drop)
        }),
        ("triangles by id", |view, execution| {
            let order = TriangleOrder::ById;
            TriangleCount { order, execution, ..TriangleCount::default() }.run(view).map(drop)
        }),
        ("triangles by degree", |view, execution| {
            let order = TriangleOrder::ByDegree;
            TriangleCount { order, execution, ..TriangleCount::default() }.run(view).map(drop)
        }),
        ("coefficients", |view, execution| {
            LocalClustering { execution, ..LocalClustering::default() }.run(view).map(drop)
        }),
        ("communities", |view, execution| {
            Communities { execution, ..Communities::default() }.run(view).map(drop)
        }),
        ("cores", |view, execution| Cores { execution, ..Cores::default() }.run(view).map(drop)),
        ("betweenness from one", |view, execution| {
            let sources = Sources::Given(&SOURCES[..1]);
            Betweenness { execution, ..Betweenness::new(sources) }.run(view).map(drop)
        }),
        ("betweenness from several", |view, execution| {
            let sources = Sources::Given(&SOURCES);
            Betweenness { execution, ..Betweenness::new(sources) }.run(view).map(drop)
        }),
        ("neighborhood", |view, execution| {
            Neighborhood { execution, ..Neighborhood::new(&SOURCES, 9) }.run(view).map(drop)
        }),
    ]
}

/// Half of the vertices are dense, the other half are a path.
fn graph(topology: Topology) -> Graph {
    let random = (0..40_000_u64).map(|edge| (scrambled(2 * edge) % 5_000, scrambled(2 * edge + 1) % 5_000));
    let edges = random.chain((5_000..10_000).map(|step| (step - 1, step))).collect();
    Graph { topology, bound: 10_000, vertices: (0..10_000).collect(), edges }
}

/// Cancels after a number of vertices and neighbors have been read, and counts the reads after
/// that.
fn stops_soon<R: Arrangement>(csr: &Csr, threads: usize) {
    let all = u64::from(csr.vertex_bound()) + csr.edge_count(LabelId::DEFAULT).at_most();
    let (pool, topology) = (pool(threads), csr.topology());
    for (name, run) in kernels::<Rearranged<R>>() {
        // A pass over everything may continue to the end of a chunk, of which there are sixteen per
        // thread. Chunks of PageRank have one size on any number of threads, in which this whole
        // graph fits twice.
        let most = all as usize / 8 + if name == "ranks" { 1 << 17 } else { 0 };
        for cancelled_at in [100, 30_000, 150_000] {
            let (token, reads) = (CancelToken::new(), Arc::new(AtomicUsize::new(0)));
            let (raised, counted) = (token.clone(), reads.clone());
            let on_read = move |neighbors| {
                let read = 1 + neighbors;
                if counted.fetch_add(read, Ordering::Relaxed) + read >= cancelled_at {
                    raised.cancel();
                }
            };
            let view = Rearranged { on_read: Some(Box::new(on_read)), ..Rearranged::<R>::new(csr.clone()) };
            let result = run(&view, execution(pool.as_ref()).cancelled_by(&token));
            let after = reads.load(Ordering::Relaxed).saturating_sub(cancelled_at);
            let what = format!("{name}, {topology:?}, {threads} threads, cancelled at {cancelled_at}");
            assert!(after <= most, "{what}: {after} of {all} were read after that");
            // Some kernels read less than the larger numbers.
            assert!(result == Err(KernelError::Cancelled) || cancelled_at > 100, "{what}: {result:?}");
        }
    }
}

#[test]
fn every_kernel_stops_soon_after_it_was_cancelled() {
    for topology in [Topology::Directed, Topology::Undirected] {
        let csr = graph(topology).weighted_csr(|_, _| 1.0);
        for threads in [0, 2] {
            stops_soon::<Descending>(&csr, threads);
            stops_soon::<Twice>(&csr, threads);
        }
    }
}

#[test]
fn a_kernel_that_was_cancelled_before_has_no_result() {
    let token = CancelToken::new();
    token.cancel();
    let csr = graph(Topology::Directed).weighted_csr(|_, _| 1.0);
    for threads in [0, 1, 3] {
        let pool = pool(threads);
        for (name, run) in kernels() {
            let result = run(&csr, execution(pool.as_ref()).cancelled_by(&token));
            assert_eq!(result, Err(KernelError::Cancelled), "{name}, {threads} threads");
        }
    }
}

#[test]
fn progress_is_reported_on_the_calling_thread_and_only_grows() {
    let caller = std::thread::current().id();
    for topology in TOPOLOGIES {
        let csr = graph(topology).weighted_csr(|_, _| 1.0);
        for threads in [0, 1, 3] {
            let pool = pool(threads);
            for (name, run) in kernels() {
                let reports = Mutex::new(Vec::new());
                let watch = |progress: Progress| {
                    assert_eq!(std::thread::current().id(), caller);
                    reports.lock().push(progress);
                };
                run(&csr, execution(pool.as_ref()).reporting_to(&watch)).expect("nothing cancels");
                let reports = reports.lock();
                let what = format!("{name}, {topology:?}, {threads} threads: {reports:?}");
                assert!(!reports.is_empty() && reports[0].iteration > 0, "{what}");
                assert!(reports.is_sorted_by(|one, next| one.iteration < next.iteration), "{what}");
                let is_within =
                    |report: &Progress| report.at_most.is_none_or(|most| report.iteration <= most);
                assert!(reports.iter().all(is_within), "{what}");
            }
        }
    }
}
