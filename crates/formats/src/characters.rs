//! The bytes with a meaning in a line of text, in any format.

/// A blank or a tab.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Whether a byte ends a field: a blank, or a comma.
#[inline]
pub(crate) fn is_separator(byte: u8) -> bool {
    is_blank(byte) || byte == b','
}

/// ASCII control characters: text files have them only around lines and fields.
#[inline]
pub(crate) fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}
