//! Windows of edges, compared with a list of all edges that were put.

use super::promises::{KNOWS, options as plain_options};
use super::*;
use crate::oracle::RECORDS;
use hedgerow::{Change, ChangedEdge, ManualClock, Span, Value, Window, WriteGraph};
use hedgerow_model::{Operation, RecordChange, RecordMode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

/// The label whose edges have numbers.
const CALLS: LabelId = LabelId(2);

/// The random numbers that determine a put or a deletion.
type Drawn = (u8, u8, u8, u8);

#[derive(Clone, Debug)]
enum Act {
    One(Drawn),
    Transaction(Vec<Drawn>),
    DeleteVertex(u8),
    /// The clock is set ahead, or back.
    Clock(i8),
    Advance,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let drawn = any::<Drawn>;
    let act = prop_oneof![
        6 => drawn().prop_map(Act::One),
        2 => prop::collection::vec(drawn(), 0..9).prop_map(Act::Transaction),
        1 => any::<u8>().prop_map(Act::DeleteVertex),
        2 => (-9..30_i8).prop_map(Act::Clock),
        5 => Just(Act::Advance),
    ];
    prop::collection::vec(act, 1..120)
}

/// A put or a deletion of an edge, mostly with a time that is late by a random number of
/// microseconds.
fn of(keys: &[Key], now: i64, (choice, source, destination, late): Drawn) -> Operation {
    let [source, destination] = [source, destination].map(|end| keys[usize::from(end) % keys.len()].clone());
    let label = LabelId(u16::from(choice % 5));
    let time = now - i64::from(late % 30).pow(2) / 30;
    if choice > 220 {
        return Operation::DeleteEdge { label, source, destination };
    }
    if label == RECORDS || label == PARALLEL {
        let note = (1, Value::String("x".repeat(usize::from(late) % 40).into()));
        let change = RecordChange::new(RecordMode::Put, vec![note, (3, Value::Timestamp(time))]);
        let key = (label == PARALLEL).then_some(u64::from(late % 3));
        return Operation::ChangeRecord { label, source, destination, key, change };
    }
    let value = hedgerow_model::EdgeValue(if label == CALLS { time.max(0).unsigned_abs() } else { 0 });
    Operation::PutEdge { label, source, destination, value }
}

/// An edge, as a window lends it.
#[derive(Clone, Debug, PartialEq)]
struct Seen {
    label: LabelId,
    ends: [Key; 2],
    number: Option<u64>,
    value: Option<u64>,
    record: Option<Vec<Value>>,
}

fn seen(edge: ChangedEdge<'_>) -> Seen {
    let record = edge.record().unwrap().map(|record| record.values().to_vec());
    let value = edge.value().filter(|_| record.is_none()).map(|value| value.0);
    let ends = [edge.source().to_key(), edge.destination().to_key()];
    Seen { label: edge.label(), ends, number: edge.number(), value, record }
}

impl Seen {
    /// The time of an edge that has one, in microseconds.
    fn time(&self) -> Option<i64> {
        match &self.record {
            Some(record) => record[3].as_timestamp(),
            None => self.value.filter(|_| self.label == CALLS).map(|value| value as i64),
        }
    }
}

fn system_time(time: i64) -> SystemTime {
    match u64::try_from(time) {
        Ok(after) => SystemTime::UNIX_EPOCH + Duration::from_micros(after),
        Err(_) => SystemTime::UNIX_EPOCH - Duration::from_micros(time.unsigned_abs()),
    }
}

/// The time of an edge, through the public interface.
fn time_of(edge: &ChangedEdge<'_>) -> Result<Option<SystemTime>, Error> {
    let time = match edge.label() {
        CALLS => edge.data::<u32>(CALLS)?.map(i64::from),
        _ => edge.record()?.and_then(|record| record.values()[3].as_timestamp()),
    };
    Ok(time.map(system_time))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Extent {
    Edges(usize),
    OfCommits(i64),
    /// The length, and the grace.
    OfEdges(i64, i64),
}

const EXTENTS: [Extent; 5] = [
    Extent::Edges(1),
    Extent::Edges(6),
    Extent::OfCommits(25),
    Extent::OfEdges(25, 0),
    Extent::OfEdges(20, 13),
];

fn span(extent: Extent) -> Span {
    let micros = |time: i64| Duration::from_micros(time.unsigned_abs());
    match extent {
        Extent::Edges(count) => Span::edges(count),
        Extent::OfCommits(length) => Span::time(micros(length)),
        Extent::OfEdges(length, grace) => Span::time_of(micros(length), time_of).grace(micros(grace)),
    }
}

/// A window, and all edges that it was passed.
struct Watched {
    window: Window,
    /// Pulls as the window does.
    mirror: Subscription,
    extent: Extent,
    slides: bool,
    /// The edges that are not late, in the order in which they came, with their times or places.
    all: Vec<(i64, Seen)>,
    count: i64,
    newest: i64,
    late: u64,
    /// The number of edges that entered and that left, the end of the last period, and its edges.
    entered: Vec<usize>,
    left: Vec<usize>,
    end: i64,
}

impl Watched {
    fn new(graph: &Graph, extent: Extent, slides: bool, at_once: usize) -> Self {
        let options = SubscribeOptions::new().at_once(at_once);
        let [mirror, subscription] = [0, 1].map(|_| graph.subscribe(&options).unwrap());
        let window = match slides {
            true => subscription.sliding(span(extent)),
            false => subscription.tumbling(span(extent)),
        };
        let newest = if matches!(extent, Extent::Edges(_)) { 0 } else { i64::MIN };
        let (entered, left) = (Vec::new(), Vec::new());
        Watched {
            window,
            mirror,
            extent,
            slides,
            all: Vec::new(),
            count: 0,
            newest,
            late: 0,
            entered,
            left,
            end: i64::MIN,
        }
    }

    fn length(&self) -> i64 {
        match self.extent {
            Extent::Edges(count) => count as i64,
            Extent::OfCommits(length) | Extent::OfEdges(length, _) => length,
        }
    }

    /// The time, or the number of edges, up to which all have come.
    fn reached(&self) -> i64 {
        let grace = if let Extent::OfEdges(_, grace) = self.extent { grace } else { 0 };
        self.newest.saturating_sub(grace)
    }

    fn period_end(&self, time: i64) -> i64 {
        (time.div_euclid(self.length()) + 1) * self.length()
    }

    /// The end of the first period that is over, and was not returned.
    fn next_end(&self) -> Option<i64> {
        let ends = self.all.iter().map(|(time, _)| self.period_end(*time));
        ends.filter(|end| *end > self.end && *end <= self.reached()).min()
    }

    fn take_in(&mut self, commit_time: i64, edge: ChangedEdge<'_>) {
        let seen = seen(edge);
        let time = match self.extent {
            Extent::Edges(_) => Some(self.count),
            Extent::OfCommits(_) => Some(commit_time),
            Extent::OfEdges(..) => seen.time(),
        };
        self.count += 1;
        let Some(time) = time else { return };
        let is_late = match self.slides {
            true => time < self.reached().saturating_sub(self.length()),
            false => self.period_end(time) <= self.reached(),
        };
        match is_late {
            true => self.late += 1,
            false => self.all.push((time, seen)),
        }
        let reached = if matches!(self.extent, Extent::Edges(_)) { time + 1 } else { time };
        self.newest = self.newest.max(reached);
    }

    fn advance(&mut self, now: i64) -> bool {
        let pulls = self.slides || self.next_end().is_none();
        let has_moved = self.window.advance().unwrap();
        while self.mirror.token() != self.window.token() {
            for commit in self.mirror.pull().unwrap().commits() {
                for change in commit.iter() {
                    if let Change::PutEdge(edge) = change {
                        self.take_in(commit.wall_clock() as i64, edge);
                    }
                }
            }
        }
        if pulls && matches!(self.extent, Extent::OfCommits(_)) && self.mirror.lag().unwrap().commits == 0 {
            self.newest = self.newest.max(now);
        }
        self.check(has_moved);
        has_moved
    }

    /// The edges with times in a range, oldest first.
    fn between(&self, from: i64, until: i64) -> Vec<usize> {
        let is_inside = |place: &usize| (from..until).contains(&self.all[*place].0);
        let mut places: Vec<_> = (0..self.all.len()).filter(is_inside).collect();
        places.sort_by_key(|place| self.all[*place].0);
        places
    }

    fn check(&mut self, has_moved: bool) {
        let edges =
            |places: &[usize]| places.iter().map(|place| self.all[*place].1.clone()).collect::<Vec<_>>();
        let inside: Vec<_> = self.window.edges().map(seen).collect();
        let entered: Vec<_> = self.window.entered().map(seen).collect();
        let left: Vec<_> = self.window.left().map(seen).collect();
        assert_eq!(
            (self.window.late(), self.window.len(), self.window.is_empty()),
            (self.late, inside.len(), inside.is_empty())
        );
        assert_eq!(has_moved, !entered.is_empty() || !left.is_empty());
        let end = match (self.slides, self.next_end()) {
            (true, _) => self.reached(),
            (false, Some(end)) => end,
            (false, None) => {
                assert!(!has_moved, "no period is over");
                assert_eq!(inside, edges(&self.between(self.end.saturating_sub(self.length()), self.end)));
                return;
            }
        };
        let (from, until, has_entered) = match self.slides {
            true => (
                end.saturating_sub(self.length()),
                end.saturating_add(1),
                self.between(i64::MIN, end.saturating_add(1)),
            ),
            false => (end - self.length(), end, self.between(i64::MIN, end)),
        };
        assert_eq!(inside, edges(&self.between(from, until)), "{:?} {}", self.extent, self.slides);
        let new = |now: &[usize], before: &[usize]| {
            now.iter().filter(|place| !before.contains(place)).copied().collect::<Vec<_>>()
        };
        assert_eq!(entered, edges(&new(&has_entered, &self.entered)));
        let has_left = self.between(i64::MIN, from);
        assert_eq!(left, edges(&new(&has_left, &self.left)));
        if !inside.is_empty() || self.slides {
            let expected =
                (!matches!(self.extent, Extent::Edges(_)) && end > i64::MIN).then(|| system_time(end));
            assert_eq!(self.window.end(), expected);
        }
        (self.entered, self.left, self.end) = (has_entered, has_left, end);
    }

    /// A window over a subscription from the token on has the same edges.
    fn check_restart(&self, graph: &Graph) {
        let begin = Begin::After(self.window.restart_token());
        let subscription = match graph.subscribe(&SubscribeOptions::new().begin(begin).at_once(3)) {
            Ok(subscription) => subscription,
            Err(error) => return assert_eq!(error.kind(), ErrorKind::ChangesLost),
        };
        let mut again = subscription.sliding(span(self.extent));
        while again.token() != self.window.token() {
            again.advance().unwrap();
        }
        let edges = |window: &Window| window.edges().map(seen).collect::<Vec<_>>();
        assert_eq!(edges(&again), edges(&self.window), "{:?}", self.extent);
    }
}

fn follow(graph: &Graph, clock: &ManualClock, keys: &[Key], acts: &[Act], at_once: usize) {
    let mut watched: Vec<_> = EXTENTS
        .into_iter()
        .flat_map(|extent| [true, false].map(|slides| Watched::new(graph, extent, slides, at_once)))
        .collect();
    let mut now = 1_000_i64;
    clock.set(now as u64);
    for (number, act) in acts.iter().enumerate() {
        let time = number as i64 * 4;
        match act {
            Act::One(drawn) => drop(commit(graph, &of(keys, time, *drawn))),
            Act::Transaction(drawn) => {
                let operations = drawn.iter().map(|drawn| of(keys, time, *drawn));
                let staged = |transaction: &_| {
                    operations.clone().try_for_each(|operation| stage(transaction, &operation).map(drop))
                };
                graph.transact(staged).unwrap();
            }
            Act::DeleteVertex(number) => {
                let key = keys[usize::from(*number) % keys.len()].clone();
                commit(graph, &Operation::DeleteVertex { key });
            }
            Act::Clock(by) => {
                now += i64::from(*by);
                clock.set(now as u64);
            }
            Act::Advance => {
                for watched in &mut watched {
                    watched.advance(now);
                }
            }
        }
    }
    // A window that begins later has not seen the clock ahead of now.
    now += 1_000;
    clock.set(now as u64);
    for watched in &mut watched {
        while watched.advance(now) || watched.mirror.lag().unwrap().commits > 0 {}
        if watched.slides {
            watched.check_restart(graph);
        }
    }
}

proptest! {
    #![proptest_config(one_case_in(8))]

    #[test]
    fn windows_have_the_edges_of_a_list(
        acts in acts(),
        topology in prop::sample::select(TOPOLOGIES.to_vec()),
        kind in prop::sample::select(KEY_KINDS.to_vec()),
        at_once in prop::sample::select(vec![1, 5, 1 << 16]),
    ) {
        let (clock, keys) = (ManualClock::default(), domain(kind, 7));
        let options = |engine| options(topology, kind).engine(engine).threads(1).simulated().clock(&clock);
        for engine in ENGINES {
            follow(&Graph::in_memory(options(engine)).unwrap(), &clock, &keys, &acts, at_once);
        }
        for engine in [&ENGINES[..], &own_files::ENGINES].concat() {
            let graph = options(engine).create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
            follow(&graph, &clock, &keys, &acts, at_once);
        }
    }
}

/// A function that fails is called again for all edges of the pull.
#[test]
fn an_error_of_the_times_comes_again_and_loses_nothing() {
    let graph = Graph::in_memory(GraphOptions::new().label::<u32>("calls")).unwrap();
    let calls = graph.label::<u32>("calls").unwrap();
    let fails = Arc::new(AtomicBool::new(true));
    let span = Span::time_of(Duration::from_micros(10), {
        let fails = Arc::clone(&fails);
        move |edge| match edge.data(calls)? {
            Some(5) if fails.load(Ordering::Relaxed) => Err(Error::other("unreadable")),
            time => Ok(time.map(|time| system_time(time.into()))),
        }
    });
    let mut window = graph.subscribe(&SubscribeOptions::new()).unwrap().sliding(span);
    let begin = window.token();
    graph.put_edge_with(calls, 1, 2, 4).unwrap();
    graph.put_edge_with(calls, 2, 3, 5).unwrap();
    for _ in 0..2 {
        assert_eq!(window.advance().unwrap_err().to_string(), "unreadable");
        assert!(window.is_empty() && window.entered().count() == 0 && window.restart_token() == begin);
    }
    fails.store(false, Ordering::Relaxed);
    graph.put_edge_with(calls, 3, 4, 6).unwrap();
    assert!(window.advance().unwrap() && window.len() == 2);
    assert!(window.advance().unwrap() && window.len() == 3);
}

/// A window waits for commits, and for the time at which edges leave or a period ends.
#[test]
fn a_window_waits_until_something_moves() {
    let millisecond = Duration::from_millis(1);
    for engine in ENGINES {
        let graph = Graph::in_memory(plain_options(engine)).unwrap();
        let subscribe = || graph.subscribe(&SubscribeOptions::new()).unwrap();
        let mut last = subscribe().sliding(Span::time(20 * millisecond));
        let mut periods = subscribe().tumbling(Span::time(20 * millisecond));
        assert!(!last.advance_within(2 * millisecond).unwrap());
        graph.put_edge(KNOWS, 1, 2).unwrap();
        assert!(last.advance_within(Duration::MAX).unwrap());
        while !last.is_empty() {
            assert!(last.advance_within(Duration::MAX).unwrap());
        }
        assert!(periods.advance_within(Duration::MAX).unwrap() && periods.len() == 1);
        assert!(periods.end().unwrap() <= SystemTime::now());
    }
    let clock = ManualClock::default();
    let options = plain_options(EngineKind::default()).simulated().clock(&clock);
    let graph = options.create_on(Arc::new(SimulatedFiles::new(1))).unwrap();
    let subscription = graph.subscribe(&SubscribeOptions::new()).unwrap();
    let mut window = subscription.tumbling(Span::time(20 * millisecond));
    graph.put_edge(KNOWS, 1, 2).unwrap();
    assert!(!window.advance_within(30 * millisecond).unwrap(), "no time has passed");
    clock.set(20_000);
    assert!(window.advance_within(Duration::ZERO).unwrap());
    graph.close().unwrap();
    assert_eq!(window.advance_within(Duration::MAX).unwrap_err().kind(), ErrorKind::Closed);
}
