//! Requests to brokers, one at a time, over connections without encryption.

use bytes::{Buf, Bytes, BytesMut};
use kafka_protocol::ResponseError;
use kafka_protocol::error::ParseResponseErrorCode;
use kafka_protocol::messages::metadata_request::MetadataRequestTopic;
use kafka_protocol::messages::{
    AddPartitionsToTxnRequest, AddPartitionsToTxnResponse, ApiKey, EndTxnRequest, EndTxnResponse,
    FetchRequest, FetchResponse, FindCoordinatorRequest, FindCoordinatorResponse, InitProducerIdRequest,
    InitProducerIdResponse, ListOffsetsRequest, ListOffsetsResponse, MetadataRequest, MetadataResponse,
    ProduceRequest, ProduceResponse, RequestHeader, ResponseHeader, TopicName,
};
use kafka_protocol::protocol::{Decodable, Encodable, HeaderVersion, StrBytes};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// The name of this program in the logs of brokers.
const CLIENT: &str = "hedgerow";

/// The longest wait for a connection, and for a response.
const CONNECT: Duration = Duration::from_secs(10);
const RESPONSE: Duration = Duration::from_secs(30);

/// The longest time in which a request is repeated that a broker cannot answer yet.
const REPEATS: Duration = Duration::from_secs(30);
const NAP: Duration = Duration::from_millis(20);

/// A request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// There is no connection.
    #[error(
        "cannot reach the broker at {address}: {source}; look whether it runs there, without TLS and SASL"
    )]
    Unreachable {
        /// The host and the port.
        address: String,
        /// The cause.
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the broker at {address} broke: {source}; try again")]
    Broken {
        /// The host and the port.
        address: String,
        /// The cause.
        source: io::Error,
    },
    /// A response is no response to its request.
    #[error("the broker at {address} gave a response that is not of Kafka 2.8 or later: {what}")]
    Malformed {
        /// The host and the port.
        address: String,
        /// The problem.
        what: String,
    },
    /// Records are damaged, or in a form that is not supported.
    #[error("the records of {records} cannot be read: {what}")]
    Unreadable {
        /// The partition and the offset.
        records: String,
        /// The problem.
        what: String,
    },
    /// There is no such topic.
    #[error("there is no topic {topic} at {address}: create it first, or name another one")]
    NoTopic {
        /// The host and the port.
        address: String,
        /// The topic.
        topic: String,
    },
    /// The broker refused a request.
    #[error("{what}: the broker says {cause}")]
    Refused {
        /// The purpose of the request, as a clause.
        what: String,
        /// The reason.
        cause: ResponseError,
    },
}

/// A request in the version in which it is sent, which all brokers since Kafka 2.8 answer.
pub trait Call: Encodable + HeaderVersion {
    /// The kind of the request.
    const KEY: ApiKey;
    /// The version.
    const VERSION: i16;
    /// The response.
    type Response: Decodable + HeaderVersion;
}

macro_rules! calls {
    ($($request:ident, $version:literal => $response:ident with $key:ident;)*) => {
        $(impl Call for $request {
            const KEY: ApiKey = ApiKey::$key;
            const VERSION: i16 = $version;
            type Response = $response;
        })*
    };
}

calls! {
    MetadataRequest, 10 => MetadataResponse with Metadata;
    ListOffsetsRequest, 6 => ListOffsetsResponse with ListOffsets;
    FetchRequest, 12 => FetchResponse with Fetch;
    FindCoordinatorRequest, 3 => FindCoordinatorResponse with FindCoordinator;
    InitProducerIdRequest, 4 => InitProducerIdResponse with InitProducerId;
    AddPartitionsToTxnRequest, 3 => AddPartitionsToTxnResponse with AddPartitionsToTxn;
    ProduceRequest, 9 => ProduceResponse with Produce;
    EndTxnRequest, 3 => EndTxnResponse with EndTxn;
}

/// Connections to the brokers of a cluster.
pub struct Client {
    /// The broker that names the others.
    first: (String, u16),
    /// The hosts and ports of brokers, by their ids.
    brokers: HashMap<i32, (String, u16)>,
    connections: HashMap<(String, u16), TcpStream>,
    /// The number of requests.
    requests: i32,
}

/// A topic of a cluster.
pub struct TopicInfo {
    /// The id, which another topic of this name does not have.
    pub id: String,
    /// The broker that leads each partition.
    pub leaders: Vec<i32>,
}

impl ClientError {
    /// Returns true if the same may succeed later.
    pub fn is_passing(&self) -> bool {
        match self {
            ClientError::Unreachable { .. } | ClientError::Broken { .. } => true,
            ClientError::Malformed { .. } | ClientError::Unreadable { .. } | ClientError::NoTopic { .. } => {
                false
            }
            ClientError::Refused { cause, .. } => cause.is_retriable(),
        }
    }
}

/// Turns an error code of a response into an error.
pub fn check(code: i16, what: impl FnOnce() -> String) -> Result<(), ClientError> {
    match code.err() {
        None => Ok(()),
        Some(cause) => Err(ClientError::Refused { what: what(), cause }),
    }
}

/// Repeats a request while the broker says that it cannot answer yet.
pub fn repeat<T>(
    mut request: impl FnMut() -> Result<T, ClientError>,
    mut is_early: impl FnMut(ResponseError) -> bool,
) -> Result<T, ClientError> {
    let begin = Instant::now();
    loop {
        match request() {
            Err(ClientError::Refused { cause, .. }) if is_early(cause) && begin.elapsed() < REPEATS => {
                std::thread::sleep(NAP);
            }
            result => return result,
        }
    }
}

impl Client {
    /// A client of the cluster of this broker; connects at the first request.
    pub fn new(host: &str, port: u16) -> Self {
        let (brokers, connections) = (HashMap::new(), HashMap::new());
        Client { first: (host.to_owned(), port), brokers, connections, requests: 0 }
    }

    /// The number of requests so far.
    pub fn requests(&self) -> usize {
        self.requests as usize
    }

    /// The partitions of a topic.
    pub fn topic(&mut self, name: &str) -> Result<TopicInfo, ClientError> {
        let topic = MetadataRequestTopic::default().with_name(Some(topic_name(name)));
        let request =
            MetadataRequest::default().with_topics(Some(vec![topic])).with_allow_auto_topic_creation(false);
        let response = self.call(None, &request)?;
        let broker = |broker: kafka_protocol::messages::metadata_response::MetadataResponseBroker| {
            (broker.node_id.0, (broker.host.to_string(), broker.port as u16))
        };
        self.brokers = response.brokers.into_iter().map(broker).collect();
        let address = || address(&self.first);
        let Some(topic) = response.topics.into_iter().next() else {
            return Err(ClientError::Malformed { address: address(), what: "it names no topic".into() });
        };
        if topic.error_code.err() == Some(ResponseError::UnknownTopicOrPartition) {
            return Err(ClientError::NoTopic { address: address(), topic: name.into() });
        }
        check(topic.error_code, || format!("the topic {name} cannot be used"))?;
        let mut leaders = vec![-1; topic.partitions.len()];
        for partition in topic.partitions {
            let number = partition.partition_index;
            check(partition.error_code, || format!("partition {number} of the topic {name} cannot be used"))?;
            if let Some(leader) = leaders.get_mut(number as usize) {
                *leader = partition.leader_id.0;
            }
        }
        Ok(TopicInfo { id: topic.topic_id.to_string(), leaders })
    }

    /// Sends a request to a broker, by default the first one, and waits for the response. After an
    /// error, the next call connects again.
    pub fn call<C: Call>(&mut self, broker: Option<i32>, request: &C) -> Result<C::Response, ClientError> {
        let named = broker.and_then(|broker| self.brokers.get(&broker));
        let broker = named.unwrap_or(&self.first).clone();
        self.requests = self.requests.wrapping_add(1);
        let number = self.requests;
        let malformed = |what: String| ClientError::Malformed { address: address(&broker), what };
        let frame = frame(request, number).map_err(|error| malformed(error.to_string()))?;
        let mut stream = match self.connections.remove(&broker) {
            Some(stream) => stream,
            None => connect(&broker)?,
        };
        let response = exchange(&mut stream, &frame);
        let broken = |source| ClientError::Broken { address: address(&broker), source };
        let mut response = response.map_err(broken)?;
        let header = ResponseHeader::decode(&mut response, C::Response::header_version(C::VERSION));
        let header = header.map_err(|error| malformed(error.to_string()))?;
        if header.correlation_id != number {
            return Err(malformed(format!("number {} instead of {number}", header.correlation_id)));
        }
        let response = C::Response::decode(&mut response, C::VERSION);
        let response = response.map_err(|error| malformed(error.to_string()))?;
        self.connections.insert(broker, stream);
        Ok(response)
    }
}

/// The name of a topic in requests.
pub fn topic_name(name: &str) -> TopicName {
    TopicName(StrBytes::from_string(name.to_owned()))
}

fn address((host, port): &(String, u16)) -> String {
    format!("{host}:{port}")
}

fn connect(broker: &(String, u16)) -> Result<TcpStream, ClientError> {
    let mut last = io::ErrorKind::NotFound.into();
    let connected = (&*broker.0, broker.1).to_socket_addrs().map(|addresses| {
        addresses.into_iter().find_map(|address| {
            let connected = TcpStream::connect_timeout(&address, CONNECT).and_then(|stream| {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(RESPONSE))?;
                stream.set_write_timeout(Some(RESPONSE))?;
                Ok(stream)
            });
            connected.map_err(|error| last = error).ok()
        })
    });
    let unreachable = |source| ClientError::Unreachable { address: address(broker), source };
    connected.map_err(unreachable)?.ok_or_else(|| unreachable(last))
}

/// The bytes of a request with its length.
fn frame<C: Call>(request: &C, number: i32) -> Result<BytesMut, impl std::fmt::Display + use<C>> {
    let header = RequestHeader::default()
        .with_request_api_key(C::KEY as i16)
        .with_request_api_version(C::VERSION)
        .with_correlation_id(number)
        .with_client_id(Some(StrBytes::from_static_str(CLIENT)));
    let mut frame = BytesMut::zeroed(4);
    let encoded = header.encode(&mut frame, C::header_version(C::VERSION));
    encoded.and_then(|()| request.encode(&mut frame, C::VERSION)).map(|()| {
        let length = (frame.len() - 4) as i32;
        frame[..4].copy_from_slice(&length.to_be_bytes());
        frame
    })
}

fn exchange(stream: &mut TcpStream, frame: &[u8]) -> io::Result<Bytes> {
    stream.write_all(frame)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = u64::from((&length[..]).get_u32());
    let mut response = Vec::new();
    // Memory grows with what arrives, whatever the length says.
    stream.take(length).read_to_end(&mut response)?;
    match response.len() as u64 == length {
        true => Ok(response.into()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
