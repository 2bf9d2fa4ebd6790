//! Checked operations: keys of the graph's kind, and labels and values that its schemas allow.

use crate::data::hidden::Stored;
use crate::data::{EdgeData, no_data, other_data};
use crate::edge_tuple::{EdgeTuple, Tuples};
use crate::edge_update::EdgeUpdate;
use crate::engines::TypedStore;
use crate::error::{Error, Reason};
use crate::stream::StreamError;
use crate::write_graph::RecordUpdate;
use hedgerow_encoding::EdgeWeight;
use hedgerow_model::{
    AsKey, Column, ColumnType, Direction, EdgeSchema, EdgeValue, GrowingCatalog, Key, KeyRef, LabelId,
    LabelSchema, Operation, Record, RecordChange, RecordMode, RecordSchema, Value, ValueType, ViewError,
};
use hedgerow_pipeline::{BulkEdges, Commit, Commits, EdgeWrite, Error as Cause, check_records};
use hedgerow_sync::Arc;

impl TypedStore {
    pub(crate) fn catalog(&self) -> &GrowingCatalog {
        &self.store.catalog
    }

    pub(crate) fn shared_catalog(&self) -> Arc<GrowingCatalog> {
        Arc::clone(&self.store.catalog)
    }

    /// Returns a copy of a key, if it is of the graph's kind.
    pub(crate) fn check_key(&self, key: &impl AsKey) -> Result<Key, Error> {
        self.store.dictionary.check(key.as_key())?;
        Ok(key.as_key().to_key())
    }

    pub(crate) fn add_vertex(&self, key: &impl AsKey) -> Result<Operation, Error> {
        Ok(Operation::AddVertex { key: self.check_key(key)? })
    }

    pub(crate) fn delete_vertex(&self, key: &impl AsKey) -> Result<Operation, Error> {
        Ok(Operation::DeleteVertex { key: self.check_key(key)? })
    }

    pub(crate) fn set_properties(
        &self,
        key: &impl AsKey,
        properties: &[(&str, Value)],
    ) -> Result<Operation, Error> {
        let schema = self.catalog().vertices();
        let position = |(name, value): &(&str, Value)| Ok((schema.position(name)?, value.clone()));
        let positions = properties.iter().map(position).collect::<Result<_, Error>>();
        self.set_positions(key, positions.map_err(Error::about_vertices)?)
    }

    /// Sets properties of a vertex by their positions in the schema.
    pub(crate) fn set_positions(
        &self,
        key: &impl AsKey,
        properties: Vec<(usize, Value)>,
    ) -> Result<Operation, Error> {
        let fields = &self.catalog().vertices().fields;
        properties.iter().try_for_each(|(position, value)| fields[*position].check(value))?;
        Ok(Operation::SetProperties { key: self.check_key(key)?, properties })
    }

    /// Puts an edge with a record: one of several parallel ones if it has a number.
    pub(crate) fn put_record<T: EdgeData>(
        &self,
        label: LabelId,
        source: &impl AsKey,
        destination: &impl AsKey,
        number: Option<u64>,
        data: &T,
    ) -> Result<Operation, Error> {
        let schema = match number {
            Some(_) => self.parallel_schema(label)?,
            None => self.record_schema(label)?,
        };
        if !T::IS_RECORD {
            self.check_written_column::<T::Column>(label)?;
        }
        let fields = data.to_properties(schema).map_err(|error| self.of_label(label, error))?;
        fields.iter().try_for_each(|(position, value)| schema.fields[*position].check_set(value))?;
        let (source, destination) = (self.check_key(source)?, self.check_key(destination)?);
        let change = RecordChange { mode: RecordMode::Put, fields, condition: None };
        Ok(Operation::ChangeRecord { label, source, destination, key: number, change })
    }

    /// Names the label in the error about a property that its edges do not have.
    pub(crate) fn of_label(&self, label: LabelId, error: impl Into<Error>) -> Error {
        let name = self.catalog().label(label).map_or("", |schema| &schema.name);
        error.into().about_property(|| format!("the edges of label {name:?}"), "")
    }

    /// Fails if a key is of another kind than the graph's.
    #[inline]
    pub(crate) fn check_ends(&self, source: KeyRef<'_>, destination: KeyRef<'_>) -> Result<(), Error> {
        self.store.dictionary.check(source)?;
        Ok(self.store.dictionary.check(destination)?)
    }

    /// Returns the schema of a label.
    #[inline]
    pub(crate) fn label_schema(&self, label: LabelId) -> Result<&LabelSchema, Error> {
        Ok(self.catalog().label(label).ok_or(ViewError::UnknownLabel(label))?)
    }

    /// Fails if edges cannot be followed in a direction.
    #[inline]
    pub(crate) fn check_direction(&self, direction: Direction) -> Result<(), Error> {
        let topology = self.store.topology;
        topology.stored(direction).map(drop).ok_or(ViewError::NoReverse.into())
    }

    pub(crate) fn delete_edge(
        &self,
        label: LabelId,
        source: &impl AsKey,
        destination: &impl AsKey,
    ) -> Result<Operation, Error> {
        self.label_schema(label)?;
        let (source, destination) = (self.check_key(source)?, self.check_key(destination)?);
        Ok(Operation::DeleteEdge { label, source, destination })
    }

    pub(crate) fn update_edge(
        &self,
        label: LabelId,
        source: &impl AsKey,
        destination: &impl AsKey,
        update: &EdgeUpdate<'_>,
    ) -> Result<RecordUpdate, Error> {
        let change = update.to_change(self.record_schema(label)?);
        let change = change.map_err(|error| self.of_label(label, error))?;
        let (source, destination) = (self.check_key(source)?, self.check_key(destination)?);
        Ok(RecordUpdate { label, source, destination, key: None, change })
    }

    pub(crate) fn update_parallel_edge(
        &self,
        label: LabelId,
        source: &impl AsKey,
        destination: &impl AsKey,
        number: u64,
        update: &EdgeUpdate<'_>,
    ) -> Result<RecordUpdate, Error> {
        let change = update.to_change(self.parallel_schema(label)?);
        let change = change.map_err(|error| self.of_label(label, error))?;
        let (source, destination) = (self.check_key(source)?, self.check_key(destination)?);
        Ok(RecordUpdate { label, source, destination, key: Some(number), change })
    }

    /// Returns the record schema of a label that has no parallel edges.
    pub(crate) fn record_schema(&self, label: LabelId) -> Result<&RecordSchema, Error> {
        let schema = self.label_schema(label)?;
        match schema.edges.key() {
            Some(_) => Err(Reason::NeedsKey(schema.name.clone()).into()),
            None => Ok(schema.edges.record().ok_or(Cause::NoRecords(label))?),
        }
    }

    /// Returns the record schema of a label that has parallel edges.
    pub(crate) fn parallel_schema(&self, label: LabelId) -> Result<&RecordSchema, Error> {
        let schema = self.label_schema(label)?;
        let record = schema.edges.record().filter(|_| schema.edges.key().is_some());
        record.ok_or_else(|| Reason::NotParallel(schema.name.clone()).into())
    }

    /// Returns the record schema of a label, with or without parallel edges.
    pub(crate) fn any_record_schema(&self, label: LabelId) -> Result<&RecordSchema, Error> {
        let schema = self.label_schema(label)?;
        Ok(schema.edges.record().ok_or(Cause::NoRecords(label))?)
    }

    /// Returns true if edges of a label have records.
    pub(crate) fn has_records(&self, label: LabelId) -> Result<bool, Error> {
        let schema = self.label_schema(label)?;
        Ok(schema.edges.record().is_some())
    }

    /// Returns the weight of a label's edges: a property, or the value.
    pub(crate) fn edge_weight(&self, label: LabelId, property: Option<&str>) -> Result<EdgeWeight, Error> {
        let schema = self.label_schema(label)?;
        let no_number = |what: String| Error::from(Reason::NoWeight { label: schema.name.clone(), what });
        let Some(name) = property else {
            let EdgeSchema::Value(column) = schema.edges else { return Err(no_number("no values".into())) };
            return Ok(EdgeWeight::Value(column));
        };
        let record = schema.edges.record().ok_or_else(|| no_number("no properties".into()))?;
        let position = record.position(name).map_err(|error| self.of_label(label, error))?;
        match record.fields[position].value_type {
            ValueType::I64 | ValueType::U64 | ValueType::F64 => Ok(EdgeWeight::Property(position)),
            other => Err(no_number(format!("a property {name:?} of type {other}, not a number"))),
        }
    }

    /// Puts edges as one commit. `input` is the importer's position.
    pub(crate) fn ingest<S: EdgeTuple + Sync>(
        &self,
        label: LabelId,
        edges: &[S],
        input: Option<&[u8]>,
    ) -> Result<Commit, Error> {
        self.check_numbers(label, edges)?;
        let bulk = Tuples(edges);
        if <S::Data as Stored>::IS_RECORD {
            let schema = self.any_record_schema(label)?;
            let records = edges.iter().map(|edge| edge.data().to_record(schema));
            let records = records.collect::<Result<Vec<_>, _>>();
            let records = records.map_err(|error| self.of_label(label, error))?;
            check_records(schema, &records)?;
            return self.ingest_bulk(label, &bulk, Some(&records), input);
        }
        self.check_written_column::<<S::Data as Stored>::Column>(label)?;
        self.ingest_bulk(label, &bulk, None, input)
    }

    /// Not generic, so that it is compiled only once, here.
    fn ingest_bulk(
        &self,
        label: LabelId,
        edges: &dyn BulkEdges,
        records: Option<&[Record]>,
        input: Option<&[u8]>,
    ) -> Result<Commit, Error> {
        Ok(match records {
            Some(records) => self.store.ingest_records(label, edges, records, input),
            None => self.store.ingest(label, edges, input),
        }?)
    }

    /// Puts edges, one commit per edge.
    pub(crate) fn commit_put_each<S: EdgeTuple>(
        &self,
        label: LabelId,
        edges: &[S],
    ) -> Result<Commits, StreamError> {
        if <S::Data as Stored>::IS_RECORD {
            self.any_record_schema(label).map_err(StreamError::at_once)?;
            return self.commit_each_operation(edges.iter().map(|edge| self.put_record_of(label, edge)));
        }
        let checked = self.check_written_column::<<S::Data as Stored>::Column>(label);
        checked.and_then(|()| self.check_numbers(label, edges)).map_err(StreamError::at_once)?;
        self.commit_each(label, edges, |edge| Some(edge.data().to_value().to_bits()))
    }

    /// Deletes edges, one commit per edge.
    pub(crate) fn commit_delete_each<S: EdgeTuple<Data = ()>>(
        &self,
        label: LabelId,
        edges: &[S],
    ) -> Result<Commits, StreamError> {
        if self.has_records(label).map_err(StreamError::at_once)? {
            let delete = |edge: &S| match edge.number() {
                None => self.delete_edge(label, &edge.source(), &edge.destination()),
                Some(number) => {
                    let (from, to) = (edge.source(), edge.destination());
                    Ok(self.update_parallel_edge(label, &from, &to, number, &EdgeUpdate::delete())?.into())
                }
            };
            return self.commit_each_operation(edges.iter().map(delete));
        }
        self.check_numbers(label, edges).map_err(StreamError::at_once)?;
        self.commit_each(label, edges, |_| None)
    }

    /// Fails if an edge has a number, which the edges of the label do not have, or lacks one.
    fn check_numbers<S: EdgeTuple>(&self, label: LabelId, edges: &[S]) -> Result<(), Error> {
        match edges.first().map(EdgeTuple::number) {
            Some(Some(_)) => self.parallel_schema(label).map(drop),
            Some(None) if <S::Data as Stored>::IS_RECORD => self.record_schema(label).map(drop),
            _ => Ok(()),
        }
    }

    fn put_record_of<S: EdgeTuple>(&self, label: LabelId, edge: &S) -> Result<Operation, Error> {
        self.put_record(label, &edge.source(), &edge.destination(), edge.number(), edge.data())
    }

    fn commit_each_operation(
        &self,
        operations: impl Iterator<Item = Result<Operation, Error>>,
    ) -> Result<Commits, StreamError> {
        Ok(self.store.commit_each_operation(operations)?)
    }

    fn commit_each<S: EdgeTuple>(
        &self,
        label: LabelId,
        edges: &[S],
        value: impl Fn(&S) -> Option<EdgeValue>,
    ) -> Result<Commits, StreamError> {
        let write = |position: usize| {
            let edge = &edges[position];
            EdgeWrite { label, source: edge.source(), destination: edge.destination(), value: value(edge) }
        };
        Ok(self.commit_edges(edges.len(), write)?)
    }

    /// Fails unless edges of a label are written with values of exactly the type `W`.
    pub(crate) fn check_written_column<W: Column>(&self, label: LabelId) -> Result<(), Error> {
        let schema = self.label_schema(label)?;
        // Record handles are internal to the engine: no caller has one.
        if schema.edges.column() == W::TYPE && W::TYPE != ColumnType::Record {
            return Ok(());
        }
        Err(match W::TYPE {
            ColumnType::Unit => no_data(schema),
            written => other_data(schema, &written.to_string()),
        })
    }
}
