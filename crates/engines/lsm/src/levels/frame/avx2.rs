//! Unpacking with vector instructions, 8 ids at a time.

use super::layout::{Frame, GROUP, Next};
use bytemuck::cast;
use std::arch::x86_64::{
    __m128i, __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_blend_epi32, _mm256_permutevar8x32_epi32,
    _mm256_set_m128i, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_si256,
    _mm256_srlv_epi32,
};

/// Maximum width of a gap that lies within four bytes from any bit of the first byte on.
pub(super) const MAX_WIDTH: u32 = 25;

/// Bytes from the beginning of a group that are loaded for it.
const LOADED: usize = 32;

/// The shuffle of bytes and the shifts that align the gaps of a group.
struct GroupShuffle {
    /// For each byte of the result, the source byte within the loaded half.
    bytes: [u8; 32],
    /// Right shift of each gap after the shuffle, in bits.
    shifts: [u32; GROUP],
}

/// The places by width.
static PLACES: [GroupShuffle; MAX_WIDTH as usize + 1] = {
    let mut all = [const { GroupShuffle { bytes: [0; 32], shifts: [0; GROUP] } }; MAX_WIDTH as usize + 1];
    let mut width = 0;
    while width < all.len() {
        let mut gap = 0;
        while gap < GROUP {
            // The upper half is loaded from the byte where the fifth gap begins.
            let bit = if gap < 4 { gap * width } else { gap * width - upper_half(width) * 8 };
            all[width].shifts[gap] = (bit % 8) as u32;
            let mut byte = 0;
            while byte < 4 {
                all[width].bytes[gap * 4 + byte] = (bit / 8 + byte) as u8;
                byte += 1;
            }
            gap += 1;
        }
        width += 1;
    }
    all
};

/// Returns the byte where the fifth gap of a group begins.
const fn upper_half(width: usize) -> usize {
    4 * width / 8
}

/// Unpacks `count` ids in gaps of at most [`MAX_WIDTH`] bits, modulo 2^32.
#[target_feature(enable = "avx2")]
pub(super) fn unpack(bytes: &[u8], count: usize, width: u32, next: Next, ids: &mut Frame) {
    let width = width as usize;
    let places = &PLACES[width];
    let (bring, shifts) = (cast(places.bytes), cast(places.shifts));
    let mask = _mm256_set1_epi32((1 << width) - 1);
    // The id before the first, modulo 2^32.
    let mut before = _mm256_set1_epi32((next as u32).wrapping_sub(1) as i32);
    let groups = ids.as_chunks_mut::<GROUP>().0[..count.div_ceil(GROUP)].iter_mut();
    for (number, group) in groups.enumerate() {
        let rest = &bytes[number * width..];
        let gaps = match rest.first_chunk() {
            Some(loaded) => load(loaded, upper_half(width)),
            None => load(&padded(rest), upper_half(width)),
        };
        let gaps = _mm256_srlv_epi32(_mm256_shuffle_epi8(gaps, bring), shifts);
        let steps = _mm256_add_epi32(_mm256_and_si256(gaps, mask), _mm256_set1_epi32(1));
        let unpacked = _mm256_add_epi32(before, sums(steps));
        *group = cast(unpacked);
        before = _mm256_permutevar8x32_epi32(unpacked, _mm256_set1_epi32(7));
    }
}

/// Loads the first sixteen bytes, and sixteen bytes from `upper` on, which is at most 12.
#[inline]
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8; LOADED], upper: usize) -> __m256i {
    let half = |begin: usize| -> __m128i {
        let mut half = [0; 16];
        half.copy_from_slice(&bytes[begin..begin + 16]);
        cast(half)
    };
    _mm256_set_m128i(half(upper), half(0))
}

/// Returns the last bytes, followed by zeros.
#[cold]
fn padded(bytes: &[u8]) -> [u8; LOADED] {
    let mut padded = [0; LOADED];
    padded[..bytes.len()].copy_from_slice(bytes);
    padded
}

/// Returns the sum of each number and all numbers before it.
#[inline]
#[target_feature(enable = "avx2")]
fn sums(numbers: __m256i) -> __m256i {
    let pairs = _mm256_add_epi32(numbers, _mm256_slli_si256::<4>(numbers));
    let halves = _mm256_add_epi32(pairs, _mm256_slli_si256::<8>(pairs));
    // Shifts stay within the halves: the last sum of the lower half is added to the upper half.
    let lower = _mm256_permutevar8x32_epi32(halves, _mm256_set1_epi32(3));
    _mm256_add_epi32(halves, _mm256_blend_epi32::<0b1111_0000>(_mm256_setzero_si256(), lower))
}
