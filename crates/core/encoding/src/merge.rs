//! Changes of parallel edges: a commit lists the differences, and an engine merges them into the
//! present list.

use crate::list::unreadable;
use crate::{EdgeList, EdgeListWriter, list_as_record, list_of_record};
use hedgerow_model::ReadError;

/// A parallel edge: its key and its record.
pub type ListedEdge<'b> = (u64, &'b [u8]);

/// A change of a parallel edge: its new record, or `None` if it is deleted.
pub type EdgeDifference<'b> = (u64, Option<&'b [u8]>);

/// Decodes the differences in a [record](list_as_record) of a commit's effects, ascending by key.
///
/// # Errors
/// If the record is not a list of differences.
pub fn differences_of_record(record: &[u8]) -> Result<Vec<EdgeDifference<'_>>, ReadError> {
    EdgeList::new(list_of_record(record).map_err(unreadable)?).map(|edge| edge.map_err(unreadable)).collect()
}

/// Parallel edges after a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergedEdges<'b> {
    /// The new edges, ascending by key.
    pub edges: Vec<ListedEdge<'b>>,
    /// Number of edges added.
    pub added: u64,
    /// Number of edges removed.
    pub removed: u64,
}

impl<'b> MergedEdges<'b> {
    /// Merges a list of edges with differences, which ascend by key. O(edges + differences).
    ///
    /// # Errors
    /// If the list is malformed.
    pub fn of_list(list: &'b [u8], differences: &[EdgeDifference<'b>]) -> Result<Self, ReadError> {
        let mut merged = MergedEdges::default();
        let mut rest = differences;
        for edge in EdgeList::new(list) {
            let (key, record) = edge.map_err(unreadable)?;
            let (before, others) = rest.split_at(rest.partition_point(|(other, _)| *other < key));
            merged.add(before);
            rest = others;
            match others.split_first() {
                Some(((other, change), after)) if *other == key => {
                    merged.edges.extend(change.map(|record| (key, record)));
                    merged.removed += u64::from(change.is_none());
                    rest = after;
                }
                _ => merged.edges.push((key, record.unwrap_or_default())),
            }
        }
        merged.add(rest);
        Ok(merged)
    }

    /// Like [`of_list`](MergedEdges::of_list), but takes records, as engines get and store them:
    /// `present` is the record of the current edges, `None` if there are none; `change` is the
    /// record of the differences, `None` if all edges are deleted.
    ///
    /// # Errors
    /// If a record is not a list of parallel edges.
    pub fn of_records(present: Option<&'b [u8]>, change: Option<&'b [u8]>) -> Result<Self, ReadError> {
        let list = present.map(list_of_record).transpose().map_err(unreadable)?.unwrap_or_default();
        match change {
            Some(change) => MergedEdges::of_list(list, &differences_of_record(change)?),
            None => {
                let removed = MergedEdges::of_list(list, &[])?.edges.len() as u64;
                Ok(MergedEdges { removed, ..MergedEdges::default() })
            }
        }
    }

    /// Adds differences whose keys have no edge.
    fn add(&mut self, differences: &[EdgeDifference<'b>]) {
        let before = self.edges.len();
        self.edges.extend(differences.iter().filter_map(|(key, record)| Some((*key, (*record)?))));
        self.added += (self.edges.len() - before) as u64;
    }

    /// The change of the number of edges.
    #[must_use]
    pub fn net(&self) -> i64 {
        self.added as i64 - self.removed as i64
    }

    /// The edges as a [record](list_as_record); `None` if no edge is left.
    #[must_use]
    pub fn to_record(&self) -> Option<Vec<u8>> {
        (!self.edges.is_empty()).then(|| list_as_record(&list_of_edges(&self.edges)))
    }
}

/// Encodes edges, which ascend by key, as a list.
#[must_use]
pub fn list_of_edges(edges: &[ListedEdge<'_>]) -> Vec<u8> {
    let mut list = EdgeListWriter::default();
    edges.iter().for_each(|(key, record)| list.push(*key, Some(record)));
    list.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn as_record(differences: &BTreeMap<u64, Option<Vec<u8>>>) -> Vec<u8> {
        let mut list = EdgeListWriter::default();
        differences.iter().for_each(|(key, record)| list.push(*key, record.as_deref()));
        list_as_record(&list.into_bytes())
    }

    proptest! {
        #[test]
        fn differences_replace_add_and_remove_edges(
            present in prop::collection::btree_map(0..12_u64, prop::collection::vec(any::<u8>(), 0..4), 0..8),
            change in prop::option::of(
                prop::collection::btree_map(0..12_u64, prop::option::of(prop::collection::vec(any::<u8>(), 0..4)), 0..8),
            ),
        ) {
            let mut expected = present.clone();
            match &change {
                None => expected.clear(),
                Some(change) => for (key, record) in change {
                    match record {
                        Some(record) => drop(expected.insert(*key, record.clone())),
                        None => drop(expected.remove(key)),
                    }
                },
            }
            let before = as_record(&present.iter().map(|(key, record)| (*key, Some(record.clone()))).collect());
            let before = (!present.is_empty()).then_some(&before[..]);
            let difference = change.as_ref().map(as_record);
            let merged = MergedEdges::of_records(before, difference.as_deref()).unwrap();
            let edges: BTreeMap<_, _> = merged.edges.iter().map(|(key, record)| (*key, record.to_vec())).collect();
            prop_assert_eq!(&edges, &expected);
            prop_assert_eq!(merged.added, expected.keys().filter(|key| !present.contains_key(key)).count() as u64);
            prop_assert_eq!(merged.removed, present.keys().filter(|key| !expected.contains_key(key)).count() as u64);
            let again = merged.to_record();
            prop_assert_eq!(again.is_none(), expected.is_empty());
            let nothing = as_record(&BTreeMap::new());
            let again = MergedEdges::of_records(again.as_deref(), Some(&nothing)).unwrap();
            prop_assert_eq!((again.edges, again.added, again.removed), (merged.edges, 0, 0));
        }
    }

    #[test]
    fn malformed_lists_are_refused() {
        let list = as_record(&BTreeMap::from([(1, None)]));
        assert!(MergedEdges::of_records(Some(b"?"), Some(&list)).is_err());
        assert!(MergedEdges::of_records(Some(&list), Some(b"?")).is_err());
        assert!(MergedEdges::of_records(Some(b"?"), None).is_err());
    }
}
