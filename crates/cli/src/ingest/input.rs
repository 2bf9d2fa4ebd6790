//! The input of a stream: a file, a pipe or a topic.

use super::args::IngestArgs;
use super::edge::StreamEdge;
use super::position::{Read, ReadBytes};
use super::reader::{Bytes, Piece, Reader};
use crate::error::CliError;
use crate::kafka::{Topic, TopicAddress};
use hedgerow::kernels::CancelToken;
use hedgerow_formats::StreamOptions;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;

/// Reads a stream on a thread of its own, and sends its edges.
pub trait Source: Send {
    /// The token that stops the reading.
    fn stop(&self) -> CancelToken;

    /// Reads up to the end, or until it is stopped, and sends all edges.
    fn run(self: Box<Self>) -> Result<(), CliError>;
}

/// The input of a stream.
pub enum Input {
    Bytes(Bytes),
    Topic(Box<Topic>),
}

/// The end of an input.
pub enum Extent {
    File(PathBuf),
    Pipe,
    Topic,
}

impl Input {
    /// Opens a file or a pipe, or connects to a broker.
    pub fn open(args: &IngestArgs) -> Result<Self, CliError> {
        let Some(address) = TopicAddress::of(&args.file)? else {
            return Bytes::open(&args.file).map(Input::Bytes);
        };
        if args.replayed {
            let message = "--replayed: the records of a topic have offsets, so the same command goes on by itself; leave it out";
            return Err(CliError::Usage(message.into()));
        }
        Ok(Input::Topic(Box::new(Topic::open(&address)?)))
    }

    /// The name, independent of the current directory and of the broker.
    pub fn name(&self) -> String {
        match self {
            Input::Bytes(bytes) => bytes.name(),
            Input::Topic(topic) => topic.name(),
        }
    }

    /// Returns true unless it is a pipe, whose bytes are gone once they are read.
    pub fn is_kept(&self) -> bool {
        match self {
            Input::Bytes(bytes) => bytes.is_file(),
            Input::Topic(_) => true,
        }
    }

    pub fn extent(&self) -> Extent {
        match self {
            Input::Bytes(bytes) if bytes.is_file() => Extent::File(bytes.path().into()),
            Input::Bytes(_) => Extent::Pipe,
            Input::Topic(_) => Extent::Topic,
        }
    }

    /// The place to begin, after the part that was read last.
    pub fn begin(&mut self, last: Option<Read>) -> Result<Read, CliError> {
        Ok(match (self, last) {
            (Input::Topic(topic), Some(Read::Records(last))) => Read::Records(topic.begin(Some(last))?),
            (Input::Topic(topic), _) => Read::Records(topic.begin(None)?),
            (Input::Bytes(_), Some(Read::Bytes(last))) => Read::Bytes(last),
            (Input::Bytes(_), _) => Read::Bytes(ReadBytes::default()),
        })
    }

    /// The reader of the input after the part that is `read`, with pieces of up to `most` edges.
    pub fn source<E: StreamEdge>(
        self,
        read: Read,
        options: StreamOptions,
        (args, most): (&IngestArgs, usize),
        pieces: SyncSender<Piece<E>>,
    ) -> Result<Box<dyn Source>, CliError> {
        Ok(match (self, read) {
            (Input::Bytes(bytes), Read::Bytes(read)) => {
                let how = (args.replayed, args.follow, most);
                Box::new(Reader::new(bytes, read, options, how, pieces)?)
            }
            (Input::Topic(topic), Read::Records(read)) => {
                topic.source(read, options, (args.follow, most), pieces)
            }
            _ => unreachable!("`begin` returned a place in this input"),
        })
    }
}

impl Extent {
    /// The size of a file.
    pub fn bytes(&self) -> Option<u64> {
        match self {
            Extent::File(path) => fs::metadata(path).ok().map(|metadata| metadata.len()),
            Extent::Pipe | Extent::Topic => None,
        }
    }
}
