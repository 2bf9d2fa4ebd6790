//! The catalog of an open graph, which grows while it is read.

use crate::{Catalog, LabelId, LabelSchema, RecordSchema, SchemaError};
use hedgerow_sync::{GrowingList, thread_local};
use std::cell::Cell;
use std::collections::HashMap;

thread_local! {
    /// Number of labels that this thread examined in searches by name.
    static SEARCHED: Cell<u64> = const { Cell::new(0) };
}

/// Runs `work`. Returns its result and the number of labels that this thread examined in searches
/// by name; 0 without debug assertions.
#[doc(hidden)]
pub fn measure_searched_labels<R>(work: impl FnOnce() -> R) -> (R, u64) {
    let before = SEARCHED.with(Cell::get);
    let result = work();
    (result, SEARCHED.with(Cell::get) - before)
}

/// The labels of an open graph, and the schema of its vertices: a [`Catalog`] to which labels are
/// appended while other threads read it, without a lock.
///
/// An appended label never changes. Everything that its edges need exists before a reader finds it
/// here.
#[derive(Debug)]
pub struct GrowingCatalog {
    labels: GrowingList<LabelSchema>,
    vertices: RecordSchema,
}

impl GrowingCatalog {
    /// Appends a label, which the catalog [can have](Catalog::with_labels). Returns its id.
    ///
    /// # Panics
    /// If another thread appends at the same time, or there are more labels than ids.
    pub fn push(&self, label: LabelSchema) -> LabelId {
        let position = self.labels.push(label);
        LabelId(u16::try_from(position).expect("the catalog checked that its labels can be numbered"))
    }

    /// Number of labels. O(1).
    pub fn label_count(&self) -> usize {
        self.labels.len()
    }

    /// The labels at the time of the call, ascending.
    pub fn labels(&self) -> impl Iterator<Item = (LabelId, &LabelSchema)> {
        // No number is taken after the last label: it might overflow.
        self.labels.iter().zip((0..).map(LabelId)).map(|(schema, label)| (label, schema))
    }

    /// The schema of a label, if the label exists. O(1).
    #[inline]
    pub fn label(&self, label: LabelId) -> Option<&LabelSchema> {
        self.labels.get(label.index())
    }

    /// The schema of the records of vertices.
    #[inline]
    pub fn vertices(&self) -> &RecordSchema {
        &self.vertices
    }

    /// The schema of the records of a label's edges; `None` if the edges have no records, or the
    /// label does not exist.
    pub fn record_schema(&self, label: LabelId) -> Option<&RecordSchema> {
        self.label(label)?.edges.record()
    }

    /// Returns true if the edges of a label may be parallel.
    pub fn are_parallel(&self, label: LabelId) -> bool {
        self.label(label).is_some_and(|schema| schema.edges.key().is_some())
    }

    /// The label called `name`. O(labels).
    ///
    /// # Errors
    /// [`SchemaError::UnknownLabel`] if no label has the name.
    pub fn label_id(&self, name: &str) -> Result<LabelId, SchemaError> {
        let named = self.searched().find(|(_, schema)| schema.name == name);
        named.map(|(label, _)| label).ok_or_else(|| SchemaError::UnknownLabel(name.to_owned()))
    }

    /// All labels by name, for many lookups. O(labels).
    pub fn by_name(&self) -> HashMap<&str, LabelId> {
        self.searched().map(|(label, schema)| (&*schema.name, label)).collect()
    }

    /// All labels. Counts each one that is examined.
    fn searched(&self) -> impl Iterator<Item = (LabelId, &LabelSchema)> {
        self.labels().inspect(|_| {
            if cfg!(debug_assertions) {
                SEARCHED.with(|searched| searched.set(searched.get() + 1));
            }
        })
    }

    /// A copy that does not grow. O(labels).
    pub fn to_catalog(&self) -> Catalog {
        Catalog::of_valid(self.labels.iter().cloned().collect(), self.vertices.clone())
    }
}

impl From<&Catalog> for GrowingCatalog {
    fn from(catalog: &Catalog) -> Self {
        let labels = GrowingList::new(Box::from(catalog.labels()));
        GrowingCatalog { labels, vertices: catalog.vertices().clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ValueType;

    #[test]
    fn appended_labels_are_found_like_the_first_ones() {
        let first = Catalog::new(vec![LabelSchema::new("follows")], RecordSchema::default()).unwrap();
        let catalog = GrowingCatalog::from(&first);
        let record = RecordSchema::new().field("amount", ValueType::F64);
        let appended = [
            LabelSchema::with_value::<f64>("rates"),
            LabelSchema::with_record("pays", record.clone()),
            LabelSchema::with_parallel_edges("calls", "number", record.clone()),
        ];
        assert_eq!(catalog.label_id("pays"), Err(SchemaError::UnknownLabel("pays".to_owned())));
        assert_eq!(appended.clone().map(|label| catalog.push(label)), [1, 2, 3].map(LabelId));
        assert_eq!(catalog.label_id("pays"), Ok(LabelId(2)));
        let names = catalog.by_name();
        assert_eq!((names.get("pays"), names.len()), (Some(&LabelId(2)), 4));
        assert_eq!(catalog.label(LabelId(1)), Some(&appended[0]));
        let labels = || (0..4).map(LabelId);
        assert!(labels().map(|label| catalog.are_parallel(label)).eq([false, false, false, true]));
        let records = labels().map(|label| catalog.record_schema(label));
        assert!(records.eq([None, None, Some(&record), Some(&record)]));
        assert_eq!(catalog.to_catalog(), first.with_labels(&appended).unwrap());
        assert_eq!((catalog.label_count(), catalog.label(LabelId(4))), (4, None));
    }
}
