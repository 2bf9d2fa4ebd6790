//! Records in transactions.

use super::client::{Client, ClientError, check, repeat, topic_name};
use bytes::{Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::indexmap::IndexMap;
use kafka_protocol::messages::add_partitions_to_txn_request::AddPartitionsToTxnTopic;
use kafka_protocol::messages::produce_request::{PartitionProduceData, TopicProduceData};
use kafka_protocol::messages::{
    AddPartitionsToTxnRequest, EndTxnRequest, FindCoordinatorRequest, InitProducerIdRequest, ProduceRequest,
    ProducerId, TransactionalId,
};
use kafka_protocol::protocol::StrBytes;
use kafka_protocol::records::{
    Compression, NO_PARTITION_LEADER_EPOCH, Record, RecordBatchEncoder, RecordEncodeOptions, TimestampType,
};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The header of a record with the position after its commit.
pub const TOKEN: &str = "hedgerow-token";

/// The time after which a broker aborts a transaction.
const TRANSACTION: Duration = Duration::from_secs(300);

/// The longest wait of a broker for the copies of records.
const COPIES: Duration = Duration::from_secs(20);

/// The kind of coordinator that leads transactions, and acknowledgment by all copies.
const OF_TRANSACTIONS: i8 = 1;
const ALL_COPIES: i16 = -1;

/// A record to write.
pub struct NewRecord {
    pub value: Bytes,
    pub token: Option<StrBytes>,
}

/// Writes records to a partition in transactions.
pub struct Producer {
    client: Client,
    topic: String,
    partition: i32,
    leader: i32,
    transactional_id: TransactionalId,
    coordinator: i32,
    /// The id that the coordinator gave, and its number of earlier producers.
    id: ProducerId,
    epoch: i16,
    /// The number of the next record.
    sequence: i32,
    /// The partition is part of a transaction.
    is_open: bool,
}

impl Producer {
    /// Begins as the only producer with this transactional id: ends the transaction of an earlier
    /// one, which can write no more.
    pub fn begin(
        mut client: Client,
        (topic, partition): (&str, i32),
        transactional_id: &str,
    ) -> Result<Self, ClientError> {
        let info = client.topic(topic)?;
        let leader = info.leaders.get(partition as usize).copied().unwrap_or(-1);
        let key = StrBytes::from_string(transactional_id.to_owned());
        let find = FindCoordinatorRequest::default().with_key(key.clone()).with_key_type(OF_TRANSACTIONS);
        let init = InitProducerIdRequest::default()
            .with_transactional_id(Some(TransactionalId(key.clone())))
            .with_transaction_timeout_ms(TRANSACTION.as_millis() as i32)
            .with_producer_id(ProducerId(-1))
            .with_producer_epoch(-1);
        let begin = || {
            let found = client.call(None, &find)?;
            check(found.error_code, || format!("no coordinator of transactions for {transactional_id}"))?;
            let coordinator = found.node_id.0;
            let begun = client.call(Some(coordinator), &init)?;
            check(begun.error_code, || format!("cannot begin as the producer {transactional_id}"))?;
            Ok((coordinator, begun.producer_id, begun.producer_epoch))
        };
        let (coordinator, id, epoch) = repeat(begin, is_early)?;
        let (topic, transactional_id) = (topic.to_owned(), TransactionalId(key));
        let (sequence, is_open) = (0, false);
        Ok(Producer {
            client,
            topic,
            partition,
            leader,
            transactional_id,
            coordinator,
            id,
            epoch,
            sequence,
            is_open,
        })
    }

    /// The connections, for other requests.
    pub fn client(&mut self) -> (&mut Client, i32) {
        (&mut self.client, self.leader)
    }

    /// Writes records as a part of a transaction.
    pub fn send(&mut self, records: Vec<NewRecord>) -> Result<(), ClientError> {
        if !self.is_open {
            self.open()?;
        }
        let count = records.len() as i64;
        let producer = (self.id.0, self.epoch, self.sequence);
        let batch = batch(records, producer, true).map_err(|what| self.unwritable(what))?;
        let to = (&*self.topic, self.partition);
        produce(&mut self.client, self.leader, to, Some(self.transactional_id.clone()), batch)?;
        self.sequence = ((i64::from(self.sequence) + count) % (1 << 31)) as i32;
        Ok(())
    }

    /// Ends the transaction, if one is open.
    pub fn end(&mut self, commits: bool) -> Result<(), ClientError> {
        if !self.is_open {
            return Ok(());
        }
        let request = EndTxnRequest::default()
            .with_transactional_id(self.transactional_id.clone())
            .with_producer_id(self.id)
            .with_producer_epoch(self.epoch)
            .with_committed(commits);
        let end = || {
            let ended = self.client.call(Some(self.coordinator), &request)?;
            check(ended.error_code, || format!("cannot end the transaction in the topic {}", self.topic))
        };
        repeat(end, is_early)?;
        self.is_open = false;
        Ok(())
    }

    /// Makes the partition a part of a new transaction.
    fn open(&mut self) -> Result<(), ClientError> {
        let topic = AddPartitionsToTxnTopic::default()
            .with_name(topic_name(&self.topic))
            .with_partitions(vec![self.partition]);
        let request = AddPartitionsToTxnRequest::default()
            .with_v3_and_below_transactional_id(self.transactional_id.clone())
            .with_v3_and_below_producer_id(self.id)
            .with_v3_and_below_producer_epoch(self.epoch)
            .with_v3_and_below_topics(vec![topic]);
        let open = || {
            let added = self.client.call(Some(self.coordinator), &request)?;
            let topics = added.results_by_topic_v3_and_below.into_iter();
            for result in topics.flat_map(|topic| topic.results_by_partition) {
                check(result.partition_error_code, || {
                    format!("cannot begin a transaction in the topic {}", self.topic)
                })?;
            }
            Ok(())
        };
        repeat(open, is_early)?;
        self.is_open = true;
        Ok(())
    }

    fn unwritable(&self, what: String) -> ClientError {
        let records = format!("partition {} of the topic {}", self.partition, self.topic);
        ClientError::Unreadable { records, what }
    }
}

/// Returns true if the coordinator will answer soon: it starts, or ends an earlier transaction.
fn is_early(cause: ResponseError) -> bool {
    matches!(
        cause,
        ResponseError::ConcurrentTransactions
            | ResponseError::CoordinatorLoadInProgress
            | ResponseError::CoordinatorNotAvailable
            | ResponseError::NotCoordinator
    )
}

/// Encodes records as a batch of this producer: its id, its epoch, and the number of the first
/// record.
pub fn batch(
    records: Vec<NewRecord>,
    (producer_id, producer_epoch, sequence): (i64, i16, i32),
    transactional: bool,
) -> Result<Bytes, String> {
    let timestamp = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as i64;
    let record = |(record, offset): (NewRecord, i64)| Record {
        transactional,
        control: false,
        delete_horizon: false,
        partition_leader_epoch: NO_PARTITION_LEADER_EPOCH,
        producer_id,
        producer_epoch,
        timestamp_type: TimestampType::Creation,
        offset,
        sequence: sequence.wrapping_add(offset as i32),
        timestamp,
        key: None,
        value: Some(record.value),
        headers: IndexMap::from_iter(
            record.token.map(|token| (StrBytes::from_static_str(TOKEN), Some(token.into()))),
        ),
    };
    let records: Vec<Record> = records.into_iter().zip(0..).map(record).collect();
    let mut encoded = BytesMut::new();
    let options = RecordEncodeOptions { version: 2, compression: Compression::None };
    RecordBatchEncoder::encode(&mut encoded, &records, &options).map_err(|error| error.to_string())?;
    Ok(encoded.freeze())
}

/// Writes a batch to a partition, and waits until all copies have it.
pub fn produce(
    client: &mut Client,
    leader: i32,
    (topic, partition): (&str, i32),
    transactional_id: Option<TransactionalId>,
    batch: Bytes,
) -> Result<(), ClientError> {
    let data = PartitionProduceData::default().with_index(partition).with_records(Some(batch));
    let data = TopicProduceData::default().with_name(topic_name(topic)).with_partition_data(vec![data]);
    let request = ProduceRequest::default()
        .with_transactional_id(transactional_id)
        .with_acks(ALL_COPIES)
        .with_timeout_ms(COPIES.as_millis() as i32)
        .with_topic_data(vec![data]);
    let response = client.call(Some(leader), &request)?;
    for result in response.responses.into_iter().flat_map(|topic| topic.partition_responses) {
        check(result.error_code, || format!("cannot write to partition {partition} of the topic {topic}"))?;
    }
    Ok(())
}
