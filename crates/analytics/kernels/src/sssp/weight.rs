//! Weight types, and distances that threads can compare atomically.

use hedgerow_model::Column;

mod sealed {
    pub trait Sealed {}
}

/// A weight of an edge: `u32`, whose sums are `u64`, or `f64`.
///
/// Distances are stored as 64 bits that are ordered like the distances, so that threads can lower
/// them with one atomic operation.
pub trait Weight: Column + PartialOrd + std::fmt::Display + sealed::Sealed {
    /// The sum of weights.
    type Distance: Copy + PartialEq + PartialOrd + std::fmt::Debug + std::fmt::Display + Send + Sync + 'static;

    /// Greater than every distance.
    const UNREACHED: Self::Distance;

    /// The bits of [`Weight::UNREACHED`]. The bits of distance 0 are 0.
    const UNREACHED_BITS: u64;

    /// True if a shortest path can contain edges of any weight of this type.
    const ALWAYS_VALID: bool;

    /// Returns true if a shortest path can contain an edge of this weight.
    fn is_valid(self) -> bool;

    /// The weight as a float, rounded.
    fn to_f64(self) -> f64;

    /// The weight nearest to `value`, which is positive.
    fn from_f64(value: f64) -> Self;

    /// The bits of `distance` plus this weight.
    fn added_to(self, distance: u64) -> u64;

    /// The distance with these bits.
    fn distance(bits: u64) -> Self::Distance;

    /// The function that maps distances to buckets of width `delta`, which is positive.
    fn buckets(delta: Self) -> impl Fn(u64) -> u64 + Copy + Send + Sync;
}

impl sealed::Sealed for u32 {}

impl Weight for u32 {
    type Distance = u64;

    const UNREACHED: u64 = u64::MAX;
    const UNREACHED_BITS: u64 = u64::MAX;
    const ALWAYS_VALID: bool = true;

    #[inline]
    fn is_valid(self) -> bool {
        true
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn from_f64(value: f64) -> u32 {
        (value as u32).max(1)
    }

    /// Does not overflow: a path has fewer than 2^32 edges.
    #[inline]
    fn added_to(self, distance: u64) -> u64 {
        distance + u64::from(self)
    }

    #[inline]
    fn distance(bits: u64) -> u64 {
        bits
    }

    /// A shift is much faster than a division: delta is rounded down to a power of two.
    fn buckets(delta: u32) -> impl Fn(u64) -> u64 + Copy + Send + Sync {
        let shift = delta.ilog2();
        move |distance| distance >> shift
    }
}

impl sealed::Sealed for f64 {}

impl Weight for f64 {
    type Distance = f64;

    const UNREACHED: f64 = f64::INFINITY;
    const UNREACHED_BITS: u64 = f64::INFINITY.to_bits();
    const ALWAYS_VALID: bool = false;

    #[inline]
    fn is_valid(self) -> bool {
        self >= 0.0
    }

    fn to_f64(self) -> f64 {
        self
    }

    fn from_f64(value: f64) -> f64 {
        value
    }

    /// Floats that are not negative are ordered like their bits.
    #[inline]
    fn added_to(self, distance: u64) -> u64 {
        (f64::from_bits(distance) + self).to_bits()
    }

    #[inline]
    fn distance(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    fn buckets(delta: f64) -> impl Fn(u64) -> u64 + Copy + Send + Sync {
        // The conversion saturates: all very distant vertices are in one bucket.
        move |distance| (f64::from_bits(distance) / delta) as u64
    }
}
