//! Topics in a command that was built without Kafka: there are none.

use super::TopicAddress;
use crate::error::CliError;
use crate::ingest::{Piece, ReadRecords, Source};
use hedgerow::ChangeToken;
use hedgerow_formats::StreamOptions;
use serde::Serialize;
use std::sync::mpsc::SyncSender;

/// A topic that is read.
pub enum Topic {}

impl Topic {
    /// Refuses the topic.
    pub fn open(address: &TopicAddress) -> Result<Self, CliError> {
        Err(absent(address))
    }

    pub fn name(&self) -> String {
        match *self {}
    }

    pub fn begin(&mut self, _: Option<ReadRecords>) -> Result<ReadRecords, CliError> {
        match *self {}
    }

    pub fn source<E>(
        self,
        _: ReadRecords,
        _: StreamOptions,
        _: (bool, usize),
        _: SyncSender<Piece<E>>,
    ) -> Box<dyn Source> {
        match self {}
    }
}

fn absent(address: &TopicAddress) -> CliError {
    CliError::Usage(format!(
        "{address}: this command was built without Kafka; `cargo install --path crates/cli --features kafka` builds it with it"
    ))
}

/// A topic that is written.
pub enum Sink {}

impl Sink {
    /// Refuses the topic.
    pub fn open(address: &TopicAddress, _: [u8; 16]) -> Result<Self, CliError> {
        Err(absent(address))
    }

    pub fn last(&mut self) -> Result<Option<(ChangeToken, i64)>, CliError> {
        match *self {}
    }

    pub fn of_another_store(&self, _: i64) -> CliError {
        match *self {}
    }

    pub fn put(&mut self, _: ChangeToken, _: &impl Serialize) -> Result<(), CliError> {
        match *self {}
    }

    pub fn commit(&mut self) -> Result<(), CliError> {
        match *self {}
    }

    pub fn abort(&mut self) {
        match *self {}
    }

    pub fn written(&self) -> (u64, u64) {
        match *self {}
    }
}
