//! A view of an engine with the store that knows its keys.

use crate::error::{Error, read_failed};
use crate::store::Store;
use hedgerow_model::{ColumnType, GraphView, LabelId, LabelSchema, VertexId, ViewError};

/// A view of an engine, with the store that knows its keys.
pub struct ViewReads<'v, V> {
    /// The store.
    pub store: &'v Store,
    /// The view.
    pub view: &'v V,
    /// The ids of a key that may be read.
    pub keys: KeyReads,
}

/// Selects the ids of a key, present and former, that may be read in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyReads {
    /// All ids: the id that exists in the state is the key's.
    AsOf,
    /// Only the current id: the units of former ids are not locked.
    Current,
}

impl<V: GraphView> ViewReads<'_, V> {
    pub(super) fn schema(&self, label: LabelId) -> Result<&LabelSchema, ViewError> {
        self.store.catalog.label(label).ok_or(ViewError::UnknownLabel(label))
    }

    pub(super) fn exists(&self, vertex: VertexId) -> Result<bool, Error> {
        self.view.contains_vertex(vertex).map_err(read_failed)
    }

    /// The type of the values of a label's edges. Labels with records have no values here: engines
    /// decide how to find records.
    pub(super) fn column(&self, label: LabelId) -> Result<ColumnType, ViewError> {
        Ok(match self.schema(label)?.edges.column() {
            ColumnType::Record => ColumnType::Unit,
            column => column,
        })
    }
}
