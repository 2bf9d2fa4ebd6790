//! What the unit tests of several modules share.

#[path = "../tests/support/mod.rs"]
pub mod support;
