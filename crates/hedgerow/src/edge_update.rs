//! Updates of edges with records, as applications request them.

use hedgerow_model::{Field, RecordChange, RecordMode, RecordSchema, SchemaError, Value};

/// An update of an edge with a record: the operation, the properties to set, by name, and
/// conditions.
///
/// ```
/// use hedgerow::Version;
/// use hedgerow::prelude::*;
///
/// #[derive(Properties, Debug, PartialEq)]
/// struct Pays {
///     amount: Option<f64>,
///     version: Version,
/// }
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<Pays>("pays"))?;
/// let pays = graph.label::<Pays>("pays")?;
///
/// graph.update_edge(pays, 1, 2, &EdgeUpdate::put().set("amount", 9.5))?;
/// let raised = EdgeUpdate::upsert().set("amount", 10.0).only_if("version", 1);
/// assert!(graph.update_edge(pays, 1, 2, &raised)?.changed);
/// assert!(!graph.update_edge(pays, 1, 2, &raised)?.changed, "it has another version by now");
/// assert_eq!(graph.get_edge(pays, 1, 2)?, Some(Pays { amount: Some(10.0), version: Version(2) }));
/// # Ok::<(), hedgerow::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct EdgeUpdate<'n> {
    mode: RecordMode,
    fields: Vec<(&'n str, Value)>,
    condition: Option<Vec<(&'n str, Value)>>,
}

impl<'n> EdgeUpdate<'n> {
    fn new(mode: RecordMode) -> Self {
        EdgeUpdate { mode, fields: Vec::new(), condition: None }
    }

    /// Puts the edge, or replaces its record: the properties that are set, and nulls in all others.
    #[must_use]
    pub fn put() -> Self {
        EdgeUpdate::new(RecordMode::Put)
    }

    /// Puts the edge if there is none; otherwise changes nothing.
    #[must_use]
    pub fn insert() -> Self {
        EdgeUpdate::new(RecordMode::Insert)
    }

    /// Puts the edge if it does not exist; otherwise changes the properties that are set and keeps
    /// all others. With a condition, a missing edge is not put.
    #[must_use]
    pub fn upsert() -> Self {
        EdgeUpdate::new(RecordMode::Update)
    }

    /// Deletes the edge if it exists.
    #[must_use]
    pub fn delete() -> Self {
        EdgeUpdate::new(RecordMode::Delete)
    }

    /// Sets a property.
    #[must_use]
    pub fn set(mut self, name: &'n str, value: impl Into<Value>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds a condition: nothing changes unless the edge exists and the property has this value, in
    /// the newest state when the change is committed. All conditions have to hold.
    #[must_use]
    pub fn only_if(mut self, name: &'n str, value: impl Into<Value>) -> Self {
        self.condition.get_or_insert_default().push((name, value.into()));
        self
    }

    /// Converts to a change of a record of this schema.
    pub(crate) fn to_change(&self, schema: &RecordSchema) -> Result<RecordChange, SchemaError> {
        let fields = |named: &[(&str, Value)], check: fn(&Field, &Value) -> Result<(), SchemaError>| {
            let field = |(name, value): &(&str, Value)| {
                let position = schema.position(name)?;
                check(&schema.fields[position], value)?;
                Ok((position, value.clone()))
            };
            named.iter().map(field).collect::<Result<Vec<_>, SchemaError>>()
        };
        let condition =
            self.condition.as_deref().map(|condition| fields(condition, Field::check)).transpose()?;
        Ok(RecordChange { mode: self.mode, fields: fields(&self.fields, Field::check_set)?, condition })
    }
}
