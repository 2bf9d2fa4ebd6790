//! Encoding and decoding the content of chunks.
//!
//! Every decoder is total: any bytes give a value or an error, and none allocates more than a few
//! MiB plus ten times its input.

pub(super) mod bits;
pub(super) mod column;
pub(super) mod rows;
pub(super) mod vertices;
