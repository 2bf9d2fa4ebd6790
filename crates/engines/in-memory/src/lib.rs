//! The parts that engines in memory share.
//!
//! | module | content |
//! |---|---|
//! | [`reclamation`] | superseded versions until they are freed; memory counters; the table of all vertices or partitions; large pieces of memory |
//! | [`records`] | the records of edges |
//! | [`staging`] | changes that an engine has staged, and the room for them |
//! | [`vertices`] | existence, records and versions of vertices; a set of vertices |

pub mod reclamation;
pub mod records;
pub mod staging;
pub mod vertices;
