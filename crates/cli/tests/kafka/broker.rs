//! A broker for the tests of this process, and topics in it.

use crate::client::{Call, Client, check};
use crate::fetch::{Bound, Fetched, fetch, offsets};
use crate::producer::{NewRecord, Producer, batch, produce};
use bytes::Bytes;
use kafka_protocol::messages::create_topics_request::CreatableTopic;
use kafka_protocol::messages::delete_records_request::{DeleteRecordsPartition, DeleteRecordsTopic};
use kafka_protocol::messages::{
    ApiKey, CreateTopicsRequest, CreateTopicsResponse, DeleteRecordsRequest, DeleteRecordsResponse,
    DeleteTopicsRequest, DeleteTopicsResponse,
};
use kafka_protocol::records::{NO_PRODUCER_EPOCH, NO_PRODUCER_ID, NO_SEQUENCE, Record};
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time in which a broker starts.
const START: Duration = Duration::from_secs(60);

/// Ends the broker and removes its files when the test process ends, by whatever cause: then
/// standard input is closed.
const GUARD: &str =
    r#"folder=$1; shift; "$@" >"$folder/log" 2>&1 & read -r _; kill -9 $!; wait; rm -rf "$folder""#;

/// The options of a broker that does little.
const JAVA: [&str; 3] = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// The id of the cluster: any 16 bytes.
const CLUSTER: &str = "aGVkZ2Vyb3ctLXRlc3RzLQ";

impl Call for CreateTopicsRequest {
    const KEY: ApiKey = ApiKey::CreateTopics;
    const VERSION: i16 = 5;
    type Response = CreateTopicsResponse;
}

impl Call for DeleteTopicsRequest {
    const KEY: ApiKey = ApiKey::DeleteTopics;
    const VERSION: i16 = 4;
    type Response = DeleteTopicsResponse;
}

impl Call for DeleteRecordsRequest {
    const KEY: ApiKey = ApiKey::DeleteRecords;
    const VERSION: i16 = 2;
    type Response = DeleteRecordsResponse;
}

/// A topic of the broker.
pub struct Topic {
    port: u16,
    pub name: String,
}

/// The port of the broker; `None`, and a report, if there is no broker here.
fn port() -> Option<u16> {
    static BROKER: OnceLock<Result<(u16, Child), String>> = OnceLock::new();
    match BROKER.get_or_init(start) {
        Ok((port, _)) => Some(*port),
        Err(why) => {
            hedgerow_testing::skipped::skip(why);
            None
        }
    }
}

fn java(jars: &Path, arguments: &[&str]) -> Vec<String> {
    let class_path = ["-cp".to_owned(), jars.join("*").display().to_string()];
    let words = ["java"].into_iter().chain(JAVA).map(str::to_owned).chain(class_path);
    words.chain(arguments.iter().map(|&word| word.to_owned())).collect()
}

/// Starts a broker, which is also its own controller; or says why there is none.
fn start() -> Result<(u16, Child), String> {
    let jars: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/kafka");
    if !jars.is_dir() {
        return Err("there is no Kafka in target/kafka; `cargo xtask kafka` fetches it".into());
    }
    if !Command::new("java").arg("-version").output().is_ok_and(|output| output.status.success()) {
        return Err("there is no Java".into());
    }
    let folder = tempfile::tempdir().unwrap().keep();
    // Both are bound before either is free again.
    let [listener, controller] = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let [port, controller] = [listener, controller].map(|listener| listener.local_addr().unwrap().port());
    let properties = folder.join("properties");
    let settings = format!(
        "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@127.0.0.1:{controller}\n\
         listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
         advertised.listeners=PLAINTEXT://127.0.0.1:{port}\ncontroller.listener.names=CONTROLLER\n\
         listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT\nlog.dirs={}\n\
         transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\n\
         transaction.state.log.num.partitions=1\n",
        folder.join("data").display()
    );
    fs::write(&properties, settings).unwrap();
    let properties = properties.display().to_string();
    let format = java(&jars, &["kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", &properties]);
    let formatted = Command::new(&format[0]).args(&format[1..]).output().unwrap();
    assert!(formatted.status.success(), "{}", String::from_utf8_lossy(&formatted.stderr));
    let mut guard = Command::new("sh");
    guard.args(["-c", GUARD, "sh"]).arg(&folder).args(java(&jars, &["kafka.Kafka", &properties]));
    let guard = guard.stdin(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(begin.elapsed() < START, "the broker does not start: {}", log());
        thread::sleep(Duration::from_millis(50));
    }
    Ok((port, guard))
}

impl Topic {
    /// A new topic; `None`, and a report, if there is no broker here.
    pub fn new(name: &str, partitions: i32) -> Option<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("{name}-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        let topic = Topic { port: port()?, name };
        topic.create(partitions);
        Some(topic)
    }

    pub fn client(&self) -> Client {
        Client::new("127.0.0.1", self.port)
    }

    /// The address for the command.
    pub fn address(&self) -> String {
        format!("kafka://127.0.0.1:{}/{}", self.port, self.name)
    }

    fn create(&self, partitions: i32) {
        let topic = CreatableTopic::default()
            .with_name(crate::client::topic_name(&self.name))
            .with_num_partitions(partitions)
            .with_replication_factor(1);
        let request = CreateTopicsRequest::default().with_topics(vec![topic]).with_timeout_ms(20_000);
        let created = self.client().call(None, &request).unwrap();
        created.topics.iter().for_each(|topic| check(topic.error_code, || self.name.clone()).unwrap());
        // Leaders take their time.
        let begin = Instant::now();
        let mut client = self.client();
        let mut is_led = |partition| {
            let leaders = client.topic(&self.name).map(|info| info.leaders);
            leaders.is_ok_and(|leaders| {
                let leader = leaders[partition as usize];
                offsets(&mut client, leader, &self.name, &[partition], Bound::LastStable).is_ok()
            })
        };
        while !(0..partitions).all(&mut is_led) {
            assert!(begin.elapsed() < START);
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Deletes the topic, and creates another one of this name.
    pub fn create_again(&self, partitions: i32) {
        let names = vec![crate::client::topic_name(&self.name)];
        let request = DeleteTopicsRequest::default().with_topic_names(names).with_timeout_ms(20_000);
        let deleted = self.client().call(None, &request).unwrap();
        deleted.responses.iter().for_each(|topic| check(topic.error_code, || self.name.clone()).unwrap());
        while self.client().topic(&self.name).is_ok() {
            thread::sleep(Duration::from_millis(10));
        }
        self.create(partitions);
    }

    /// Writes records with these values to a partition, outside of transactions.
    pub fn put<V: AsRef<[u8]>>(&self, partition: i32, values: impl IntoIterator<Item = V>) {
        let batch = batch(records(values), (NO_PRODUCER_ID, NO_PRODUCER_EPOCH, NO_SEQUENCE), false).unwrap();
        self.put_batch(partition, batch);
    }

    pub fn put_batch(&self, partition: i32, batch: Bytes) {
        let mut client = self.client();
        let leader = client.topic(&self.name).unwrap().leaders[partition as usize];
        produce(&mut client, leader, (&self.name, partition), None, batch).unwrap();
    }

    /// A producer of transactions in a partition.
    pub fn producer(&self, partition: i32, id: &str) -> Producer {
        Producer::begin(self.client(), (&self.name, partition), &format!("{}-{id}", self.name)).unwrap()
    }

    /// Removes the records of a partition before an offset.
    pub fn remove(&self, partition: i32, before: i64) {
        let removed = DeleteRecordsPartition::default().with_partition_index(partition).with_offset(before);
        let removed = DeleteRecordsTopic::default()
            .with_name(crate::client::topic_name(&self.name))
            .with_partitions(vec![removed]);
        let request = DeleteRecordsRequest::default().with_topics(vec![removed]).with_timeout_ms(20_000);
        let response = self.client().call(None, &request).unwrap();
        let results = response.topics.iter().flat_map(|topic| &topic.partitions);
        results.for_each(|partition| check(partition.error_code, || self.name.clone()).unwrap());
    }

    /// All committed records of partition 0.
    pub fn records(&self) -> Vec<Record> {
        let mut client = self.client();
        let leader = client.topic(&self.name).unwrap().leaders[0];
        let end = offsets(&mut client, leader, &self.name, &[0], Bound::LastStable).unwrap()[0].1;
        let (mut records, mut next) = (Vec::new(), 0);
        while next < end {
            let fetched = fetch(&mut client, leader, &self.name, &[(0, next)], Duration::ZERO).unwrap();
            for Fetched { records: new, next: then, .. } in fetched {
                records.extend(new);
                next = then;
            }
        }
        records
    }
}

/// Records with these values.
pub fn records<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Vec<NewRecord> {
    let record = |value: V| NewRecord { value: Bytes::copy_from_slice(value.as_ref()), token: None };
    values.into_iter().map(record).collect()
}
