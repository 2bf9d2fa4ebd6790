//! Edge records, identified by a number, and the handles that are their values.

use hedgerow_encoding::{decode_record_value, encode_record};
use hedgerow_in_memory::records::memory;
use hedgerow_model::{EdgeValue, Record, Value, ValueRef};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Records whose handles were returned, kept alive forever: each as its length and its bytes, in
/// words.
static ORIGINALS: Mutex<BTreeMap<Vec<u8>, Box<[usize]>>> = Mutex::new(BTreeMap::new());

/// Returns the content of a record: up to 290 bytes, so some records are too long to be embedded.
#[must_use]
pub fn content(number: u32) -> Vec<u8> {
    let length = number.wrapping_mul(37) % 281;
    let bytes = (0..length).map(|position| (position.wrapping_mul(number) >> 3) as u8);
    let time = match number.is_multiple_of(7) {
        true => Value::Null,
        false => Value::Timestamp(i64::from(number / 4)),
    };
    encode_record(&Record::new(vec![time, Value::Bytes(bytes.collect())]))
}

/// Returns the time of a record, if it has one; greater numbers have no earlier times.
#[must_use]
pub fn time(record: &[u8]) -> Option<i64> {
    match decode_record_value(record, 0) {
        Ok(ValueRef::Timestamp(time)) => Some(time),
        _ => None,
    }
}

/// Returns the handle of a record in memory of its own, always the same: for tests of stored
/// values.
#[must_use]
pub fn handle(number: u32) -> EdgeValue {
    handle_of(&content(number))
}

/// Maps the handle of an engine to the handle with which the record was made.
///
/// # Safety
/// The handle points to a record that stays valid meanwhile.
#[must_use]
pub unsafe fn original(handle: EdgeValue) -> EdgeValue {
    // SAFETY: the caller guarantees it.
    handle_of(unsafe { memory::bytes(handle) })
}

fn handle_of(record: &[u8]) -> EdgeValue {
    let mut originals = ORIGINALS.lock().unwrap_or_else(PoisonError::into_inner);
    let words = originals.entry(record.to_vec()).or_insert_with(|| {
        let words = record.chunks(size_of::<usize>()).map(|chunk| {
            let mut word = [0; size_of::<usize>()];
            word[..chunk.len()].copy_from_slice(chunk);
            usize::from_ne_bytes(word)
        });
        std::iter::once(record.len()).chain(words).collect()
    });
    EdgeValue(words.as_ptr().expose_provenance() as u64)
}
