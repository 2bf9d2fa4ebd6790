//! Borrowed records of edges.

use crate::data::Record;
use crate::error::Error;
use hedgerow_encoding::RecordValues;
use hedgerow_model::ValueRef;
use hedgerow_pipeline::decoded;

/// The record of an edge in place, read without copies. Reads that visit many edges lend it.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'r>(&'r [u8]);

impl<'r> RecordRef<'r> {
    pub(crate) fn new(bytes: &'r [u8]) -> Self {
        RecordRef(bytes)
    }

    /// Returns the values, in the order of the label's schema.
    #[inline]
    pub fn values(self) -> impl Iterator<Item = ValueRef<'r>> {
        let mut values = RecordValues::new(self.0).ok();
        // Bytes in memory were written as a record, so reading them cannot fail.
        std::iter::from_fn(
            #[inline(always)]
            move || values.as_mut()?.next()?.ok(),
        )
    }

    /// Copies the values to a record without names.
    ///
    /// # Errors
    /// The memory was damaged.
    pub fn to_record(self) -> Result<Record, Error> {
        Ok(decoded(self.0)?.into())
    }
}
