//! Which bytes mean something in a line of text, whatever its format.

/// A blank or a tab.
#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// What ends a field: a blank, or a comma.
#[inline]
pub(crate) fn is_separator(byte: u8) -> bool {
    is_blank(byte) || byte == b','
}

/// Control characters of ASCII: in a text file only around lines and fields.
#[inline]
pub(crate) fn is_control(byte: u8) -> bool {
    byte < b' ' || byte == 0x7f
}
