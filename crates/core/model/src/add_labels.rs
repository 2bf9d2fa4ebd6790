//! Capability: adding labels while a graph is open.

use crate::LabelSchema;

/// An engine to which labels can be added while writers and readers continue.
pub trait AddLabels {
    /// Adds a label with the next id. `label` declares the data on its edges.
    ///
    /// Calls never run concurrently. No commit has effects on the label before the call returns.
    /// Every view, even of an older timestamp, shows the label, without edges until a commit adds
    /// some.
    ///
    /// Cannot fail: by now the label may be in the manifest of a store.
    fn add_label(&self, label: &LabelSchema);
}
