//! How many there are of something, where an engine may put off counting.

use std::fmt;
use std::ops::{Add, AddAssign};

/// A number that is known, or two bounds of it.
///
/// An engine that would have to read a disk to know whether an edge is new counts it later: until then only bounds are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// So many.
    Exact(u64),
    /// At least `low`, at most `high`.
    Between {
        /// There are no fewer.
        low: u64,
        /// There are no more.
        high: u64,
    },
}

impl Count {
    /// A number between two bounds, exact if they are equal.
    #[must_use]
    pub fn between(low: u64, high: u64) -> Self {
        debug_assert!(low <= high);
        if low == high { Count::Exact(low) } else { Count::Between { low, high } }
    }

    /// The number, if it is known.
    #[must_use]
    pub fn exact(self) -> Option<u64> {
        match self {
            Count::Exact(number) => Some(number),
            Count::Between { .. } => None,
        }
    }

    /// Whether the number may be this one.
    #[must_use]
    pub fn may_be(self, number: u64) -> bool {
        (self.at_least()..=self.at_most()).contains(&number)
    }

    /// There are no fewer.
    #[must_use]
    pub fn at_least(self) -> u64 {
        match self {
            Count::Exact(number) | Count::Between { low: number, .. } => number,
        }
    }

    /// There are no more.
    #[must_use]
    pub fn at_most(self) -> u64 {
        match self {
            Count::Exact(number) | Count::Between { high: number, .. } => number,
        }
    }
}

impl Default for Count {
    fn default() -> Self {
        Count::Exact(0)
    }
}

impl From<u64> for Count {
    fn from(number: u64) -> Self {
        Count::Exact(number)
    }
}

impl PartialEq<u64> for Count {
    /// Whether the number is known to be `other`.
    fn eq(&self, other: &u64) -> bool {
        *self == Count::Exact(*other)
    }
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count::between(self.at_least() + other.at_least(), self.at_most() + other.at_most())
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

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Exact(number) => number.fmt(f),
            Count::Between { low, high } => write!(f, "{low} to {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_bound_by_bound() {
        let sum: Count = [Count::Exact(2), Count::between(1, 4), Count::between(3, 3)].into_iter().sum();
        assert_eq!((sum.at_least(), sum.at_most(), sum.exact()), (6, 9, None));
        assert_eq!(sum.to_string(), "6 to 9");
        assert!(Count::between(3, 3) == 3 && Count::between(3, 4) != 3);
    }
}
