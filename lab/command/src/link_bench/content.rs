//! The contents of nodes and links.

use hedgerow::VertexId;
use hedgerow_formats::shuffle::{mix, spread};
use rand::distr::Distribution;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::LogNormal;
use std::ops::Range;

/// Creation times of the nodes and links of the base graph: all of 2020, in microseconds since
/// 1970-01-01 UTC.
pub const LOADED: Range<i64> = 1_577_836_800_000_000..1_609_459_200_000_000;

/// Sizes of data: the median, the maximum, and the range of byte values.
struct Size {
    median: f64,
    most: usize,
    bytes: Range<u8>,
}

const NODE: Size = Size { median: 128.0, most: 1 << 16, bytes: 50..220 };
const LINK: Size = Size { median: 8.0, most: 255, bytes: 32..100 };

/// The spread of sizes: 68 % are between the median over e and the median times e.
const SIGMA: f64 = 1.0;

/// Size of the random text from which data are cut.
const TEXT: usize = 1 << 20;

/// A node for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'c> {
    /// The type of the node.
    pub kind: i64,
    /// 1 when it was added, 2 when it was updated.
    pub version: i64,
    /// The time of the addition or last update, in microseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The content, a hundred bytes and more.
    pub data: &'c [u8],
}

/// A link for a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'c> {
    /// The node whose list contains the link.
    pub source: VertexId,
    /// The node that the link points to.
    pub destination: VertexId,
    /// True if the link is shown.
    pub is_visible: bool,
    /// Always 0.
    pub version: i64,
    /// The time of the addition or last update, in microseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The content, a few bytes.
    pub data: &'c [u8],
}

/// The data of nodes and links: pieces of one text. It can be shared by all clients.
#[derive(Clone, Debug)]
pub struct Content {
    seed: u64,
    nodes: Pieces,
    links: Pieces,
}

/// Pieces of a text, their sizes log-normal.
#[derive(Clone, Debug)]
struct Pieces {
    text: Vec<u8>,
    sizes: LogNormal<f64>,
    most: usize,
}

impl Content {
    /// Contents determined by a seed: equal seeds give equal data to the nodes and links of the
    /// base graph.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (nodes, links) = (Pieces::new(&NODE, &mut random), Pieces::new(&LINK, &mut random));
        Content { seed: spread(seed), nodes, links }
    }

    /// A node of the base graph.
    #[must_use]
    pub fn base_node(&self, node: VertexId) -> Node<'_> {
        let random = &mut self.random_of(u64::from(node.get()));
        self.node(1, random.random_range(LOADED), random)
    }

    /// A link of the base graph.
    #[must_use]
    pub fn base_link(&self, source: VertexId, destination: VertexId) -> Link<'_> {
        // No node has this number: ids end below 2^32 - 1.
        let ends = (u64::from(source.get()) + 1) << 32 | u64::from(destination.get());
        let random = &mut self.random_of(ends);
        self.link(source, destination, random.random_range(LOADED), random)
    }

    fn random_of(&self, number: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(mix(self.seed ^ number))
    }

    pub(super) fn node(&self, version: i64, time: i64, random: &mut impl Rng) -> Node<'_> {
        /// The only type of nodes.
        const KIND: i64 = 2048;
        Node { kind: KIND, version, time, data: self.nodes.choose(random) }
    }

    pub(super) fn link(
        &self,
        source: VertexId,
        destination: VertexId,
        time: i64,
        random: &mut impl Rng,
    ) -> Link<'_> {
        let data = self.links.choose(random);
        Link { source, destination, is_visible: true, version: 0, time, data }
    }
}

impl Pieces {
    fn new(size: &Size, random: &mut impl Rng) -> Self {
        let sizes = LogNormal::new(size.median.ln(), SIGMA);
        let sizes = sizes.expect("sigma is a constant that is finite");
        let text = (0..TEXT).map(|_| random.random_range(size.bytes.clone())).collect();
        Pieces { text, sizes, most: size.most }
    }

    fn choose(&self, random: &mut impl Rng) -> &[u8] {
        // Numbers that are too large become the largest one.
        let length = (self.sizes.sample(random).round() as usize).min(self.most);
        let start = random.random_range(0..=self.text.len() - length);
        &self.text[start..start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The median, and the values at a standard deviation below and above it.
    fn quantiles(mut sizes: Vec<usize>) -> [usize; 3] {
        sizes.sort_unstable();
        [0.158_655, 0.5, 0.841_345].map(|part| sizes[(sizes.len() as f64 * part) as usize])
    }

    #[test]
    fn sizes_are_log_normal_with_the_medians_of_linkbench() {
        let content = Content::new(3);
        let id = VertexId::new;
        let nodes = quantiles((0..100_000).map(|node| content.base_node(id(node)).data.len()).collect());
        for (found, expected) in nodes.into_iter().zip([128.0 / 1f64.exp(), 128.0, 128.0 * 1f64.exp()]) {
            assert!((found as f64 / expected - 1.0).abs() < 0.03, "{found}, not {expected}");
        }
        let links = quantiles((0..100_000).map(|end| content.base_link(id(1), id(end)).data.len()).collect());
        assert_eq!(links, [3, 8, 22]);
    }

    #[test]
    fn bytes_and_times_are_within_their_ranges() {
        let content = Content::new(1);
        for number in (0..1000).map(VertexId::new) {
            let (node, link) = (content.base_node(number), content.base_link(number, number));
            assert!(node.data.iter().all(|byte| NODE.bytes.contains(byte)));
            assert!(link.data.iter().all(|byte| LINK.bytes.contains(byte)) && link.data.len() <= LINK.most);
            assert!(LOADED.contains(&node.time) && LOADED.contains(&link.time));
        }
    }

    #[test]
    fn a_seed_gives_the_same_content_again() {
        let (one, same, other) = (Content::new(1), Content::new(1), Content::new(2));
        let (from, to) = (VertexId::new(4), VertexId::new(5));
        assert_eq!(one.base_link(from, to), same.base_link(from, to));
        assert_ne!(one.base_link(from, to).time, other.base_link(from, to).time);
        assert_ne!(one.base_link(from, to).time, one.base_link(to, from).time);
        assert_ne!(one.base_node(from).time, one.base_node(to).time);
    }
}
