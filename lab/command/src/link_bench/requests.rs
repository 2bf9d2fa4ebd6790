//! The sequence of requests of a client.

use super::access::{PowerLaw, any};
use super::{Content, LOADED, Link, LinkBenchError, Mix, Node, Operation};
use hedgerow::VertexId;
use hedgerow_formats::shuffle::mix;
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::Geometric;

/// The exponents by which the probability of a node falls with its rank, by kind of request.
const LINK_READS: f64 = 0.8;
const LINK_WRITES: f64 = 0.741;
const NODE_READS: f64 = 0.625;
const NODE_UPDATES: f64 = 0.606;

/// The probability that a link is one of the base graph, by kind of request.
const ADDED_EXISTS: f64 = 0.05;
const UPDATED_EXISTS: f64 = 0.9;
const DELETED_EXISTS: f64 = 0.9;
const GOT_EXISTS: f64 = 0.5;

/// Links read at once: each link is the last one with probability `LAST_GOT`, up to a maximum.
const LAST_GOT: f64 = 0.382;
const MOST_GOT: u64 = 128;

/// The graph that a store holds before the first request.
#[derive(Clone, Copy, Debug)]
pub struct BaseGraph<'g> {
    offsets: &'g [u64],
    ends: &'g [VertexId],
}

impl<'g> BaseGraph<'g> {
    /// The links of node `n` point to `ends[offsets[n]..offsets[n + 1]]`.
    ///
    /// # Errors
    /// There is no node, or the offsets do not have this form.
    pub fn new(offsets: &'g [u64], ends: &'g [VertexId]) -> Result<Self, LinkBenchError> {
        let nodes = offsets.len().saturating_sub(1);
        if nodes == 0 {
            return Err(LinkBenchError::NoNodes);
        }
        let wrong = |node| LinkBenchError::Offsets { node, links: ends.len() };
        if let Some(node) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(wrong(node));
        }
        match (offsets[0], offsets[nodes]) {
            (1.., _) => Err(wrong(0)),
            (_, end) if end != ends.len() as u64 => Err(wrong(nodes - 1)),
            _ => Ok(BaseGraph { offsets, ends }),
        }
    }

    /// The number of nodes, which are numbered from 0.
    #[must_use]
    pub fn nodes(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    /// The nodes that the links of a node point to.
    #[must_use]
    pub fn links_of(&self, node: VertexId) -> &'g [VertexId] {
        let (start, end) = (self.offsets[node.index()], self.offsets[node.index() + 1]);
        &self.ends[start as usize..end as usize]
    }

    /// Chooses the other end of a link of `source`: with probability `exists` an end of a link of
    /// the base graph, if there is one, else a random node.
    fn destination(&self, source: VertexId, exists: f64, random: &mut impl Rng) -> VertexId {
        let links = self.links_of(source);
        if !links.is_empty() && random.random_bool(exists) {
            links[random.random_range(0..links.len())]
        } else {
            any(self.nodes(), random)
        }
    }
}

/// A request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'r> {
    /// Add a node, whose id the store chooses.
    AddNode(Node<'r>),
    /// Replace the contents of a node, if it was not deleted.
    UpdateNode(VertexId, Node<'r>),
    /// Delete a node, but not its links.
    DeleteNode(VertexId),
    /// Read a node.
    GetNode(VertexId),
    /// Put a link.
    AddLink(Link<'r>),
    /// Delete a link.
    DeleteLink {
        /// The node whose list contains the link.
        source: VertexId,
        /// The node that the link points to.
        destination: VertexId,
    },
    /// Put a link that is likely to exist.
    UpdateLink(Link<'r>),
    /// Count the links of a node.
    CountLinks(VertexId),
    /// Read some links of a node.
    GetLinks {
        /// The node whose list contains the links.
        source: VertexId,
        /// The nodes that the links point to; there is at least one.
        destinations: &'r [VertexId],
    },
    /// Read the newest links of a node, newest first.
    ListLinks {
        /// The node.
        source: VertexId,
        /// Restricts the list to links made before this time, in microseconds since 1970-01-01 UTC;
        /// `None` for all links.
        before: Option<i64>,
        /// The maximum number of links.
        limit: usize,
    },
}

impl Request<'_> {
    /// The operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Request::AddNode(_) => Operation::AddNode,
            Request::UpdateNode(..) => Operation::UpdateNode,
            Request::DeleteNode(_) => Operation::DeleteNode,
            Request::GetNode(_) => Operation::GetNode,
            Request::AddLink(_) => Operation::AddLink,
            Request::DeleteLink { .. } => Operation::DeleteLink,
            Request::UpdateLink(_) => Operation::UpdateLink,
            Request::CountLinks(_) => Operation::CountLinks,
            Request::GetLinks { .. } => Operation::GetLinks,
            Request::ListLinks { .. } => Operation::ListLinks,
        }
    }
}

/// An endless sequence of a client's requests. It does not request added nodes.
#[derive(Clone, Debug)]
pub struct Requests<'g> {
    base: BaseGraph<'g>,
    content: &'g Content,
    operations: WeightedIndex<f64>,
    older: f64,
    list_limit: usize,
    link_reads: PowerLaw,
    link_writes: PowerLaw,
    node_reads: PowerLaw,
    node_updates: PowerLaw,
    more_got: Geometric,
    random: Xoshiro256PlusPlus,
    destinations: Vec<VertexId>,
}

impl<'g> Requests<'g> {
    /// The requests of client number `client`. The seed determines the frequently requested nodes,
    /// equal for all clients; seed and client number determine the sequence of requests.
    ///
    /// # Panics
    /// Never: the shares of a mix form a distribution.
    #[must_use]
    pub fn new(base: BaseGraph<'g>, content: &'g Content, mix_of: &Mix, seed: u64, client: u64) -> Self {
        let law = |exponent, kind| PowerLaw::new(base.nodes(), exponent, mix(seed).wrapping_add(kind));
        let operations = WeightedIndex::new(mix_of.shares());
        let more_got = Geometric::new(LAST_GOT);
        Requests {
            base,
            content,
            operations: operations.expect("shares are not negative and add up to 1"),
            older: mix_of.older(),
            list_limit: mix_of.list_limit(),
            link_reads: law(LINK_READS, 0),
            link_writes: law(LINK_WRITES, 1),
            node_reads: law(NODE_READS, 2),
            node_updates: law(NODE_UPDATES, 3),
            more_got: more_got.expect("the probability is a constant between 0 and 1"),
            random: Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ mix(client + 1))),
            destinations: Vec::new(),
        }
    }

    /// The next request. Its node or link, if any, gets the time `now`, in microseconds since
    /// 1970-01-01 UTC.
    pub fn next_request(&mut self, now: i64) -> Request<'_> {
        let (base, content, random) = (self.base, self.content, &mut self.random);
        match Operation::ALL[self.operations.sample(random)] {
            Operation::AddNode => Request::AddNode(content.node(1, now, random)),
            Operation::UpdateNode => {
                let node = self.node_updates.choose(random);
                Request::UpdateNode(node, content.node(2, now, random))
            }
            // Uniform, not mostly the frequently read nodes: a node can be deleted only once.
            Operation::DeleteNode => Request::DeleteNode(any(base.nodes(), random)),
            Operation::GetNode => Request::GetNode(self.node_reads.choose(random)),
            Operation::AddLink => {
                let source = self.link_writes.choose(random);
                let destination = base.destination(source, ADDED_EXISTS, random);
                Request::AddLink(content.link(source, destination, now, random))
            }
            Operation::DeleteLink => {
                let source = self.link_writes.choose(random);
                let destination = base.destination(source, DELETED_EXISTS, random);
                Request::DeleteLink { source, destination }
            }
            Operation::UpdateLink => {
                let source = self.link_writes.choose(random);
                let destination = base.destination(source, UPDATED_EXISTS, random);
                Request::UpdateLink(content.link(source, destination, now, random))
            }
            Operation::CountLinks => Request::CountLinks(self.link_reads.choose(random)),
            Operation::GetLinks => {
                let source = self.link_reads.choose(random);
                let wanted = (1 + self.more_got.sample(random)).min(MOST_GOT);
                self.destinations.clear();
                let destination = |_| base.destination(source, GOT_EXISTS, random);
                self.destinations.extend((0..wanted).map(destination));
                Request::GetLinks { source, destinations: &self.destinations }
            }
            Operation::ListLinks => {
                let source = self.link_reads.choose(random);
                let before = random.random_bool(self.older).then(|| random.random_range(LOADED));
                Request::ListLinks { source, before, limit: self.list_limit }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A ring of `nodes` nodes, each with links to the next three.
    fn ring(nodes: u32) -> (Vec<u64>, Vec<VertexId>) {
        let offsets = (0..=u64::from(nodes)).map(|node| 3 * node).collect();
        let next = |node| (1..=3).map(move |step| VertexId::new((node + step) % nodes));
        (offsets, (0..nodes).flat_map(next).collect())
    }

    /// Returns true if `count` of `trials` matches `probability` within five standard deviations.
    fn is_likely(count: usize, trials: usize, probability: f64) -> bool {
        let expected = trials as f64 * probability;
        (count as f64 - expected).abs() <= 5.0 * (expected * (1.0 - probability)).sqrt()
    }

    #[test]
    fn operations_come_in_their_shares() {
        let (offsets, ends) = ring(1000);
        let (base, content) = (BaseGraph::new(&offsets, &ends).unwrap(), Content::new(1));
        let half = Mix::default().with_writes(0.5).unwrap();
        for mix in [Mix::default(), Mix::tao(), half] {
            let mut requests = Requests::new(base, &content, &mix, 9, 0);
            let (trials, mut counts, mut older) = (300_000, HashMap::new(), 0);
            for _ in 0..trials {
                let request = requests.next_request(5);
                *counts.entry(request.operation()).or_insert(0) += 1;
                older += usize::from(matches!(request, Request::ListLinks { before: Some(_), .. }));
            }
            for operation in Operation::ALL {
                let count = counts.get(&operation).copied().unwrap_or(0);
                assert!(is_likely(count, trials, mix.share(operation)), "{operation:?}: {count}");
            }
            assert!(is_likely(older, counts[&Operation::ListLinks], mix.older()), "{older}");
        }
    }

    #[test]
    fn links_exist_as_often_as_they_are_to() {
        let (offsets, ends) = ring(10_000);
        let (base, content) = (BaseGraph::new(&offsets, &ends).unwrap(), Content::new(1));
        let mut requests = Requests::new(base, &content, &Mix::default(), 2, 0);
        let exists = |source, destination| usize::from(base.links_of(source).contains(&destination));
        let mut found: HashMap<Operation, (usize, usize)> = HashMap::new();
        for _ in 0..300_000 {
            let request = requests.next_request(5);
            let (there, asked) = found.entry(request.operation()).or_default();
            match request {
                Request::AddLink(link) | Request::UpdateLink(link) => {
                    *there += exists(link.source, link.destination);
                    *asked += 1;
                    assert_eq!((link.time, link.is_visible), (5, true));
                }
                Request::DeleteLink { source, destination } => {
                    *there += exists(source, destination);
                    *asked += 1;
                }
                Request::GetLinks { source, destinations } => {
                    *there += destinations.iter().map(|end| exists(source, *end)).sum::<usize>();
                    *asked += destinations.len();
                }
                _ => {}
            }
        }
        // A random node happens to be at the other end in three of ten thousand cases.
        for (operation, probability) in [
            (Operation::AddLink, ADDED_EXISTS),
            (Operation::UpdateLink, UPDATED_EXISTS),
            (Operation::DeleteLink, DELETED_EXISTS),
            (Operation::GetLinks, GOT_EXISTS),
        ] {
            let (there, asked) = found[&operation];
            let expected = probability + (1.0 - probability) * 0.0003;
            assert!(is_likely(there, asked, expected), "{operation:?}: {there} of {asked}");
        }
    }

    #[test]
    fn as_many_links_are_got_at_once_as_in_linkbench() {
        let (offsets, ends) = ring(100);
        let (base, content) = (BaseGraph::new(&offsets, &ends).unwrap(), Content::new(1));
        let mut requests = Requests::new(base, &content, &Mix::tao(), 2, 0);
        let mut sizes = Vec::new();
        for _ in 0..200_000 {
            if let Request::GetLinks { destinations, .. } = requests.next_request(5) {
                sizes.push(destinations.len());
            }
        }
        assert!(sizes.iter().all(|size| (1..=128).contains(size)));
        let ones = sizes.iter().filter(|size| **size == 1).count();
        assert!(is_likely(ones, sizes.len(), LAST_GOT), "{ones} of {}", sizes.len());
        let mean = sizes.iter().sum::<usize>() as f64 / sizes.len() as f64;
        // 1 / 0.382, within five standard deviations of the mean.
        assert!((mean - 2.618).abs() < 0.065, "{mean}");
    }

    #[test]
    fn clients_ask_for_the_same_nodes_in_another_order() {
        let (offsets, ends) = ring(1000);
        let (base, content) = (BaseGraph::new(&offsets, &ends).unwrap(), Content::new(1));
        let hottest = |client| {
            let mut requests = Requests::new(base, &content, &Mix::default(), 4, client);
            let (mut counts, mut first) = (vec![0; 1000], Vec::new());
            for number in 0..200_000 {
                let request = requests.next_request(5);
                if number < 100 {
                    first.push(request.operation());
                }
                if let Request::ListLinks { source, .. } = request {
                    counts[source.index()] += 1;
                }
            }
            (counts.iter().enumerate().max_by_key(|(_, count)| **count).unwrap().0, first)
        };
        let (one, other, same) = (hottest(0), hottest(1), hottest(0));
        assert_eq!(one, same);
        assert_eq!(one.0, other.0);
        assert_ne!(one.1, other.1);
    }

    #[test]
    fn a_node_without_links_can_be_asked_for_any() {
        let offsets = [0, 0];
        let (base, content) = (BaseGraph::new(&offsets, &[]).unwrap(), Content::new(1));
        let mut requests = Requests::new(base, &content, &Mix::default(), 2, 0);
        for _ in 0..10_000 {
            if let Request::DeleteLink { source, destination } = requests.next_request(5) {
                assert_eq!((source.get(), destination.get()), (0, 0));
            }
        }
    }

    #[test]
    fn offsets_that_are_none_are_refused() {
        let ends = [VertexId::new(0); 3];
        let refused = |offsets: &[u64]| BaseGraph::new(offsets, &ends).unwrap_err();
        for none in [&[][..], &[0]] {
            assert_eq!(refused(none), LinkBenchError::NoNodes);
        }
        let wrong = |node| LinkBenchError::Offsets { node, links: 3 };
        assert_eq!(refused(&[1, 3]), wrong(0));
        assert_eq!(refused(&[0, 2, 1, 3]), wrong(1));
        assert_eq!(refused(&[0, 1, 2]), wrong(1));
        assert_eq!(BaseGraph::new(&[0, 1, 3], &ends).unwrap().links_of(VertexId::new(1)).len(), 2);
    }
}
