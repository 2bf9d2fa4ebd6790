//! Unpacking on any processor.

use super::layout::{Frame, Next};
use crate::levels::bits::word;

/// Unpacks `count` ids. Returns one above the last id, which may exceed the maximum id.
pub(super) fn unpack(bytes: &[u8], count: usize, width: u32, mut next: Next, ids: &mut Frame) -> Next {
    let mask = (1 << width) - 1;
    let mut position = 0;
    for id in &mut ids[..count] {
        let gap = word(&bytes[position / 8..]) >> (position % 8) & mask;
        position += width as usize;
        *id = (next + gap) as u32;
        next += gap + 1;
    }
    next
}
