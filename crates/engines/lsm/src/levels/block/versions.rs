//! Reading all versions of a block at once, for a merge.

use super::Block;
use crate::levels::merge::VersionBatch;
use crate::levels::row::{PackedRow, Unpacked};
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::Reader;
use hedgerow_model::VertexId;
use std::ops::{ControlFlow, Range};

impl Block<'_> {
    /// Appends all versions of the edges of these owners, which carry no records.
    /// O(rows + versions).
    ///
    /// # Errors
    /// The rows are damaged.
    pub(crate) fn push_versions(
        &self,
        owners: &Range<u32>,
        batch: &mut VersionBatch,
    ) -> Result<(), DecodeError> {
        let (mut rows, mut first, mut unpacked) = (Reader::new(self.packed), 0, Unpacked::default());
        let mut push_row = |owner: VertexId| {
            let row = PackedRow::read(&mut rows)?;
            let entry = first;
            first += row.degree();
            if first > self.entries {
                return Err(rows.error("more entries than the block has"));
            }
            match owners.contains(&owner.get()) {
                true => self.push_row(owner, &row, entry, &mut unpacked, batch),
                false => Ok(()),
            }
        };
        let flow =
            self.visit_owners(|owners| match owners.iter().try_for_each(|owner| push_row(*owner)) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => ControlFlow::Break(error),
            })?;
        flow.break_value().map_or(Ok(()), Err)
    }

    /// Appends the versions of a row, from its first entry on.
    #[inline]
    fn push_row(
        &self,
        owner: VertexId,
        row: &PackedRow<'_>,
        mut entry: usize,
        unpacked: &mut Unpacked,
        batch: &mut VersionBatch,
    ) -> Result<(), DecodeError> {
        let is_plain = self.timestamps.is_none() && self.deleted.is_none() && self.older.is_empty();
        let is_settled = is_plain && self.values.are_empty();
        let pushed = row.visit(unpacked, |neighbors| {
            if is_settled {
                batch.push_settled(owner, neighbors);
                return ControlFlow::<()>::Continue(());
            }
            for neighbor in neighbors {
                batch.push(owner, *neighbor, self.newest(entry));
                if !self.older.is_empty() {
                    self.older(entry).for_each(|version| batch.push(owner, *neighbor, version));
                }
                entry += 1;
            }
            ControlFlow::Continue(())
        });
        pushed.map(|_| ())
    }
}
