//! Nodes and links as keys and values of bytes, for key-value stores.
//!
//! | what | key | value |
//! |---|---|---|
//! | node | id | type, version, time, data |
//! | link | source, type, destination | time, visibility, version, data |
//! | list entry of a link | source, type, time (later ones first), destination | visibility, version, data |
//! | number of links | source, type | the number |
//!
//! The list duplicates the contents of links, like LinkBench's own index for MySQL: listing needs
//! no further lookups.

use crate::link_bench::{Link, Node};
use anyhow::{Context, Result};
use hedgerow::VertexId;

/// The only type of links.
const TYPE: u8 = 1;

/// Bytes of a source with a type: the prefix of the keys of all its links.
const SOURCE: usize = 5;

/// The sign bit of a number.
const SIGN: u64 = 1 << 63;

pub(super) fn node_key(id: VertexId) -> [u8; 4] {
    id.get().to_be_bytes()
}

pub(super) fn count_key(source: VertexId) -> [u8; SOURCE] {
    let mut key = [TYPE; SOURCE];
    key[..4].copy_from_slice(&node_key(source));
    key
}

pub(super) fn link_key(source: VertexId, destination: VertexId) -> [u8; SOURCE + 4] {
    let mut key = [0; SOURCE + 4];
    key[..SOURCE].copy_from_slice(&count_key(source));
    key[SOURCE..].copy_from_slice(&node_key(destination));
    key
}

/// The key prefix from which on the links of a source made at or before a time are listed.
pub(super) fn list_start(source: VertexId, time: i64) -> [u8; SOURCE + 8] {
    let mut key = [0; SOURCE + 8];
    key[..SOURCE].copy_from_slice(&count_key(source));
    key[SOURCE..].copy_from_slice(&latest_first(time).to_be_bytes());
    key
}

pub(super) fn list_key(source: VertexId, time: i64, destination: VertexId) -> [u8; SOURCE + 12] {
    let mut key = [0; SOURCE + 12];
    key[..SOURCE + 8].copy_from_slice(&list_start(source, time));
    key[SOURCE + 8..].copy_from_slice(&node_key(destination));
    key
}

/// Maps later times to smaller numbers.
fn latest_first(time: i64) -> u64 {
    !(time as u64 ^ SIGN)
}

/// The inverse of [`latest_first`].
fn time_of(latest_first: u64) -> i64 {
    (!latest_first ^ SIGN) as i64
}

pub(super) fn count_value(count: &[u8]) -> Result<u64> {
    Ok(u64::from_le_bytes(count.try_into().context("a count that is none")?))
}

pub(super) fn node_value(node: &Node<'_>) -> Vec<u8> {
    [&node.kind.to_le_bytes(), &node.version.to_le_bytes(), &node.time.to_le_bytes(), node.data].concat()
}

pub(super) fn node(value: &[u8]) -> Result<Node<'_>> {
    let (kind, rest) = number(value)?;
    let (version, rest) = number(rest)?;
    let (time, data) = number(rest)?;
    Ok(Node { kind, version, time, data })
}

/// The value of a link; its part after the time is the value of the list entry.
pub(super) fn link_value(link: &Link<'_>) -> Vec<u8> {
    [&link.time.to_le_bytes()[..], &[u8::from(link.is_visible)], &link.version.to_le_bytes(), link.data]
        .concat()
}

/// The part of a link's value that is in the list.
pub(super) fn listed_value(value: &[u8]) -> &[u8] {
    &value[8..]
}

/// The time in the value of a link.
pub(super) fn time(value: &[u8]) -> Result<i64> {
    Ok(number(value)?.0)
}

pub(super) fn link(source: VertexId, destination: VertexId, value: &[u8]) -> Result<Link<'_>> {
    let (time, rest) = number(value)?;
    with_rest(source, destination, time, rest)
}

/// A link of the list of `source`.
pub(super) fn listed<'v>(source: VertexId, key: &[u8], value: &'v [u8]) -> Result<Link<'v>> {
    let (time, destination) =
        key.get(SOURCE..).and_then(|key| key.split_first_chunk()).context("a short key")?;
    let destination: [u8; 4] = destination.try_into().context("a key that is no link")?;
    with_rest(
        source,
        VertexId::new(u32::from_be_bytes(destination)),
        time_of(u64::from_be_bytes(*time)),
        value,
    )
}

fn with_rest(source: VertexId, destination: VertexId, time: i64, rest: &[u8]) -> Result<Link<'_>> {
    let (visibility, rest) = rest.split_first().context("a link without fields")?;
    let (version, data) = number(rest)?;
    Ok(Link { source, destination, is_visible: *visibility == 1, version, time, data })
}

fn number(bytes: &[u8]) -> Result<(i64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk().context("a value that is too short")?;
    Ok((i64::from_le_bytes(*number), rest))
}
