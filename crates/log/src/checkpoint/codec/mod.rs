//! How the contents of chunks become bytes and come back.
//!
//! Every decoder is total: any bytes give a value or [`Malformed`], and none allocates more than a constant and ten times
//! its input.

pub(super) mod bits;
pub(super) mod bytes;
pub(super) mod column;
pub(super) mod record;
pub(super) mod rows;
pub(super) mod vertices;

/// Bytes that no encoder writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Where, from the first of the bytes on.
    pub(crate) offset: usize,
    /// What is wrong there.
    pub(crate) what: &'static str,
}
