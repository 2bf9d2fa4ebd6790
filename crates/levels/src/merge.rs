//! Merging sorted versions of edges, and dropping those that no snapshot sees (LSMGraph, 4.2.1:
//! vertex-aware compaction).

use crate::block::Version;
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
    edges: Vec<Edge>,
    versions: Vec<Version>,
}

impl VersionBatch {
    /// Appends a version of an edge. Amortized O(1).
    #[inline]
    pub fn push(&mut self, owner: VertexId, neighbor: VertexId, version: Version) {
        self.edges.push(Edge::new(owner, neighbor));
        self.versions.push(version);
    }

    fn clear(&mut self) {
        self.edges.clear();
        self.versions.clear();
    }
}

/// An owner in the upper half, a neighbor in the lower one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge(u64);

impl Edge {
    /// Greater than every edge.
    const END: Edge = Edge(u64::MAX);

    #[inline]
    fn new(owner: VertexId, neighbor: VertexId) -> Self {
        Edge(u64::from(owner.get()) << 32 | u64::from(neighbor.get()))
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
    /// version that every snapshot sees or sees a newer one.
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
/// sources behind it. Runs `take` on the versions that are kept, in the order of a source, until
/// it fails. O(versions · sources).
///
/// # Errors
/// What a source or `take` returned.
pub fn merge<E: From<ReadError>>(
    sources: Vec<impl VersionSource>,
    retention: Retention<'_>,
    mut take: impl FnMut(VertexId, VertexId, Version) -> Result<(), E>,
) -> Result<(), E> {
    let mut heads = sources.into_iter().map(Head::new).collect::<Result<Vec<_>, _>>()?;
    let mut versions = Vec::new();
    loop {
        let edge = heads.iter().map(|head| head.edge).min().unwrap_or(Edge::END);
        if edge == Edge::END {
            return Ok(());
        }
        for head in &mut heads {
            while head.edge == edge {
                versions.push(head.version());
                head.advance()?;
            }
        }
        retention.apply(&mut versions);
        let (owner, neighbor) = edge.ends();
        versions.drain(..).try_for_each(|version| take(owner, neighbor, version))?;
    }
}

/// The next version of a source.
struct Head<S> {
    source: S,
    batch: VersionBatch,
    position: usize,
    /// The edge at the position.
    edge: Edge,
}

impl<S: VersionSource> Head<S> {
    fn new(source: S) -> Result<Self, ReadError> {
        let mut head = Head { source, batch: VersionBatch::default(), position: 0, edge: Edge::END };
        head.refill()?;
        Ok(head)
    }

    #[inline]
    fn version(&self) -> Version {
        self.batch.versions[self.position]
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
        self.edge = self.batch.edges.first().copied().unwrap_or(Edge::END);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow_model::EdgeValue;
    use proptest::collection::{btree_map, btree_set, vec};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// What each source has of each edge, newest first.
    type Sources = Vec<BTreeMap<(u32, u32), Vec<Version>>>;
    /// What a merge returns.
    type Kept = (VertexId, VertexId, Version);

    /// The first timestamp that has not been registered.
    const NEXT: u64 = 60;

    /// Sources of changes at timestamps from 1 to 59, the newest source first.
    fn sources() -> impl Strategy<Value = Sources> {
        let changes = btree_map(1..NEXT, ((0..4u32, 0..6u32), any::<Option<u32>>()), 0..50);
        (changes, vec(1..NEXT, 0..4)).prop_map(|(changes, mut bounds)| {
            bounds.sort_unstable();
            let mut sources = vec![BTreeMap::<_, Vec<Version>>::new(); bounds.len() + 1];
            for (at, (edge, value)) in changes.into_iter().rev() {
                let older = bounds.len() - bounds.partition_point(|bound| *bound <= at);
                let value = value.map(|value| EdgeValue(u64::from(value)));
                sources[older].entry(edge).or_default().push(Version { at: CommitTimestamp(at), value });
            }
            sources
        })
    }

    fn live(timestamps: &std::collections::BTreeSet<u64>) -> LiveTimestamps {
        let timestamps = timestamps.iter().map(|at| CommitTimestamp(*at)).collect();
        // SAFETY: no engine is involved; the value only says which versions a merge keeps.
        unsafe { LiveTimestamps::as_of(timestamps, CommitTimestamp(NEXT)) }
    }

    /// Gives batches of three versions, or an error.
    struct Batches(Vec<Result<Kept, ReadError>>);

    impl VersionSource for Batches {
        fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
            for next in self.0.drain(..3.min(self.0.len())) {
                let (owner, neighbor, version) = next?;
                batch.push(owner, neighbor, version);
            }
            Ok(())
        }
    }

    fn batches(source: &BTreeMap<(u32, u32), Vec<Version>>) -> Batches {
        let of_edge = |((owner, neighbor), versions): (&(u32, u32), &Vec<Version>)| {
            let (owner, neighbor) = (VertexId::new(*owner), VertexId::new(*neighbor));
            versions.iter().map(|version| Ok((owner, neighbor, *version))).collect::<Vec<_>>()
        };
        Batches(source.iter().flat_map(of_edge).collect())
    }

    fn merged(sources: &Sources, live: &LiveTimestamps, is_lowest: bool) -> Vec<Kept> {
        let mut merged = Vec::new();
        let sources = sources.iter().map(batches).collect();
        let take = |owner, neighbor, version| {
            merged.push((owner, neighbor, version));
            Ok::<(), ReadError>(())
        };
        merge(sources, Retention { live, is_lowest }, take).unwrap();
        merged
    }

    fn edge(kept: &Kept) -> (u32, u32) {
        (kept.0.get(), kept.1.get())
    }

    /// What a snapshot sees of an edge; `None` if it has no version for it.
    fn seen<'v>(versions: impl IntoIterator<Item = &'v Version>, at: u64) -> Option<Option<EdgeValue>> {
        versions.into_iter().find(|version| version.at.0 <= at).map(|version| version.value)
    }

    proptest! {
        #[test]
        fn snapshots_see_the_same_before_and_after(
            sources in sources(),
            registered in btree_set(0..NEXT, 0..6),
            is_lowest in any::<bool>(),
        ) {
            let live = live(&registered);
            let merged = merged(&sources, &live, is_lowest);
            let ascends = |one: &Kept, other: &Kept| {
                edge(one) < edge(other) || edge(one) == edge(other) && one.2.at > other.2.at
            };
            prop_assert!(merged.is_sorted_by(ascends));
            for ends in (0..4).flat_map(|owner| (0..6).map(move |neighbor| (owner, neighbor))) {
                let before = || sources.iter().filter_map(|source| source.get(&ends)).flatten();
                let of_edge = merged.iter().filter(|kept| edge(kept) == ends);
                let after: Vec<Version> = of_edge.map(|kept| kept.2).collect();
                for at in registered.iter().copied().chain([NEXT, NEXT + 1]) {
                    let (before, after) = (seen(before(), at), seen(&after, at));
                    match is_lowest {
                        true => prop_assert_eq!(before.flatten(), after.flatten()),
                        false => prop_assert_eq!(before, after),
                    }
                }
            }
        }

        #[test]
        fn nothing_is_kept_that_no_snapshot_sees(sources in sources(), registered in btree_set(0..NEXT, 0..6)) {
            let merged = merged(&sources, &live(&registered), true);
            let oldest = registered.first().copied().unwrap_or(NEXT);
            for versions in merged.chunk_by(|one, other| edge(one) == edge(other)) {
                prop_assert!(versions.last().unwrap().2.value.is_some(), "a deletion that hides nothing");
                for (newer, older) in versions.iter().zip(&versions[1..]) {
                    let life = older.2.at.0..newer.2.at.0;
                    prop_assert!(registered.range(life).next().is_some());
                }
                let settled = versions.iter().filter(|kept| kept.2.at.0 <= oldest);
                prop_assert!(settled.map(|kept| kept.2.at.0).sum::<u64>() == 0);
            }
        }
    }

    #[test]
    fn an_error_of_a_source_comes_through() {
        let version = Version { at: CommitTimestamp(1), value: None };
        let kept = (VertexId::new(1), VertexId::new(2), version);
        let sources =
            vec![Batches(vec![Ok(kept); 4]), Batches(vec![Ok(kept), Err(ReadError::new("a block", "torn"))])];
        let live = live(&std::collections::BTreeSet::new());
        let merged =
            merge(sources, Retention { live: &live, is_lowest: false }, |_, _, _| Ok::<(), ReadError>(()));
        assert_eq!(merged.unwrap_err().place(), "a block");
    }
}
