//! Applying changes to another graph.

use super::{Change, CommitChanges};
use crate::error::Error;
use crate::transaction::WriteTxn;
use crate::write_graph::Writes;
use hedgerow_model::{
    EdgeValue, LabelId, Operation, RecordChange, RecordMode, RecordSchema, Value, ValueType,
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
    /// use hedgerow::{Begin, SubscribeOptions};
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
        let labels = self.catalog().to_catalog();
        let here = |label: LabelId| {
            let name = labels.labels().get(usize::from(label.0)).map_or("", |schema| &schema.name);
            typed.catalog().label_id(name)
        };
        for change in self.iter() {
            transaction.write(match change {
                Change::DeleteEdge(edge) => {
                    let (source, destination) =
                        (typed.check_key(&edge.source())?, typed.check_key(&edge.destination())?);
                    let label = here(edge.label())?;
                    match edge.number() {
                        None => Operation::DeleteEdge { label, source, destination },
                        key => {
                            let change = RecordChange::new(RecordMode::Delete, Vec::new());
                            Operation::ChangeRecord { label, source, destination, key, change }
                        }
                    }
                }
                Change::DeleteVertex(vertex) => {
                    Operation::DeleteVertex { key: typed.check_key(&vertex.key())? }
                }
                Change::PutVertex(vertex) => {
                    let key = typed.check_key(&vertex.key())?;
                    let properties = set_all(typed.catalog().vertices(), vertex.record().values());
                    match properties.is_empty() {
                        true => Operation::AddVertex { key },
                        false => Operation::SetProperties { key, properties },
                    }
                }
                Change::PutEdge(edge) => {
                    let (source, destination) =
                        (typed.check_key(&edge.source())?, typed.check_key(&edge.destination())?);
                    let (label, key) = (here(edge.label())?, edge.number());
                    match edge.record()? {
                        None => {
                            let value = edge.value().unwrap_or(EdgeValue(0));
                            Operation::PutEdge { label, source, destination, value }
                        }
                        Some(record) => {
                            let schema = typed.any_record_schema(label)?;
                            let change = RecordChange::new(RecordMode::Put, set_all(schema, record.values()));
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
