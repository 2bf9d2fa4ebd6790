//! The state of a graph at one timestamp, in one file.

mod codec;
