//! Shuffled numbers, identical on every machine, for generators of this crate and of others.

pub use super::random::{mix, spread};

use super::random::Random;

/// A bijection of the numbers below 2^scale, chosen by a seed.
///
/// Rounds of invertible steps: adding a constant, multiplying by an odd one, and folding the upper
/// half onto the lower. It takes no memory, unlike a table of the permutation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shuffle {
    mask: u64,
    fold: u32,
    rounds: [Round; 4],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    add: u64,
    multiply: u64,
}

impl Shuffle {
    /// Chooses a bijection. `scale` is at most 63.
    #[must_use]
    pub fn new(scale: u32, seed: u64) -> Self {
        let mut random = Random::new(mix(!seed));
        let rounds = std::array::from_fn(|_| Round { add: random.next(), multiply: random.next() | 1 });
        Shuffle { mask: (1 << scale) - 1, fold: scale.div_ceil(2), rounds }
    }

    /// The number in the place of `number`, of which only the lower bits count. O(1).
    #[inline]
    #[must_use]
    pub fn apply(self, mut number: u64) -> u64 {
        for round in self.rounds {
            number = number.wrapping_add(round.add).wrapping_mul(round.multiply) & self.mask;
            number ^= number >> self.fold;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_shuffle_is_a_bijection() {
        for scale in 1..=16 {
            for seed in 0..4 {
                let shuffle = Shuffle::new(scale, seed);
                let mut seen = vec![false; 1 << scale];
                (0..1 << scale).for_each(|number| seen[shuffle.apply(number) as usize] = true);
                assert!(seen.into_iter().all(|seen| seen), "scale {scale}, seed {seed}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_shuffle_can_be_undone_at_any_scale(scale in 1u32..=31, seed: u64, number: u64) {
            let shuffle = Shuffle::new(scale, seed);
            let number = number & shuffle.mask;
            let mut undone = shuffle.apply(number);
            prop_assert!(undone <= shuffle.mask);
            for round in shuffle.rounds.iter().rev() {
                undone ^= undone >> shuffle.fold;
                // Newton's iteration doubles the right bits of an inverse modulo 2^64, from 3.
                let step = |inverse: u64| {
                    inverse.wrapping_mul(2u64.wrapping_sub(round.multiply.wrapping_mul(inverse)))
                };
                let inverse = (0..5).fold(round.multiply, |inverse, _| step(inverse));
                undone = undone.wrapping_mul(inverse).wrapping_sub(round.add) & shuffle.mask;
            }
            prop_assert_eq!(undone, number);
        }
    }
}
