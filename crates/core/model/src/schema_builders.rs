//! Short constructors of schemas.

use crate::{Column, EdgeSchema, Field, LabelSchema, ParallelSchema, RecordSchema, ValueType};

impl LabelSchema {
    /// A label whose edges carry no data.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        LabelSchema { name: name.into(), edges: EdgeSchema::Topology }
    }

    /// A label whose edges carry one value each, such as a weight or a time.
    ///
    /// ```
    /// use hedgerow_model::{ColumnType, LabelSchema};
    ///
    /// assert_eq!(LabelSchema::with_value::<f64>("distance").edges.column(), ColumnType::F64);
    /// ```
    #[must_use]
    pub fn with_value<W: Column>(name: impl Into<String>) -> Self {
        LabelSchema { name: name.into(), edges: EdgeSchema::Value(W::TYPE) }
    }

    /// A label whose edges carry a record each.
    #[must_use]
    pub fn with_record(name: impl Into<String>, record: RecordSchema) -> Self {
        LabelSchema { name: name.into(), edges: EdgeSchema::Record(record) }
    }

    /// A label that allows several edges between two vertices, each with a record and a number that
    /// is unique among them; `key` is the name of that number in files and on the command line.
    #[must_use]
    pub fn with_parallel_edges(
        name: impl Into<String>,
        key: impl Into<String>,
        record: RecordSchema,
    ) -> Self {
        let edges = EdgeSchema::Parallel(ParallelSchema { key: key.into(), record });
        LabelSchema { name: name.into(), edges }
    }
}

impl RecordSchema {
    /// An empty schema, to which fields can be added.
    ///
    /// ```
    /// use hedgerow_model::{RecordSchema, ValueType};
    ///
    /// let person = RecordSchema::new().field("name", ValueType::String).nullable("born", ValueType::Timestamp);
    /// assert_eq!(person.position("born"), Ok(1));
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field that is never null.
    #[must_use]
    pub fn field(self, name: impl Into<String>, value_type: ValueType) -> Self {
        self.with(Field { name: name.into(), value_type, nullable: false })
    }

    /// Adds a field that may be null.
    #[must_use]
    pub fn nullable(self, name: impl Into<String>, value_type: ValueType) -> Self {
        self.with(Field { name: name.into(), value_type, nullable: true })
    }

    fn with(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }
}
