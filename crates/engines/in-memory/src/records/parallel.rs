//! Parallel edges: any number of edges between two vertices, behind one value.
//!
//! A short list of edges is one piece of memory. A longer one is split into chunks with an index of
//! their addresses: a change rewrites the chunks that it touches, and the index. All pieces are
//! kept and freed like records, each with its own lifetime. The lifetime of a chunk contains the
//! lifetimes of all indexes that point to it, because the commit that replaces a chunk also
//! replaces the index.

mod change;

use crate::records::heap;
use hedgerow_encoding::{EdgeList, EdgeListWriter};
use hedgerow_model::{EdgeValue, ParallelEdges, ReadError};
use std::ops::RangeInclusive;

/// The first byte of a list.
const LIST: u8 = 0;

/// The first byte of an index.
const INDEX: u8 = 1;

/// Bytes of an index entry: the first key of a chunk, its number of edges, and its handle.
const INDEX_ENTRY: usize = 24;

/// The parallel edges between two vertices, at least one, readable for `'v`.
#[derive(Clone, Copy, Debug)]
pub struct HeapParallel<'v> {
    value: EdgeValue,
    bytes: &'v [u8],
}

/// A range of the edges, in ascending key order.
#[derive(Clone, Copy, Debug)]
struct EdgeRange<'v> {
    /// Lower bound of the chunk's keys, and upper bound of the keys of earlier chunks.
    first: u64,
    count: u64,
    list: &'v [u8],
    /// The chunk's handle in the index; `None` if there is no index.
    value: Option<EdgeValue>,
}

impl<'v> HeapParallel<'v> {
    /// # Safety
    /// `value` is the value of an edge whose label has parallel edges, in a view that is alive for
    /// `'v`.
    pub(crate) unsafe fn behind(value: EdgeValue) -> Self {
        // SAFETY: the caller's promise.
        HeapParallel { value, bytes: unsafe { heap::bytes(value) } }
    }

    /// Returns the entries of the index; empty if there is no index.
    fn index(self) -> &'v [[u8; INDEX_ENTRY]] {
        match self.bytes {
            [INDEX, entries @ ..] => entries.as_chunks().0,
            _ => &[],
        }
    }

    /// The chunk of an index entry.
    fn chunk(entry: &'v [u8; INDEX_ENTRY]) -> EdgeRange<'v> {
        let [first, count, value] = [0, 1, 2].map(|field| index_field(entry, field));
        let value = EdgeValue(value);
        // SAFETY: the entry belongs to an index that is readable for `'v`, by the contract of
        // `behind`; its chunks live at least as long (see the module).
        let list = unsafe { heap::bytes(value) };
        EdgeRange { first, count, list, value: Some(value) }
    }

    /// All chunks, ascending.
    fn chunks(self) -> Vec<EdgeRange<'v>> {
        match self.bytes {
            [LIST, list @ ..] => {
                let count = EdgeList::new(list).count() as u64;
                vec![EdgeRange { first: 0, count, list, value: None }]
            }
            _ => self.index().iter().map(Self::chunk).collect(),
        }
    }

    /// The number of edges.
    fn length(self) -> u64 {
        match self.bytes {
            [LIST, list @ ..] => EdgeList::new(list).count() as u64,
            _ => self.index().iter().map(|entry| index_field(entry, 1)).sum(),
        }
    }

    /// All edges as one list.
    pub(crate) fn to_list(self) -> Vec<u8> {
        if let [LIST, list @ ..] = self.bytes {
            return list.to_vec();
        }
        let mut list = EdgeListWriter::default();
        // Memory contains only lists that were written here.
        self.edges(0..=u64::MAX).flatten().for_each(|(key, record)| list.push(key, Some(record)));
        list.into_bytes()
    }
}

impl<'v> ParallelEdges<'v> for HeapParallel<'v> {
    /// O(chunks), or O(edges) without an index.
    fn count(self) -> Result<u64, ReadError> {
        Ok(self.length())
    }

    /// O(log chunks + a chunk + edges).
    fn edges(self, keys: RangeInclusive<u64>) -> impl Iterator<Item = Result<(u64, &'v [u8]), ReadError>> {
        let (first, last) = keys.into_inner();
        let whole = match self.bytes {
            [LIST, list @ ..] => Some(list),
            _ => None,
        };
        let index = self.index();
        let before = index.partition_point(|entry| index_field(entry, 0) <= first);
        let chunks = index[before.saturating_sub(1)..].iter().map(Self::chunk);
        let lists = chunks.take_while(move |chunk| chunk.first <= last).map(|chunk| chunk.list);
        whole
            .into_iter()
            .chain(lists)
            .flat_map(listed)
            .skip_while(move |edge| edge.as_ref().is_ok_and(|(key, _)| *key < first))
            .take_while(move |edge| edge.as_ref().map_or(true, |(key, _)| *key <= last))
    }
}

/// One of the three fields of an index entry.
fn index_field(entry: &[u8; INDEX_ENTRY], field: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&entry[field * 8..][..8]);
    u64::from_le_bytes(bytes)
}

/// The edges of a list in memory.
fn listed(list: &[u8]) -> impl Iterator<Item = Result<(u64, &[u8]), ReadError>> {
    EdgeList::new(list).map(|edge| match edge {
        Ok((key, record)) => Ok((key, record.unwrap_or_default())),
        Err(error) => Err(ReadError::new("a list of parallel edges", error)),
    })
}

#[cfg(test)]
impl<'v> HeapParallel<'v> {
    /// Returns the parallel edges whose pieces these changes own, and free on drop.
    fn kept_by(value: EdgeValue, _changes: &'v [crate::records::RecordChanges]) -> Self {
        // SAFETY: the changes own the pieces for `'v`.
        unsafe { HeapParallel::behind(value) }
    }
}
