//! Figures over edges, added up one by one.

use super::filter::{borrowed, order};
use hedgerow::{Value, ValueRef};
use std::cmp::Ordering;

/// The operation of an aggregate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Count,
    Sum,
    Min,
    Max,
    Mean,
}

/// An aggregate over the edges so far. Nulls do not count, except for [`Accumulator::Count`].
#[derive(Clone, Debug)]
pub enum Accumulator {
    Count(u64),
    Sum(Sum),
    Mean(Sum, u64),
    /// The least value, or the greatest if the order is reversed; NaN is left out.
    Extreme(Value, Ordering),
}

/// A sum, exact for whole numbers, and compensated for fractions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    whole: i128,
    fractions: f64,
    /// The rounding errors of `fractions`, by Neumaier's method.
    lost: f64,
}

impl Accumulator {
    pub fn new(operation: Operation) -> Self {
        match operation {
            Operation::Count => Accumulator::Count(0),
            Operation::Sum => Accumulator::Sum(Sum::default()),
            Operation::Mean => Accumulator::Mean(Sum::default(), 0),
            Operation::Min => Accumulator::Extreme(Value::Null, Ordering::Less),
            Operation::Max => Accumulator::Extreme(Value::Null, Ordering::Greater),
        }
    }

    /// Adds an edge with this value.
    #[inline]
    pub fn add(&mut self, value: ValueRef<'_>) {
        match self {
            Accumulator::Count(edges) => *edges += 1,
            Accumulator::Sum(sum) => sum.add(value),
            Accumulator::Mean(sum, values) => {
                sum.add(value);
                *values += u64::from(value != ValueRef::Null);
            }
            Accumulator::Extreme(extreme, wanted) => {
                let replaces = match *extreme {
                    // Neither null nor NaN equals itself in the order.
                    Value::Null => order(value, value).is_some(),
                    _ => order(value, borrowed(extreme)) == Some(*wanted),
                };
                if replaces {
                    *extreme = value.into();
                }
            }
        }
    }

    /// Adds later edges.
    pub fn merge(&mut self, other: Accumulator) {
        match (self, other) {
            (Accumulator::Count(edges), Accumulator::Count(more)) => *edges += more,
            (Accumulator::Sum(sum), Accumulator::Sum(more)) => sum.merge(more),
            (Accumulator::Mean(sum, values), Accumulator::Mean(more, further)) => {
                sum.merge(more);
                *values += further;
            }
            (accumulator, Accumulator::Extreme(value, _)) => accumulator.add(borrowed(&value)),
            _ => {}
        }
    }
}

impl Sum {
    #[inline]
    fn add(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::I64(number) => self.whole += i128::from(number),
            ValueRef::U64(number) => self.whole += i128::from(number),
            ValueRef::F64(number) => self.add_fraction(number),
            _ => {}
        }
    }

    #[inline]
    fn add_fraction(&mut self, number: f64) {
        let sum = self.fractions + number;
        self.lost += match self.fractions.abs() >= number.abs() {
            true => (self.fractions - sum) + number,
            false => (number - sum) + self.fractions,
        };
        self.fractions = sum;
    }

    fn merge(&mut self, other: Sum) {
        self.whole += other.whole;
        self.add_fraction(other.fractions);
        self.lost += other.lost;
    }

    /// The sum of whole numbers, if there are no fractions.
    pub fn whole(&self) -> i128 {
        self.whole
    }

    /// The sum as a float.
    pub fn float(&self) -> f64 {
        // Infinities and NaN have no rounding errors.
        let lost = if self.fractions.is_finite() { self.lost } else { 0.0 };
        self.whole as f64 + (self.fractions + lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(values: &[ValueRef<'_>]) -> Sum {
        let mut sum = Sum::default();
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    #[test]
    fn whole_numbers_are_summed_exactly() {
        let numbers = [ValueRef::U64(u64::MAX), ValueRef::U64(u64::MAX), ValueRef::I64(-1), ValueRef::Null];
        assert_eq!(sum(&numbers).whole(), 2 * i128::from(u64::MAX) - 1);
    }

    #[test]
    fn fractions_are_compensated_also_between_parts() {
        let numbers = [1e100, 1.0, -1e100, 1.0].map(ValueRef::F64);
        assert_eq!(sum(&numbers).float(), 2.0);
        let mut first = sum(&numbers[..2]);
        first.merge(sum(&numbers[2..]));
        assert_eq!(first.float(), 2.0);
        assert_eq!(sum(&[f64::MAX, f64::MAX].map(ValueRef::F64)).float(), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY].map(ValueRef::F64)).float().is_nan());
    }

    #[test]
    fn extremes_leave_out_null_and_nan() {
        for (operation, expected) in [(Operation::Min, -2.0), (Operation::Max, 3.0)] {
            let mut extreme = Accumulator::new(operation);
            for value in [f64::NAN, 3.0, -2.0, f64::NAN] {
                extreme.add(ValueRef::F64(value));
                extreme.add(ValueRef::Null);
            }
            let mut all = Accumulator::new(operation);
            all.merge(extreme);
            let Accumulator::Extreme(value, _) = all else { panic!("{all:?}") };
            assert_eq!(value, Value::F64(expected));
        }
    }
}
