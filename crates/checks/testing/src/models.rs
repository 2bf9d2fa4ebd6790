//! Models under the model checker, and the scenario as a model.

use crate::Tested;
use crate::scenario::{Graph, join, spawn};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};

/// Makes a test of each model for an engine that is [`Tested`].
#[macro_export]
macro_rules! model_tests {
    ($tested:ty) => {
        $crate::model_tests!(@models $tested:
            one_unit_with_a_writer_a_reader_and_a_reclaimer
            one_unit_with_two_readers_and_two_reclaimers
            one_unit_with_two_writers
            one_unit_with_two_writers_and_two_readers
            two_units_with_two_writers
            a_deletion_between_two_snapshots
            garbage_moves_to_an_older_snapshot
            a_reclamation_may_know_less_than_there_is
            a_walk_over_what_is_replaced
            a_search_while_versions_come_and_go
            records_of_an_edge_that_readers_hold
            a_record_in_the_memory_of_another
        );
    };
    (@models $tested:ty: $($model:ident)*) => {
        $(
            #[test]
            fn $model() {
                $crate::models::check($crate::models::$model::<$tested>, 3000);
            }
        )*
    };
}

/// Runs a model under random schedules, and under schedules with few, well-placed preemptions:
/// `schedules` of each, or the number in `SHUTTLE_ITERATIONS`.
pub fn check(model: fn(), schedules: usize) {
    check_one_in(1, model, schedules);
}

/// Like [`check`], for a model whose executions take long: with one in `divisor` of the schedules.
pub fn check_one_in(divisor: usize, model: fn(), schedules: usize) {
    let asked = std::env::var("SHUTTLE_ITERATIONS").ok().and_then(|count| count.parse().ok());
    let schedules = (asked.unwrap_or(schedules) / divisor).max(1);
    check_random(model, schedules);
    check_few_preemptions(model, schedules);
}

/// Runs a model under `schedules` random schedules.
pub fn check_random(model: impl Fn() + Send + Sync + 'static, schedules: usize) {
    Runner::new(RandomScheduler::new(schedules), config()).run(model);
}

/// Runs a model under `schedules` schedules with at most three preemptions.
pub fn check_few_preemptions(model: impl Fn() + Send + Sync + 'static, schedules: usize) {
    Runner::new(PctScheduler::new(3, schedules), config()).run(model);
}

/// The tasks of a model need stacks for code that is hardly optimized; the default is 60 KiB.
fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    config
}

/// A writer puts, deletes and puts an edge again while snapshots open, read and close, and a
/// reclamation frees garbage.
pub fn one_unit_with_a_writer_a_reader_and_a_reclaimer<T: Tested>() {
    let graph = Graph::<T>::new(1);
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, 1..=4)),
        spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(2))),
        spawn(&graph, |graph| (0..2).for_each(|_| graph.reclaim())),
    ];
    join(&graph, threads);
}

/// Two readers hold different timestamps, between which versions die; two reclamations meet.
pub fn one_unit_with_two_readers_and_two_reclaimers<T: Tested>() {
    let graph = Graph::<T>::new(1);
    let mut threads = vec![spawn(&graph, |graph| graph.write(0, 1..=4))];
    for _ in 0..2 {
        threads.push(spawn(&graph, |graph| graph.open().read(2)));
        threads.push(spawn(&graph, |graph| graph.reclaim()));
    }
    join(&graph, threads);
}

/// Two writers of one unit.
pub fn one_unit_with_two_writers<T: Tested>() {
    let graph = Graph::<T>::new(1);
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, 10..12)),
        spawn(&graph, |graph| graph.write(0, 20..22)),
        spawn(&graph, |graph| graph.open().read(2)),
        spawn(&graph, |graph| graph.reclaim()),
    ];
    join(&graph, threads);
}

/// Two writers of one unit and two readers that hold different timestamps.
pub fn one_unit_with_two_writers_and_two_readers<T: Tested>() {
    let graph = Graph::<T>::new(1);
    let mut threads =
        vec![spawn(&graph, |graph| graph.write(0, 10..12)), spawn(&graph, |graph| graph.write(0, 20..22))];
    for _ in 0..2 {
        threads.push(spawn(&graph, |graph| graph.open().read(2)));
        threads.push(spawn(&graph, |graph| graph.reclaim()));
    }
    join(&graph, threads);
}

/// Two writers of two units stamp and apply in different orders; a snapshot sees whole prefixes.
pub fn two_units_with_two_writers<T: Tested>() {
    let graph = Graph::<T>::new(2);
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, 1..=3)),
        spawn(&graph, |graph| graph.write(1, 1..=3)),
        spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(1))),
        spawn(&graph, |graph| graph.reclaim()),
    ];
    join(&graph, threads);
}

/// For an engine that owns files: writers of two units, readers, and a thread that flushes and does
/// the deferred maintenance.
pub fn writers_and_readers_beside_flushes<T: Tested>() {
    let graph = Graph::<T>::new(2);
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, 1..=3)),
        spawn(&graph, |graph| graph.write(1, [1, 3, 4])),
        spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(2))),
        spawn(&graph, |graph| {
            for _ in 0..2 {
                graph.flush();
                graph.reclaim();
            }
        }),
    ];
    join(&graph, threads);
}

/// A deletion is visible in one snapshot, between two states that other snapshots show.
pub fn a_deletion_between_two_snapshots<T: Tested>() {
    let graph = Graph::<T>::new(1);
    graph.write(0, [1]);
    let before = graph.open();
    graph.write(0, [3]);
    let deleted = graph.open();
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, [4, 6])),
        spawn(&graph, move |_| deleted.read(2)),
        spawn(&graph, |graph| {
            drop(before);
            graph.reclaim();
        }),
    ];
    join(&graph, threads);
}

/// A version is filed under the newer of two snapshots that see it, and has to outlive that
/// snapshot.
pub fn garbage_moves_to_an_older_snapshot<T: Tested>() {
    let graph = Graph::<T>::new(2);
    graph.write(0, [1]);
    let older = graph.open();
    graph.write(1, [1]);
    let newer = graph.open();
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, [2, 3])),
        spawn(&graph, move |_| older.read(3)),
        spawn(&graph, |graph| {
            drop(newer);
            graph.reclaim();
        }),
    ];
    join(&graph, threads);
}

/// A snapshot opens, and a deletion supersedes a version that it sees, after a reclamation has
/// collected the live timestamps.
pub fn a_reclamation_may_know_less_than_there_is<T: Tested>() {
    for value in [2, 3] {
        let graph = Graph::<T>::new(1);
        graph.write(0, [1]);
        let threads = vec![
            spawn(&graph, move |graph| {
                let snapshot = graph.open();
                graph.write(0, [value]);
                snapshot.read(2);
            }),
            spawn(&graph, |graph| graph.reclaim()),
        ];
        join(&graph, threads);
    }
}

/// A reader walks over versions that are replaced under it.
pub fn a_walk_over_what_is_replaced<T: Tested>() {
    let graph = Graph::<T>::new(1);
    graph.write(0, [1]);
    let snapshot = graph.open();
    graph.write(0, [2]);
    let threads =
        vec![spawn(&graph, |graph| graph.write(0, [3, 4])), spawn(&graph, move |_| snapshot.read(2))];
    join(&graph, threads);
}

/// A reader searches for its version while further ones are superseded and others freed, so that
/// the array that it searches is replaced.
pub fn a_search_while_versions_come_and_go<T: Tested>() {
    let graph = Graph::<T>::new(1);
    graph.write(0, [1]);
    let oldest = graph.open();
    graph.write(0, [2]);
    let middle = graph.open();
    graph.write(0, [3]);
    let threads = vec![
        spawn(&graph, move |graph| {
            let newest = graph.open();
            graph.write(0, [4]);
            newest.read(1);
        }),
        spawn(&graph, move |_| oldest.read(2)),
        spawn(&graph, |graph| {
            drop(middle);
            graph.reclaim();
        }),
    ];
    join(&graph, threads);
}

/// Records are replaced and deleted while snapshots read them and a reclamation frees former ones.
/// The allocator hands out freed addresses again at once.
pub fn records_of_an_edge_that_readers_hold<T: Tested>() {
    let graph = Graph::<T>::with_records(1);
    graph.write(0, [1]);
    let threads = vec![
        spawn(&graph, |graph| graph.write(0, [2, 4, 6])),
        spawn(&graph, |graph| (0..2).for_each(|_| graph.open().read(2))),
        spawn(&graph, |graph| graph.open().read(2)),
        spawn(&graph, |graph| (0..2).for_each(|_| graph.reclaim())),
    ];
    join(&graph, threads);
}

/// Of the records of an edge that two snapshots read, one is freed, and the next record of the edge
/// gets its address, which the other snapshot must not take for its own.
pub fn a_record_in_the_memory_of_another<T: Tested>() {
    let graph = Graph::<T>::with_records(1);
    graph.write(0, [1]);
    let older = graph.open();
    graph.write(0, [3, 4]);
    let newer = graph.open();
    graph.write(0, [5]);
    let threads = vec![
        spawn(&graph, |graph| {
            drop(older);
            graph.reclaim();
            graph.write(0, [7, 8]);
        }),
        spawn(&graph, move |_| newer.read(3)),
        spawn(&graph, |graph| graph.open().read(2)),
    ];
    join(&graph, threads);
}
