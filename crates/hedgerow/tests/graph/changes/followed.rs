//! The state that a follower builds from changes, in plain maps.

use crate::oracle::{Oracle, PARALLEL};
use hedgerow::{Change, ChangedEdge, Changes, CommitTimestamp, Key};
use hedgerow_model::EdgeValue;

/// Applies changes as they come, and checks the order of commits, and within each.
pub struct Followed {
    pub oracle: Oracle,
    last: CommitTimestamp,
}

impl Followed {
    pub fn new(oracle: Oracle, last: CommitTimestamp) -> Self {
        Followed { oracle, last }
    }

    pub fn apply(&mut self, changes: &Changes, latest_only: bool) {
        let mut count = 0;
        for commit in changes.commits() {
            assert!(self.last < commit.at() && commit.at() <= changes.token().commit(), "{}", commit.at());
            self.last = commit.at();
            assert!(commit.iter().len() > 0 && commit.iter().count() == commit.iter().len());
            let order = |change: &Change<'_>| match change {
                Change::DeleteEdge(_) => 0,
                Change::DeleteVertex(_) => 1,
                Change::PutVertex(_) => 2,
                // Changes of parallel edges are decided together.
                Change::PutEdge(_) => 3,
            };
            let is_parallel =
                |change: &Change<'_>| matches!(change, Change::DeleteEdge(edge) if edge.number().is_some());
            assert!(
                commit.iter().filter(|change| !is_parallel(change)).map(|change| order(&change)).is_sorted()
            );
            commit.iter().for_each(|change| self.change(&change, latest_only));
            count += commit.iter().len();
        }
        assert_eq!((count, count == 0), (changes.len(), changes.is_empty()));
        self.last = changes.token().commit();
    }

    fn change(&mut self, change: &Change<'_>, latest_only: bool) {
        let oracle = &mut self.oracle;
        match change {
            Change::PutVertex(vertex) => {
                oracle.vertices.insert(vertex.key().to_key(), vertex.record().values().to_vec());
            }
            Change::DeleteVertex(vertex) => {
                let key = vertex.key().to_key();
                let was_there = oracle.vertices.remove(&key).is_some();
                assert!(was_there || latest_only, "{key} was there");
                let has_edges =
                    oracle.edges.keys().any(|(_, source, destination)| [source, destination].contains(&&key));
                assert!(!has_edges, "the edges of {key} are deleted first");
            }
            Change::PutEdge(edge) => {
                let (source, destination) = self.ends(edge);
                let record = edge.record().unwrap();
                let value = if record.is_some() { Some(EdgeValue(0)) } else { edge.value() };
                let ends = [&source, &destination].map(|end| self.oracle.vertices.contains_key(end));
                assert_eq!(ends, [true; 2], "the ends of an edge are there");
                self.oracle.edges.insert((edge.label(), source.clone(), destination.clone()), value.unwrap());
                if let Some(record) = record {
                    let number = edge.number().unwrap_or_default();
                    let edge = (edge.label(), source, destination, number);
                    self.oracle.records.insert(edge, record.values().to_vec());
                }
            }
            Change::DeleteEdge(edge) => {
                let ((source, destination), label) = (self.ends(edge), edge.label());
                assert!(edge.record().unwrap().is_none() && edge.data::<()>(label).unwrap().is_none());
                let numbers = edge.number().map_or(0..=u64::MAX, |number| number..=number);
                self.oracle.records.retain(|(of, from, to, number), _| {
                    (*of, from, to) != (label, &source, &destination) || !numbers.contains(number)
                });
                let pair = (label, source, destination);
                let is_left =
                    |(of, from, to, _): &(_, Key, Key, _)| (*of, from, to) == (pair.0, &pair.1, &pair.2);
                if label != PARALLEL || !self.oracle.records.keys().any(is_left) {
                    self.oracle.edges.remove(&pair);
                }
            }
        }
    }

    /// The ends of an edge, in the order of the oracle.
    fn ends(&self, edge: &ChangedEdge<'_>) -> (Key, Key) {
        let (source, destination) = (edge.source().to_key(), edge.destination().to_key());
        match self.oracle.topology.is_undirected() && destination < source {
            true => (destination, source),
            false => (source, destination),
        }
    }
}
