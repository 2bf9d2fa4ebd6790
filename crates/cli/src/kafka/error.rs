//! Errors of topics.

use super::TopicAddress;
use super::client::ClientError;
use crate::text::counted;

/// A topic could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum KafkaError {
    /// A request failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Records were removed before they were read.
    #[error(
        "{} of {address} went before they were read, the first of them from offset {offset} of partition {partition} on: \
         the topic keeps records for a shorter time; --anew begins with the oldest that it still has, and all edges of the store stay",
        counted(*records, "record", "records")
    )]
    Lost {
        /// The topic.
        address: TopicAddress,
        /// The number of records.
        records: u64,
        /// The first partition that lost some.
        partition: usize,
        /// The offset of the first one that is lost.
        offset: i64,
    },
    /// A topic of the same name is another one.
    #[error(
        "{0} is not the topic of which the store has records, but a newer one of the same name: --anew begins with its oldest records, and all \
         edges of the store stay"
    )]
    OtherTopic(TopicAddress),
    /// A topic has the changes of another store.
    #[error("{address} has changes of another store at offset {offset}: name another topic, one per store")]
    OtherStore {
        /// The topic.
        address: TopicAddress,
        /// The offset of a record with such a change.
        offset: i64,
    },
    /// A process with the same transactional id began later.
    #[error("another `hedgerow changes` of this store writes to {0}: one of them is enough")]
    Fenced(TopicAddress),
    /// Another producer has a transaction open in the partition.
    #[error(
        "{0}: another producer has an open transaction in partition 0: let only `hedgerow changes` of one store write there"
    )]
    Shared(TopicAddress),
}

impl KafkaError {
    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        match self {
            KafkaError::Client(_) | KafkaError::Lost { .. } | KafkaError::Shared(_) => 3,
            KafkaError::OtherTopic(_) | KafkaError::OtherStore { .. } => 2,
            KafkaError::Fenced(_) => 5,
        }
    }

    /// Returns true if the same may succeed later.
    pub fn is_passing(&self) -> bool {
        matches!(self, KafkaError::Client(error) if error.is_passing())
    }
}
