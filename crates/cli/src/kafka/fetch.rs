//! Committed records of partitions, and their offsets.

use super::client::{Client, ClientError, check, topic_name};
use bytes::{Buf, Bytes};
use flate2::read::MultiGzDecoder;
use kafka_protocol::messages::fetch_request::{FetchPartition, FetchTopic};
use kafka_protocol::messages::fetch_response::{AbortedTransaction, PartitionData};
use kafka_protocol::messages::list_offsets_request::{ListOffsetsPartition, ListOffsetsTopic};
use kafka_protocol::messages::{BrokerId, FetchRequest, ListOffsetsRequest};
use kafka_protocol::records::{Compression, Record, RecordBatchDecoder};
use std::collections::HashSet;
use std::io::{self, Read};
use std::time::Duration;

/// Only records of committed transactions, and those outside of transactions.
const READ_COMMITTED: i8 = 1;
const READ_UNCOMMITTED: i8 = 0;

/// The times that stand for the first offset, and for the one after the last.
const EARLIEST: i64 = -2;
const LATEST: i64 = -1;

/// The bytes that a response has, if no record is longer.
const MOST_BYTES: i32 = 16 << 20;
const MOST_BYTES_OF_PARTITION: i32 = 4 << 20;

/// The code of a control record that aborts a transaction.
const ABORT: u16 = 0;

/// The position in a partition of which an offset is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The first record that there still is.
    Earliest,
    /// After the last record that no open transaction precedes.
    LastStable,
    /// After the last record.
    Latest,
}

/// Records of a partition.
pub struct Fetched {
    pub partition: i32,
    /// An error code, or 0.
    pub code: i16,
    /// The committed records from the requested offset on.
    pub records: Vec<Record>,
    /// The offset after the records, and after those that are left out.
    pub next: i64,
    /// The offset that records of open transactions do not have.
    pub stable: i64,
}

/// The position in each of these partitions, which one broker leads.
pub fn offsets(
    client: &mut Client,
    broker: i32,
    topic: &str,
    partitions: &[i32],
    bound: Bound,
) -> Result<Vec<(i32, i64)>, ClientError> {
    let (isolation, time) = match bound {
        Bound::Earliest => (READ_COMMITTED, EARLIEST),
        Bound::LastStable => (READ_COMMITTED, LATEST),
        Bound::Latest => (READ_UNCOMMITTED, LATEST),
    };
    let partition = |partition: &i32| {
        ListOffsetsPartition::default().with_partition_index(*partition).with_timestamp(time)
    };
    let request = ListOffsetsRequest::default()
        .with_replica_id(BrokerId(-1))
        .with_isolation_level(isolation)
        .with_topics(vec![
            ListOffsetsTopic::default()
                .with_name(topic_name(topic))
                .with_partitions(partitions.iter().map(partition).collect()),
        ]);
    let response = client.call(Some(broker), &request)?;
    let partitions = response.topics.into_iter().flat_map(|topic| topic.partitions);
    let offset = |found: kafka_protocol::messages::list_offsets_response::ListOffsetsPartitionResponse| {
        let partition = found.partition_index;
        check(found.error_code, || format!("the offsets of partition {partition} of the topic {topic}"))?;
        Ok((partition, found.offset))
    };
    partitions.map(offset).collect()
}

/// Records of these partitions, which one broker leads, from these offsets on. If there are none,
/// waits for some.
pub fn fetch(
    client: &mut Client,
    broker: i32,
    topic: &str,
    from: &[(i32, i64)],
    wait: Duration,
) -> Result<Vec<Fetched>, ClientError> {
    let partition = |(partition, offset): &(i32, i64)| {
        FetchPartition::default()
            .with_partition(*partition)
            .with_fetch_offset(*offset)
            .with_partition_max_bytes(MOST_BYTES_OF_PARTITION)
    };
    let request = FetchRequest::default()
        .with_max_wait_ms(wait.as_millis() as i32)
        .with_min_bytes(1)
        .with_max_bytes(MOST_BYTES)
        .with_isolation_level(READ_COMMITTED)
        .with_session_epoch(-1)
        .with_topics(vec![
            FetchTopic::default()
                .with_topic(topic_name(topic))
                .with_partitions(from.iter().map(partition).collect()),
        ]);
    let response = client.call(Some(broker), &request)?;
    check(response.error_code, || format!("the topic {topic} cannot be read"))?;
    let partitions = response.responses.into_iter().flat_map(|topic| topic.partitions);
    let begin = |partition| from.iter().find(|(number, _)| *number == partition).map(|(_, offset)| *offset);
    let fetched = partitions.filter_map(|data| {
        let begin = begin(data.partition_index)?;
        Some(committed(data, begin))
    });
    fetched
        .map(|fetched| {
            fetched.map_err(|(partition, offset, what)| ClientError::Unreadable {
                records: format!("partition {partition} of the topic {topic} at offset {offset}"),
                what,
            })
        })
        .collect()
}

/// The committed records of a response from an offset on; or the partition, the offset and the
/// problem of records that cannot be read.
fn committed(data: PartitionData, begin: i64) -> Result<Fetched, (i32, i64, String)> {
    let (partition, code, stable) = (data.partition_index, data.error_code, data.last_stable_offset);
    let mut fetched = Fetched { partition, code, records: Vec::new(), next: begin, stable };
    let mut aborted = Aborted::new(data.aborted_transactions.unwrap_or_default());
    let mut rest = data.records.unwrap_or_default();
    while let Some((batch, last)) = next_batch(&mut rest) {
        let decoded = RecordBatchDecoder::decode_with_custom_compression(
            &mut batch.clone(),
            Some(|bytes: &mut Bytes, compression| Ok(decompress(bytes, compression)?)),
        );
        let decoded = decoded.map_err(|error| (partition, fetched.next, error.to_string()))?;
        if let Some(first) = decoded.records.first()
            && !aborted.drops(first, last)
        {
            let new = decoded.records.into_iter().filter(|record| record.offset >= begin);
            fetched.records.extend(new);
        }
        fetched.next = fetched.next.max(last + 1);
    }
    Ok(fetched)
}

/// The length of the part of a batch before its records, and the offsets of fields therein.
const BATCH_HEADER: usize = 61;
const BATCH_LENGTH: usize = 8;
const BATCH_REST: usize = 12;
const LAST_OFFSET: usize = 23;

/// Takes a whole batch of records off the front; returns it with the last of its offsets. The last
/// batch of a response may be cut off.
fn next_batch(rest: &mut Bytes) -> Option<(Bytes, i64)> {
    let length = (rest.get(BATCH_LENGTH..BATCH_REST)?).get_u32() as usize + BATCH_REST;
    if length < BATCH_HEADER || length > rest.len() {
        return None;
    }
    let batch = rest.split_to(length);
    let last = (&batch[..]).get_i64() + i64::from((&batch[LAST_OFFSET..]).get_i32());
    Some((batch, last))
}

/// The transactions of a response that were aborted.
struct Aborted {
    /// Transactions whose first record comes later, the next one last.
    later: Vec<AbortedTransaction>,
    /// The producers with an aborted transaction here.
    producers: HashSet<i64>,
}

impl Aborted {
    fn new(mut later: Vec<AbortedTransaction>) -> Self {
        later.sort_unstable_by_key(|transaction| -transaction.first_offset);
        Aborted { later, producers: HashSet::new() }
    }

    /// Returns true for a batch that has no records to read, by the first of its records and the
    /// last of its offsets.
    fn drops(&mut self, first: &Record, last: i64) -> bool {
        while let Some(next) = self.later.pop_if(|next| next.first_offset <= last) {
            self.producers.insert(next.producer_id.0);
        }
        if first.control {
            let code = first.key.as_ref().and_then(|key| key.get(2..4));
            if code.is_some_and(|mut code| code.get_u16() == ABORT) {
                self.producers.remove(&first.producer_id);
            }
            return true;
        }
        first.transactional && self.producers.contains(&first.producer_id)
    }
}

/// The records of a batch, without compression.
fn decompress(bytes: &Bytes, compression: Compression) -> io::Result<Bytes> {
    let mut plain = Vec::new();
    match compression {
        Compression::None => return Ok(bytes.clone()),
        Compression::Gzip => _ = MultiGzDecoder::new(&bytes[..]).read_to_end(&mut plain)?,
        Compression::Zstd => zstd::stream::copy_decode(&bytes[..], &mut plain)?,
        Compression::Snappy | Compression::Lz4 => {
            let codec = if compression == Compression::Lz4 { "lz4" } else { "snappy" };
            let message = format!(
                "they are compressed with {codec}, and hedgerow reads records without compression, with gzip and with zstd: let \
                 compression.type of the topic be one of these, and write them again"
            );
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        }
    }
    Ok(plain.into())
}
