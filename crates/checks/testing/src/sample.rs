//! Samples of long searches: of every point where a test could fail an operation, lose power or
//! change a file, each run takes about an eighth, and another part than other runs.
//!
//! The environment variable `SAMPLE_SEED` chooses the part: a number, or `all` for every point.
//! `cargo xtask test` derives a number from the files of the last commit and prints it, `cargo
//! xtask soak` takes all. Without the variable the part is always the same one.

use std::thread;

/// One of this many consecutive points is taken.
const ONE_IN: u64 = 8;

/// Chooses the points of a search. A test that panics while it holds a sample prints the seed.
#[derive(Debug)]
pub struct Sample {
    /// `None` takes every point.
    seed: Option<u64>,
}

impl Sample {
    /// Takes every point.
    pub const ALL: Sample = Sample { seed: None };

    /// Takes the same points in each run: for a search that must find a planted bug.
    pub const FIXED: Sample = Sample { seed: Some(0) };

    /// Returns the sample of this run.
    ///
    /// # Panics
    /// `SAMPLE_SEED` is neither a number nor `all`.
    #[must_use]
    pub fn of_run() -> Self {
        let asked = std::env::var("SAMPLE_SEED").unwrap_or_else(|_| "0".to_owned());
        let seed = (asked != "all").then(|| asked.parse().expect("SAMPLE_SEED is a number, or `all`"));
        Sample { seed }
    }

    /// Returns the points to check of `points`: the first, the last, and one of each eight
    /// consecutive ones. `search` tells this search from others, which take other points.
    pub fn take<T>(&self, points: impl IntoIterator<Item = T>, search: u64) -> impl Iterator<Item = T> {
        let mut points = (0..).zip(points).peekable();
        std::iter::from_fn(move || {
            loop {
                let (number, point) = points.next()?;
                if number == 0 || points.peek().is_none() || self.is_taken(number, search) {
                    return Some(point);
                }
            }
        })
    }

    /// Returns true if the point with this number is the one of its eight.
    fn is_taken(&self, number: u64, search: u64) -> bool {
        let Some(seed) = self.seed else { return true };
        mixed(seed ^ mixed(search ^ mixed(number / ONE_IN))) % ONE_IN == number % ONE_IN
    }

    /// Returns numbers for `count` random cases: other ones in each run, or those from 0 on if
    /// every point is taken.
    #[must_use]
    pub fn cases(&self, count: u64) -> std::ops::Range<u64> {
        // Far fewer bits than a number has, so that callers can compute with it.
        let first = self.seed.map_or(0, |seed| mixed(seed) >> 32);
        first..first + count
    }

    /// Returns the part of a minimum number of points that this sample can be expected to take.
    #[must_use]
    pub fn part_of(&self, points: u64) -> u64 {
        if self.seed.is_some() { points / ONE_IN } else { points }
    }
}

impl Drop for Sample {
    fn drop(&mut self) {
        if let (Some(seed), true) = (self.seed, thread::panicking()) {
            eprintln!("checked a sample: SAMPLE_SEED={seed} repeats it, SAMPLE_SEED=all takes every point");
        }
    }
}

/// Mixes the bits of a number (the finalizer of SplitMix64).
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_sample_has_both_ends_and_one_of_each_eight() {
        for seed in 0..50 {
            let taken: Vec<u64> = Sample { seed: Some(seed) }.take(0..800, 3).collect();
            assert!(taken.is_sorted() && taken[0] == 0 && taken[taken.len() - 1] == 799);
            let inner = taken.iter().filter(|point| !(8..792).contains(*point)).count();
            assert!((100..=102).contains(&taken.len()) && inner <= 4, "{taken:?}");
            assert!((1..99).all(|part| taken.iter().filter(|point| **point / 8 == part).count() == 1));
        }
        assert_eq!(Sample::ALL.take(0..800, 3).count(), 800);
        assert_eq!(Sample { seed: Some(1) }.take([7], 3).collect::<Vec<_>>(), [7]);
        assert_eq!(Sample { seed: Some(1) }.take([0; 0], 3).count(), 0);
    }

    #[test]
    fn runs_and_searches_take_other_parts_and_many_runs_take_every_point() {
        let taken = |seed, search| Sample { seed: Some(seed) }.take(0..100, search).collect::<Vec<u64>>();
        assert_eq!(taken(1, 1), taken(1, 1));
        assert_ne!(taken(1, 1), taken(1, 2));
        assert_ne!(taken(1, 1), taken(2, 1));
        let all: BTreeSet<u64> = (0..100).flat_map(|seed| taken(seed, 1)).collect();
        assert_eq!(all.len(), 100);
        let first = |seed| Sample { seed: Some(seed) }.cases(10).start;
        assert_ne!(first(1), first(2));
        assert_eq!(Sample::ALL.cases(10), 0..10);
    }
}
