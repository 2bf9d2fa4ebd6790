//! Encoded records of edges in effects.

use crate::EdgeValue;
use smallvec::SmallVec;

/// The edge records of a commit, concatenated. A change of an edge with a record refers to the
/// record by its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EffectRecords {
    bytes: Vec<u8>,
    /// The end of each record. Most commits have one record.
    ends: SmallVec<[usize; 2]>,
}

impl EffectRecords {
    /// Appends a record. Returns its number, which is the value of its edge in the effects.
    pub fn push(&mut self, record: &[u8]) -> EdgeValue {
        self.bytes.extend_from_slice(record);
        self.end_record()
    }

    /// Like [`push`](EffectRecords::push), but takes over the buffer of the first record instead of
    /// copying it.
    pub fn push_owned(&mut self, record: Vec<u8>) -> EdgeValue {
        match self.bytes.is_empty() {
            true => self.bytes = record,
            false => self.bytes.extend_from_slice(&record),
        }
        self.end_record()
    }

    /// Appends the records of another; returns what their numbers grow by.
    pub fn append(&mut self, other: &EffectRecords) -> u64 {
        let (number, start) = (self.ends.len() as u64, self.bytes.len());
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| start + end));
        number
    }

    /// Ends a record after the appended bytes.
    fn end_record(&mut self) -> EdgeValue {
        self.ends.push(self.bytes.len());
        EdgeValue(self.ends.len() as u64 - 1)
    }

    /// The record with a number, if it exists.
    #[inline]
    #[must_use]
    pub fn get(&self, number: EdgeValue) -> Option<&[u8]> {
        let number = usize::try_from(number.0).ok()?;
        let end = *self.ends.get(number)?;
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.bytes.get(start..end)
    }

    /// The records, by ascending number.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end])
    }

    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_by_their_numbers_however_they_are_pushed() {
        let content: [&[u8]; 5] = [b"", b"first", b"", b"second", b"third"];
        for owned in 0..1 << content.len() {
            let mut records = EffectRecords::default();
            for (number, record) in content.into_iter().enumerate() {
                let value = match owned & 1 << number {
                    0 => records.push(record),
                    _ => records.push_owned(record.to_vec()),
                };
                assert_eq!(value, EdgeValue(number as u64));
            }
            assert!(records.iter().eq(content));
            let found = (0..5).map(|number| records.get(EdgeValue(number)));
            assert!(found.eq(content.map(Some)) && records.get(EdgeValue(5)).is_none());
            let again = records.clone();
            assert_eq!(records.append(&again), 5);
            assert!(records.iter().eq(content.into_iter().chain(content)));
        }
    }
}
