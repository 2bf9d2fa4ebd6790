//! The bytes with a meaning in a line of text, in any format.

/// Returns true for a space or a tab.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns true for a byte that ends a field: a blank or a comma.
#[inline]
pub(crate) fn is_separator(byte: u8) -> bool {
    is_blank(byte) || byte == b','
}

/// Returns true for an ASCII control character, which text files have only around lines and fields.
#[inline]
pub(crate) fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}
