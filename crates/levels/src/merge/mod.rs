//! Merging sorted versions of edges, and dropping those that no snapshot sees (LSMGraph, 4.2.1:
//! vertex-aware compaction).

#[cfg(test)]
mod tests;

use crate::block::Version;
use crate::records::{put_record, record_at};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, ReadError, VertexId};

/// Versions of edges in batches: ascending by owner and neighbor, the newest of an edge first.
pub trait VersionSource {
    /// Appends the next versions to an empty batch; none only at the end.
    ///
    /// # Errors
    /// The versions could not be read.
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError>;
}

/// Versions of edges, in the order of a [`VersionSource`].
#[derive(Debug, Default)]
pub struct VersionBatch {
    edges: Vec<EdgeKey>,
    versions: Vec<Version>,
    /// The records of the edges, if they carry records; see [`put_record`].
    records: Vec<u8>,
}

impl VersionBatch {
    /// Appends a version of an edge. Amortized O(1).
    #[inline]
    pub fn push(&mut self, owner: VertexId, neighbor: VertexId, version: Version) {
        self.edges.push(EdgeKey::new(owner, neighbor));
        self.versions.push(version);
    }

    /// Appends a version of an edge with a record; `None` is a deletion. Amortized O(record).
    pub fn push_record(
        &mut self,
        owner: VertexId,
        neighbor: VertexId,
        at: CommitTimestamp,
        record: Option<&[u8]>,
    ) {
        let value = record.map(|record| put_record(&mut self.records, record));
        self.push(owner, neighbor, Version { at, value });
    }

    /// The first and the last edge. O(1).
    pub(crate) fn ends(&self) -> Option<((VertexId, VertexId), (VertexId, VertexId))> {
        Some((self.edges.first()?.ends(), self.edges.last()?.ends()))
    }

    /// The number of versions. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there are no versions. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The versions, each with the owner and the neighbor of its edge.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (VertexId, VertexId, Version)> {
        self.edges.iter().zip(&self.versions).map(|(edge, version)| {
            let (owner, neighbor) = edge.ends();
            (owner, neighbor, *version)
        })
    }

    pub(crate) fn clear(&mut self) {
        self.edges.clear();
        self.versions.clear();
        self.records.clear();
    }
}

/// An owner in the upper half, a neighbor in the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct EdgeKey(u64);

impl EdgeKey {
    /// Greater than every edge.
    const END: EdgeKey = EdgeKey(u64::MAX);

    #[inline]
    fn new(owner: VertexId, neighbor: VertexId) -> Self {
        EdgeKey(u64::from(owner.get()) << 32 | u64::from(neighbor.get()))
    }

    #[inline]
    fn ends(self) -> (VertexId, VertexId) {
        (VertexId::new((self.0 >> 32) as u32), VertexId::new(self.0 as u32))
    }
}

/// Which versions are kept.
#[derive(Clone, Copy, Debug)]
pub struct Retention<'l> {
    /// The timestamps that can be read.
    pub live: &'l LiveTimestamps,
    /// Whether there is nothing below what is written, so that a deletion hides nothing.
    pub is_lowest: bool,
}

impl Retention<'_> {
    /// Keeps what some snapshot sees, of all versions of one edge, newest first, and settles the
    /// one that is visible to every snapshot.
    fn apply(&self, versions: &mut Vec<Version>) {
        let mut superseded = None;
        versions.retain(|version| {
            let lifetime = superseded.replace(version.at).map(|superseded| version.at..superseded);
            lifetime.is_none_or(|lifetime| {
                !self.live.decides(lifetime.end) || self.live.holder(lifetime).is_some()
            })
        });
        let oldest = self.live.oldest();
        if let Some(settled) = versions.iter_mut().find(|version| version.at <= oldest) {
            settled.at = CommitTimestamp::ZERO;
        }
        while self.is_lowest && versions.last().is_some_and(|version| version.value.is_none()) {
            versions.pop();
        }
    }
}

/// Merges sources, the newest first: each version of an edge in a source is newer than those in the
/// sources after it. Runs `take` on the versions that are kept, in the order of a source, until it
/// fails, each with the records that its value may be an offset in. O(versions · sources).
///
/// # Errors
/// What a source or `take` returned.
pub fn merge<E: From<ReadError>>(
    sources: Vec<impl VersionSource>,
    retention: Retention<'_>,
    mut take: impl FnMut(VertexId, VertexId, Version, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut heads = sources.into_iter().map(Head::new).collect::<Result<Vec<_>, _>>()?;
    // Of one edge.
    let (mut versions, mut records) = (Vec::new(), Vec::new());
    loop {
        let edge = heads.iter().map(|head| head.edge).min().unwrap_or(EdgeKey::END);
        if edge == EdgeKey::END {
            return Ok(());
        }
        for head in &mut heads {
            while head.edge == edge {
                versions.push(head.version(&mut records)?);
                head.advance()?;
            }
        }
        retention.apply(&mut versions);
        let (owner, neighbor) = edge.ends();
        versions.drain(..).try_for_each(|version| take(owner, neighbor, version, &records))?;
        records.clear();
    }
}

/// The next version of a source.
struct Head<S> {
    source: S,
    batch: VersionBatch,
    position: usize,
    /// The edge at the position.
    edge: EdgeKey,
}

impl<S: VersionSource> Head<S> {
    fn new(source: S) -> Result<Self, ReadError> {
        let mut head = Head { source, batch: VersionBatch::default(), position: 0, edge: EdgeKey::END };
        head.refill()?;
        Ok(head)
    }

    /// The version at the position; its record, if it has one, is copied to `records`.
    #[inline]
    fn version(&self, records: &mut Vec<u8>) -> Result<Version, ReadError> {
        let mut version = self.batch.versions[self.position];
        if let Some(value) = &mut version.value
            && !self.batch.records.is_empty()
        {
            let record = record_at(&self.batch.records, *value);
            *value = put_record(records, record.map_err(|error| ReadError::new("records", error.what))?);
        }
        Ok(version)
    }

    #[inline]
    fn advance(&mut self) -> Result<(), ReadError> {
        self.position += 1;
        match self.batch.edges.get(self.position) {
            Some(edge) => {
                debug_assert!(self.edge <= *edge, "edges must ascend");
                self.edge = *edge;
                Ok(())
            }
            None => self.refill(),
        }
    }

    #[cold]
    fn refill(&mut self) -> Result<(), ReadError> {
        self.batch.clear();
        self.position = 0;
        self.source.read(&mut self.batch)?;
        self.edge = self.batch.edges.first().copied().unwrap_or(EdgeKey::END);
        Ok(())
    }
}
