//! Bulk ingest of edges with records: like that of other edges, plus a record for each entry that
//! is left after sorting.

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

/// An edge with a record. Its value is a placeholder: the record is stored once the locks are held.
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

/// Returns the record of an edge by its number in a bulk ingest.
pub(super) type RecordOf<'r> = &'r dyn Fn(usize) -> &'r Record;

/// Checks that all records can be put on edges of a schema, in which the store counts versions.
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
    /// Puts all `edges` with their records, which fit the label's schema, as one commit; the last
    /// of several equal ones wins. `input` is the importer's position to store with it.
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

    /// Adds the records of the entries to put, whose values are the numbers of their edges. Drops
    /// entries whose edge has this record already. The caller holds the locks of all.
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
            // No other commit changes the edges of these vertices now.
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

/// Decides the records of a bulk ingest, entry by entry.
struct Laying<'l, C> {
    /// Reads the records of existing edges.
    stored: C,
    schema: &'l RecordSchema,
    /// Whether the label has no edges yet.
    is_first: bool,
    counts_versions: bool,
    /// By edge number: `None` if undecided, `Some(None)` if nothing changes, else the number of its
    /// record in the effects.
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

    /// The encoded record of an edge, unless the edge has it already.
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
