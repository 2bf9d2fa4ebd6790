//! Tests known facts of public graphs, where they are available.

use crate::support::{Graph, TOPOLOGIES, execution, pool};
use hedgerow_kernels::{Cores, Kernel, LocalClustering, TriangleCount, Wcc};
use hedgerow_model::Topology;
use hedgerow_testing::skipped::public_data;
use std::collections::BTreeMap;

struct Known {
    file: &'static str,
    vertices: usize,
    triangles: u64,
    largest_component: usize,
    /// To four digits, ignoring the direction of edges.
    clustering: f64,
    /// The largest k-core, according to NetworkX.
    degeneracy: u32,
}

const KNOWN: [Known; 3] = [
    Known {
        file: "wiki-Vote.txt",
        vertices: 7_115,
        triangles: 608_389,
        largest_component: 7_066,
        clustering: 0.1409,
        degeneracy: 53,
    },
    Known {
        file: "email-Eu-core.txt",
        vertices: 1_005,
        triangles: 105_461,
        largest_component: 986,
        clustering: 0.3994,
        degeneracy: 34,
    },
    Known {
        file: "ca-HepPh.txt",
        vertices: 12_008,
        triangles: 3_358_499,
        largest_component: 11_204,
        clustering: 0.6115,
        degeneracy: 238,
    },
];

/// A graph of the public data; `None` where it is missing.
fn read(file: &str, topology: Topology) -> Option<Graph> {
    let text = std::fs::read_to_string(public_data(file)?).expect("it can be read");
    let mut graph = Graph { topology, bound: 0, vertices: [].into(), edges: vec![] };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut ends = line.split_whitespace().map(|id| id.parse::<u32>().expect("vertices are numbers"));
        let (Some(source), Some(destination)) = (ends.next(), ends.next()) else { panic!("{line}") };
        graph.vertices.extend([source, destination]);
        graph.edges.push((source, destination));
    }
    graph.bound = graph.vertices.last().map_or(0, |last| last + 1);
    Some(graph)
}

#[test]
fn what_is_known_comes_out() {
    let pool = pool(2);
    let execution = execution(pool.as_ref());
    for known in KNOWN {
        for topology in TOPOLOGIES {
            let Some(graph) = read(known.file, topology) else { return };
            let (csr, file) = (graph.csr(), known.file);
            assert_eq!(graph.vertices.len(), known.vertices, "{file}");
            let triangles = TriangleCount { execution, ..TriangleCount::default() }.run(&csr).unwrap();
            assert_eq!(triangles.triangles, known.triangles, "{file} {topology:?}");
            let components = Wcc { execution, ..Wcc::default() }.run(&csr).unwrap().components;
            let mut sizes = BTreeMap::new();
            graph.vertices.iter().for_each(|id| *sizes.entry(components[*id as usize]).or_insert(0) += 1);
            assert_eq!(sizes.into_values().max(), Some(known.largest_component), "{file} {topology:?}");
            let cores = Cores { execution, ..Cores::default() }.run(&csr).unwrap();
            assert_eq!(cores.largest, known.degeneracy, "{file} {topology:?}");
            if topology.is_undirected() {
                let mean =
                    LocalClustering { execution, ..LocalClustering::default() }.run(&csr).unwrap().mean;
                assert!((mean - known.clustering).abs() < 5e-5, "{file}: {mean}");
            }
        }
    }
}
