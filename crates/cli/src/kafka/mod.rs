//! Topics of Kafka: a source of edges for `ingest`, and a destination for `changes`.
//!
//! | file | purpose |
//! |---|---|
//! | `client` | requests to brokers, one at a time |
//! | `fetch` | committed records and offsets of partitions |
//! | `producer` | records in transactions |
//! | `source` | a topic that `ingest` reads |
//! | `sink` | a partition that `changes` writes |
//! | `error` | the errors |
//! | `absent` | takes the place of all of them in a command that was built without Kafka |

#[cfg(not(feature = "kafka"))]
mod absent;
#[cfg(feature = "kafka")]
mod client;
#[cfg(feature = "kafka")]
mod error;
#[cfg(feature = "kafka")]
mod fetch;
#[cfg(feature = "kafka")]
mod producer;
#[cfg(feature = "kafka")]
mod sink;
#[cfg(feature = "kafka")]
mod source;

#[cfg(not(feature = "kafka"))]
pub use absent::{Sink, Topic};
#[cfg(feature = "kafka")]
pub use error::KafkaError;
#[cfg(feature = "kafka")]
pub use sink::Sink;
#[cfg(feature = "kafka")]
pub use source::Topic;

use crate::error::CliError;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// The beginning of the address of a topic.
pub const SCHEME: &str = "kafka://";

/// The longest name of a topic.
const LONGEST_NAME: usize = 249;

/// The address of a topic, `kafka://HOST:PORT/TOPIC`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicAddress {
    /// A broker of the cluster.
    pub host: String,
    pub port: u16,
    pub topic: String,
}

impl TopicAddress {
    /// The address of a topic; `None` for the path of a file.
    pub fn of(path: &Path) -> Result<Option<Self>, CliError> {
        match path.to_str().filter(|text| text.starts_with(SCHEME)) {
            Some(text) => text.parse().map(Some).map_err(CliError::Usage),
            None => Ok(None),
        }
    }
}

impl FromStr for TopicAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = || {
            let (broker, topic) = text.strip_prefix(SCHEME)?.split_once('/')?;
            let (host, port) = broker.rsplit_once(':')?;
            let bare = match host.strip_prefix('[') {
                // An IPv6 address.
                Some(rest) => rest.strip_suffix(']')?,
                None => Some(host).filter(|host| !host.contains(':'))?,
            };
            let is_right = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            let is_name = !matches!(topic, "" | "." | "..") && topic.bytes().all(is_right);
            let port = port.parse().ok().filter(|port| *port > 0)?;
            let (host, topic) = (bare.to_owned(), topic.to_owned());
            let is_right = is_name && topic.len() <= LONGEST_NAME && !host.is_empty();
            is_right.then_some(TopicAddress { host, port, topic })
        };
        parsed().ok_or_else(|| {
            format!(
                "{text}: a topic is {SCHEME}HOST:PORT/TOPIC, such as {SCHEME}localhost:9092/follows; names of topics have letters, digits, \
                 dots, underscores and hyphens"
            )
        })
    }
}

impl fmt::Display for TopicAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TopicAddress { host, port, topic } = self;
        match host.contains(':') {
            true => write!(f, "{SCHEME}[{host}]:{port}/{topic}"),
            false => write!(f, "{SCHEME}{host}:{port}/{topic}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_and_others_refused() {
        for (text, host, port, topic) in [
            ("kafka://localhost:9092/follows", "localhost", 9092, "follows"),
            ("kafka://10.0.0.7:1/a.b_c-D9", "10.0.0.7", 1, "a.b_c-D9"),
            ("kafka://[::1]:65535/x", "::1", 65535, "x"),
        ] {
            let address: TopicAddress = text.parse().unwrap();
            assert_eq!((&*address.host, address.port, &*address.topic), (host, port, topic));
            assert_eq!(address.to_string(), text);
        }
        let long = format!("kafka://h:1/{}", "a".repeat(LONGEST_NAME + 1));
        for text in [
            "kafka://",
            "kafka://h/t",
            "kafka://h:1",
            "kafka://h:1/",
            "kafka://h:0/t",
            "kafka://h:70000/t",
            "kafka://:1/t",
            "kafka://::1:9092/t",
            "kafka://[::1:9092/t",
            "kafka://h:1/t/0",
            "kafka://h:1/..",
            "kafka://h:1/ä",
            &long,
        ] {
            let error = text.parse::<TopicAddress>().unwrap_err();
            assert!(error.starts_with(&format!("{text}: a topic is kafka://HOST:PORT/TOPIC")), "{error}");
        }
        assert!(TopicAddress::of(Path::new("kafka:h/t")).is_ok_and(|address| address.is_none()));
    }
}
