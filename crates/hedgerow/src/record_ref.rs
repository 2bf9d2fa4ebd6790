//! Records of edges where they lie.

use crate::data::Record;
use crate::error::Error;
use hedgerow_encoding::RecordValues;
use hedgerow_model::ValueRef;
use hedgerow_pipeline::decoded;

/// The record of an edge where it lies, which is read without copies: handed over by reads that visit many.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef<'r>(&'r [u8]);

impl<'r> RecordRef<'r> {
    pub(crate) fn new(bytes: &'r [u8]) -> Self {
        RecordRef(bytes)
    }

    /// The values, in the order of the label's schema.
    #[inline]
    pub fn values(self) -> impl Iterator<Item = ValueRef<'r>> {
        let mut values = RecordValues::new(self.0).ok();
        // What is in memory was written as a record: there is nothing that cannot be read.
        std::iter::from_fn(
            #[inline(always)]
            move || values.as_mut()?.next()?.ok(),
        )
    }

    /// A copy of the values as a record, without names.
    ///
    /// # Errors
    /// The memory was damaged.
    pub fn to_record(self) -> Result<Record, Error> {
        Ok(decoded(self.0)?.into())
    }
}
