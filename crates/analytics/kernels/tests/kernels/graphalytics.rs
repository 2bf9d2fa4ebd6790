//! Tests on the validation graphs of LDBC Graphalytics, where they are available.

use crate::support::{Graph, id};
use hedgerow_kernels::{Bfs, Communities, Kernel, LocalClustering, PageRank, Sssp, Wcc, WccMethod};
use hedgerow_model::Topology;
use hedgerow_testing::skipped::public_data;
use std::collections::BTreeMap;

/// A file of the validation data; `None` where it is missing.
fn validation_file(name: &str) -> Option<String> {
    let path = public_data(&format!("graphalytics-validation/{name}"))?;
    Some(std::fs::read_to_string(path).expect("it can be read"))
}

/// Lines of a vertex and its neighbors.
fn adjacency_lists(text: &str, topology: Topology) -> Graph {
    let mut graph = Graph { topology, bound: 0, vertices: [].into(), edges: vec![] };
    for line in text.lines() {
        let mut ids = line.split_whitespace().map(|id| id.parse::<u32>().expect("vertices are numbers"));
        let Some(vertex) = ids.next() else { continue };
        graph.vertices.insert(vertex);
        for neighbor in ids {
            graph.vertices.insert(neighbor);
            graph.edges.push((vertex, neighbor));
        }
    }
    graph.bound = graph.vertices.last().map_or(0, |last| last + 1);
    graph
}

/// Lines of a vertex and its result.
fn results<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> BTreeMap<u32, T> {
    let lines = text.lines().map(|line| line.split_once(' ').expect("a vertex and its result"));
    lines
        .map(|(vertex, result)| (vertex.parse().expect("a number"), result.trim().parse().expect("a result")))
        .collect()
}

fn load<T: std::str::FromStr<Err: std::fmt::Debug>>(
    input: &str,
    output: &str,
    topology: Topology,
) -> Option<(Graph, BTreeMap<u32, T>)> {
    let (input, output) = (validation_file(input)?, validation_file(output)?);
    let (graph, expected) = (adjacency_lists(&input, topology), results(&output));
    assert!(expected.keys().eq(&graph.vertices), "the results are those of the graph's vertices");
    Some((graph, expected))
}

#[test]
fn depths_are_the_published_ones() {
    let directed = [Topology::Directed, Topology::DirectedWithReverse];
    let mut cases = Vec::new();
    for topology in directed {
        cases.push(("bfs/dir-input", "bfs/dir-output", topology, 1));
        cases.push(("example/example-directed-input", "example/example-directed-BFS", topology, 1));
    }
    cases.push(("bfs/undir-input", "bfs/undir-output", Topology::Undirected, 1));
    cases.push((
        "example/example-undirected-input",
        "example/example-undirected-BFS",
        Topology::Undirected,
        2,
    ));
    for (input, output, topology, source) in cases {
        let Some((graph, expected)) = load::<u64>(input, output, topology) else { return };
        let depths = Bfs::new(id(source)).run(&graph.csr()).unwrap().depths;
        for (vertex, depth) in expected {
            let unreached = depth == i64::MAX as u64;
            let depth = if unreached { Bfs::UNREACHED } else { u32::try_from(depth).unwrap() };
            assert_eq!(depths[vertex as usize], depth, "{input}, vertex {vertex}");
        }
    }
}

/// The largest relative difference after `iterations` iterations.
fn difference(graph: &Graph, expected: &BTreeMap<u32, f64>, iterations: u32) -> f64 {
    let kernel = PageRank { iterations, ..PageRank::default() };
    let ranks = kernel.run(&graph.csr()).expect("the parameters make sense").ranks;
    expected.iter().map(|(vertex, exact)| (ranks[*vertex as usize] / exact - 1.0).abs()).fold(0.0, f64::max)
}

#[test]
fn ranks_are_the_published_ones() {
    // The number of iterations behind the published ranks; `pr/dir-output` holds the limit.
    let cases = [
        ("pr/dir-input", "pr/dir-output", Topology::Directed, 14, 1e-4),
        ("pr/dir-input", "pr/dir-output", Topology::DirectedWithReverse, 40, 1e-12),
        ("pr/undir-input", "pr/undir-output", Topology::Undirected, 26, 1e-6),
        ("example/example-directed-input", "example/example-directed-PR", Topology::Directed, 2, 1e-12),
        ("example/example-undirected-input", "example/example-undirected-PR", Topology::Undirected, 2, 1e-12),
    ];
    for (input, output, topology, iterations, tolerance) in cases {
        let Some((graph, expected)) = load::<f64>(input, output, topology) else { return };
        let found = difference(&graph, &expected, iterations);
        assert!(found < tolerance, "{input}: ranks differ by {found} after {iterations} iterations");
    }
}

type Weights = BTreeMap<(u32, u32), f64>;

/// Lines of an edge and its weight, and the vertices in a file of their own.
fn weighted_edges(name: &str, topology: Topology) -> Option<(Graph, Weights)> {
    let (vertices, lines) = (validation_file(&format!("{name}.v"))?, validation_file(&format!("{name}.e"))?);
    let mut graph = Graph { topology, bound: 0, vertices: [].into(), edges: vec![] };
    graph.vertices.extend(vertices.lines().map(|line| line.trim().parse::<u32>().expect("a vertex")));
    let mut weights = BTreeMap::new();
    for line in lines.lines() {
        let fields: Vec<_> = line.split_whitespace().collect();
        let [source, destination, weight] = fields[..] else { panic!("{line}") };
        let edge = (source.parse().expect("a vertex"), destination.parse().expect("a vertex"));
        weights.insert(edge, weight.parse().expect("a weight"));
        graph.edges.push(edge);
    }
    graph.bound = graph.vertices.last().map_or(0, |last| last + 1);
    Some((graph, weights))
}

#[test]
fn distances_are_the_published_ones() {
    let cases = [
        ("sssp/dir-input", "sssp/dir-output", Topology::Directed, 1),
        ("sssp/undir-input", "sssp/undir-output", Topology::Undirected, 1),
        ("example/example-directed", "example/example-directed-SSSP", Topology::Directed, 1),
        ("example/example-undirected", "example/example-undirected-SSSP", Topology::Undirected, 2),
    ];
    for (input, output, topology, source) in cases {
        let Some((graph, weights)) = weighted_edges(input, topology) else { return };
        let Some(expected) = validation_file(output).map(|text| results::<f64>(&text)) else { return };
        assert!(expected.keys().eq(&graph.vertices), "the results are those of the graph's vertices");
        let csr = graph.weighted_csr(|source, destination| weights[&(source, destination)]);
        let distances = Sssp::<f64>::new(id(source)).run(&csr).unwrap().distances;
        for (vertex, exact) in expected {
            let found = distances[vertex as usize];
            assert!(
                found == exact || (found - exact).abs() < 1e-9 * exact,
                "{input}, vertex {vertex}: {found}"
            );
        }
    }
}

#[test]
fn components_are_the_published_ones() {
    let mut cases = Vec::new();
    for topology in [Topology::Directed, Topology::DirectedWithReverse] {
        cases.push(("wcc/dir-input", "wcc/dir-output", topology));
        cases.push(("example/example-directed-input", "example/example-directed-WCC", topology));
    }
    cases.push(("wcc/undir-input", "wcc/undir-output", Topology::Undirected));
    cases.push(("example/example-undirected-input", "example/example-undirected-WCC", Topology::Undirected));
    for (input, output, topology) in cases {
        let Some((graph, expected)) = load::<u32>(input, output, topology) else { return };
        for method in [WccMethod::Sampling, WccMethod::Plain] {
            let found = Wcc { method, ..Wcc::default() }.run(&graph.csr()).unwrap().components;
            // Any name is correct that all vertices of a component share and no other component
            // has.
            let names: BTreeMap<_, _> =
                expected.iter().map(|(vertex, name)| (name, found[*vertex as usize])).collect();
            for (vertex, name) in &expected {
                assert_eq!(found[*vertex as usize], names[name], "{input}, vertex {vertex}");
            }
            let distinct: std::collections::BTreeSet<_> = names.values().collect();
            assert_eq!(distinct.len(), names.len(), "{input}: no two components have one name");
        }
    }
}

/// The files of a graph and of its published results.
type Files = [&'static str; 2];

/// The cases of a kernel whose result does not depend on in-neighbors being kept.
fn cases([directed, undirected]: [Files; 2]) -> impl Iterator<Item = (Files, Topology)> {
    let kept = [Topology::Directed, Topology::DirectedWithReverse].map(|topology| (directed, topology));
    kept.into_iter().chain([(undirected, Topology::Undirected)])
}

#[test]
fn communities_are_the_published_ones() {
    let examples = [
        ["example/example-directed-input", "example/example-directed-CDLP"],
        ["example/example-undirected-input", "example/example-undirected-CDLP"],
    ];
    let graphs = [["cdlp/dir-input", "cdlp/dir-output"], ["cdlp/undir-input", "cdlp/undir-output"]];
    let cases = cases(examples).map(|case| (case, 2)).chain(cases(graphs).map(|case| (case, 5)));
    for (([input, output], topology), iterations) in cases {
        let Some((graph, expected)) = load::<u32>(input, output, topology) else { return };
        // The ids are the keys of the files.
        let kernel = Communities { iterations, ..Communities::default() };
        let labels = kernel.run(&graph.csr()).unwrap().labels;
        for (vertex, label) in expected {
            assert_eq!(labels[vertex as usize], label, "{input}, vertex {vertex}");
        }
    }
}

#[test]
fn clustering_coefficients_are_the_published_ones() {
    let examples = [
        ["example/example-directed-input", "example/example-directed-LCC"],
        ["example/example-undirected-input", "example/example-undirected-LCC"],
    ];
    let graphs = [["lcc/dir-input", "lcc/dir-output"], ["lcc/undir-input", "lcc/undir-output"]];
    for ([input, output], topology) in cases(examples).chain(cases(graphs)) {
        let Some((graph, expected)) = load::<f64>(input, output, topology) else { return };
        let found = LocalClustering::default().run(&graph.csr()).unwrap().coefficients;
        for (vertex, exact) in expected {
            let found = found[vertex as usize];
            assert!((found - exact).abs() < 1e-9, "{input}, vertex {vertex}: {found}, not {exact}");
        }
    }
}
