//! Edges and their data as keys and values of bytes, for key-value stores.
//!
//! A key is the source before the destination, each big-endian, so that the neighbors of a vertex
//! are adjacent. Each end takes 8 bytes for numbers, 4 for dense ids.

use crate::compare::calls::work::{Ends, Keys, Payment};
use anyhow::{Context, Result};

/// The keys of a graph.
#[derive(Clone, Copy, Debug)]
pub struct Encoding {
    /// Bytes of the key of a vertex.
    pub width: usize,
}

/// The key of an edge, or of all edges of a vertex.
#[derive(Debug)]
pub struct Bytes {
    bytes: [u8; 16],
    length: usize,
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Encoding {
    pub fn new(keys: Keys) -> Self {
        Encoding { width: if keys == Keys::Dense { 4 } else { 8 } }
    }

    pub fn edge(self, (source, destination): Ends) -> Bytes {
        let mut key = self.source(source);
        key.bytes[self.width..2 * self.width].copy_from_slice(&destination.to_be_bytes()[8 - self.width..]);
        key.length = 2 * self.width;
        key
    }

    /// The prefix of the keys of all edges of a vertex.
    pub fn source(self, source: u64) -> Bytes {
        let mut bytes = [0; 16];
        bytes[..self.width].copy_from_slice(&source.to_be_bytes()[8 - self.width..]);
        Bytes { bytes, length: self.width }
    }

    pub fn destination(self, key: &[u8]) -> Result<u64> {
        let end = key.get(self.width..2 * self.width).context("a key that is no edge")?;
        let mut bytes = [0; 8];
        bytes[8 - self.width..].copy_from_slice(end);
        Ok(u64::from_be_bytes(bytes))
    }
}

pub fn number_value(number: f64) -> [u8; 8] {
    number.to_le_bytes()
}

pub fn number(value: &[u8]) -> Result<f64> {
    Ok(f64::from_le_bytes(value.try_into().context("a value that is no number")?))
}

pub fn payment_value(payment: Payment) -> [u8; 16] {
    let mut value = [0; 16];
    value[..8].copy_from_slice(&payment.amount.to_le_bytes());
    value[8..].copy_from_slice(&payment.time.to_le_bytes());
    value
}

pub fn payment(value: &[u8]) -> Result<Payment> {
    let (amount, time) = value.split_at_checked(8).context("a value that is no payment")?;
    let time = i64::from_le_bytes(time.try_into().context("a value that is no payment")?);
    Ok(Payment { amount: number(amount)?, time })
}
