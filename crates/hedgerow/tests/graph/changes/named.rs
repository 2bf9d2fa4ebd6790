//! Named subscriptions: position and state survive whatever happens to the program.

use super::promises::{KNOWS, begin, in_store, options};
use crate::durability::own_files;
use crate::oracle::ENGINES;
use hedgerow::{
    Begin, Change, CheckpointOptions, CommitTimestamp, Durability, Error, ErrorKind, Graph, GraphOptions,
    ReadGraph, SubscribeOptions, WriteGraph,
};
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use std::time::Duration;

fn from_the_first() -> SubscribeOptions {
    begin(Begin::AfterCommit(CommitTimestamp::ZERO))
}

fn open(files: &SimulatedFiles, options: &GraphOptions) -> Graph {
    options.open_on(Arc::new(files.clone())).unwrap()
}

/// Adds the destinations of all edges that the subscription has not seen, `at_once` changes at a
/// time, and notes the sum under the name each time.
fn add_up(graph: &Graph, name: &str, at_once: usize) -> Result<u64, Error> {
    let mut subscription = graph.subscribe_as(name, &from_the_first().at_once(at_once))?;
    let state = subscription.state();
    let mut sum = if state.is_empty() { 0 } else { u64::from_le_bytes(state.try_into().unwrap()) };
    loop {
        let changes = subscription.pull()?;
        for change in changes.iter() {
            if let Change::PutEdge(edge) = change {
                sum += edge.destination().to_key().as_u64().unwrap();
            }
        }
        if changes.is_empty() {
            return Ok(sum);
        }
        subscription.note(&sum.to_le_bytes())?;
    }
}

/// The program loses power at every operation on the files, and goes on until all is done: each
/// edge is counted once.
#[test]
fn a_sum_goes_on_exactly_where_it_was_after_a_loss_of_power() {
    const EDGES: u64 = 12;
    for engine in [&ENGINES[..], &own_files::ENGINES].concat() {
        let options = options(engine).threads(1).simulated();
        let work = |graph: &Graph| -> Result<u64, Error> {
            add_up(graph, "sum", 2)?;
            let mut next = graph.snapshot()?.degree(KNOWS, 0)? as u64;
            while next < EDGES {
                next += 1;
                graph.put_edge(KNOWS, 0, next)?;
                if next.is_multiple_of(4) {
                    add_up(graph, "sum", 2)?;
                }
                if next.is_multiple_of(6) {
                    graph.checkpoint(&CheckpointOptions::new())?;
                }
            }
            add_up(graph, "sum", 3)
        };
        let mut operation = 1;
        loop {
            let files = SimulatedFiles::new(operation);
            let graph = options.create_on(Arc::new(files.clone())).unwrap();
            let made = files.operations();
            files.crash_at(made + operation);
            let worked = work(&graph);
            drop(graph);
            let survival = Survival::ALL[operation as usize % Survival::ALL.len()];
            let graph = open(&files.after_crash(survival, operation), &options);
            assert_eq!(work(&graph).unwrap(), EDGES * (EDGES + 1) / 2, "{engine}, operation {operation}");
            if worked.is_ok() {
                break;
            }
            operation += 1;
        }
        assert!(operation > 40);
    }
}

/// Commits and adds up until something fails.
fn work_without_end(
    files: &SimulatedFiles,
    options: &GraphOptions,
    random: &mut StdRng,
) -> Result<(), Error> {
    let graph = options.open_on(Arc::new(files.clone()))?;
    loop {
        let (source, edges) = (random.random_range(0..9), random.random_range(1..5));
        let destinations = (0..edges).map(|_| random.random_range(0..1_000_000_u64));
        let edges: Vec<_> = destinations.map(|destination| (source, destination)).collect();
        graph.ingest(KNOWS, &edges)?;
        add_up(&graph, "sum", random.random_range(1..9))?;
    }
}

/// The program ends 100 times at a random operation on the files; after each time the subscription
/// goes on. In the end its state is that of one that reads everything without a break.
#[test]
fn a_program_that_ends_a_hundred_times_at_random_has_the_state_of_one_that_never_did() {
    for (seed, engine) in (0..).zip([&ENGINES[..], &own_files::ENGINES].concat()) {
        let options = options(engine).threads(1).simulated();
        let mut random = StdRng::seed_from_u64(seed);
        let mut files = SimulatedFiles::new(1);
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        drop(graph.subscribe_as("undisturbed", &from_the_first()).unwrap());
        drop(graph);
        for crash in 0..100 {
            files.crash_at(files.operations() + random.random_range(1..400));
            let ended = work_without_end(&files, &options, &mut random);
            assert!(files.is_crashed(), "{ended:?}");
            files = files.after_crash(Survival::ALL[random.random_range(0..Survival::ALL.len())], crash);
        }
        let graph = open(&files, &options);
        let sum = add_up(&graph, "sum", 4).unwrap();
        assert_eq!(sum, add_up(&graph, "undisturbed", usize::MAX).unwrap(), "{engine}");
        assert!(graph.snapshot().unwrap().timestamp().0 > 100, "{engine}: too few commits");
    }
}

#[test]
fn the_log_is_kept_for_a_name_up_to_its_limit() {
    for (limits, keeps) in [
        (from_the_first(), true),
        (from_the_first().keep_bytes(1 << 15), false),
        (from_the_first().keep_age(Duration::from_secs(60)), false),
    ] {
        let files = SimulatedFiles::new(1);
        let clock = hedgerow::ManualClock::default();
        let options = options(ENGINES[0]).segment_bytes(1 << 14).simulated().clock(&clock);
        let graph = options.create_on(Arc::new(files.clone())).unwrap();
        drop(graph.subscribe_as("slow", &limits).unwrap());
        for number in 0..3000_u64 {
            clock.set(1_000_000 * number);
            graph.put_edge(KNOWS, number % 10, number).unwrap();
        }
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        let [slow] = &graph.subscriptions().unwrap()[..] else { panic!("there is one") };
        assert_eq!((slow.name.as_str(), slow.lag.commits, slow.lost > 0), ("slow", 3000, !keeps));
        match graph.subscribe_as("slow", &limits) {
            Ok(mut subscription) => {
                assert!(keeps);
                assert_eq!(subscription.pull().unwrap().commits().count(), 3000);
                subscription.note(b"all").unwrap();
            }
            Err(error) => {
                assert!(!keeps && error.kind() == ErrorKind::ChangesLost);
                assert!(error.to_string().contains(&format!("lost {} commits", slow.lost)), "{error}");
                assert!(graph.unsubscribe("slow").unwrap());
                let mut subscription = graph.subscribe_as("slow", &limits.begin(Begin::Now)).unwrap();
                let snapshot = subscription.snapshot().unwrap();
                subscription.note(b"all").unwrap();
                assert_eq!(subscription.token(), snapshot.token().unwrap());
            }
        }
        // Then nothing is kept any more.
        graph.put_edge(KNOWS, 1, 1).unwrap();
        graph.checkpoint(&CheckpointOptions::new()).unwrap();
        drop(graph);
        let graph = open(&files, &options);
        assert_eq!(graph.subscribe_as("slow", &from_the_first()).unwrap().state(), b"all");
        let early = graph.subscribe(&from_the_first()).map(drop).unwrap_err();
        assert_eq!(early.kind(), ErrorKind::ChangesLost);
    }
}

#[test]
fn names_are_used_once_at_a_time_and_only_in_stores() {
    let graph = in_store(&SimulatedFiles::new(1), Durability::Sync);
    let kind = |result: Result<_, Error>| result.map(drop::<hedgerow::NamedSubscription>).unwrap_err().kind();
    let mut one = graph.subscribe_as("one", &SubscribeOptions::new()).unwrap();
    assert_eq!(kind(graph.subscribe_as("one", &SubscribeOptions::new())), ErrorKind::Locked);
    assert_eq!(graph.unsubscribe("one").unwrap_err().kind(), ErrorKind::Locked);
    assert_eq!(kind(graph.subscribe_as("", &SubscribeOptions::new())), ErrorKind::InvalidInput);
    assert_eq!(one.note(&[0; (1 << 16) + 1]).unwrap_err().kind(), ErrorKind::InvalidInput);
    one.note(&[7; 1 << 16]).unwrap();
    assert_eq!(one.state(), [7; 1 << 16]);
    drop(one);
    assert_eq!(graph.subscriptions().unwrap()[0].state_bytes, 1 << 16);
    assert!(graph.unsubscribe("one").unwrap() && !graph.unsubscribe("one").unwrap());
    assert!(graph.subscriptions().unwrap().is_empty());
    let in_memory = Graph::in_memory(options(ENGINES[0])).unwrap();
    assert_eq!(kind(in_memory.subscribe_as("one", &SubscribeOptions::new())), ErrorKind::Unsupported);
}
