//! Pseudorandom numbers, identical on every machine.

/// The odd constant nearest to 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The SplitMix64 generator: a counter and a mixing function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Random(u64);

impl Random {
    /// Starts at a state; states that differ in any bit give unrelated streams.
    #[inline]
    pub fn new(state: u64) -> Self {
        Random(state)
    }

    /// The stream of element `index` for a seed.
    #[inline]
    pub fn of_index(seed: u64, index: u64) -> Self {
        Random(mix(seed ^ index.wrapping_mul(GOLDEN)))
    }

    /// The next 64 bits.
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mix(self.0)
    }

    /// A number below `bound`. If `bound` does not divide 2^64, probabilities differ by less than
    /// `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

/// Converts a seed to a state, so that consecutive seeds are far apart.
#[must_use]
pub fn spread(seed: u64) -> u64 {
    mix(seed.wrapping_add(GOLDEN))
}

/// The mixing function of SplitMix64 ("Fast Splittable Pseudorandom Number Generators"): a
/// bijection where each bit of the input flips about half the bits of the output.
#[inline]
#[must_use]
pub fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
