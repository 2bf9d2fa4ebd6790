//! Bulk ingest of edges that have records: what the others do, and a record for each entry that is left when they are sorted.

use super::ingest::{Bulk, BulkEdge};
use super::resolve::Resolved;
use crate::commit::Commit;
use crate::error::{Error, read_failed};
use crate::records::decoded;
use crate::store::Store;
use hedgerow_encoding::encode_record;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    AsKey, Direction, EdgeChange, EdgeValue, EffectRecords, Effects, Engine, KeyRef, LabelId, Record,
    RecordChange, RecordCursor, RecordMode, RecordSchema, RecordView, SchemaError, ValueType,
};

/// An edge of a label that has records, without what stands for its record, which is made when the locks are held.
struct RecordEdge<'e, K>(&'e (K, K, Record));

impl<K: AsKey> BulkEdge for RecordEdge<'_, K> {
    type Value = ();

    fn source(&self) -> KeyRef<'_> {
        self.0.0.as_key()
    }

    fn destination(&self) -> KeyRef<'_> {
        self.0.1.as_key()
    }

    fn value(&self) {}
}

/// The record of an edge by its number among those of a bulk ingest.
pub(super) type RecordOf<'r> = &'r dyn Fn(usize) -> &'r Record;

/// Whether all records can be put on edges of a schema, in which the store counts the versions.
pub fn check_records<'r>(
    schema: &RecordSchema,
    records: impl Iterator<Item = &'r Record>,
) -> Result<(), Error> {
    let check = |record: &Record| {
        let (expected, found) = (schema.fields.len(), record.values().len());
        if expected != found {
            return Err(SchemaError::FieldCount { expected, found });
        }
        let mut fields = schema.fields.iter().zip(record.values());
        fields.try_for_each(|(field, value)| match field.value_type {
            ValueType::Version => Ok(()),
            _ => field.check(value),
        })
    };
    let mut records = records.enumerate();
    records.try_for_each(|(edge, record)| check(record).map_err(|error| Error::BulkRecord { edge, error }))
}

impl<E: Engine> Store<E> {
    /// Puts all `edges` with their records, which fit the label's schema, as one commit; of several equal ones the last counts.
    /// `input` is what an importer notes with it.
    pub fn ingest_records<K: AsKey + Sync>(
        &self,
        label: LabelId,
        edges: &[(K, K, Record)],
        input: Option<&[u8]>,
    ) -> Result<Commit, Error> {
        let without_records: Vec<_> = edges.iter().map(RecordEdge).collect();
        let record_of = |edge: usize| &edges[edge].2;
        self.ingest_bulk(&Bulk { label, edges: &without_records, records: Some(&record_of), input })
    }

    /// Gives records to the entries that are put, whose values are the numbers of their edges. An entry whose edge has this record
    /// already is left out. The locks of all are held.
    pub(super) fn lay_records(
        &self,
        held: &HeldLocks<'_>,
        label: LabelId,
        record_of: RecordOf<'_>,
        resolved: &mut Resolved,
    ) -> Result<(), Error> {
        let schema = self.catalog.record_schema(label).ok_or(Error::NoRecords(label))?;
        let latest = self.latest(held)?;
        let mut laying = Laying {
            stored: latest.edge_records(label, Direction::Out)?,
            schema,
            // What this commit's vertices have, nobody else changes now.
            is_first: self.sequencer.newest().1.edges_of(label).at_most() == 0,
            counts_versions: schema.fields.iter().any(|field| field.value_type == ValueType::Version),
            decided: Vec::new(),
        };
        let Effects { adjacencies, records, .. } = &mut resolved.effects;
        for adjacency in adjacencies {
            let changes = std::mem::take(&mut adjacency.changes);
            let laid = changes.into_iter().filter_map(|change| {
                laying
                    .value(&change, record_of, records)
                    .map(|value| Some(EdgeChange { value: Some(value?), ..change }))
                    .transpose()
            });
            adjacency.changes = laid.collect::<Result<_, Error>>()?;
        }
        Ok(())
    }
}

/// Records on their way to the entries of their edges.
struct Laying<'l, C> {
    /// What the edges have.
    stored: C,
    schema: &'l RecordSchema,
    /// The label has no edges yet.
    is_first: bool,
    counts_versions: bool,
    /// By the number of an edge that of its record in the effects, or that nothing changes; `None` if that is not decided yet.
    decided: Vec<Option<Option<EdgeValue>>>,
}

impl<C: RecordCursor> Laying<'_, C> {
    /// The number of the record of an entry's edge; `None` if nothing changes.
    fn value(
        &mut self,
        change: &EdgeChange,
        record_of: RecordOf<'_>,
        changed: &mut EffectRecords,
    ) -> Result<Option<EdgeValue>, Error> {
        let edge = change.value.map_or(0, |number| number.0 as usize);
        if self.decided.len() <= edge {
            self.decided.resize(edge + 1, None);
        }
        if let Some(value) = self.decided[edge] {
            return Ok(value);
        }
        let record = self.decide(change, record_of(edge))?;
        let value = record.map(|record| changed.push(&record));
        self.decided[edge] = Some(value);
        Ok(value)
    }

    /// The record of an edge as bytes, unless the edge has it already.
    fn decide(&mut self, change: &EdgeChange, record: &Record) -> Result<Option<Vec<u8>>, Error> {
        let found = match self.is_first {
            true => None,
            false => self.stored.find(change.owner, change.neighbor).map_err(read_failed)?,
        };
        let bytes = if self.counts_versions {
            let fields = self.schema.fields.iter().zip(record.values()).enumerate();
            let set = fields.filter(|(_, (field, _))| field.value_type != ValueType::Version);
            let set = set.map(|(position, (_, value))| (position, value.clone())).collect();
            let current = found.map(decoded).transpose()?;
            match RecordChange::new(RecordMode::Put, set).decide(current.as_ref(), self.schema) {
                Some(Some(counted)) => encode_record(&counted),
                _ => return Ok(None),
            }
        } else {
            encode_record(record)
        };
        Ok((found != Some(&bytes[..])).then_some(bytes))
    }
}
