//! Numbers of equal width, one after the other. Bits fill each byte from its lowest bit.

/// Appends numbers in `width` bits each; `width` is at most 56, and each number must fit.
pub(crate) fn put_bits(bytes: &mut Vec<u8>, numbers: impl Iterator<Item = u64>, width: u32) {
    let (mut pending, mut used) = (0, 0);
    for number in numbers {
        pending |= number << used;
        used += width;
        if used >= u64::BITS {
            bytes.extend_from_slice(&u64::to_le_bytes(pending));
            used -= u64::BITS;
            // The bits of the number that did not fit.
            pending = number >> (width - used);
        }
    }
    bytes.extend_from_slice(&u64::to_le_bytes(pending)[..used.div_ceil(u8::BITS) as usize]);
}

/// Returns the first eight bytes; zeros follow if there are fewer.
#[inline]
pub(crate) fn word(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(word) => u64::from_le_bytes(*word),
        None => last_word(bytes),
    }
}

#[cold]
fn last_word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}
