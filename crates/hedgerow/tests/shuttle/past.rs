//! Past states of a graph that keeps its history.

use crate::{EDGE, HYBRID, catch_up, check, check_on, far, has, lsm, make, options, swap};
use hedgerow::{CommitTimestamp, Graph, History, KeyKind, Topology};
use shuttle::thread;

/// Past states show commits as a whole, and stay the same while writers change their vertices,
/// readers open them, and reclamation runs.
#[test]
fn past_states_are_atomic_and_stay() {
    check(past_states_beside_writers);
    check_on(&[HYBRID, lsm::LSM], past_states_beside_writers);
}

fn past_states_beside_writers() {
    let options = options(Topology::Directed, KeyKind::Dense).history(History::All);
    let graph = make(options);
    graph.ingest(EDGE, &[(0u64, 1u64), (far(), 1)]).unwrap();
    let writers: Vec<_> = [(1, 2), (1, 3)]
        .map(|(from, to)| {
            let graph = graph.clone();
            thread::spawn(move || swap(&graph, from, to))
        })
        .into();
    let state = |graph: &Graph, at: u64| {
        let snapshot = graph.snapshot_at(CommitTimestamp(at)).unwrap();
        let shown = [1, 2, 3].map(|to| (has(&snapshot, 0, to), has(&snapshot, far(), to)));
        assert!(shown.iter().all(|(one, other)| one == other), "half of commit {at}: {shown:?}");
        let pairs = shown.iter().filter(|(one, _)| *one).count();
        assert!(snapshot.edge_count().may_be(2 * pairs as u64));
        shown
    };
    let reader = {
        let graph = graph.clone();
        thread::spawn(move || {
            let newest = graph.snapshot().unwrap().timestamp().0;
            let states: Vec<_> = (1..=newest).map(|at| state(&graph, at)).collect();
            catch_up(&graph);
            let again: Vec<_> = (1..=newest).map(|at| state(&graph, at)).collect();
            assert_eq!(states, again);
        })
    };
    writers.into_iter().for_each(|writer| _ = writer.join().unwrap());
    reader.join().unwrap();
    assert_eq!(state(&graph, 1), [(true, true), (false, false), (false, false)]);
}
