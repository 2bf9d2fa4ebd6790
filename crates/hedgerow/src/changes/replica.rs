//! Applying changes to another graph.

use super::{Change, ChangedEdge, CommitChanges};
use crate::error::Error;
use crate::transaction::WriteTxn;
use crate::write_graph::Writes;
use hedgerow_model::{
    EdgeValue, Key, LabelId, Operation, RecordChange, RecordMode, RecordSchema, Value, ValueType,
};

impl CommitChanges<'_> {
    /// Stages the changes in a transaction of another graph, which has the same kind of keys, and
    /// labels and properties of the same names and types. Applied in order from the first commit
    /// on, or after the rows of a snapshot, they make the graphs equal, but for vertex ids and for
    /// [versions](crate::Version), which each graph counts itself.
    ///
    /// Note the [token](super::Changes::token) with the transaction
    /// ([`WriteTxn::note_input`]) to go on where it was after a crash.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    /// use hedgerow::SubscribeOptions;
    ///
    /// let options = GraphOptions::new().label::<f64>("rates");
    /// let (graph, copy) = (Graph::in_memory(options.clone())?, Graph::in_memory(options)?);
    /// let rates = graph.label::<f64>("rates")?;
    /// let mut subscription = graph.subscribe(&SubscribeOptions::new())?;
    /// graph.ingest(rates, &[(1, 2, 4.0), (2, 3, 5.0)])?;
    /// graph.delete_vertex(3)?;
    /// let changes = subscription.pull()?;
    /// for commit in changes.commits() {
    ///     copy.transact(|transaction| commit.stage_in(transaction))?;
    /// }
    /// assert_eq!(copy.edges(copy.label::<f64>("rates")?, 1)?, [(Key::from(2), 4.0)]);
    /// assert_eq!(copy.snapshot()?.vertex_count(), 2);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The graph has no such label, or keys of another kind.
    pub fn stage_in(&self, transaction: &WriteTxn) -> Result<(), Error> {
        let typed = transaction.typed()?;
        let checked = |edge: &ChangedEdge<'_>| -> Result<(LabelId, Key, Key), Error> {
            let label = typed.catalog().label_id(&edge.schema()?.name)?;
            Ok((label, typed.check_key(&edge.source())?, typed.check_key(&edge.destination())?))
        };
        for change in self.iter() {
            transaction.write(match change {
                Change::DeleteEdge(edge) => {
                    let (label, source, destination) = checked(&edge)?;
                    match edge.number() {
                        None => Operation::DeleteEdge { label, source, destination },
                        key => {
                            let change = RecordChange::new(RecordMode::Delete, Vec::new());
                            Operation::ChangeRecord { label, source, destination, key, change }
                        }
                    }
                }
                Change::DeleteVertex(vertex) => typed.delete_vertex(&vertex.key())?,
                Change::PutVertex(vertex) => {
                    let properties = set_all(typed.catalog().vertices(), vertex.record().values());
                    match properties.is_empty() {
                        true => typed.add_vertex(&vertex.key())?,
                        false => typed.set_positions(&vertex.key(), properties)?,
                    }
                }
                Change::PutEdge(edge) => {
                    let (label, source, destination) = checked(&edge)?;
                    match edge.record()? {
                        None => {
                            let value = edge.value().unwrap_or(EdgeValue(0));
                            Operation::PutEdge { label, source, destination, value }
                        }
                        Some(record) => {
                            let set = set_all(typed.any_record_schema(label)?, record.values());
                            let (key, change) = (edge.number(), RecordChange::new(RecordMode::Put, set));
                            Operation::ChangeRecord { label, source, destination, key, change }
                        }
                    }
                }
            })?;
        }
        Ok(())
    }
}

/// All values by their positions, except for versions, which the graph counts.
fn set_all(schema: &RecordSchema, values: &[Value]) -> Vec<(usize, Value)> {
    let is_set = |position: &usize| schema.fields[*position].value_type != ValueType::Version;
    let count = schema.fields.len().min(values.len());
    (0..count).filter(is_set).map(|position| (position, values[position].clone())).collect()
}
