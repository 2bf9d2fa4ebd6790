//! Records of edges, told by a number, and the handles that are their values.

use hedgerow_model::{EdgeValue, record_memory};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The records that have been handed out, which stay: each as its length and its bytes, in words.
static ORIGINALS: Mutex<BTreeMap<Vec<u8>, Box<[usize]>>> = Mutex::new(BTreeMap::new());

/// The bytes of a record. Up to 290, so that there are some that no engine embeds.
#[must_use]
pub fn content(number: u32) -> Vec<u8> {
    let length = number.wrapping_mul(37) % 287;
    let bytes = (0..length).map(|position| (position.wrapping_mul(number) >> 3) as u8);
    number.to_le_bytes().into_iter().chain(bytes).collect()
}

/// What a record says of the time, whatever the property: of some nothing; greater numbers have no earlier times.
#[must_use]
pub fn time(record: &[u8], _: usize) -> Option<i64> {
    let number = u32::from_le_bytes(*record.first_chunk()?);
    (!number.is_multiple_of(7)).then_some(i64::from(number / 4))
}

/// The handle of a record, always the same.
#[must_use]
pub fn handle(number: u32) -> EdgeValue {
    handle_of(&content(number))
}

/// The handle that a record was made with, from one that an engine shows.
///
/// # Safety
/// It leads to a record that stays meanwhile.
#[must_use]
pub unsafe fn original(handle: EdgeValue) -> EdgeValue {
    // SAFETY: the caller's promise.
    handle_of(unsafe { record_memory::bytes(handle) })
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
