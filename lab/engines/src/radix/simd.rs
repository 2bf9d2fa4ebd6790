//! Search for a byte among sixteen.

/// Returns the position of the first key that equals `key`.
#[inline]
pub(super) fn position_of_16(keys: &[u8; 16], key: u8) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE2 is part of x86_64.
    let hits = unsafe { hits_sse2(keys, key) };
    #[cfg(not(target_arch = "x86_64"))]
    let hits = hits_portable(keys, key);
    (hits != 0).then(|| hits.trailing_zeros() as usize)
}

/// Returns a bit mask of the equal keys, by one comparison of all sixteen.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse2")]
#[inline]
fn hits_sse2(keys: &[u8; 16], key: u8) -> u32 {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set1_epi8};
    let keys: __m128i = bytemuck::cast(*keys);
    _mm_movemask_epi8(_mm_cmpeq_epi8(keys, _mm_set1_epi8(key as i8))) as u32
}

/// Returns a bit mask of the equal keys, compared one by one.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn hits_portable(keys: &[u8; 16], key: u8) -> u32 {
    (0..16).fold(0, |hits, position| hits | u32::from(keys[position] == key) << position)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_key_is_found_where_it_first_is(keys: [u8; 16], key: u8, hit in 0..16_usize) {
            for key in [key, keys[hit]] {
                let expected = keys.iter().position(|other| *other == key);
                prop_assert_eq!(position_of_16(&keys, key), expected);
                let hits = hits_portable(&keys, key);
                let portable = (hits != 0).then(|| hits.trailing_zeros() as usize);
                prop_assert_eq!(portable, expected);
            }
        }
    }
}
