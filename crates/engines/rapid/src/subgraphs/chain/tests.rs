//! Tests of a single chain.

use super::*;
use hedgerow_model::Counts;
use hedgerow_sync::atomic::AtomicU64;
use hedgerow_sync::{Arc, OnceLock};

const UNIT: LockUnit = LockUnit(0);

/// A number to which edits add, and whose drops are counted.
pub(crate) struct Counted(u64, Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

impl Content for Counted {
    type Changes<'c> = &'c [u64];

    fn copied(&self) -> Owned<Self> {
        Owned::boxed(Counted(self.0, Arc::clone(&self.1)))
    }

    fn edit(this: &mut Owned<Self>, changes: &[u64]) {
        this.0 += changes.iter().sum::<u64>();
    }

    fn occupied(&self) -> u64 {
        self.0
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }

    fn bytes_beside(&self, _newer: &Self) -> usize {
        size_of::<Self>()
    }

    fn own_heap_bytes(&self) -> usize {
        0
    }
}

/// The domain of all chains of the tests.
pub(crate) fn domain() -> &'static Domain {
    static DOMAIN: OnceLock<Domain> = OnceLock::new();
    DOMAIN.get_or_init(Domain::default)
}

pub(crate) fn locks() -> HeldLocks<'static> {
    // SAFETY: the tests run their chain on one thread and hold no view across a link.
    unsafe { HeldLocks::all(Counts::default()) }
}

fn registered(at: u64) -> Registered {
    // SAFETY: the tests link, unlink and read as if this were registered until it is dropped.
    unsafe { Registered::new(CommitTimestamp(at), Counts::default()) }
}

pub(crate) fn link(
    chain: &Chain<Counted>,
    value: u64,
    dropped: &Arc<AtomicU64>,
    editable_from: u64,
) -> Linked {
    // SAFETY: each test uses ascending stamps, and registers only timestamps below `editable_from`.
    let stamp = unsafe { Stamp::new(CommitTimestamp(value), CommitTimestamp(editable_from)) };
    let (new, allocated) = account::measure(|| Owned::boxed(Counted(value, Arc::clone(dropped))));
    chain.link(
        Successor { base: chain.born(), change: VersionChange::Replace(Some(new)), allocated },
        stamp,
        domain(),
    )
}

fn read(chain: &Chain<Counted>, at: u64) -> Option<u64> {
    let at = registered(at);
    let value = chain.at(&at, domain()).map(|content| content.0);
    assert_eq!(chain.occupied_at(&at, domain()), value.unwrap_or(0));
    let (content, occupied) = chain.at_with_occupied(&at, domain());
    assert_eq!((content.map(|content| content.0), occupied), (value, value.unwrap_or(0)));
    value
}

#[test]
fn each_timestamp_reads_its_own_version() {
    let (chain, dropped) = (Chain::default(), Arc::default());
    assert_eq!(read(&chain, 9), None);
    assert_eq!(link(&chain, 2, &dropped, 0).kept, None);
    assert_eq!(link(&chain, 4, &dropped, 4).kept, Some(CommitTimestamp(2)));
    assert_eq!([1, 2, 3, 4, 5].map(|at| read(&chain, at)), [None, Some(2), Some(2), Some(4), Some(4)]);
    assert_eq!(chain.newest(&locks(), UNIT).map(|content| content.0), Some(4));
}

#[test]
fn an_invisible_head_is_replaced() {
    let (chain, dropped) = (Chain::default(), Arc::default());
    link(&chain, 2, &dropped, 0);
    link(&chain, 4, &dropped, 3);
    let linked = link(&chain, 5, &dropped, 3);
    assert_eq!(linked.kept, None);
    assert_eq!(linked.memory, MemoryChange::default());
    assert_eq!([2, 3, 5].map(|at| read(&chain, at)), [Some(2), Some(2), Some(5)]);
}

#[test]
fn an_unlinked_version_is_gone_and_its_bytes_too() {
    let (chain, dropped) = (Chain::default(), Arc::default());
    let mut counted = MemoryChange::default();
    for value in 1..=4 {
        counted += link(&chain, value, &dropped, value).memory;
    }
    assert_eq!(counted, chain.count_bytes(&locks(), UNIT));
    counted += chain.unlink(&locks(), UNIT, CommitTimestamp(2), &domain().pin());
    assert_eq!(counted, chain.count_bytes(&locks(), UNIT));
    assert_eq!(chain.retained_bytes(&locks(), UNIT, CommitTimestamp(2)), 0);
    assert_eq!([1, 3, 4].map(|at| read(&chain, at)), [Some(1), Some(3), Some(4)]);
    counted += chain.unlink(&locks(), UNIT, CommitTimestamp(1), &domain().pin());
    counted += chain.unlink(&locks(), UNIT, CommitTimestamp(3), &domain().pin());
    assert_eq!(counted.retained, 0);
    assert_eq!(counted, chain.count_bytes(&locks(), UNIT));
}

#[test]
fn a_dropped_chain_drops_what_is_linked_and_a_dropped_successor_itself() {
    let (chain, dropped) = (Chain::default(), Arc::<AtomicU64>::default());
    for value in 1..=3 {
        link(&chain, value, &dropped, value);
    }
    let new = Owned::boxed(Counted(9, Arc::clone(&dropped)));
    drop(Successor { base: chain.born(), change: VersionChange::Replace(Some(new)), allocated: 0 });
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
    drop(chain);
    assert_eq!(dropped.load(Ordering::Relaxed), 4);
}

fn edit(chain: &Chain<Counted>, at: u64, by: u64, editable_from: u64) -> Linked {
    // SAFETY: as in `link`.
    let stamp = unsafe { Stamp::new(CommitTimestamp(at), CommitTimestamp(editable_from)) };
    chain.link(
        Successor { base: chain.born(), change: VersionChange::Edit(&[by][..]), allocated: 0 },
        stamp,
        domain(),
    )
}

#[test]
fn an_invisible_head_is_edited_and_a_visible_one_copied() {
    let (chain, dropped) = (Chain::default(), Arc::<AtomicU64>::default());
    let mut counted = link(&chain, 2, &dropped, 0).memory;
    let linked = edit(&chain, 4, 10, 3);
    assert_eq!(linked.kept, Some(CommitTimestamp(2)));
    counted += linked.memory;
    let place = chain.newest(&locks(), UNIT).map(std::ptr::from_ref);
    let linked = edit(&chain, 5, 100, 3);
    assert_eq!((linked.kept, linked.memory), (None, MemoryChange::default()));
    assert_eq!(chain.newest(&locks(), UNIT).map(std::ptr::from_ref), place);
    assert_eq!([2, 3, 5].map(|at| read(&chain, at)), [Some(2), Some(2), Some(112)]);
    assert_eq!(counted, chain.count_bytes(&locks(), UNIT));
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
}

#[test]
fn an_emptied_chain_reads_as_empty() {
    let (chain, dropped) = (Chain::default(), Arc::<AtomicU64>::default());
    link(&chain, 2, &dropped, 0);
    // SAFETY: as in `link`.
    let stamp = unsafe { Stamp::new(CommitTimestamp(4), CommitTimestamp(3)) };
    chain.link(
        Successor { base: chain.born(), change: VersionChange::Replace(None), allocated: 0 },
        stamp,
        domain(),
    );
    link(&chain, 6, &dropped, 5);
    assert_eq!([2, 3, 4, 5, 6].map(|at| read(&chain, at)), [Some(2), Some(2), None, None, Some(6)]);
    for born in [2, 4] {
        chain.unlink(&locks(), UNIT, CommitTimestamp(born), &domain().pin());
    }
    assert_eq!(chain.count_bytes(&locks(), UNIT).retained, 0);
    assert_eq!(read(&chain, 6), Some(6));
}

#[test]
#[should_panic(expected = "different state")]
fn a_change_staged_for_an_old_head_is_refused() {
    let (chain, dropped) = (Chain::default(), Arc::default());
    let new = Owned::boxed(Counted(1, Arc::clone(&dropped)));
    let early = Successor { base: chain.born(), change: VersionChange::Replace(Some(new)), allocated: 0 };
    link(&chain, 1, &dropped, 0);
    // SAFETY: the next stamp of this chain.
    let stamp = unsafe { Stamp::new(CommitTimestamp(2), CommitTimestamp(0)) };
    chain.link(early, stamp, domain());
}

#[test]
#[should_panic(expected = "without its lock")]
fn the_newest_version_needs_the_lock() {
    // SAFETY: no lock is held, and none is claimed.
    let none = unsafe { HeldLocks::stripes(&[], 0, Counts::default()) };
    Chain::<Counted>::default().newest(&none, UNIT);
}

/// The history of thousands of open snapshots: the cost of a read, an unlink and a query for the
/// retained bytes hardly depends on its length.
#[test]
fn a_long_history_is_searched_and_not_walked() {
    const VERSIONS: u64 = if cfg!(miri) { 100 } else { 10_000 };
    let most = 2 * u64::from(VERSIONS.ilog2()) + 4;
    let (chain, dropped) = (Chain::default(), Arc::default());
    let mut counted = MemoryChange::default();
    (1..=VERSIONS).for_each(|value| counted += link(&chain, value, &dropped, value).memory);
    let is_short = |compared: u64| cfg!(not(debug_assertions)) || (1..=most).contains(&compared);
    for at in (1..VERSIONS).step_by(97) {
        let (value, compared) =
            account::measure_compared(|| chain.at(&registered(at), domain()).map(|content| content.0));
        assert_eq!(value, Some(at));
        assert!(is_short(compared), "{compared} versions were compared for {at}");
    }
    let (_, compared) = account::measure_compared(|| chain.at(&registered(VERSIONS - 1), domain()).is_some());
    assert!(compared <= 2, "the search starts at the version before the newest");
    if !cfg!(miri) {
        let kept: usize =
            (1..VERSIONS).map(|born| chain.retained_bytes(&locks(), UNIT, CommitTimestamp(born))).sum();
        assert_eq!(kept as isize, counted.retained, "each byte belongs to one version");
    }
    // Every second snapshot closes, then all.
    let odd_then_even = (1..VERSIONS).step_by(2).chain((2..VERSIONS).step_by(2));
    for (number, born) in odd_then_even.enumerate() {
        let (bytes, compared) =
            account::measure_compared(|| chain.retained_bytes(&locks(), UNIT, CommitTimestamp(born)));
        assert!(bytes > 0 && is_short(compared));
        let unlink = || chain.unlink(&locks(), UNIT, CommitTimestamp(born), &domain().pin());
        let (freed, compared) = account::measure_compared(unlink);
        assert!(is_short(compared), "{compared} versions were compared to unlink {born}");
        counted += freed;
        if number % 997 == 0 {
            assert_eq!(counted, chain.count_bytes(&locks(), UNIT));
            assert_eq!(read(&chain, VERSIONS), Some(VERSIONS));
        }
    }
    assert_eq!(counted.retained, 0);
    assert_eq!(dropped.load(Ordering::Relaxed), VERSIONS - 1);
}

/// The array of versions stays proportional to a moving window of open snapshots.
#[test]
fn the_array_of_a_moving_window_stays_small() {
    let (chain, dropped) = (Chain::default(), Arc::default());
    for value in 1..=1000 {
        link(&chain, value, &dropped, value);
        if value > 8 {
            chain.unlink(&locks(), UNIT, CommitTimestamp(value - 8), &domain().pin());
        }
        let retained = chain.count_bytes(&locks(), UNIT).retained as usize;
        assert!(retained <= 8 * size_of::<Counted>() + 16 + 16 * 16, "{retained} bytes for eight versions");
    }
    assert_eq!([993, 999, 1000].map(|at| read(&chain, at)), [Some(993), Some(999), Some(1000)]);
}

/// Readers at registered timestamps search while one writer links and unlinks.
#[test]
fn readers_search_beside_a_writer() {
    let (chain, dropped) = (Chain::default(), Arc::default());
    link(&chain, 1, &dropped, 0);
    link(&chain, 2, &dropped, 2);
    std::thread::scope(|scope| {
        for at in [1, 2] {
            let chain = &chain;
            scope.spawn(move || (0..200).for_each(|_| assert_eq!(read(chain, at), Some(at))));
        }
        for value in 3..100 {
            // Timestamps 1 and 2 are registered; the previous version is linked, then becomes
            // invisible.
            let kept = link(&chain, value, &dropped, value.max(4) - 1).kept;
            if let Some(born) = kept.filter(|born| *born > CommitTimestamp(2)) {
                chain.unlink(&locks(), UNIT, born, &domain().pin());
            }
        }
    });
}
