//! Records of edges as bytes that are read and checked.

use crate::error::{Error, read_failed};
use hedgerow_encoding::wire::DecodeError;
use hedgerow_encoding::{EdgeList, decode_record, decode_record_value, list_of_record};
use hedgerow_model::{ReadError, Record, RecordSchema, ValueRef};

/// What is being read when the bytes of a record are decoded.
const PLACE: &str = "the record of an edge";

/// The record that bytes stand for.
///
/// # Errors
/// They stand for none.
pub fn decoded(bytes: &[u8]) -> Result<Record, Error> {
    decode_record(bytes).map_err(unreadable)
}

#[cold]
fn unreadable(error: DecodeError) -> Error {
    read_failed(ReadError::new(PLACE, error))
}

/// The time that a property of an encoded record says.
pub(crate) fn time_in(record: &[u8], position: usize) -> Result<Option<i64>, Error> {
    match decode_record_value(record, position) {
        Ok(ValueRef::Timestamp(time) | ValueRef::I64(time)) => Ok(Some(time)),
        Ok(_) => Ok(None),
        Err(error) => Err(unreadable(error)),
    }
}

/// Fails if bytes are no list of parallel edges, or of changes of such, with records of a schema. Returns how many of them are put.
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

/// Fails if bytes are no record of a schema.
pub(crate) fn check_encoded(schema: &RecordSchema, bytes: &[u8]) -> Result<(), String> {
    let record = decode_record(bytes).map_err(|error| error.to_string())?;
    schema.check(&record).map_err(|error| error.to_string())
}
