//! Ingestion and searches by turns. Before each search, a static graph is rebuilt from all edges so
//! far, as in a program without a dynamic graph.

use hedgerow::kernels::{Bfs, Execution};
use hedgerow_compiled_kernels::Target;
use hedgerow_driver::expected::seconds;
use hedgerow_driver::{Answer, Bench, Entry, Failure, Turn, Workload, load, pool};
use hedgerow_sync::Arc;
use std::ops::Range;
use std::time::{Duration, Instant};

pub(super) static WORKLOAD: Workload = Workload {
    name: "interleaved",
    description: "edges put in parts, with a search after each",
    contract_metric: "throughput",
    is_default: false,
    is_on_store: false,
    scales: true,
    seconds: |_, entries| seconds(entries, 1.5),
    measure,
};

/// Parts of the graph; a search follows each.
const PARTS: usize = 16;

fn measure(bench: &mut Bench<'_>) -> Result<(), Failure> {
    let (entries, cancel) = (by_edge(bench.data.stream()), bench.watch.cancel.clone());
    for threads in bench.settings.threads.clone() {
        let pool = pool(threads)?;
        let execution = Execution { pool: pool.as_ref(), ..Execution::default() }.cancelled_by(&cancel);
        for turn in bench.turns_of(threads) {
            bench.begin(turn, "")?;
            let TakenTurns { writing, reading, answers } = take_turns(bench, turn, &entries, execution)?;
            let (writing, reading) = (writing.as_secs_f64(), reading.as_secs_f64());
            bench.record(turn, "throughput", "edges/s", entries.len() as f64 / (writing + reading));
            bench.record(turn, "time-writing", "s", writing);
            bench.record(turn, "time-reading", "s", reading);
            for (part, answer) in (1..).zip(answers) {
                let what = format!("the hash of the depths after part {part} of {PARTS}");
                bench.check_answer(&what, answer)?;
            }
        }
    }
    Ok(())
}

/// Both entries of each edge, one after the other, so that any prefix of whole edges is an
/// undirected graph for searches. Edges are in the order of their entries with the smaller source.
fn by_edge(stream: &[Entry]) -> Vec<Entry> {
    let edges = stream.iter().filter(|(source, destination)| source < destination);
    edges.flat_map(|&(source, destination)| [(source, destination), (destination, source)]).collect()
}

/// The total times of writing and reading, and the answer after each part.
#[derive(Default)]
struct TakenTurns {
    writing: Duration,
    reading: Duration,
    answers: Vec<Answer>,
}

fn take_turns(
    bench: &Bench<'_>,
    turn: Turn,
    entries: &[Entry],
    execution: Execution<'_>,
) -> Result<TakenTurns, Failure> {
    let Some(kind) = turn.engine.kind else {
        let build = |part: Range<usize>| bench.build_csr(&entries[..part.end]);
        return write_and_search(entries, execution, build, |csr| Ok(Target::Csr(Arc::new(csr))));
    };
    let graph = load::empty_graph(kind, turn.threads, bench.data.vertices())?;
    let ingest = |part| load::ingest(&graph, &entries[part], load::CONTRACT_BATCH, &bench.watch.cancel);
    let taken = write_and_search(entries, execution, ingest, |()| Ok(Target::from(graph.snapshot()?)))?;
    load::check_edges(&graph, bench.data)?;
    Ok(taken)
}

/// Writes one part after the other, and searches the graph after each.
///
/// All searches begin at the source of the first edge, so that it has neighbors.
fn write_and_search<W>(
    entries: &[Entry],
    execution: Execution<'_>,
    write: impl Fn(Range<usize>) -> Result<W, Failure>,
    open: impl Fn(W) -> Result<Target, Failure>,
) -> Result<TakenTurns, Failure> {
    let mut taken = TakenTurns::default();
    // Both entries of an edge are in one part.
    let part = entries.len().div_ceil(PARTS).next_multiple_of(2);
    for begin in (0..entries.len()).step_by(part) {
        let began = Instant::now();
        let written = write(begin..entries.len().min(begin + part))?;
        taken.writing += began.elapsed();

        let began = Instant::now();
        let subject = open(written)?;
        let search = Bfs { execution, ..Bfs::new(entries[0].0) };
        let depths = subject.compute_symmetric(search)?.depths;
        // Closing a snapshot, or freeing a static graph, is part of reading it.
        drop(subject);
        taken.reading += began.elapsed();
        taken.answers.push(Answer::hashed(&depths));
    }
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::kernels::{BuildOptions, Csr};
    use hedgerow::{Topology, VertexId};
    use hedgerow_driver::{DataSet, ENGINES, Settings, Watch};
    use std::cell::RefCell;

    #[test]
    fn parts_have_both_entries_of_their_edges() {
        let data = DataSet::named("kron-6", 1, &Watch::default()).unwrap();
        let entries = by_edge(data.stream());
        assert!(entries.chunks(2).all(|edge| edge[0] == (edge[1].1, edge[1].0)));
        let sorted = |entries: &[Entry]| {
            let mut sorted = entries.to_vec();
            sorted.sort_unstable();
            sorted
        };
        assert_eq!(sorted(&entries), sorted(data.stream()));
    }

    #[test]
    fn every_engine_finds_the_same_after_each_part() {
        let data = DataSet::named("kron-8", 1, &Watch::default()).unwrap();
        let settings = Settings {
            engines: ENGINES.to_vec(),
            workloads: vec![&WORKLOAD],
            threads: vec![1, 2],
            ..Settings::quick()
        };
        let report = hedgerow_driver::run(&data, &settings, &Watch::default()).unwrap();
        for engine in ENGINES {
            for metric in ["throughput", "time-writing", "time-reading"] {
                let row = report.results.iter().find(|row| row.engine == engine.name && row.metric == metric);
                assert!(row.is_some_and(|row| row.ratio_to_csr.is_some()), "{metric} of {}", engine.name);
            }
        }
    }

    #[test]
    fn every_part_is_written_once_and_then_searched() {
        let id = VertexId::new;
        let entries = by_edge(&(0..40).map(|start| (id(start), id(start + 1))).collect::<Vec<_>>());
        let parts = RefCell::new(Vec::new());
        let write = |part: Range<usize>| {
            parts.borrow_mut().push(part.clone());
            Ok(part.end)
        };
        let open = |end| {
            let csr =
                Csr::from_edges(41, Topology::Directed, &entries[..end], BuildOptions::default()).unwrap();
            Ok(Target::Csr(Arc::new(csr)))
        };
        let taken = write_and_search(&entries, Execution::default(), write, open).unwrap();
        let parts = parts.into_inner();
        assert!(parts.len() <= PARTS && parts.len() == taken.answers.len());
        assert!(parts.iter().all(|part| part.len() % 2 == 0), "{parts:?}");
        assert!(parts.into_iter().flatten().eq(0..entries.len()));
    }
}
