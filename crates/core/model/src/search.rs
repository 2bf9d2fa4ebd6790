//! Search in sorted neighbors.
//!
//! Binary search in a row of hundreds of neighbors waits for memory at every step. Ids are numbers,
//! so a search interpolates the position, reads the cache lines around it at once, and falls back
//! to binary search for the remaining distance.

use crate::VertexId;
use hedgerow_sync::prefetch;

/// Length of a run that is compared as a whole: one cache line.
const WINDOW: usize = 16;

/// Number of windows read around a guess.
const WINDOWS: usize = 3;

/// Row length above which rows are searched by interpolation.
const GUESSED_FROM: usize = 4 * WINDOW;

/// The actual or assumed range of the ids of a row, for interpolation. A wrong range costs time and
/// changes no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// The least id.
    pub first: VertexId,
    /// The greatest id.
    pub last: VertexId,
}

impl Spread {
    /// The range of all ids up to `last`.
    #[inline]
    #[must_use]
    pub fn up_to(last: VertexId) -> Self {
        Spread { first: VertexId::default(), last }
    }

    /// The range of a row's ids; reads its first and last id.
    #[inline]
    #[must_use]
    pub fn of(row: &[VertexId]) -> Self {
        let end = |id: Option<&VertexId>| id.copied().unwrap_or_default();
        Spread { first: end(row.first()), last: end(row.last()) }
    }

    /// Estimates how many of `count` evenly spread ids are less than `distance` above the first.
    #[inline]
    fn share(self, count: usize, distance: u32) -> usize {
        let span = u64::from(self.last.get().saturating_sub(self.first.get())) + 1;
        // Both factors have 32 bits.
        (u64::from(distance) * count as u64 / span) as usize
    }

    /// The position of `id` among `count` evenly spread ids.
    #[inline]
    #[must_use]
    pub fn guess(self, count: usize, id: VertexId) -> usize {
        self.share(count, id.get().saturating_sub(self.first.get())).min(count.saturating_sub(1))
    }
}

/// Returns the number of neighbors before a run, and the run: at most [`WINDOW`] neighbors that
/// contain `id` or its insertion point.
#[inline]
fn window(row: &[VertexId], spread: Spread, id: VertexId) -> (usize, &[VertexId]) {
    match row.len() > GUESSED_FROM {
        true => halved(guessed(row, spread, id), id),
        false => halved((0, row), id),
    }
}

/// Narrows a run, given with the number of neighbors before it, to at most [`WINDOW`] neighbors
/// that contain `id` or its insertion point.
///
/// Comparing the last run as a whole avoids the mispredicted branches of four halvings.
#[inline]
fn halved((mut before, mut rest): (usize, &[VertexId]), id: VertexId) -> (usize, &[VertexId]) {
    while rest.len() > WINDOW {
        let half = rest.len() / 2;
        if rest[half] <= id {
            before += half;
            rest = &rest[half..];
            // Forces a branch, so that the processor speculates into the next probe before this one
            // has arrived.
            prefetch(&rest[rest.len() / 2], 1);
        } else {
            rest = &rest[..half];
        }
    }
    (before, rest)
}

/// Returns the number of neighbors before a run of a long row, and the run, which contains `id` or
/// its insertion point.
#[inline]
fn guessed(row: &[VertexId], spread: Spread, id: VertexId) -> (usize, &[VertexId]) {
    let middle = WINDOWS * WINDOW / 2;
    let start = spread.guess(row.len(), id).saturating_sub(middle).min(row.len() - WINDOWS * WINDOW);
    let reaches = |at: usize| row.get(at).is_some_and(|neighbor| *neighbor <= id);
    // Branchless, so that all cache lines are requested at once.
    let reached: usize = (0..=WINDOWS).map(|number| usize::from(reaches(start + number * WINDOW))).sum();
    if (1..=WINDOWS).contains(&reached) {
        let from = start + (reached - 1) * WINDOW;
        return (from, &row[from..from + WINDOW]);
    }
    // Missed: estimate the error from the distance of the ids and the actual density.
    let missed = Spread::of(row).share(row.len(), row[start].get().abs_diff(id.get()));
    let guess = if reached == 0 { start.saturating_sub(missed) } else { start + missed };
    bracket(row, guess.min(row.len() - 1), WINDOW, |neighbor| *neighbor <= id)
}

/// Returns the number of items before a run, and the run: `reaches` holds for all items before the
/// run and for none after it.
///
/// Gallops from `guess` in doubling steps. O(log distance).
#[inline]
fn bracket<T>(items: &[T], guess: usize, mut step: usize, reaches: impl Fn(&T) -> bool) -> (usize, &[T]) {
    let (mut from, mut to) = (guess, guess);
    if reaches(&items[guess]) {
        loop {
            to = from.saturating_add(step).min(items.len());
            if to == items.len() || !reaches(&items[to]) {
                return (from, &items[from..to]);
            }
            from = to;
            step *= 2;
        }
    }
    loop {
        from = to.saturating_sub(step);
        if from == 0 || reaches(&items[from]) {
            return (from, &items[from..to]);
        }
        to = from;
        step *= 2;
    }
}

/// Returns the index of the last item whose `first` is `id` or below; 0 if there is none. Items
/// ascend by `first`. O(log items).
#[inline]
#[must_use]
pub fn last_from<T>(items: &[T], spread: Spread, id: VertexId, first: impl Fn(&T) -> VertexId) -> usize {
    if items.is_empty() {
        return 0;
    }
    let reaches = |item: &T| first(item) <= id;
    let (before, rest) = bracket(items, spread.guess(items.len(), id), 1, reaches);
    (before + rest.partition_point(reaches)).saturating_sub(1)
}

/// The position of the first neighbor that is not below `id`, in a sorted row. O(log row).
#[inline]
#[must_use]
pub fn lower_bound(row: &[VertexId], spread: Spread, id: VertexId) -> usize {
    let (before, rest) = window(row, spread, id);
    before + rest.iter().map(|neighbor| usize::from(*neighbor < id)).sum::<usize>()
}

/// The position of `id` in a sorted row, if the row contains it. O(log row).
#[inline]
#[must_use]
pub fn position(row: &[VertexId], spread: Spread, id: VertexId) -> Option<usize> {
    position_within(window(row, spread, id), id)
}

/// The position of `id` in a sorted row by plain binary search, as in the arrays with which engines
/// are compared. O(log row).
#[inline]
#[must_use]
pub fn position_by_halving(row: &[VertexId], id: VertexId) -> Option<usize> {
    position_within(halved((0, row), id), id)
}

#[inline]
fn position_within((before, rest): (usize, &[VertexId]), id: VertexId) -> Option<usize> {
    let is_there = rest.iter().fold(false, |found, neighbor| found | (*neighbor == id));
    is_there.then(|| before + rest.iter().map(|neighbor| usize::from(*neighbor < id)).sum::<usize>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ids spread evenly, in clusters, or as powers of two: best, bad and worst cases of
    /// interpolation.
    fn ids() -> impl Strategy<Value = Vec<u32>> {
        let even = prop::collection::btree_set(0..3000_u32, 0..2000);
        let heap = |start: u32| prop::collection::btree_set(start..start.saturating_add(700), 0..600);
        let heaps = prop::collection::vec(any::<u32>(), 1..4).prop_flat_map(move |starts| {
            starts
                .into_iter()
                .map(heap)
                .collect::<Vec<_>>()
                .prop_map(|heaps| heaps.into_iter().flatten().collect())
        });
        let powers = prop::collection::btree_set((0..32_u32, 0..40_u32), 0..600);
        let powers =
            powers.prop_map(|ids| ids.into_iter().map(|(power, more)| (1 << power) + more).collect());
        prop_oneof![even, heaps, powers].prop_map(|ids| ids.into_iter().collect())
    }

    proptest! {
        #[test]
        fn finds_what_a_walk_finds(
            ids in ids(),
            number in any::<prop::sample::Index>(),
            other in any::<u32>(),
            ends in any::<[u32; 2]>(),
        ) {
            let row: Vec<VertexId> = ids.iter().copied().filter(|id| *id < u32::MAX).map(VertexId::new).collect();
            let some = if row.is_empty() { other } else { number.get(&row).get() };
            for id in [some, some.saturating_sub(1), some.saturating_add(1).min(u32::MAX - 1), other.min(u32::MAX - 1)] {
                let id = VertexId::new(id);
                let [first, last] = ends.map(|end| VertexId::new(end.min(u32::MAX - 1)));
                for spread in [Spread::of(&row), Spread::up_to(last), Spread { first, last }] {
                    let expected = row.iter().position(|neighbor| *neighbor >= id).unwrap_or(row.len());
                    prop_assert_eq!(lower_bound(&row, spread, id), expected);
                    let expected = row.iter().position(|neighbor| *neighbor == id);
                    prop_assert_eq!(position(&row, spread, id), expected);
                    prop_assert_eq!(position_by_halving(&row, id), expected);
                    let expected = row.iter().rposition(|neighbor| *neighbor <= id).unwrap_or(0);
                    prop_assert_eq!(last_from(&row, spread, id, |neighbor| *neighbor), expected);
                }
            }
        }
    }
}
