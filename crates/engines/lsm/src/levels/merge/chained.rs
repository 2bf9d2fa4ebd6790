//! Several sources as one.

use super::{VersionBatch, VersionSource};
use hedgerow_model::ReadError;
use std::collections::VecDeque;

/// Sources one after the other: the edges of each source lie behind the edges of the source before.
/// A merge holds a batch of only the first source.
pub(crate) struct Chained<S>(VecDeque<S>);

impl<S> FromIterator<S> for Chained<S> {
    fn from_iter<I: IntoIterator<Item = S>>(sources: I) -> Self {
        Chained(sources.into_iter().collect())
    }
}

impl<S: VersionSource> VersionSource for Chained<S> {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        while let Some(first) = self.0.front_mut() {
            first.read(batch)?;
            if !batch.is_empty() {
                break;
            }
            self.0.pop_front();
        }
        Ok(())
    }
}
