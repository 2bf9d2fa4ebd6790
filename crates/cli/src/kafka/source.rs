//! A topic that `hedgerow ingest` reads.

use super::client::{Client, check};
use super::fetch::{Bound, Fetched, fetch, offsets};
use super::{KafkaError, TopicAddress};
use crate::error::CliError;
use crate::ingest::{Piece, Read, ReadRecords, Source, StreamEdge};
use hedgerow::kernels::CancelToken;
use hedgerow_formats::{StreamBatch, StreamOptions, StreamParser, StreamPlace};
use kafka_protocol::ResponseError;
use kafka_protocol::error::ParseResponseErrorCode;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait of a broker for new records.
const WAIT: Duration = Duration::from_millis(100);

/// The time between two looks for new partitions.
const REFRESH: Duration = Duration::from_secs(10);

/// The time in which a reader that follows a topic tries to connect again, and its pauses.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A topic that is read.
pub struct Topic {
    address: TopicAddress,
    client: Client,
    /// The id, and the brokers that lead the partitions.
    id: String,
    leaders: Vec<i32>,
}

/// Reads a topic.
struct TopicReader<E: StreamEdge> {
    topic: Topic,
    parser: StreamParser<E::Key>,
    read: ReadRecords,
    /// The last known ends of partitions.
    stable: Vec<i64>,
    /// Wait for more at the end.
    follows: bool,
    /// Edges after which a piece is sent.
    most: usize,
    pieces: SyncSender<Piece<E>>,
    stop: CancelToken,
}

impl Topic {
    /// Connects to the broker.
    pub fn open(address: &TopicAddress) -> Result<Self, CliError> {
        let mut client = Client::new(&address.host, address.port);
        let info = client.topic(&address.topic).map_err(KafkaError::from)?;
        Ok(Topic { address: address.clone(), client, id: info.id, leaders: info.leaders })
    }

    /// The name, independent of the broker.
    pub fn name(&self) -> String {
        format!("topic {}", self.address.topic)
    }

    /// The place to begin: after the part that was read last, else with the oldest records.
    pub fn begin(&mut self, last: Option<ReadRecords>) -> Result<ReadRecords, CliError> {
        let mut read = last.unwrap_or(ReadRecords { topic: self.id.clone(), offsets: Vec::new() });
        self.refresh(&mut read)?;
        self.find_lost(&read)?;
        Ok(read)
    }

    /// A reader of the records after those that were read.
    pub fn source<E: StreamEdge>(
        self,
        read: ReadRecords,
        options: StreamOptions,
        (follows, most): (bool, usize),
        pieces: SyncSender<Piece<E>>,
    ) -> Box<dyn Source> {
        let parser = StreamParser::new(self.address.to_string(), options, StreamPlace::default());
        let (topic, stable, stop) = (self, read.offsets.clone(), CancelToken::new());
        Box::new(TopicReader { topic, parser, read, stable, follows, most, pieces, stop })
    }

    /// Looks for partitions that are new, and for brokers that lead others.
    fn refresh(&mut self, read: &mut ReadRecords) -> Result<(), KafkaError> {
        let info = self.client.topic(&self.address.topic)?;
        if info.id != read.topic {
            return Err(KafkaError::OtherTopic(self.address.clone()));
        }
        self.leaders = info.leaders;
        if self.leaders.len() > read.offsets.len() {
            let earliest = self.bounds(Bound::Earliest)?;
            read.offsets.extend_from_slice(&earliest[read.offsets.len()..]);
        }
        Ok(())
    }

    /// The bound of each partition.
    fn bounds(&mut self, bound: Bound) -> Result<Vec<i64>, KafkaError> {
        let mut bounds = vec![0; self.leaders.len()];
        for (leader, partitions) in self.by_leader(|_| true) {
            for (partition, offset) in
                offsets(&mut self.client, leader, &self.address.topic, &partitions, bound)?
            {
                bounds[partition as usize] = offset;
            }
        }
        Ok(bounds)
    }

    /// The wanted partitions of each broker.
    fn by_leader(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<(i32, Vec<i32>)> {
        let mut leaders = self.leaders.clone();
        leaders.sort_unstable();
        leaders.dedup();
        let of = |leader| {
            let partitions = self.leaders.iter().zip(0..).filter(|(it, _)| **it == leader);
            let partitions = partitions.map(|(_, partition)| partition);
            partitions.filter(|partition| is_wanted(*partition as usize)).collect::<Vec<i32>>()
        };
        let groups = leaders.into_iter().map(|leader| (leader, of(leader)));
        groups.filter(|(_, partitions)| !partitions.is_empty()).collect()
    }

    /// Fails if records after those that were read are gone.
    fn find_lost(&mut self, read: &ReadRecords) -> Result<(), KafkaError> {
        let earliest = self.bounds(Bound::Earliest)?;
        let gaps = read.offsets.iter().zip(&earliest).map(|(next, earliest)| (earliest - next).max(0) as u64);
        let gaps: Vec<u64> = gaps.collect();
        let Some(partition) = gaps.iter().position(|gap| *gap > 0) else { return Ok(()) };
        let (records, offset) = (gaps.iter().sum(), read.offsets[partition]);
        Err(KafkaError::Lost { address: self.address.clone(), records, partition, offset })
    }

    /// Records of the partitions up to these ends, if there are ends. Each call begins with another
    /// partition, because a response may have room only for the records of the first.
    fn fetch(&mut self, read: &ReadRecords, ends: Option<&[i64]>) -> Result<Vec<Fetched>, KafkaError> {
        let is_open = |partition: usize| ends.is_none_or(|ends| read.offsets[partition] < ends[partition]);
        let groups = self.by_leader(is_open);
        let wait = WAIT / groups.len().max(1) as u32;
        let mut all = Vec::new();
        for (leader, mut partitions) in groups {
            let first = self.client.requests() % partitions.len();
            partitions.rotate_left(first);
            let from: Vec<_> =
                partitions.iter().map(|number| (*number, read.offsets[*number as usize])).collect();
            all.extend(fetch(&mut self.client, leader, &self.address.topic, &from, wait)?);
        }
        for Fetched { partition, code, .. } in &all {
            if code.err() == Some(ResponseError::OffsetOutOfRange) {
                self.find_lost(read)?;
            }
            check(*code, || {
                let offset = read.offsets[*partition as usize];
                format!("{}: cannot read partition {partition} from offset {offset} on", self.address)
            })?;
        }
        Ok(all)
    }
}

impl<E: StreamEdge> Source for TopicReader<E> {
    fn stop(&self) -> CancelToken {
        self.stop.clone()
    }

    fn run(mut self: Box<Self>) -> Result<(), CliError> {
        let ends = if self.follows { None } else { Some(self.topic.bounds(Bound::LastStable)?) };
        let (mut refreshed, mut failing) = (Instant::now(), None);
        while !self.stop.is_cancelled() {
            let mut is_open = self.read.offsets.iter().zip(ends.iter().flatten());
            if ends.is_some() && is_open.all(|(next, end)| next >= end) {
                return Ok(());
            }
            let is_due = self.follows && (failing.is_some() || refreshed.elapsed() >= REFRESH);
            let refresh = if is_due { self.topic.refresh(&mut self.read) } else { Ok(()) };
            match refresh.and_then(|()| self.topic.fetch(&self.read, ends.as_deref())) {
                Ok(fetched) => {
                    if is_due {
                        refreshed = Instant::now();
                    }
                    failing = None;
                    if !self.take(fetched)? {
                        return Ok(());
                    }
                }
                Err(error) if self.follows && error.is_passing() => {
                    let (since, pause) = failing.unwrap_or((Instant::now(), FIRST_PAUSE));
                    if since.elapsed() >= PATIENCE {
                        return Err(error.into());
                    }
                    self.pause(pause);
                    failing = Some((since, (pause * 2).min(LONGEST_PAUSE)));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl<E: StreamEdge> TopicReader<E> {
    /// Sleeps, unless the reading is stopped.
    fn pause(&self, pause: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < pause && !self.stop.is_cancelled() {
            thread::sleep(FIRST_PAUSE.min(pause));
        }
    }

    /// Parses records, and sends their edges; returns false if nothing more is wanted.
    fn take(&mut self, fetched: Vec<Fetched>) -> Result<bool, CliError> {
        let mut batch = StreamBatch::new();
        let before = self.read.offsets.clone();
        self.stable.resize(before.len(), 0);
        for Fetched { partition, records, next, stable, .. } in fetched {
            let place = partition as usize;
            self.stable[place] = stable;
            for record in records {
                let value = record.value.unwrap_or_default();
                let (edges, deletions) = (batch.edges.len(), batch.deletions.len());
                let name = format!("{}, partition {partition}, offset {}", self.topic.address, record.offset);
                self.parser.restart(name);
                if let Err(error) = self.parser.parse(&value, true, usize::MAX, &mut batch) {
                    // Positions are between records: the whole record comes again.
                    batch.edges.truncate(edges);
                    batch.deletions.truncate(deletions);
                    self.send(&mut batch);
                    return Err(error.into());
                }
                self.read.offsets[place] = record.offset + 1;
                if batch.edges.len() >= self.most && !self.send(&mut batch) {
                    return Ok(false);
                }
            }
            self.read.offsets[place] = next;
        }
        Ok(self.read.offsets == before || self.send(&mut batch))
    }

    /// Sends what was parsed; returns false if nothing more is wanted.
    fn send(&mut self, batch: &mut StreamBatch<E::Key>) -> bool {
        let edges = batch.edges.drain(..).map(E::of).collect();
        let deletions = std::mem::take(&mut batch.deletions);
        let behind = self.stable.iter().zip(&self.read.offsets);
        let behind = behind.map(|(stable, next)| (stable - next).max(0) as u64).sum();
        let skipped = self.parser.skipped();
        let skipped = (skipped.count > 0).then(|| skipped.clone());
        let (read, at) = (Read::Records(self.read.clone()), Instant::now());
        self.pieces.send(Piece { edges, deletions, read, behind: Some(behind), at, skipped }).is_ok()
    }
}
