//! The numbers of entries of an edge file: edges in their newest version in the file.

use crate::levels::block::Version;
use crate::levels::merge::EdgeKey;
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;
use hedgerow_model::VertexId;

/// The numbers of entries of an edge file. An undirected edge has an entry at either end, only one
/// of which *ascends*: its neighbor is not less than its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryCounts {
    /// Entries that are not deletions.
    pub puts: u64,
    /// Entries that are deletions.
    pub deletions: u64,
    /// Entries that ascend and are not deletions.
    pub ascending_puts: u64,
    /// Entries that ascend and are deletions.
    pub ascending_deletions: u64,
}

impl EntryCounts {
    pub(super) const BYTES: usize = 4 * 8;

    /// Adds an entry. O(1).
    pub(crate) fn add(&mut self, owner: VertexId, neighbor: VertexId, is_put: bool) {
        let ascends = u64::from(owner <= neighbor);
        match is_put {
            true => (self.puts, self.ascending_puts) = (self.puts + 1, self.ascending_puts + ascends),
            false => {
                self.deletions += 1;
                self.ascending_deletions += ascends;
            }
        }
    }

    /// Adds entries of one owner, ascending, each in one version. O(entries).
    pub(super) fn add_row(&mut self, owner: VertexId, edges: &[EdgeKey], versions: &[Version]) {
        let ascending = edges.partition_point(|edge| edge.ends().1 < owner);
        let deletions_in = |versions: &[Version]| {
            versions.iter().map(|version| u64::from(version.value.is_none())).sum::<u64>()
        };
        let (before, from) = versions.split_at(ascending);
        let (deletions_before, ascending_deletions) = (deletions_in(before), deletions_in(from));
        let deletions = deletions_before + ascending_deletions;
        self.puts += versions.len() as u64 - deletions;
        self.deletions += deletions;
        self.ascending_puts += from.len() as u64 - ascending_deletions;
        self.ascending_deletions += ascending_deletions;
    }

    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        let EntryCounts { puts, deletions, ascending_puts, ascending_deletions } = *self;
        for number in [puts, deletions, ascending_puts, ascending_deletions] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// Reads the counts of a file with this number of versions.
    pub(super) fn read(reader: &mut Reader<'_>, versions: u64) -> Result<Self, DecodeError> {
        let mut number = || reader.array().map(u64::from_le_bytes);
        let (puts, deletions, ascending_puts, ascending_deletions) =
            (number()?, number()?, number()?, number()?);
        let is_possible = puts.checked_add(deletions).is_some_and(|entries| entries <= versions)
            && ascending_puts <= puts
            && ascending_deletions <= deletions;
        match is_possible {
            true => Ok(EntryCounts { puts, deletions, ascending_puts, ascending_deletions }),
            false => Err(reader.error("numbers of entries that do not add up")),
        }
    }
}
