//! The first partition of a topic, to which `hedgerow changes` writes.

use super::client::{Client, ClientError};
use super::fetch::{Bound, fetch, offsets};
use super::producer::{NewRecord, Producer, TOKEN};
use super::{KafkaError, TopicAddress};
use crate::error::CliError;
use hedgerow::ChangeToken;
use kafka_protocol::ResponseError;
use kafka_protocol::protocol::StrBytes;
use serde::Serialize;
use std::io;
use std::str::from_utf8;
use std::thread;
use std::time::{Duration, Instant};

/// The partition. Only records of one partition have an order.
const PARTITION: i32 = 0;

/// Bytes of lines that are written together: brokers take up to 1 MB by default.
const BLOCK: usize = 256 << 10;

/// The number of records from the end on of which the first search for a token consists. A longer
/// one follows if there is none.
const FIRST_SEARCH: i64 = 64;
const LONGER: i64 = 16;

/// The longest wait for the end of a transaction of another producer.
const OTHERS: Duration = Duration::from_secs(30);
const NAP: Duration = Duration::from_millis(50);

/// Writes changes in transactions, each record with the position after its commit.
pub struct Sink {
    address: TopicAddress,
    producer: Producer,
    /// Records that wait to be written, and their bytes.
    waiting: Vec<NewRecord>,
    bytes: usize,
    /// The last position, and its text.
    token: Option<(ChangeToken, StrBytes)>,
    /// Records in committed transactions, and the number of these.
    changes: u64,
    transactions: u64,
    /// Records of the open transaction.
    open: u64,
}

impl Sink {
    /// Begins as the only process that writes the changes of this store to the topic.
    pub fn open(address: &TopicAddress, store: [u8; 16]) -> Result<Self, CliError> {
        let client = Client::new(&address.host, address.port);
        let id = format!("hedgerow-{}-{:032x}", address.topic, u128::from_be_bytes(store));
        let producer = Producer::begin(client, (&address.topic, PARTITION), &id);
        let producer = producer.map_err(|error| failed(address, error))?;
        let (address, waiting) = (address.clone(), Vec::new());
        Ok(Sink { address, producer, waiting, bytes: 0, token: None, changes: 0, transactions: 0, open: 0 })
    }

    /// The position of the last committed record, and its offset.
    pub fn last(&mut self) -> Result<Option<(ChangeToken, i64)>, CliError> {
        let (topic, begin) = (&*self.address.topic, Instant::now());
        let (client, leader) = self.producer.client();
        let mut bound = |bound| {
            let found = offsets(client, leader, topic, &[PARTITION], bound)?;
            Ok(found.first().map_or(0, |(_, offset)| *offset))
        };
        let earliest = bound(Bound::Earliest).map_err(KafkaError::Client)?;
        let end = loop {
            let end = bound(Bound::LastStable).map_err(KafkaError::Client)?;
            // Records after the beginning of an open transaction cannot be read yet.
            if end >= bound(Bound::Latest).map_err(KafkaError::Client)? {
                break end;
            }
            if begin.elapsed() >= OTHERS {
                return Err(KafkaError::Shared(self.address.clone()).into());
            }
            thread::sleep(NAP);
        };
        let mut length = FIRST_SEARCH;
        loop {
            let begin = end.saturating_sub(length).max(earliest);
            let found = self.last_between(begin, end)?;
            if found.is_some() || begin <= earliest {
                return Ok(found);
            }
            length = length.saturating_mul(LONGER);
        }
    }

    fn last_between(&mut self, begin: i64, end: i64) -> Result<Option<(ChangeToken, i64)>, KafkaError> {
        let (topic, mut next, mut last) = (&*self.address.topic, begin, None);
        let (client, leader) = self.producer.client();
        while next < end {
            for fetched in fetch(client, leader, topic, &[(PARTITION, next)], Duration::ZERO)? {
                super::client::check(fetched.code, || format!("cannot read the topic {topic}"))?;
                for record in fetched.records {
                    let token = record.headers.get(&StrBytes::from_static_str(TOKEN));
                    last = token.cloned().flatten().map(|token| (token, record.offset)).or(last);
                }
                next = fetched.next;
            }
        }
        let Some((token, offset)) = last else { return Ok(None) };
        let parsed = from_utf8(&token).map_err(|error| error.to_string());
        let parsed = parsed.and_then(|text| text.parse::<ChangeToken>().map_err(|error| error.to_string()));
        let unreadable = |what| {
            let records = format!("partition {PARTITION} of the topic {topic} at offset {offset}");
            ClientError::Unreadable { records, what }
        };
        Ok(Some((parsed.map_err(unreadable)?, offset)))
    }

    /// The error for a position at this offset that is of another store.
    pub fn of_another_store(&self, offset: i64) -> CliError {
        KafkaError::OtherStore { address: self.address.clone(), offset }.into()
    }

    /// Adds a line to the transaction, with the position after its commit.
    pub fn put(&mut self, at: ChangeToken, line: &impl Serialize) -> Result<(), CliError> {
        let value = serde_json::to_vec(line).map_err(io::Error::from).map_err(CliError::Stdout)?;
        let (_, token) = match self.token.take().filter(|(last, _)| *last == at) {
            Some(token) => self.token.insert(token),
            None => self.token.insert((at, StrBytes::from_string(at.to_string()))),
        };
        self.bytes += value.len() + token.len();
        self.waiting.push(NewRecord { value: value.into(), token: Some(token.clone()) });
        match self.bytes >= BLOCK {
            true => self.send(),
            false => Ok(()),
        }
    }

    /// Commits the transaction, if one is open.
    pub fn commit(&mut self) -> Result<(), CliError> {
        self.send()?;
        self.producer.end(true).map_err(|error| failed(&self.address, error))?;
        if self.open > 0 {
            self.changes += std::mem::take(&mut self.open);
            self.transactions += 1;
        }
        Ok(())
    }

    /// Aborts the transaction, if one is open. If that fails, too, the broker or the next producer
    /// aborts it.
    pub fn abort(&mut self) {
        self.waiting.clear();
        drop(self.producer.end(false));
    }

    /// The number of records that were committed, and of their transactions.
    pub fn written(&self) -> (u64, u64) {
        (self.changes, self.transactions)
    }

    fn send(&mut self) -> Result<(), CliError> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.open += self.waiting.len() as u64;
        self.bytes = 0;
        let sent = self.producer.send(std::mem::take(&mut self.waiting));
        Ok(sent.map_err(|error| failed(&self.address, error))?)
    }
}

/// The error of a producer.
fn failed(address: &TopicAddress, error: ClientError) -> KafkaError {
    match error {
        ClientError::Refused {
            cause: ResponseError::ProducerFenced | ResponseError::InvalidProducerEpoch,
            ..
        } => KafkaError::Fenced(address.clone()),
        error => KafkaError::Client(error),
    }
}
