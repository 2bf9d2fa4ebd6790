//! Tests of topics against a broker of Kafka, which `cargo xtask kafka` fetches.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod broker;
#[path = "../../src/kafka/client.rs"]
#[allow(dead_code, reason = "tests send fewer requests")]
mod client;
#[path = "../command/common.rs"]
#[allow(dead_code, reason = "the tests of the command use more of it")]
mod common;
#[path = "../../src/kafka/fetch.rs"]
#[allow(dead_code, reason = "tests read less")]
mod fetch;
#[path = "../../src/kafka/producer.rs"]
#[allow(dead_code, reason = "tests write less")]
mod producer;
mod sink;
mod source;
