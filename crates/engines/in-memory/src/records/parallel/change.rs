//! Changes of parallel edges: rewrites the touched chunks and the index.

use super::{EdgeRange, HeapParallel, INDEX, LIST};
use crate::records::RecordChanges;
use hedgerow_encoding::{EdgeDifference, ListedEdge, MergedEdges, list_of_edges};
use hedgerow_model::{EdgeValue, ReadError};

/// The approximate maximum size of a chunk's list in bytes.
const CHUNK_BYTES: usize = 2048;

/// Upper bound on the bytes of an edge in a list, without its record.
const BESIDE_RECORD: usize = 12;

/// A part of the edges after the change.
enum ListPart<'e> {
    Kept(EdgeRange<'e>),
    Written(Vec<ListedEdge<'e>>),
}

impl ListPart<'_> {
    /// Returns the number of the part's edges.
    fn count(&self) -> u64 {
        match self {
            ListPart::Kept(chunk) => chunk.count,
            ListPart::Written(edges) => edges.len() as u64,
        }
    }
}

impl RecordChanges {
    /// Changes the parallel edges between two vertices; `found` is `None` if there are none.
    /// `differences` ascend by key. Returns the new value, or `None` if no edge is left, and the
    /// change in the number of edges.
    ///
    /// O(index + touched chunks).
    pub(crate) fn change_parallel(
        &mut self,
        found: Option<HeapParallel<'_>>,
        differences: &[EdgeDifference<'_>],
    ) -> Result<(Option<EdgeValue>, i64), ReadError> {
        let chunks = found.map_or_else(Vec::new, HeapParallel::chunks);
        let before: u64 = chunks.iter().map(|chunk| chunk.count).sum();
        let parts = self.changed_parts(&chunks, differences)?;
        let after: u64 = parts.iter().map(ListPart::count).sum();
        found.into_iter().for_each(|found| self.supersede_piece(found.value, found.bytes));
        Ok((self.write_parts(parts)?, after as i64 - before as i64))
    }

    /// Removes all parallel edges between two vertices. Returns their number.
    pub(crate) fn remove_parallel(&mut self, found: HeapParallel<'_>) -> u64 {
        found.chunks().into_iter().for_each(|chunk| self.supersede_chunk(&chunk));
        self.supersede_piece(found.value, found.bytes);
        found.length()
    }

    fn supersede_piece(&mut self, value: EdgeValue, bytes: &[u8]) {
        self.supersede(value, bytes);
    }

    fn supersede_chunk(&mut self, chunk: &EdgeRange<'_>) {
        chunk.value.into_iter().for_each(|value| self.supersede_piece(value, chunk.list));
    }

    /// Merges the differences into the chunks. Keeps untouched chunks.
    fn changed_parts<'e>(
        &mut self,
        chunks: &[EdgeRange<'e>],
        differences: &'e [EdgeDifference<'e>],
    ) -> Result<Vec<ListPart<'e>>, ReadError> {
        let mut parts = Vec::with_capacity(chunks.len() + 1);
        let mut rest = differences;
        if chunks.is_empty() {
            push_written(self, &mut parts, merged(&[], rest)?)?;
        }
        for (number, chunk) in chunks.iter().enumerate() {
            let next = chunks.get(number + 1);
            let here = next.map_or(rest.len(), |next| rest.partition_point(|(key, _)| *key < next.first));
            let (here, others) = rest.split_at(here);
            rest = others;
            match here {
                [] if chunk.value.is_some() => parts.push(ListPart::Kept(*chunk)),
                _ => {
                    self.supersede_chunk(chunk);
                    push_written(self, &mut parts, merged(chunk.list, here)?)?;
                }
            }
        }
        Ok(parts)
    }

    /// Writes the parts, and an index if there are several.
    fn write_parts(&mut self, mut parts: Vec<ListPart<'_>>) -> Result<Option<EdgeValue>, ReadError> {
        if let [ListPart::Kept(only)] = parts[..] {
            self.supersede_chunk(&only);
            parts = vec![ListPart::Written(merged(only.list, &[])?)];
        }
        Ok(match &parts[..] {
            [] => None,
            [ListPart::Written(edges)] => Some(self.add(&[&[LIST], &list_of_edges(edges)[..]].concat())),
            parts => {
                let mut index = vec![INDEX];
                for part in parts {
                    let (first, count, EdgeValue(value)) = match part {
                        ListPart::Kept(EdgeRange { first, count, value, .. }) => {
                            (*first, *count, value.unwrap_or_default())
                        }
                        ListPart::Written(edges) => {
                            (edges[0].0, edges.len() as u64, self.add(&list_of_edges(edges)))
                        }
                    };
                    [first, count, value].into_iter().for_each(|field| index.extend(field.to_le_bytes()));
                }
                Some(self.add(&index))
            }
        })
    }
}

/// Appends edges as parts of about equal size. Merges a small list of edges into the previous part
/// if that part is small.
fn push_written<'e>(
    changes: &mut RecordChanges,
    parts: &mut Vec<ListPart<'e>>,
    mut edges: Vec<ListedEdge<'e>>,
) -> Result<(), ReadError> {
    if list_bytes(&edges) < CHUNK_BYTES / 4 && !edges.is_empty() {
        let small = |bytes: usize| bytes <= CHUNK_BYTES / 2;
        let before = parts.pop_if(|part| match part {
            ListPart::Kept(chunk) => small(chunk.list.len()),
            ListPart::Written(edges) => small(list_bytes(edges)),
        });
        let mut before = match before {
            Some(ListPart::Kept(chunk)) => {
                changes.supersede_chunk(&chunk);
                merged(chunk.list, &[])?
            }
            Some(ListPart::Written(edges)) => edges,
            None => Vec::new(),
        };
        before.append(&mut edges);
        edges = before;
    }
    let bytes = list_bytes(&edges);
    let most = bytes.div_ceil(bytes.div_ceil(CHUNK_BYTES).max(1));
    let (mut part, mut part_bytes) = (Vec::new(), 0);
    for edge in edges {
        part_bytes += list_bytes(std::slice::from_ref(&edge));
        part.push(edge);
        if part_bytes >= most {
            parts.push(ListPart::Written(std::mem::take(&mut part)));
            part_bytes = 0;
        }
    }
    if !part.is_empty() {
        parts.push(ListPart::Written(part));
    }
    Ok(())
}

/// The approximate size of a list of edges in bytes.
fn list_bytes(edges: &[ListedEdge<'_>]) -> usize {
    edges.iter().map(|(_, record)| record.len() + BESIDE_RECORD).sum()
}

/// The edges of a list with the differences merged in.
fn merged<'e>(list: &'e [u8], differences: &[EdgeDifference<'e>]) -> Result<Vec<ListedEdge<'e>>, ReadError> {
    Ok(MergedEdges::of_list(list, differences)?.edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records::heap::OwnedRecord;
    use crate::records::parallel::{INDEX_ENTRY, listed};
    use hedgerow_model::ParallelEdges;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};
    use std::ops::RangeInclusive;

    /// Parallel edges compared with a map over many changes. Frees nothing before the end.
    #[derive(Default)]
    struct Edges {
        value: Option<EdgeValue>,
        expected: BTreeMap<u64, Vec<u8>>,
        changes: Vec<RecordChanges>,
    }

    impl Edges {
        fn found(&self) -> Option<HeapParallel<'_>> {
            self.value.map(|value| HeapParallel::kept_by(value, &self.changes))
        }

        fn change(&mut self, differences: BTreeMap<u64, Option<Vec<u8>>>) {
            let borrowed: Vec<EdgeDifference<'_>> =
                differences.iter().map(|(key, record)| (*key, record.as_deref())).collect();
            let mut changes = RecordChanges::default();
            let (value, net) = changes.change_parallel(self.found(), &borrowed).unwrap();
            self.value = value;
            self.changes.push(changes);
            let before = self.expected.len() as i64;
            for (key, record) in differences {
                match record {
                    Some(record) => drop(self.expected.insert(key, record)),
                    None => drop(self.expected.remove(&key)),
                }
            }
            assert_eq!(net, self.expected.len() as i64 - before);
        }

        fn read(&self, keys: RangeInclusive<u64>) -> Vec<(u64, Vec<u8>)> {
            let edges = self.found().into_iter().flat_map(|edges| edges.edges(keys.clone()));
            edges.map(|edge| edge.map(|(key, record)| (key, record.to_vec())).unwrap()).collect()
        }

        /// The values of the pieces that are not superseded.
        fn live(&self) -> BTreeSet<u64> {
            let new = self.changes.iter().flat_map(|changes| &changes.new).map(|piece| piece.value().0);
            let mut live: BTreeSet<u64> = new.collect();
            for EdgeValue(value) in self.changes.iter().flat_map(|changes| &changes.superseded) {
                assert!(live.remove(value), "a piece was superseded twice, or did not exist");
            }
            live
        }

        fn check(&self, range: RangeInclusive<u64>) {
            let expected = |keys: RangeInclusive<u64>| {
                self.expected.range(keys).map(|(key, record)| (*key, record.clone())).collect::<Vec<_>>()
            };
            assert_eq!(self.read(0..=u64::MAX), expected(0..=u64::MAX));
            assert_eq!(self.read(range.clone()), expected(range));
            let found = self.found();
            assert_eq!(found.map_or(Ok(0), ParallelEdges::count), Ok(self.expected.len() as u64));
            let chunks = found.map_or_else(Vec::new, HeapParallel::chunks);
            let pieces = chunks.iter().filter_map(|chunk| chunk.value).chain(self.value);
            assert_eq!(pieces.map(|EdgeValue(value)| value).collect::<BTreeSet<_>>(), self.live());
            let list = found.map_or_else(Vec::new, HeapParallel::to_list);
            assert_eq!(listed(&list).count(), self.expected.len());
            assert!(chunks.iter().all(|chunk| chunk.list.len() <= 2 * CHUNK_BYTES || chunk.count == 1));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 256 }, ..ProptestConfig::default() })]

        #[test]
        fn changes_are_those_of_a_map(
            steps in prop::collection::vec(
                prop::collection::btree_map(0..400_u64, prop::option::weighted(0.6, 0..300_usize), 1..80), 1..25),
            (first, last) in (0..400_u64, 0..400_u64),
        ) {
            let mut edges = Edges::default();
            for step in steps {
                let record = |length: usize| (0..length).map(|byte| byte as u8).collect::<Vec<u8>>();
                edges.change(step.into_iter().map(|(key, length)| (key, length.map(record))).collect());
                edges.check(first.min(last)..=first.max(last));
            }
            let all = edges.expected.keys().map(|key| (*key, None)).collect();
            edges.change(all);
            prop_assert!(edges.value.is_none() && edges.live().is_empty());
        }
    }

    #[test]
    fn adding_one_by_one_writes_a_chunk_each() {
        let mut edges = Edges::default();
        let count = if cfg!(miri) { 300 } else { 3_000_u64 };
        for number in 0..count {
            // Not in key order.
            edges.change(BTreeMap::from([(number * 7_919 % count, Some(vec![1; 20]))]));
            let written: usize =
                edges.changes[number as usize].new.iter().map(OwnedRecord::memory_bytes).sum();
            assert!(written < 3 * CHUNK_BYTES + INDEX_ENTRY * (1 + number as usize / 20), "{written} bytes");
        }
        edges.check(10..=20);
        for number in 0..count - 1 {
            edges.change(BTreeMap::from([(number, None)]));
        }
        edges.check(0..=count);
        assert_eq!(edges.live().len(), 1, "a short list is one piece again");
    }

    #[test]
    fn all_are_removed_at_once() {
        let mut edges = Edges::default();
        edges.change((0..500).map(|key| (key, Some(vec![2; 30]))).collect());
        assert!(edges.found().is_some_and(|found| !found.index().is_empty()));
        let mut changes = RecordChanges::default();
        changes.remove_parallel(edges.found().unwrap());
        edges.changes.push(changes);
        assert!(edges.live().is_empty());
    }
}
