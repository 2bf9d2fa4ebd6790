//! Adds labels to a graph while it is open.

use crate::error::{Error, LabelExists};
use crate::store::Store;
use hedgerow_model::{EdgeSchema, Engine, LabelId, LabelSchema};
use std::collections::HashMap;

impl Store {
    /// Adds the labels that the graph lacks, while writers and readers continue. Returns the ids of
    /// all `labels`.
    ///
    /// A label becomes known last: the manifest has it, durably, and the engine has room for its
    /// edges before a caller finds it in the catalog. So no commit with edges of a label can be in
    /// the log of a store whose manifest lacks the label.
    ///
    /// O(labels of the graph, and of the call), plus the replacement of the manifest in a store.
    ///
    /// # Errors
    /// A label of one of the names has different edges, two of the names are equal, there are too
    /// many labels, or the graph cannot be written; nothing has changed
    /// then. If the manifest could not be replaced, the log is poisoned.
    pub fn add_labels(&self, labels: &[LabelSchema]) -> Result<Vec<LabelId>, Error> {
        let _adding = self.adding_labels.lock();
        let known = self.catalog.by_name();
        let ids: Vec<Option<LabelId>> =
            labels.iter().map(|label| self.known_as(label, &known)).collect::<Result<_, _>>()?;
        let new: Vec<LabelSchema> =
            labels.iter().zip(&ids).filter(|(_, id)| id.is_none()).map(|(label, _)| label.clone()).collect();
        let mut added = Vec::with_capacity(new.len());
        if !new.is_empty() {
            self.catalog.to_catalog().with_labels(&new)?;
            if self.sequencer.is_poisoned() {
                return Err(Error::Poisoned);
            }
            self.journal().map_or(Ok(()), |journal| Ok::<_, Error>(journal.log()?.add_labels(&new)?))?;
            for label in new {
                self.engine.add_label(&label);
                added.push(self.catalog.push(label));
            }
        }
        let mut added = added.into_iter();
        Ok(ids.into_iter().filter_map(|id| id.or_else(|| added.next())).collect())
    }

    /// The id of a label, if the graph has it. Fails if a different label has that name.
    fn known_as(
        &self,
        asked: &LabelSchema,
        known: &HashMap<&str, LabelId>,
    ) -> Result<Option<LabelId>, Error> {
        let Some(id) = known.get(&*asked.name) else { return Ok(None) };
        let found = self.catalog.label(*id).map(|label| &label.edges);
        match found.filter(|found| !carry_the_same(found, &asked.edges)) {
            None => Ok(Some(*id)),
            Some(found) => Err(Error::LabelExists(Box::new(LabelExists {
                label: asked.name.clone(),
                found: found.clone(),
                asked: asked.edges.clone(),
            }))),
        }
    }
}

/// Returns true if edges of two schemas carry equal contents. The absence of content can be
/// declared in two ways.
fn carry_the_same(one: &EdgeSchema, other: &EdgeSchema) -> bool {
    let nothing = EdgeSchema::Topology.column();
    one == other || one.column() == nothing && other.column() == nothing
}
