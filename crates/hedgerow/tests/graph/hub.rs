//! The number of bytes that a single change of a vertex with very many edges writes. It does not
//! grow with the degree, except for the directory of leaves. Counted, not timed.

use hedgerow::{Graph, GraphOptions, KeyKind, LabelId, ReadGraph, VertexId, WriteGraph};
use hedgerow_in_memory::reclamation::account::measure_moved;

const HUB: VertexId = VertexId::new(3);

/// Bytes that a change may write at any degree: some leaves of up to 512 neighbors, and the small
/// rows of the partition.
const LEAVES: u64 = 24 << 10;

/// Bytes of the directory per leaf: its first neighbor and its pointer, with the spare capacity of
/// a growing array.
const DIRECTORY_ENTRY: u64 = 2 * 12;

/// The least number of neighbors of a leaf that is not joined with the next one.
const LEAST_PER_LEAF: u64 = 128;

fn directory(degree: u64) -> u64 {
    degree / LEAST_PER_LEAF * DIRECTORY_ENTRY
}

/// Returns a hub whose neighbors are every second id, up to twice its degree, and small rows around
/// it.
fn graph_with_hub(degree: u32) -> Graph {
    let graph = Graph::in_memory(GraphOptions::new().keys(KeyKind::Dense).threads(1)).unwrap();
    let spokes: Vec<_> = (0..degree).map(|spoke| (HUB, VertexId::new(100 + 2 * spoke))).collect();
    spokes
        .chunks(1 << 16)
        .for_each(|some| assert!(graph.ingest(LabelId::DEFAULT, some).unwrap().changed != Some(false)));
    let around: Vec<_> = (0..64).map(|other| (VertexId::new(other), VertexId::new(other + 1))).collect();
    graph.ingest(LabelId::DEFAULT, &around).unwrap();
    // Every possible neighbor exists, so a change only affects edges.
    let odd: Vec<_> = (0..degree).map(|spoke| (VertexId::new(101 + 2 * spoke), HUB)).collect();
    odd.chunks(1 << 16)
        .for_each(|some| assert!(graph.ingest(LabelId::DEFAULT, some).unwrap().changed != Some(false)));
    graph
}

/// Maximum bytes written by one change of each kind, over many changes spread over the neighbors of
/// the hub.
struct Most {
    insert: u64,
    delete: u64,
    search: u64,
}

fn most(graph: &Graph, degree: u32, mut before_each: impl FnMut()) -> Most {
    let mut most = Most { insert: 0, delete: 0, search: 0 };
    // Runs of neighbors, so that leaves fill up and split, become small and are joined.
    for change in 0..6_000u32 {
        let spoke = change / 1_000 * (degree / 6) + change % 1_000;
        let odd = VertexId::new(101 + 2 * spoke);
        before_each();
        let (put, moved) = measure_moved(|| graph.put_edge(LabelId::DEFAULT, HUB, odd).unwrap());
        assert!(put.changed != Some(false));
        most.insert = most.insert.max(moved);
        let (found, moved) = measure_moved(|| graph.contains_edge(LabelId::DEFAULT, HUB, odd).unwrap());
        assert!(found);
        most.search = most.search.max(moved);
    }
    for change in 0..6_000u32 {
        let spoke = change / 1_000 * (degree / 6) + change % 1_000;
        before_each();
        for id in [100 + 2 * spoke, 101 + 2 * spoke] {
            let (deleted, moved) =
                measure_moved(|| graph.delete_edge(LabelId::DEFAULT, HUB, VertexId::new(id)).unwrap());
            assert!(deleted.changed != Some(false));
            most.delete = most.delete.max(moved);
        }
    }
    most
}

#[test]
fn a_change_of_a_hub_in_place_writes_a_leaf() {
    for degree in [10_000, 100_000, 1_000_000] {
        let graph = graph_with_hub(degree);
        let Most { insert, delete, search } = most(&graph, degree, || {});
        println!("{degree} in place: insert {insert}, delete {delete}, search {search}");
        assert_eq!(search, 0);
        assert!(insert > 0 && delete > 0, "nothing is counted");
        for moved in [insert, delete] {
            assert!(moved <= LEAVES + directory(u64::from(degree)), "{moved} bytes for a degree of {degree}");
        }
    }
}

#[test]
fn a_change_of_a_hub_under_a_snapshot_copies_a_leaf_and_the_directory() {
    for degree in [10_000, 100_000, 1_000_000] {
        let graph = graph_with_hub(degree);
        let (mut held, mut changes) = (None, 0);
        let Most { insert, delete, search } = most(&graph, degree, || {
            // A new snapshot now and then: the first change after it copies, later ones reuse the
            // copy.
            if changes % 10 == 0 {
                held = Some(graph.snapshot().unwrap());
            }
            changes += 1;
        });
        println!("{degree} under a snapshot: insert {insert}, delete {delete}, search {search}");
        assert_eq!(search, 0);
        for moved in [insert, delete] {
            assert!(
                moved <= LEAVES + 2 * directory(u64::from(degree)),
                "{moved} bytes for a degree of {degree}"
            );
        }
        drop(held);
    }
}

/// Most changes neither split nor join leaves, and do not touch the directory.
#[test]
fn the_mean_change_of_a_hub_writes_less_than_a_leaf() {
    for degree in [10_000, 1_000_000] {
        let graph = graph_with_hub(degree);
        let changes = 2_000u32;
        let ((), moved) = measure_moved(|| {
            for change in 0..changes {
                let odd = VertexId::new(101 + 2 * (change * 7919 % degree));
                assert!(graph.put_edge(LabelId::DEFAULT, HUB, odd).unwrap().changed != Some(false));
                assert!(graph.delete_edge(LabelId::DEFAULT, HUB, odd).unwrap().changed == Some(true));
            }
        });
        let mean = moved / u64::from(2 * changes);
        println!("{degree}: {mean} bytes on average");
        assert!(mean < 4096, "{mean} bytes for a degree of {degree}");
    }
}
