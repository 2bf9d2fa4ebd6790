//! A graph that changes over time.

use super::random::{Random, spread};
use std::collections::HashSet;

/// Number of random pairs tried for a new edge before a fallback.
const DRAWS: u32 = 16;

/// The longest gap between changes, in units of time.
const LONGEST_GAP: u64 = 1 << 16;

/// Bits of the integers that represent probabilities.
const PROBABILITY_BITS: u32 = 32;

/// The addition or deletion of an edge at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The source of the edge.
    pub source: u64,
    /// The destination of the edge.
    pub destination: u64,
    /// The time; never before the previous change.
    pub timestamp: u64,
    /// True if the edge is added, false if it is deleted.
    pub is_added: bool,
}

/// A stream of changes to a graph that grows like a social network.
///
/// Vertices arrive at a steady rate, each with an edge. Both ends of a new edge are drawn by
/// **preferential attachment**: in proportion to their degrees at that time ("Emergence of Scaling
/// in Random Networks"), or, one in eight, uniformly. So degrees follow a power law. A fraction of
/// the changes deletes an edge, chosen uniformly. Gaps between changes follow a power law too (the
/// probability of one of at least `g` is 1 / (g + 1)), so that changes come in bursts.
///
/// An added edge did not exist before, and a deleted one did; there are no self loops. If almost
/// every pair of vertices has an edge, the next vertex arrives early, or an edge is deleted. Equal
/// parameters give the same stream on every machine. Memory: the existing edges.
#[derive(Clone, Debug)]
pub struct ChangeStream {
    vertices: u64,
    changes: u64,
    /// The probability of a deletion, as part of 2^32.
    deletions: u64,
    random: Random,
    /// Number of changes so far.
    made: u64,
    arrived: u64,
    timestamp: u64,
    edges: Vec<(u64, u64)>,
    present: HashSet<(u64, u64)>,
}

/// A stream that cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeStreamError {
    /// Too few or too many vertices.
    #[error("{0} vertices, expected 2 to 4294967295")]
    Vertices(u64),
    /// Fewer changes than vertices, which arrive with changes.
    #[error("{changes} changes for {vertices} vertices, expected at least one for each")]
    TooFewChanges {
        /// The requested number of vertices.
        vertices: u64,
        /// The requested number of changes.
        changes: u64,
    },
    /// The fraction of deletions is out of range.
    #[error("a share of {0} deletions, expected 0 to 0.5")]
    Deletions(f64),
}

impl ChangeStream {
    /// A stream of `changes` changes over `vertices` vertices, in which a fraction from 0 to 0.5
    /// deletes edges.
    ///
    /// # Errors
    /// Fewer than 2 or more than 2^32 - 1 vertices, fewer changes than vertices, or another
    /// fraction.
    pub fn new(vertices: u64, changes: u64, deletions: f64, seed: u64) -> Result<Self, ChangeStreamError> {
        if !(2..=u64::from(u32::MAX)).contains(&vertices) {
            return Err(ChangeStreamError::Vertices(vertices));
        }
        if changes < vertices {
            return Err(ChangeStreamError::TooFewChanges { vertices, changes });
        }
        if !(0.0..=0.5).contains(&deletions) {
            return Err(ChangeStreamError::Deletions(deletions));
        }
        Ok(ChangeStream {
            vertices,
            changes,
            // A product with a power of two and rounding: identical on every machine.
            deletions: (deletions * (1u64 << PROBABILITY_BITS) as f64).round() as u64,
            random: Random::new(spread(seed)),
            made: 0,
            arrived: 1,
            timestamp: 0,
            edges: Vec::new(),
            present: HashSet::new(),
        })
    }

    /// Total number of changes.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Adds or deletes an edge.
    fn change(&mut self) -> (u64, u64, bool) {
        // The number of vertices that should exist after this change.
        let due = 1
            + (u128::from(self.made + 1) * u128::from(self.vertices - 1)).div_ceil(u128::from(self.changes))
                as u64;
        if self.arrived < due {
            return self.arrive();
        }
        let draw = self.random.next() >> (64 - PROBABILITY_BITS);
        if draw < self.deletions && !self.edges.is_empty() {
            return self.delete();
        }
        for _ in 0..DRAWS {
            let edge = (self.attach(), self.attach());
            if edge.0 != edge.1 && self.present.insert(edge) {
                return self.add(edge);
            }
        }
        match self.edges.is_empty() {
            _ if self.arrived < self.vertices => self.arrive(),
            false => self.delete(),
            // No edge exists, and every drawn pair was a self loop.
            true => {
                self.present.insert((0, 1));
                self.add((0, 1))
            }
        }
    }

    /// The next vertex arrives with an edge from or to it.
    fn arrive(&mut self) -> (u64, u64, bool) {
        let (new, other) = (self.arrived, self.attach());
        self.arrived += 1;
        let edge = if self.random.next() & 1 == 0 { (new, other) } else { (other, new) };
        self.present.insert(edge);
        self.add(edge)
    }

    fn add(&mut self, edge: (u64, u64)) -> (u64, u64, bool) {
        self.edges.push(edge);
        (edge.0, edge.1, true)
    }

    /// Deletes a random edge; at least one must exist.
    fn delete(&mut self) -> (u64, u64, bool) {
        let index = self.random.below(self.edges.len() as u64) as usize;
        let edge = self.edges.swap_remove(index);
        self.present.remove(&edge);
        (edge.0, edge.1, false)
    }

    /// Chooses an existing vertex: an end of a random edge, hence in proportion to its degree, or a
    /// uniformly random vertex.
    fn attach(&mut self) -> u64 {
        let draw = self.random.next();
        if self.edges.is_empty() || draw.is_multiple_of(8) {
            return self.random.below(self.arrived);
        }
        let edge = self.edges[self.random.below(self.edges.len() as u64) as usize];
        if draw & 8 == 0 { edge.0 } else { edge.1 }
    }

    /// Draws a gap from 0 to the longest gap; long gaps are rare.
    fn gap(&mut self) -> u64 {
        let draw = (self.random.next() >> 32) + 1;
        ((1 << 32) / draw - 1).min(LONGEST_GAP)
    }
}

impl Iterator for ChangeStream {
    type Item = Change;

    fn next(&mut self) -> Option<Change> {
        if self.made == self.changes {
            return None;
        }
        let (source, destination, is_added) = self.change();
        self.timestamp += self.gap();
        self.made += 1;
        Some(Change { source, destination, timestamp: self.timestamp, is_added })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stream(vertices: u64, changes: u64, deletions: f64, seed: u64) -> Vec<Change> {
        ChangeStream::new(vertices, changes, deletions, seed).unwrap().collect()
    }

    proptest! {
        #[test]
        fn every_change_changes_something(
            vertices in 2u64..40,
            more in 0u64..600,
            deletions in 0.0..=0.5f64,
            seed: u64,
        ) {
            let changes = stream(vertices, vertices + more, deletions, seed);
            prop_assert_eq!(changes.len() as u64, vertices + more);
            let (mut edges, mut seen, mut time) = (HashSet::new(), HashSet::new(), 0);
            for change in changes {
                let edge = (change.source, change.destination);
                prop_assert!(change.source != change.destination);
                prop_assert!(change.timestamp >= time);
                time = change.timestamp;
                if change.is_added {
                    prop_assert!(edges.insert(edge));
                } else {
                    prop_assert!(edges.remove(&edge));
                }
                seen.extend([edge.0, edge.1]);
            }
            prop_assert_eq!(seen.len() as u64, vertices);
            prop_assert!(seen.into_iter().all(|vertex| vertex < vertices));
        }
    }

    #[test]
    fn degrees_and_gaps_follow_a_power_law_and_the_share_is_kept() {
        let changes = stream(20_000, 200_000, 0.2, 1);
        let mut degrees = vec![0u64; 20_000];
        for change in &changes {
            let one = if change.is_added { 1 } else { u64::MAX };
            for vertex in [change.source, change.destination] {
                degrees[vertex as usize] = degrees[vertex as usize].wrapping_add(one);
            }
        }
        degrees.sort_unstable();
        let (median, largest) = (degrees[10_000], degrees[19_999]);
        assert!(largest > 100 * median, "{median} {largest}");
        // Every tenth change is an arrival; a fifth of the others deletes: 36,000, within 5
        // deviations.
        let deleted = changes.iter().filter(|change| !change.is_added).count();
        assert!((35_150..36_850).contains(&deleted), "{deleted}");
        let gaps: Vec<u64> = changes.windows(2).map(|pair| pair[1].timestamp - pair[0].timestamp).collect();
        for at_least in [1, 9, 99] {
            let share = gaps.iter().filter(|gap| **gap >= at_least).count() as f64 / gaps.len() as f64;
            let expected = 1.0 / (at_least + 1) as f64;
            assert!((share / expected - 1.0).abs() < 0.15, "{at_least}: {share}");
        }
    }

    /// Files name a seed: it must give the same stream in every version.
    #[test]
    fn a_seed_gives_the_same_stream_for_ever() {
        let changes = stream(100, 1000, 0.3, 42);
        let last = changes[999];
        assert_eq!((last.source, last.destination, last.timestamp, last.is_added), (5, 68, 5046, true));
        assert_ne!(changes, stream(100, 1000, 0.3, 43));
    }

    #[test]
    fn impossible_streams_are_refused() {
        assert_eq!(ChangeStream::new(1, 9, 0.0, 0).unwrap_err(), ChangeStreamError::Vertices(1));
        assert_eq!(
            ChangeStream::new(1 << 32, u64::MAX, 0.0, 0).unwrap_err(),
            ChangeStreamError::Vertices(1 << 32)
        );
        assert!(matches!(ChangeStream::new(9, 8, 0.0, 0), Err(ChangeStreamError::TooFewChanges { .. })));
        for share in [-0.1, 0.6, f64::NAN] {
            assert!(
                matches!(ChangeStream::new(9, 9, share, 0), Err(ChangeStreamError::Deletions(_))),
                "{share}"
            );
        }
    }
}
