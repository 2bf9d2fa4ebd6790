//! Merging sorted versions of edges, and dropping versions that no snapshot sees (LSMGraph, 4.2.1:
//! vertex-aware compaction).

mod chained;
#[cfg(test)]
mod tests;

pub(crate) use chained::Chained;

use crate::levels::block::Version;
use crate::levels::records::{put_record, record_at};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, EdgeValue, ReadError, VertexId};
use std::ops::Range;

/// Versions of edges in batches, ascending by owner and neighbor, the newest version of an edge
/// first.
pub trait VersionSource {
    /// Appends the next versions to an empty batch; appends none only at the end.
    ///
    /// # Errors
    /// The versions could not be read.
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError>;
}

impl<S: VersionSource + ?Sized> VersionSource for &mut S {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        S::read(self, batch)
    }
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

    /// Appends edges of one owner without values, each in one version that every snapshot sees.
    /// O(neighbors).
    #[inline]
    pub(crate) fn push_settled(&mut self, owner: VertexId, neighbors: &[VertexId]) {
        self.edges.extend(neighbors.iter().map(|neighbor| EdgeKey::new(owner, *neighbor)));
        let settled = Version { at: CommitTimestamp::ZERO, value: Some(EdgeValue(0)) };
        self.versions.resize(self.edges.len(), settled);
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

    /// Returns the first and the last edge. O(1).
    pub(crate) fn ends(&self) -> Option<((VertexId, VertexId), (VertexId, VertexId))> {
        Some((self.edges.first()?.ends(), self.edges.last()?.ends()))
    }

    /// Returns the number of versions. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Returns true if there are no versions. O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Returns the versions, each with the owner and the neighbor of its edge.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (VertexId, VertexId, Version)> {
        self.edges.iter().zip(&self.versions).map(|(edge, version)| {
            let (owner, neighbor) = edge.ends();
            (owner, neighbor, *version)
        })
    }

    /// Returns the records; the values of the versions may be offsets in them.
    pub(crate) fn records(&self) -> &[u8] {
        &self.records
    }

    /// Returns all versions, which are one for each edge.
    pub(crate) fn all(&self) -> VersionRun<'_> {
        VersionRun::new(&self.edges, &self.versions, &self.records)
    }

    pub(crate) fn clear(&mut self) {
        self.edges.clear();
        self.versions.clear();
        self.records.clear();
    }
}

/// An edge as a number: the owner in the upper half, the neighbor in the lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EdgeKey(u64);

impl EdgeKey {
    /// Greater than every edge.
    const END: EdgeKey = EdgeKey(u64::MAX);

    #[inline]
    pub(crate) fn owner(self) -> VertexId {
        self.ends().0
    }

    #[inline]
    pub(crate) fn new(owner: VertexId, neighbor: VertexId) -> Self {
        EdgeKey(u64::from(owner.get()) << 32 | u64::from(neighbor.get()))
    }

    #[inline]
    pub(crate) fn ends(self) -> (VertexId, VertexId) {
        (VertexId::new((self.0 >> 32) as u32), VertexId::new(self.0 as u32))
    }
}

/// Consecutive versions of a merge, in the order of a [`VersionSource`].
#[derive(Clone, Copy, Debug)]
pub struct VersionRun<'b> {
    edges: &'b [EdgeKey],
    versions: &'b [Version],
    records: &'b [u8],
}

impl<'b> VersionRun<'b> {
    /// Takes one version per edge.
    #[inline]
    pub(crate) fn new(edges: &'b [EdgeKey], versions: &'b [Version], records: &'b [u8]) -> Self {
        debug_assert_eq!(edges.len(), versions.len());
        VersionRun { edges, versions, records }
    }

    /// Returns the edge of each version.
    #[inline]
    pub(crate) fn edges(self) -> &'b [EdgeKey] {
        self.edges
    }

    #[inline]
    pub(crate) fn versions(self) -> &'b [Version] {
        self.versions
    }

    /// Returns the records; the values of the versions may be offsets in them.
    #[inline]
    #[must_use]
    pub fn records(self) -> &'b [u8] {
        self.records
    }

    /// Returns the versions, each with the owner and the neighbor of its edge.
    pub fn iter(self) -> impl Iterator<Item = (VertexId, VertexId, Version)> + 'b {
        self.edges.iter().zip(self.versions).map(|(edge, version)| {
            let (owner, neighbor) = edge.ends();
            (owner, neighbor, *version)
        })
    }

    /// Returns the versions in a range.
    #[inline]
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        VersionRun { edges: &self.edges[range.clone()], versions: &self.versions[range], ..self }
    }
}

/// The choice of the versions to keep.
#[derive(Clone, Copy, Debug)]
pub struct Retention<'l> {
    /// The timestamps that can be read.
    pub live: &'l LiveTimestamps,
    /// True if there is nothing below the merged versions, so that a deletion hides nothing.
    pub is_lowest: bool,
}

impl Retention<'_> {
    /// Keeps only the versions of one edge, newest first, that some snapshot sees, and settles the
    /// newest one whose commit every snapshot sees.
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

/// Merges sources, newest first: each version of an edge in a source is newer than the versions of
/// the edge in the sources after it. Runs `take` on the versions to keep, in the order of a source,
/// until it fails. O(versions + runs · sources), where a run has edges of one source that lie
/// before the edges of all others.
///
/// # Errors
/// A source or `take` failed.
pub fn merge<E: From<ReadError>>(
    sources: Vec<impl VersionSource>,
    retention: Retention<'_>,
    mut take: impl FnMut(VersionRun<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut heads = sources.into_iter().map(Head::new).collect::<Result<Vec<_>, _>>()?;
    let mut next: Vec<EdgeKey> = heads.iter().map(Head::edge).collect();
    // The merged versions of one edge.
    let (mut edges, mut versions, mut records) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let (first, edge, bound) = least_two(&next);
        if edge == EdgeKey::END {
            return Ok(());
        }
        let head = &mut heads[first];
        if let Some(run) = head.run_before(bound, retention) {
            take(run)?;
            head.skip_run();
            next[first] = head.edge();
            continue;
        }
        for (head, next) in heads.iter_mut().zip(&mut next) {
            while *next == edge {
                versions.push(head.version(&mut records)?);
                head.advance()?;
                *next = head.edge();
            }
        }
        retention.apply(&mut versions);
        edges.clear();
        edges.resize(versions.len(), edge);
        take(VersionRun { edges: &edges, versions: &versions, records: &records })?;
        versions.clear();
        records.clear();
    }
}

/// Returns the position of the smallest edge, this edge, and the smallest of the other edges.
#[inline]
fn least_two(edges: &[EdgeKey]) -> (usize, EdgeKey, EdgeKey) {
    let (mut first, mut least, mut second) = (0, EdgeKey::END, EdgeKey::END);
    for (position, edge) in edges.iter().enumerate() {
        if *edge < least {
            second = least;
            (first, least) = (position, *edge);
        } else {
            second = second.min(*edge);
        }
    }
    (first, least, second)
}

/// A source, and its next versions.
struct Head<S> {
    source: S,
    batch: VersionBatch,
    position: usize,
    /// End of the last run.
    run_end: usize,
}

impl<S: VersionSource> Head<S> {
    fn new(source: S) -> Result<Self, ReadError> {
        let mut head = Head { source, batch: VersionBatch::default(), position: 0, run_end: 0 };
        head.refill()?;
        Ok(head)
    }

    /// Returns the edge at the position.
    #[inline]
    fn edge(&self) -> EdgeKey {
        self.batch.edges.get(self.position).copied().unwrap_or(EdgeKey::END)
    }

    /// Returns the next edges below a bound, in their kept form, if each has one version, and all
    /// are kept. The next batch may have more versions of the last edge of this batch, so that edge
    /// is in no run.
    #[inline]
    fn run_before(&mut self, bound: EdgeKey, retention: Retention<'_>) -> Option<VersionRun<'_>> {
        let VersionBatch { edges, versions, records } = &mut self.batch;
        let oldest = retention.live.oldest();
        let mut end = self.position;
        while let [edge, following, ..] = &edges[end..]
            && *edge < bound
            && edge < following
        {
            let version = &mut versions[end];
            if retention.is_lowest && version.value.is_none() {
                break;
            }
            if version.at <= oldest {
                version.at = CommitTimestamp::ZERO;
            }
            end += 1;
        }
        self.run_end = end;
        let run = self.position..end;
        (!run.is_empty()).then(|| VersionRun::new(&edges[run.clone()], &versions[run], records))
    }

    /// Continues after the last run, which is not at the end of the batch.
    #[inline]
    fn skip_run(&mut self) {
        self.position = self.run_end;
    }

    /// Returns the version at the position. Copies its record, if it has one, to `records`.
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
        if self.position < self.batch.len() { Ok(()) } else { self.refill() }
    }

    #[cold]
    fn refill(&mut self) -> Result<(), ReadError> {
        self.batch.clear();
        self.position = 0;
        self.source.read(&mut self.batch)?;
        debug_assert!(self.batch.edges.is_sorted(), "edges must ascend");
        Ok(())
    }
}
