//! Shared by the unit tests of several modules.

#[path = "../tests/support/mod.rs"]
pub mod support;
