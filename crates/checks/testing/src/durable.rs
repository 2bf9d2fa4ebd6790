//! Named cases for engines that own files, on a file system that fails and loses power.

use crate::check::{check_view, read};
use crate::contract::{delete, put, put_valued};
use crate::oracle::{LABELS, Oracle, Request};
use crate::parallel::{self, ParallelGraph};
use crate::pipeline::{Pipeline, catalog, note_of};
use crate::reads::{Answer, each_read, each_read_of_parallel_edges};
use crate::sample::Sample;
use crate::simulated::{Fault, FaultKind, SimulatedFiles, Survival};
use crate::{TestedDurable, damage};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::token::Registered;
use hedgerow_model::{CommitTimestamp, Counts, Durable, Engine, EngineError, LabelId, ReadError, Topology};
use hedgerow_sync::Arc;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Makes a test of each case for an engine that is [`TestedDurable`](crate::TestedDurable).
#[macro_export]
macro_rules! durable_tests {
    ($tested:ty) => {
        $crate::contract_tests!(@cases durable, $tested:
            what_is_flushed_is_there_when_the_files_are_opened_again
            a_flush_writes_nothing_behind_its_timestamp
            a_flush_of_less_than_is_durable_changes_nothing
            vertices_that_are_gone_keep_their_ids
            any_sequence_of_commits_flushes_and_openings_keeps_what_is_durable
            power_may_go_at_every_operation
            power_may_go_again_while_what_is_left_is_opened
            any_operation_may_fail
            all_operations_may_fail_from_any_on
            files_do_not_pile_up
            any_read_may_fail
            any_read_of_parallel_edges_may_fail
            any_read_on_the_way_of_a_commit_may_fail
            any_read_while_the_files_are_opened_may_fail
            damage_is_an_error_or_makes_no_difference
        );
    };
}

/// The vertices of the cases.
const VERTICES: [u32; 6] = [0, 1, 3, 63, 64, 70];

/// The vertices that are checked one by one in cases that open files a thousand times; scans cover
/// all vertices.
const FEW: [u32; 2] = [0, 3];

const TOPOLOGY: Topology = Topology::Undirected;

/// Creates a directory for an engine.
fn directory() -> SimulatedFiles {
    let files = SimulatedFiles::new(7);
    files.create_directory().unwrap();
    files
}

fn open<T: TestedDurable>(files: &SimulatedFiles) -> Result<T::Engine, EngineError> {
    T::open(Arc::new(files.clone()), TOPOLOGY, catalog())
}

fn durable<T: TestedDurable>(engine: &T::Engine) -> &dyn Durable {
    T::DURABLE(engine).expect("the engine owns files")
}

/// An engine on files, the states of its graph, and the newest timestamp that a flush reported as
/// durable.
struct Store<T: TestedDurable> {
    pipeline: Pipeline<T>,
    files: SimulatedFiles,
    /// Indexed by timestamp, from 0 on.
    states: Vec<Oracle>,
    /// Numbers of file system operations, each with the timestamp known to be durable after them.
    acknowledged: Vec<(u64, CommitTimestamp)>,
}

impl<T: TestedDurable> Store<T> {
    /// Creates an empty store.
    fn new() -> Self {
        let files = directory();
        let engine = open::<T>(&files).unwrap();
        let pipeline =
            Pipeline::around(engine, Oracle::new(TOPOLOGY), Counts::default(), CommitTimestamp::ZERO);
        Store { pipeline, files, states: vec![Oracle::new(TOPOLOGY)], acknowledged: Vec::new() }
    }

    fn commit(&mut self, requests: &[Request]) -> Result<(), EngineError> {
        self.pipeline.commit(requests, 0)?;
        self.states.push(self.pipeline.oracle.clone());
        Ok(())
    }

    /// Flushes all commits.
    fn flush(&mut self) -> Result<(), EngineError> {
        let before = durable::<T>(&self.pipeline.engine).durable_through();
        let flushed = self.pipeline.flush();
        let through = durable::<T>(&self.pipeline.engine).durable_through();
        match &flushed {
            Ok(()) => assert_eq!(through, self.pipeline.last()),
            Err(_) => assert_eq!(through, before, "a flush that failed made nothing durable"),
        }
        self.acknowledged.push((self.files.operations(), through));
        flushed
    }

    /// Returns true if a flush made everything up to this commit durable.
    fn was_flushed(&self, at: CommitTimestamp) -> bool {
        self.acknowledged.iter().any(|(_, through)| *through == at)
    }

    /// Opens the files after a loss of power, and checks that they have one of the possible states.
    fn check_after_crash(&self, files: &SimulatedFiles, at_least: CommitTimestamp) -> T::Engine {
        let engine = open::<T>(files).unwrap();
        let through = durable::<T>(&engine).durable_through();
        assert!(at_least <= through && through <= self.pipeline.last(), "{at_least} {through}");
        check_opened::<T>(&engine, &self.states[through.0 as usize]);
        engine
    }
}

/// Checks that the opened files have the expected state, and its note.
fn check_opened<T: TestedDurable>(engine: &T::Engine, expected: &Oracle) {
    let through = durable::<T>(engine).durable_through();
    let note = if through == CommitTimestamp::ZERO { Vec::new() } else { note_of(through) };
    assert_eq!(durable::<T>(engine).note(), note);
    let mut keys = Vec::new();
    durable::<T>(engine).each_key(&mut |vertex, key| keys.push((vertex.get(), key.to_key()))).unwrap();
    let right = expected.vertices.keys().map(|vertex| (*vertex, Oracle::key(*vertex)));
    assert_eq!(keys, right.collect::<Vec<_>>());
    let counts = durable::<T>(engine).counts().unwrap();
    let right = expected.counts();
    assert_eq!((counts.vertex_bound, counts.vertices), (right.vertex_bound, right.vertices));
    for label in (0..LABELS).map(LabelId) {
        assert!(counts.edges_of(label).may_be(right.edges_of(label).at_least()), "{counts:?} {right:?}");
    }
    // SAFETY: no other thread changes the engine, and its whole state is durable.
    let token = unsafe { Registered::new(durable::<T>(engine).durable_through(), counts) };
    let snapshot = engine.open_snapshot(&token).unwrap();
    check_view(&engine.view(&snapshot, &token), expected, &FEW);
}

/// Commits that put, change and delete every kind of object.
fn commits() -> Vec<Vec<Request>> {
    let record = |source, value| Request::PutEdges { label: 3, source, destinations: vec![0, 63, 64], value };
    let weight = |source, value| Request::PutEdges { label: 1, source, destinations: vec![1, 70], value };
    vec![
        vec![put_valued(0, 0..40, 1), put(70, [0, 70])],
        vec![record(1, 5), weight(3, 2), Request::PutVertex { vertex: 64, property: Some(9) }],
        vec![put_valued(0, (0..40).step_by(3), 2), record(1, 6)],
        vec![delete(70, [0]), Request::DeleteVertex { vertex: 3 }],
        vec![put_valued(3, [0, 64], 3), record(63, 7), weight(3, 4)],
        vec![Request::DeleteVertex { vertex: 1 }],
        vec![record(1, 8), put(1, [1, 3])],
        vec![Request::DeleteEdges { label: 2, source: 0, destinations: (0..40).collect() }],
    ]
}

/// Makes commits, each followed by a flush, with maintenance and snapshots in between. Returns the
/// number of failures.
fn play<T: TestedDurable>(store: &mut Store<T>) -> usize {
    let mut failures = 0;
    for (number, requests) in commits().iter().enumerate() {
        if store.commit(requests).is_err() {
            failures += 1;
            continue;
        }
        if number % 3 == 1 {
            failures += usize::from(store.pipeline.try_open().is_err());
        }
        failures += usize::from(store.flush().is_err());
        failures += usize::from(store.pipeline.try_reclaim(usize::MAX, 0).is_err());
        if number % 3 == 2 {
            store.pipeline.close(0);
        }
    }
    failures
}

/// The flushed commits are there after reopening the files, and later ones are not.
pub fn what_is_flushed_is_there_when_the_files_are_opened_again<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    for (number, requests) in commits().iter().enumerate() {
        store.commit(requests).unwrap();
        if number % 2 == 0 {
            store.flush().unwrap();
        }
        let at_least = store.acknowledged.last().map_or(CommitTimestamp::ZERO, |(_, through)| *through);
        let opened = store.check_after_crash(&store.files.copy(), at_least);
        assert_eq!(durable::<T>(&opened).durable_through(), at_least);
    }
    // Continues from the flushed state: the later commits come from the log.
    let files = store.files.copy();
    let engine = open::<T>(&files).unwrap();
    let (through, counts) =
        (durable::<T>(&engine).durable_through(), durable::<T>(&engine).counts().unwrap());
    let mut pipeline =
        Pipeline::<T>::around(engine, store.states[through.0 as usize].clone(), counts, through);
    for requests in &commits()[through.0 as usize..] {
        pipeline.commit(requests, 0).unwrap();
    }
    pipeline.open();
    pipeline.flush().unwrap();
    pipeline.reclaim_all();
    pipeline.check(&VERTICES);
}

/// Later commits are in the engine, but not in the files.
pub fn a_flush_writes_nothing_behind_its_timestamp<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    for requests in commits() {
        store.commit(&requests).unwrap();
        store.pipeline.open();
    }
    for number in [0, 3, 4, 7] {
        let snapshot = &store.pipeline.snapshots[number];
        store.pipeline.flush_at(&snapshot.token).unwrap();
        let through = snapshot.token.at();
        assert_eq!(durable::<T>(&store.pipeline.engine).durable_through(), through);
        let opened = store.check_after_crash(&store.files.after_crash(Survival::Nothing, 1), through);
        assert_eq!(durable::<T>(&opened).durable_through(), through);
        store.pipeline.check(&VERTICES);
        store.pipeline.reclaim_all();
        store.pipeline.check(&VERTICES);
    }
}

/// A flush up to an earlier timestamp keeps the durable state.
pub fn a_flush_of_less_than_is_durable_changes_nothing<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    for requests in &commits()[..3] {
        store.commit(requests).unwrap();
        store.pipeline.open();
    }
    store.flush().unwrap();
    for snapshot in &store.pipeline.snapshots {
        store.pipeline.flush_at(&snapshot.token).unwrap();
        store.check_after_crash(&store.files.after_crash(Survival::Nothing, 1), CommitTimestamp(3));
    }
}

/// The bound of the ids is durable, even if the vertices that determined it are gone.
pub fn vertices_that_are_gone_keep_their_ids<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    store.commit(&[put(1, [500])]).unwrap();
    store.flush().unwrap();
    let deleted = [1, 500].map(|vertex| Request::DeleteVertex { vertex });
    store.commit(&deleted).unwrap();
    store.flush().unwrap();
    for _ in 0..8 {
        store.commit(&[]).unwrap();
        store.flush().unwrap();
        store.pipeline.reclaim_all();
    }
    store.check_after_crash(&store.files.copy(), store.pipeline.last());
}

/// Random commits; each time the files are opened, commits that were not flushed are gone, and new
/// ones continue from there.
pub fn any_sequence_of_commits_flushes_and_openings_keeps_what_is_durable<T: TestedDurable>() {
    for seed in 0..20 {
        let mut random = StdRng::seed_from_u64(seed);
        let mut store = Store::<T>::new();
        for _ in 0..40 {
            let chosen = random.random_range(0..commits().len());
            match random.random_range(0..10) {
                0..5 => store.commit(&commits()[chosen]).unwrap(),
                5 | 6 => store.flush().unwrap(),
                7 => drop(store.pipeline.reclaim(usize::MAX, 0)),
                8 => store.pipeline.open(),
                _ => {
                    let survival = Survival::ALL[random.random_range(0..Survival::ALL.len())];
                    let files = store.files.after_crash(survival, random.random());
                    let at_least = durable::<T>(&store.pipeline.engine).durable_through();
                    let engine = store.check_after_crash(&files, at_least);
                    let (through, counts) =
                        (durable::<T>(&engine).durable_through(), durable::<T>(&engine).counts().unwrap());
                    store.states.truncate(through.0 as usize + 1);
                    let state = store.states[through.0 as usize].clone();
                    store.pipeline = Pipeline::around(engine, state, counts, through);
                    store.files = files;
                }
            }
        }
        store.pipeline.check(&VERTICES);
    }
}

/// Whatever survives, the files have the state of one commit: of the last successful flush, or of a
/// flush in progress.
pub fn power_may_go_at_every_operation<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    store.files.keep_crash_images();
    assert_eq!(play(&mut store), 0);
    let images = store.files.take_crash_images();
    assert!(images.len() > commits().len());
    for image in Sample::of_run().take(images, 0) {
        let mut acknowledged =
            store.acknowledged.iter().filter(|(operations, _)| *operations < image.operation());
        let at_least = acknowledged.next_back().map_or(CommitTimestamp::ZERO, |(_, through)| *through);
        for survival in Survival::ALL {
            for seed in 0..2 {
                store.check_after_crash(&image.after_crash(survival, seed), at_least);
            }
        }
    }
}

/// Power is lost again while the files are opened, which changes them.
pub fn power_may_go_again_while_what_is_left_is_opened<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    store.files.keep_crash_images();
    play(&mut store);
    for image in Sample::of_run().take(store.files.take_crash_images(), 1) {
        let files = image.after_crash(Survival::Everything, 0);
        let through =
            durable::<T>(&store.check_after_crash(&files.copy(), CommitTimestamp::ZERO)).durable_through();
        files.keep_crash_images();
        open::<T>(&files).unwrap();
        for second in files.take_crash_images() {
            for survival in [Survival::Nothing, Survival::Everything, Survival::Sectors] {
                store.check_after_crash(&second.after_crash(survival, 1), through);
            }
        }
    }
}

/// Each operation fails once, in each way.
pub fn any_operation_may_fail<T: TestedDurable>() {
    operations_fail::<T>(false);
}

/// Each operation fails, in each way, and all later ones.
pub fn all_operations_may_fail_from_any_on<T: TestedDurable>() {
    operations_fail::<T>(true);
}

fn operations_fail<T: TestedDurable>(sticky: bool) {
    let mut whole = Store::<T>::new();
    let before = whole.files.operations();
    assert_eq!(play(&mut whole), 0);
    let (operations, sample) = (whole.files.operations() - before, Sample::of_run());
    for (search, kind) in (2..).zip(FaultKind::ALL) {
        for number in sample.take(1..=operations, search) {
            let mut store = Store::<T>::new();
            let at = store.files.operations() + number;
            store.files.inject(Fault { at, kind, sticky });
            let failures = play(&mut store);
            if store.files.faults_met() == 0 {
                break;
            }
            assert!(kind == FaultKind::Short || failures > 0 || !sticky, "operation {number} {kind:?}");
            // Reads work again, and durable state is intact, whatever a loss of power takes.
            store.files.heal();
            store.pipeline.check(&FEW);
            let through = durable::<T>(&store.pipeline.engine).durable_through();
            for survival in [Survival::Nothing, Survival::Prefix, Survival::Sectors] {
                store.check_after_crash(&store.files.after_crash(survival, number), through);
            }
            // A later flush succeeds.
            store.flush().unwrap();
            store.pipeline.reclaim_all();
            store.pipeline.check(&FEW);
            store.check_after_crash(&store.files.after_crash(Survival::Nothing, 1), store.pipeline.last());
        }
    }
}

/// Opening the files removes leftovers of a failed flush or a loss of power; merged files are
/// removed once they are no longer read.
pub fn files_do_not_pile_up<T: TestedDurable>() {
    let mut store = Store::<T>::new();
    assert_eq!(play(&mut store), 0);
    store.pipeline.snapshots.clear();
    store.pipeline.reclaim_all();
    let usual = store.files.list().unwrap().len();
    for _ in 0..20 {
        play(&mut store);
        store.pipeline.snapshots.clear();
        store.pipeline.reclaim_all();
    }
    assert!(store.files.list().unwrap().len() < usual + 10);
    for number in 1..40 {
        let kind = FaultKind::Device;
        store.files.inject(Fault { at: store.files.operations() + number, kind, sticky: false });
        store.commit(&commits()[number as usize % commits().len()]).ok();
        store.flush().ok();
        store.pipeline.try_reclaim(usize::MAX, 0).ok();
    }
    store.files.heal();
    store.pipeline.snapshots.clear();
    store.flush().unwrap();
    store.pipeline.reclaim_all();
    let files = store.files.copy();
    drop(store.check_after_crash(&files, store.pipeline.last()));
    assert!(files.list().unwrap().len() < usual + 10);
}

/// Calls `ask` with the first read failing, then the second, and so on until no read is left to
/// fail: the answer is right, or an error that names a file.
fn ask_while_reads_fail(files: &SimulatedFiles, name: &str, ask: &dyn Fn() -> Answer) {
    let right = ask().unwrap();
    let names = files.list().unwrap();
    for kind in [FaultKind::Device, FaultKind::Short] {
        for number in 1.. {
            let met = files.faults_met();
            files.inject(Fault { at: files.operations() + number, kind, sticky: false });
            let answer = ask();
            files.heal();
            match answer {
                Ok(answer) => assert_eq!(answer, right, "{name}, operation {number}"),
                Err(error) => {
                    let text = error.to_string();
                    assert!(names.iter().any(|name| text.contains(name)), "{name} names no file: {text}");
                }
            }
            if files.faults_met() == met {
                break;
            }
        }
    }
}

/// Returns a store with some of its commits in several files, and others in no file.
fn half_flushed<T: TestedDurable>() -> Store<T> {
    let mut store = Store::<T>::new();
    for (number, requests) in commits().iter().enumerate() {
        store.commit(requests).unwrap();
        if [1, 3, 6].contains(&number) {
            store.flush().unwrap();
        }
        if number == 2 || number == 7 {
            store.pipeline.open();
        }
    }
    store
}

/// Calls each method of views, adjacencies and cursors, of snapshots and of the newest state.
pub fn any_read_may_fail<T: TestedDurable>() {
    let store = half_flushed::<T>();
    let files = &store.files;
    let met = files.faults_met();
    for snapshot in &store.pipeline.snapshots {
        let view = store.pipeline.engine.view(&snapshot.state, &snapshot.token);
        each_read(&view, &VERTICES, &mut |name, ask| ask_while_reads_fail(files, name, ask));
    }
    let locks = store.pipeline.locks();
    let view = read(store.pipeline.engine.latest(&locks));
    each_read(&view, &VERTICES, &mut |name, ask| ask_while_reads_fail(files, name, ask));
    assert!(files.faults_met() > met, "no read of a view went to a file");
    store.pipeline.check(&VERTICES);
}

/// Returns a graph with some parallel edges in files.
fn parallel_edges<T: TestedDurable>() -> (ParallelGraph<T>, SimulatedFiles) {
    let files = directory();
    let engine = T::open(Arc::new(files.clone()), TOPOLOGY, parallel::catalog()).unwrap();
    let mut graph = ParallelGraph::<T>::new(engine, TOPOLOGY);
    for number in 0..6 {
        let changes = (0..9).map(|key| (key * (number + 1), (key != 4).then_some(number as u32)));
        graph.commit(&[((0, 1), Some(changes.collect())), ((1, 2), Some(vec![(number, Some(1))]))]).unwrap();
        graph.flush().unwrap();
    }
    (graph, files)
}

/// Calls each method about parallel edges, and changes them, which may read their list.
pub fn any_read_of_parallel_edges_may_fail<T: TestedDurable>() {
    let (mut graph, files) = parallel_edges::<T>();
    let token = graph.register();
    let snapshot = graph.engine.open_snapshot(&token).unwrap();
    let view = graph.engine.view(&snapshot, &token);
    let label = parallel::LABEL;
    each_read_of_parallel_edges(&view, label, &[0, 1, 2], &mut |name, ask| {
        ask_while_reads_fail(&files, name, ask);
    });
    drop(view);
    for number in 1.. {
        let met = files.faults_met();
        files.inject(Fault { at: files.operations() + number, kind: FaultKind::Device, sticky: false });
        let failed = graph.commit(&[((0, 1), Some(vec![(number, Some(2)), (number + 50, None)]))]).is_err();
        files.heal();
        graph.check_newest();
        if files.faults_met() == met {
            break;
        }
        assert!(failed, "a read failed");
    }
    // The counts of parallel edges are restored.
    graph.flush().unwrap();
    let opened = T::open(Arc::new(files.copy()), TOPOLOGY, parallel::catalog()).unwrap();
    assert_eq!(durable::<T>(&opened).counts().unwrap().parallel_of(label), graph.counts().parallel_of(label));
}

/// Snapshots, the newest state, commits and maintenance.
pub fn any_read_on_the_way_of_a_commit_may_fail<T: TestedDurable>() {
    for number in 1.. {
        let mut store = half_flushed::<T>();
        let (files, met) = (store.files.clone(), store.files.faults_met());
        files.inject(Fault { at: files.operations() + number, kind: FaultKind::Device, sticky: false });
        let mut outcomes = vec![store.pipeline.try_open()];
        outcomes.push(store.commit(&commits()[2]));
        outcomes.push(store.pipeline.try_reclaim(usize::MAX, 0).map(drop));
        files.heal();
        store.pipeline.check(&VERTICES);
        if files.faults_met() == met {
            assert!(number > 1, "maintenance of several files reads some");
            break;
        }
        for error in outcomes.into_iter().filter_map(Result::err) {
            let text = error.to_string();
            assert!(!matches!(error, EngineError::Capacity(_)), "{text}");
            let mut names = files.list().unwrap();
            names.push(files.location().display().to_string());
            assert!(names.iter().any(|name| text.contains(name)), "no file is named: {text}");
        }
    }
}

/// A failed read prevents the opening, and nothing is lost.
pub fn any_read_while_the_files_are_opened_may_fail<T: TestedDurable>() {
    let store = half_flushed::<T>();
    let through = durable::<T>(&store.pipeline.engine).durable_through();
    for kind in FaultKind::ALL {
        for number in 1.. {
            let files = store.files.copy();
            files.inject(Fault { at: number, kind, sticky: false });
            if let Ok(engine) = open::<T>(&files) {
                files.heal();
                check_opened::<T>(&engine, &store.states[through.0 as usize]);
            }
            files.heal();
            store.check_after_crash(&files, through);
            if files.faults_met() == 0 {
                break;
            }
        }
    }
}

/// Reading changed bytes is always an error, except at the end of a log, which may look like a loss
/// of power: then the files are those of an earlier flush, undamaged, and the store knows from its
/// checkpoint if its own log has the later commits.
pub fn damage_is_an_error_or_makes_no_difference<T: TestedDurable>() {
    let mut store = half_flushed::<T>();
    store.flush().unwrap();
    let through = durable::<T>(&store.pipeline.engine).durable_through();
    let expected = answers(&store.pipeline.engine, through);
    let mut random = StdRng::seed_from_u64(3);
    let (mut opened, mut refused) = (0, 0);
    for name in store.files.list().unwrap() {
        for _ in 0..60 {
            let files = store.files.copy();
            let mut bytes = files.open(&name, OpenMode::Read).unwrap().read_from(0).unwrap();
            damage::damage(&mut bytes, &mut random);
            let file = files.open(&name, OpenMode::Create).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
            match open::<T>(&files) {
                Ok(engine) if durable::<T>(&engine).durable_through() == through => {
                    opened += 1;
                    for (answer, right) in answers(&engine, through).into_iter().zip(&expected) {
                        assert!(answer.is_err() || answer == *right, "{name}: {answer:?} {right:?}");
                    }
                }
                Ok(engine) => {
                    let earlier = durable::<T>(&engine).durable_through();
                    assert!(
                        earlier == CommitTimestamp::ZERO || store.was_flushed(earlier),
                        "{name}: {earlier}"
                    );
                    check_opened::<T>(&engine, &store.states[earlier.0 as usize]);
                }
                Err(error) => {
                    refused += 1;
                    assert!(error.to_string().contains(&name), "{name} is damaged: {error}");
                }
            }
        }
    }
    assert!(opened + refused > 0);
    store.pipeline.check(&VERTICES);
}

/// Returns the answers of all methods about a state.
fn answers<E: Engine>(engine: &E, at: CommitTimestamp) -> Vec<Answer> {
    let mut answers = Vec::new();
    let counts = Counts { vertex_bound: 71, ..Counts::default() };
    // SAFETY: no other thread uses the engine meanwhile.
    let token = unsafe { Registered::new(at, counts) };
    match engine.open_snapshot(&token) {
        Ok(snapshot) => {
            let view = engine.view(&snapshot, &token);
            each_read(&view, &VERTICES, &mut |_, ask| answers.push(ask()));
        }
        Err(error) => answers.push(Err(ReadError::new("a snapshot", error))),
    }
    answers
}
