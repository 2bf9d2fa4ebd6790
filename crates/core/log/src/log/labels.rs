//! Adding labels while the log takes commits.

use super::Log;
use crate::error::StoreError;
use crate::store::{Manifest, with_labels};
use hedgerow_model::LabelSchema;

impl Log {
    /// Appends labels to the graph of the store, durably: when this returns, commits with edges of
    /// these labels may follow. O(labels).
    ///
    /// # Errors
    /// [`StoreError::Schema`] if two labels have the same name, or there are too many;
    /// [`StoreError::File`] if they would not fit into the manifest. Then nothing has changed. If
    /// the manifest could not be replaced, the log is poisoned, and only opening the store again
    /// determines if it has the labels.
    pub fn add_labels(&self, labels: &[LabelSchema]) -> Result<(), StoreError> {
        self.try_change_manifest(|manifest: &mut Manifest| {
            manifest.options.catalog = with_labels(manifest, labels, &*self.files)?;
            manifest.check_room(&*self.files)
        })
    }
}
