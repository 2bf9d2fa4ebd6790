//! Shuffled numbers, identical on every machine.

/// The odd constant nearest to 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Converts a seed to a state, so that consecutive seeds are far apart.
pub(super) fn spread(seed: u64) -> u64 {
    mix(seed.wrapping_add(GOLDEN))
}

/// The mixing function of SplitMix64 ("Fast Splittable Pseudorandom Number Generators"): a
/// bijection where each bit of the input flips about half the bits of the output.
#[inline]
pub(super) fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A bijection of the numbers below 2^scale, chosen by a seed.
///
/// Rounds of invertible steps: adding a constant, multiplying by an odd one, and folding the upper
/// half onto the lower. It takes no memory, unlike a table of the permutation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shuffle {
    mask: u64,
    fold: u32,
    /// The summand and the factor of each round.
    rounds: [(u64, u64); 4],
}

impl Shuffle {
    pub fn new(scale: u32, seed: u64) -> Self {
        let mut state = mix(!seed);
        // The generator SplitMix64.
        let mut next = || {
            state = state.wrapping_add(GOLDEN);
            mix(state)
        };
        let rounds = std::array::from_fn(|_| (next(), next() | 1));
        Shuffle { mask: (1 << scale) - 1, fold: scale.div_ceil(2), rounds }
    }

    #[inline]
    pub fn apply(self, mut number: u64) -> u64 {
        for (summand, factor) in self.rounds {
            number = number.wrapping_add(summand).wrapping_mul(factor) & self.mask;
            number ^= number >> self.fold;
        }
        number
    }
}
