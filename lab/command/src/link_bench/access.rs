//! Chooses the node of a request.

use hedgerow::VertexId;
use hedgerow_formats::shuffle::{Shuffle, spread};
use rand::distr::Distribution;
use rand::{Rng, RngExt};
use rand_distr::Zipf;

/// A power law over nodes: the node of rank r is chosen in proportion to r^-exponent, and ranks are
/// unrelated to ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct PowerLaw {
    nodes: u32,
    zipf: Zipf<f64>,
    shuffle: Shuffle,
}

impl PowerLaw {
    /// A power law over the nodes below `nodes`, of which there is at least one; the exponent is
    /// finite and not negative. The seed assigns ranks to nodes.
    pub(super) fn new(nodes: u32, exponent: f64, seed: u64) -> Self {
        let zipf = Zipf::new(f64::from(nodes), exponent);
        let zipf =
            zipf.expect("there is a node, and exponents are constants that a Zipf distribution accepts");
        let scale = (u32::BITS - (nodes - 1).leading_zeros()).max(1);
        PowerLaw { nodes, zipf, shuffle: Shuffle::new(scale, spread(seed)) }
    }

    pub(super) fn choose(&self, random: &mut impl Rng) -> VertexId {
        // Ranks are whole numbers from 1 on.
        let rank = self.zipf.sample(random) as u64 - 1;
        VertexId::new(self.node(rank.min(u64::from(self.nodes) - 1)))
    }

    /// Returns the node of a rank: applies a bijection of the numbers below a power of two until it
    /// yields a node. The cycles of a bijection return to their start, so the loop ends, and
    /// distinct ranks yield distinct nodes.
    fn node(&self, rank: u64) -> u32 {
        let mut node = self.shuffle.apply(rank);
        while node >= u64::from(self.nodes) {
            node = self.shuffle.apply(node);
        }
        node as u32
    }
}

/// A random node below `nodes`.
pub(super) fn any(nodes: u32, random: &mut impl Rng) -> VertexId {
    VertexId::new(random.random_range(0..nodes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand::rngs::Xoshiro256PlusPlus;

    #[test]
    fn every_rank_is_another_node() {
        for nodes in [1, 2, 3, 5, 64, 1000] {
            let law = PowerLaw::new(nodes, 0.8, 3);
            let mut seen = vec![false; nodes as usize];
            (0..nodes).for_each(|rank| seen[law.node(rank.into()) as usize] = true);
            assert!(seen.into_iter().all(|seen| seen), "{nodes}");
        }
    }

    #[test]
    fn nodes_are_chosen_by_a_power_law_of_their_rank() {
        let (nodes, exponent, draws) = (10_000, 0.8, 2_000_000);
        let law = PowerLaw::new(nodes, exponent, 5);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = vec![0u64; nodes as usize];
        (0..draws).for_each(|_| counts[law.choose(&mut random).index()] += 1);
        let weight = |rank: u64| ((rank + 1) as f64).powf(-exponent);
        let total: f64 = (0..u64::from(nodes)).map(weight).sum();
        // Single ranks, and many together.
        for ranks in [0..1, 1..2, 9..10, 99..100, 10..100, 100..1000, 1000..10_000] {
            let chosen: u64 = ranks.clone().map(|rank| counts[law.node(rank) as usize]).sum();
            let probability = ranks.clone().map(weight).sum::<f64>() / total;
            let expected = probability * f64::from(draws);
            let deviation = (expected * (1.0 - probability)).sqrt();
            assert!(
                (chosen as f64 - expected).abs() < 5.0 * deviation,
                "{ranks:?}: {chosen}, not {expected}"
            );
        }
    }

    #[test]
    fn a_seed_decides_which_nodes_are_hot() {
        let hottest = |seed| PowerLaw::new(1 << 20, 0.8, seed).node(0);
        assert_eq!(hottest(1), hottest(1));
        assert_ne!(hottest(1), hottest(2));
    }
}
