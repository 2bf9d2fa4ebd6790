//! Capability: engines whose graphs get labels while they are open.

use crate::LabelSchema;

/// An engine that takes labels beside those that it was made with, while writers and readers
/// continue.
pub trait AddLabels {
    /// Adds a label, whose id is the next one. Its edges carry what `label` says.
    ///
    /// There is one call at a time. No commit has effects on the label before the call returns, and
    /// every view shows it without edges until there are, those of older timestamps included.
    ///
    /// Cannot fail: by now the label may be in the manifest of a store.
    fn add_label(&self, label: &LabelSchema);
}
