//! Bulk ingest of edges with records: like other bulk ingests, plus a record for each entry that is
//! left after sorting.

use super::ingest::{Bulk, BulkEdges};
use super::resolve::Resolved;
use crate::commit::Commit;
use crate::error::Error;
use crate::records::decoded;
use crate::store::Store;
use hedgerow_encoding::encode_record;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Direction, EdgeChange, EdgeValue, EffectRecords, Effects, GraphView, LabelId, Record, RecordChange,
    RecordCursor, RecordMode, RecordSchema, SchemaError, ValueType,
};

/// Checks that all records can be put on edges of a schema, in which the store counts versions.
pub fn check_records(schema: &RecordSchema, records: &[Record]) -> Result<(), Error> {
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
    let mut records = records.iter().enumerate();
    records.try_for_each(|(edge, record)| check(record).map_err(|error| Error::BulkRecord { edge, error }))
}

impl Store {
    /// Puts all `edges` with their records, by position, as one commit; the last of several equal
    /// edges wins. The records fit the label's schema. `input` is the importer's position to store
    /// with the commit.
    pub fn ingest_records(
        &self,
        label: LabelId,
        edges: &dyn BulkEdges,
        records: &[Record],
        input: Option<&[u8]>,
    ) -> Result<Commit, Error> {
        debug_assert_eq!(edges.count(), records.len());
        self.ingest_bulk(&Bulk { label, edges, records: Some(records), input })
    }

    /// Adds the records of the entries to put, whose values are the numbers of their edges. Drops
    /// entries whose edge has this record already. The caller holds all locks.
    pub(super) fn lay_records(
        &self,
        held: &HeldLocks<'_>,
        bulk: &Bulk<'_>,
        new: &[Record],
        _ends: &[u64],
        resolved: &mut Resolved,
    ) -> Result<(), Error> {
        let latest = self.latest(held)?;
        let mut laying = Laying {
            stored: latest.edge_records(bulk.label, Direction::Out)?,
            encoder: RecordEncoder::new(self, bulk.label)?,
            decided: Vec::new(),
        };
        let Effects { adjacencies, records, .. } = &mut resolved.effects;
        for adjacency in adjacencies {
            let laid = adjacency.changes.iter().filter_map(|change| {
                let value = laying.value(&change, new, records).transpose()?;
                Some(value.map(|value| EdgeChange::at(change.position(), Some(value))))
            });
            adjacency.changes = laid.collect::<Result<_, Error>>()?;
        }
        Ok(())
    }
}

/// Encodes the records of a bulk ingest. The locks of their edges are held.
pub(super) struct RecordEncoder<'l> {
    schema: &'l RecordSchema,
    counts_versions: bool,
    /// True if the label has no edges yet.
    pub(super) is_first: bool,
}

impl<'l> RecordEncoder<'l> {
    pub(super) fn new(store: &'l Store, label: LabelId) -> Result<Self, Error> {
        let schema = store.catalog.record_schema(label).ok_or(Error::NoRecords(label))?;
        Ok(RecordEncoder {
            schema,
            counts_versions: schema.fields.iter().any(|field| field.value_type == ValueType::Version),
            // No other commit changes the edges of these vertices now.
            is_first: store.sequencer.newest().1.edges_of(label).at_most() == 0,
        })
    }

    /// Encodes the new record of an edge that has the record `found`; `None` if it is the same.
    pub(super) fn encode(&self, found: Option<&[u8]>, record: &Record) -> Result<Option<Vec<u8>>, Error> {
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

/// Decides the records of a bulk ingest, entry by entry.
struct Laying<'l, C> {
    /// Reads the records of existing edges.
    stored: C,
    encoder: RecordEncoder<'l>,
    /// By edge number: `None` if undecided, `Some(None)` if nothing changes, else the number of its
    /// record in the effects.
    decided: Vec<Option<Option<EdgeValue>>>,
}

impl<C: RecordCursor> Laying<'_, C> {
    /// The number of the record of an entry's edge; `None` if nothing changes.
    fn value(
        &mut self,
        change: &EdgeChange,
        new: &[Record],
        changed: &mut EffectRecords,
    ) -> Result<Option<EdgeValue>, Error> {
        let edge = change.value.map_or(0, |number| number.0 as usize);
        if self.decided.len() <= edge {
            self.decided.resize(edge + 1, None);
        }
        if let Some(value) = self.decided[edge] {
            return Ok(value);
        }
        let found = match self.encoder.is_first {
            true => None,
            false => self.stored.find(change.owner(), change.neighbor())?,
        };
        let record = self.encoder.encode(found, &new[edge])?;
        let value = record.map(|record| changed.push(&record));
        self.decided[edge] = Some(value);
        Ok(value)
    }
}
