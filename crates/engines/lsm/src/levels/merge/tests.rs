use super::*;
use hedgerow_model::{EdgeValue, ReadError};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The versions of each edge in each source, newest first.
type RowSources = Vec<BTreeMap<(u32, u32), Vec<Version>>>;
/// A version that a merge returns.
type Kept = (VertexId, VertexId, Version);

/// The first timestamp that is not registered.
const NEXT: u64 = 60;

/// Returns sources of changes at timestamps from 1 to 59, newest source first.
fn sources() -> impl Strategy<Value = RowSources> {
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

/// Returns a source per owner, one after the other.
fn chained(source: &BTreeMap<(u32, u32), Vec<Version>>) -> Chained<Batches> {
    let of_owner = |owner| source.range((owner, 0)..(owner + 1, 0)).map(|(ends, of)| (*ends, of.clone()));
    (0..4).map(|owner| batches(&of_owner(owner).collect())).collect()
}

fn merged(sources: &RowSources, live: &LiveTimestamps, is_lowest: bool) -> Vec<Kept> {
    merged_of(sources.iter().map(batches).collect(), live, is_lowest)
}

fn merged_of(sources: Vec<impl VersionSource>, live: &LiveTimestamps, is_lowest: bool) -> Vec<Kept> {
    let mut merged = Vec::new();
    let take = |run: VersionRun<'_>| {
        merged.extend(run.iter());
        Ok::<(), ReadError>(())
    };
    merge(sources, Retention { live, is_lowest }, take).unwrap();
    merged
}

fn edge(kept: &Kept) -> (u32, u32) {
    (kept.0.get(), kept.1.get())
}

/// Returns the value of an edge that a snapshot sees; `None` if there is no version for it.
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
    fn sources_one_after_the_other_are_as_one(sources in sources(), is_lowest in any::<bool>()) {
        let live = live(&[20].into());
        let one_by_one = merged_of(sources.iter().map(chained).collect(), &live, is_lowest);
        prop_assert_eq!(one_by_one, merged(&sources, &live, is_lowest));
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
    let merged = merge(sources, Retention { live: &live, is_lowest: false }, |_| Ok::<(), ReadError>(()));
    assert_eq!(merged.unwrap_err().place(), "a block");
}
