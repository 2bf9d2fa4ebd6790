//! The data set with a weight on every edge.

use crate::bench::Bench;
use crate::load::{LOAD_BATCH, check_edges, reclaim_all, with_vertices};
use crate::{Engine, Failure};
use hedgerow::kernels::{BuildOptions, Csr};
use hedgerow::{ColumnType, EdgeSchema, GraphOptions, LabelId, LabelSchema, Topology, VertexId};
use hedgerow_compiled_kernels::Target;
use hedgerow_sync::Arc;

/// An adjacency entry with its weight.
type WeightedEntry = (VertexId, VertexId, u32);

/// The largest weight.
const HEAVIEST: u64 = 255;

/// Loads the data set with weights into an engine, in batches.
pub(crate) fn subject(bench: &Bench<'_>, engine: Engine) -> Result<Target, Failure> {
    let (data, seed) = (bench.data, bench.settings.seed);
    let weigh = |(source, destination)| (source, destination, weight(source, destination, seed));
    let Some(kind) = engine.kind else {
        let entries: Vec<WeightedEntry> = data.stream().iter().copied().map(weigh).collect();
        let options = BuildOptions::default();
        let built = Csr::from_valued_edges(data.vertices(), Topology::Directed, &entries, options);
        return Ok(Target::Csr(Arc::new(built.map_err(hedgerow::Error::from)?)));
    };
    let label = LabelSchema { name: "edge".to_owned(), edges: EdgeSchema::Value(ColumnType::U32) };
    let graph = with_vertices(GraphOptions::new().engine(kind).label_schema(label), data.vertices())?;
    for entries in data.stream().chunks(LOAD_BATCH) {
        let entries: Vec<WeightedEntry> = entries.iter().copied().map(weigh).collect();
        graph.ingest(LabelId::DEFAULT, &entries)?;
        bench.watch.check()?;
    }
    check_edges(&graph, data)?;
    reclaim_all(&graph)?;
    Ok(Target::from(graph.snapshot()?))
}

/// The weight of an edge, equal from both ends: uniform in 1 to 255, by a hash.
fn weight(one: VertexId, other: VertexId, seed: u64) -> u32 {
    let (low, high) = (u64::from(one.min(other).get()), u64::from(one.max(other).get()));
    // The mixing function of SplitMix64.
    let mut hash = (low << 32 | high) ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^= hash >> 31;
    (hash % HEAVIEST) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_symmetric_and_spread_from_1_to_255() {
        let id = VertexId::new;
        let mut counts = [0; 256];
        for (one, other) in (0..400).flat_map(|one| (0..one).map(move |other| (one, other))) {
            let weight = weight(id(one), id(other), 7);
            assert_eq!(weight, super::weight(id(other), id(one), 7));
            counts[weight as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        // 79,800 edges over 255 weights: 313 each, with a deviation of 18.
        assert!(counts[1..].iter().all(|count| (213..413).contains(count)), "{counts:?}");
    }
}
