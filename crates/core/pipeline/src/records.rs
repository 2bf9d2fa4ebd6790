//! Decoding and checking encoded edge records.

use crate::error::Error;
use crate::reads::place_of;
use hedgerow_encoding::wire::DecodeError;
use hedgerow_encoding::{EdgeList, RecordValues, decode_record, decode_record_value, list_of_record};
use hedgerow_model::{ReadError, Record, RecordSchema, SchemaError, ValueRef};

/// The place that read errors name.
const PLACE: &str = "the record of an edge";

/// Decodes a record.
///
/// # Errors
/// If the bytes are not a record.
pub fn decoded(bytes: &[u8]) -> Result<Record, Error> {
    decode_record(bytes).map_err(unreadable)
}

#[cold]
fn unreadable(error: DecodeError) -> Error {
    ReadError::new(PLACE, error).into()
}

/// The [place](place_of) of the time in a property of an encoded record.
pub(crate) fn time_in(record: &[u8], position: usize) -> Result<Option<i64>, Error> {
    match decode_record_value(record, position) {
        Ok(ValueRef::Timestamp(time) | ValueRef::I64(time)) => Ok(Some(time)),
        Ok(ValueRef::U64(time)) => Ok(Some(place_of(time))),
        Ok(_) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

/// Fails if the bytes are not a list of parallel edges, or of changes of them, with records of the
/// schema. Returns the number of edges put.
pub(crate) fn check_parallel(schema: &RecordSchema, record: &[u8]) -> Result<usize, String> {
    let list = list_of_record(record).map_err(|error| error.to_string())?;
    let mut put = 0;
    for edge in EdgeList::new(list) {
        let (_, record) = edge.map_err(|error| error.to_string())?;
        if let Some(record) = record {
            check_encoded(schema, record)?;
            put += 1;
        }
    }
    Ok(put)
}

/// Fails if the bytes are not a record of the schema.
pub(crate) fn check_encoded(schema: &RecordSchema, bytes: &[u8]) -> Result<(), String> {
    let mut values = RecordValues::new(bytes).map_err(|error| error.to_string())?;
    let (expected, found) = (schema.fields.len(), values.left() as usize);
    if found != expected {
        return Err(SchemaError::FieldCount { expected, found }.to_string());
    }
    for (field, value) in schema.fields.iter().zip(&mut values) {
        let value = value.map_err(|error| error.to_string())?;
        field.check_type(value.value_type()).map_err(|error| error.to_string())?;
    }
    values.end().map_err(|error| error.to_string())
}
