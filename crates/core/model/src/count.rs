//! Counts that may be known only as bounds, because an engine may defer counting.

use std::fmt;
use std::ops::{Add, AddAssign};

/// An exact number, or bounds on it.
///
/// An engine that would have to read a disk to know if an edge is new counts the edge later: until
/// then only bounds are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Count {
    #[cfg_attr(feature = "serde", serde(rename = "at_least"))]
    low: u64,
    #[cfg_attr(feature = "serde", serde(rename = "at_most"))]
    high: u64,
}

impl Count {
    /// An exact number.
    #[inline]
    #[must_use]
    pub fn exactly(number: u64) -> Self {
        Count { low: number, high: number }
    }

    /// A number between two bounds; exact if they are equal.
    #[must_use]
    pub fn between(low: u64, high: u64) -> Self {
        debug_assert!(low <= high);
        Count { low, high }
    }

    /// The number, if it is exact.
    #[must_use]
    pub fn exact(self) -> Option<u64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Returns true if `number` is within the bounds.
    #[must_use]
    pub fn may_be(self, number: u64) -> bool {
        (self.low..=self.high).contains(&number)
    }

    /// The lower bound.
    #[inline]
    #[must_use]
    pub fn at_least(self) -> u64 {
        self.low
    }

    /// The upper bound.
    #[inline]
    #[must_use]
    pub fn at_most(self) -> u64 {
        self.high
    }
}

impl From<u64> for Count {
    fn from(number: u64) -> Self {
        Count::exactly(number)
    }
}

impl PartialEq<u64> for Count {
    /// Returns true if the number is exact and equals `other`.
    fn eq(&self, other: &u64) -> bool {
        self.exact() == Some(*other)
    }
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count { low: self.low + other.low, high: self.high + other.high }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        *self = *self + other;
    }
}

impl std::iter::Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), Add::add)
    }
}

/// The number, or `at most` the upper bound.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exact() {
            Some(number) => number.fmt(f),
            None => write!(f, "at most {}", self.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_bound_by_bound() {
        let sum: Count = [Count::exactly(2), Count::between(1, 4), Count::between(3, 3)].into_iter().sum();
        assert_eq!((sum.at_least(), sum.at_most(), sum.exact()), (6, 9, None));
        assert_eq!(sum.to_string(), "at most 9");
        assert!(Count::between(3, 3) == 3 && Count::between(3, 4) != 3);
    }
}
