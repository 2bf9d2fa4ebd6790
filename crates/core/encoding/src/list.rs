//! Encoding of the parallel edges from one vertex to another: in the log, in checkpoints, and in
//! memory.
//!
//! A list has edges ascending by key: the first key, then the gaps between keys, less one; each
//! with the [bytes](crate::encode_record) of its record. A list of changes marks some edges as
//! deleted.

use crate::record::BYTES;
use crate::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{ParallelEdges, ReadError};
use std::ops::RangeInclusive;

/// Encodes parallel edges, or changes of them.
#[derive(Clone, Debug, Default)]
pub struct EdgeListWriter {
    bytes: Vec<u8>,
    last: Option<u64>,
}

impl EdgeListWriter {
    /// Appends the edge with a key, which is greater than all earlier keys; `None` marks it as
    /// deleted.
    ///
    /// # Panics
    /// If the key is not greater than all earlier keys.
    pub fn push(&mut self, key: u64, record: Option<&[u8]>) {
        let gap = self.last.map_or(Some(key), |last| key.checked_sub(last)?.checked_sub(1));
        put_varint(&mut self.bytes, gap.expect("keys of parallel edges ascend"));
        put_varint(&mut self.bytes, record.map_or(0, |record| record.len() as u64 + 1));
        self.bytes.extend_from_slice(record.unwrap_or_default());
        self.last = Some(key);
    }

    /// The encoded list.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Reads a list of parallel edges, or of changes: each key with its record, or `None` if it is
/// deleted.
///
/// Yields one error, at the first invalid byte, and ends there.
#[derive(Clone, Debug)]
pub struct EdgeList<'b> {
    reader: Reader<'b>,
    last: Option<u64>,
    failed: bool,
}

impl<'b> EdgeList<'b> {
    /// Reads a list that [`EdgeListWriter`] wrote.
    #[must_use]
    pub fn new(bytes: &'b [u8]) -> Self {
        EdgeList { reader: Reader::new(bytes), last: None, failed: false }
    }

    fn read(&mut self) -> Result<(u64, Option<&'b [u8]>), DecodeError> {
        let gap = self.reader.varint()?;
        let key = self.last.map_or(Some(gap), |last| gap.checked_add(last)?.checked_add(1));
        let key = key.ok_or_else(|| self.reader.error("a key is longer than 64 bits"))?;
        self.last = Some(key);
        let Some(length) = self.reader.varint()?.checked_sub(1) else { return Ok((key, None)) };
        let length = usize::try_from(length);
        let length = length.map_err(|_| self.reader.error("more is promised than there are bytes"))?;
        Ok((key, Some(self.reader.take(length)?)))
    }
}

impl<'b> Iterator for EdgeList<'b> {
    type Item = Result<(u64, Option<&'b [u8]>), DecodeError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed || self.reader.remaining() == 0 {
            return None;
        }
        let read = self.read();
        self.failed = read.is_err();
        Some(read)
    }
}

/// Encoded parallel edges, as lent by a view of an engine that stores them as records.
#[derive(Clone, Copy, Debug)]
pub struct ParallelList<'b>(&'b [u8]);

impl<'b> ParallelList<'b> {
    /// The edges of a list that [`EdgeListWriter`] wrote.
    #[must_use]
    pub fn new(list: &'b [u8]) -> Self {
        ParallelList(list)
    }

    /// The edges of a list that is stored [as a record](list_as_record).
    ///
    /// # Errors
    /// If the record is not a list.
    pub fn of_record(record: &'b [u8]) -> Result<Self, ReadError> {
        list_of_record(record).map(ParallelList).map_err(unreadable)
    }
}

pub(crate) fn unreadable(error: DecodeError) -> ReadError {
    ReadError::new("a list of parallel edges", error)
}

impl<'b> ParallelEdges<'b> for ParallelList<'b> {
    /// Number of edges. O(edges).
    fn count(self) -> Result<u64, ReadError> {
        EdgeList::new(self.0).try_fold(0, |count, edge| edge.map(|_| count + 1)).map_err(unreadable)
    }

    /// The edges whose keys are in a range. O(edges up to the end of the range).
    fn edges(self, keys: RangeInclusive<u64>) -> impl Iterator<Item = Result<(u64, &'b [u8]), ReadError>> {
        let (first, last) = keys.into_inner();
        let edges = EdgeList::new(self.0).map(|edge| match edge {
            Ok((key, record)) => Ok((key, record.unwrap_or_default())),
            Err(error) => Err(unreadable(error)),
        });
        edges
            .skip_while(move |edge| edge.as_ref().is_ok_and(|(key, _)| *key < first))
            .take_while(move |edge| edge.as_ref().map_or(true, |(key, _)| *key <= last))
    }
}

/// Wraps a list in a record of one value, so that parallel edges are stored like the records of
/// other edges.
#[must_use]
pub fn list_as_record(list: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(list.len() + 8);
    bytes.extend([1, BYTES]);
    put_bytes(&mut bytes, list);
    bytes
}

/// Unwraps the list from a [record](list_as_record).
///
/// # Errors
/// If the record is not a list. The list itself is not checked.
pub fn list_of_record(record: &[u8]) -> Result<&[u8], DecodeError> {
    let mut reader = Reader::new(record);
    if reader.varint()? != 1 || reader.byte()? != BYTES {
        return Err(reader.error("no list of parallel edges"));
    }
    let list = reader.bytes()?;
    reader.end()?;
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{decode_record, encode_record};
    use hedgerow_model::{Record, Value};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn lists_come_back_as_they_were_written(
            edges in prop::collection::btree_map(any::<u64>(), prop::option::of(prop::collection::vec(any::<u8>(), 0..9)), 0..9),
        ) {
            let mut writer = EdgeListWriter::default();
            edges.iter().for_each(|(key, record)| writer.push(*key, record.as_deref()));
            let record = list_as_record(&writer.into_bytes());
            let list = list_of_record(&record).unwrap();
            let read = EdgeList::new(list).map(|edge| edge.map(|(key, record)| (key, record.map(<[u8]>::to_vec))));
            prop_assert_eq!(read.collect::<Result<BTreeMap<_, _>, _>>().unwrap(), edges);
            prop_assert_eq!(decode_record(&record), Ok(Record::new(vec![Value::Bytes(list.into())])));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let keys: Vec<u64> = EdgeList::new(&bytes).map_while(|edge| Some(edge.ok()?.0)).collect();
            prop_assert!(keys.is_sorted_by(|one, next| one < next));
            let _ = list_of_record(&bytes);
        }
    }

    #[test]
    fn truncated_and_oversized_input_is_refused() {
        let mut writer = EdgeListWriter::default();
        writer.push(u64::MAX, Some(b"last"));
        let bytes = writer.into_bytes();
        assert_eq!(EdgeList::new(&bytes).count(), 1);
        let cut = EdgeList::new(&bytes[..bytes.len() - 1]).collect::<Result<Vec<_>, _>>();
        assert_eq!(cut.unwrap_err().what, "the end comes too early");
        let beyond = [&bytes[..], &[0, 0]].concat();
        let beyond = EdgeList::new(&beyond).collect::<Result<Vec<_>, _>>();
        assert_eq!(beyond.unwrap_err().what, "a key is longer than 64 bits");
        let other = encode_record(&Record::new(vec![Value::I64(1)]));
        assert_eq!(list_of_record(&other).unwrap_err().what, "no list of parallel edges");
    }
}
