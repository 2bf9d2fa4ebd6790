//! The validation graphs of LDBC Graphalytics, with their published results.
//!
//! They are not part of the repository: where they are not at hand, these tests say so and pass.

use crate::common::{Folder, key_values};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/graphalytics-validation");
    if !data.is_dir() {
        eprintln!("skipped: the validation graphs are not at {}", data.display());
        return None;
    }
    Some(data)
}

/// The results of one run, by key, and the keys in the order of the file.
fn run(arguments: &str) -> (BTreeMap<u64, String>, Vec<u64>) {
    let folder = Folder::new();
    folder.hedgerow(&format!("{arguments} --output result")).success();
    let lines = key_values(&folder.read("result"));
    let keys: Vec<u64> = lines.iter().map(|(key, _)| key.parse().unwrap()).collect();
    (keys.iter().copied().zip(lines.into_iter().map(|(_, value)| value)).collect(), keys)
}

fn expected(path: &Path) -> BTreeMap<u64, String> {
    let lines = key_values(&fs::read_to_string(path).unwrap());
    lines.into_iter().map(|(key, value)| (key.parse().unwrap(), value)).collect()
}

fn check_bfs(graph: &Path, options: &str, published: &Path) {
    for engine in ["rapid", "csr"] {
        let graph = graph.display();
        let (found, _) = run(&format!("run bfs --graph {graph} --source {options} --engine {engine}"));
        assert_eq!(found, expected(published), "{graph} {engine}");
    }
}

fn check_pagerank(graph: &Path, options: &str, published: &Path) {
    for engine in ["rapid", "csr"] {
        let graph = graph.display();
        let (found, _) =
            run(&format!("run pagerank --graph {graph} --iterations {options} --engine {engine}"));
        let expected = expected(published);
        assert!(found.keys().eq(expected.keys()), "{graph} {engine}");
        for (key, rank) in &expected {
            let (rank, found): (f64, f64) = (rank.parse().unwrap(), found[key].parse().unwrap());
            assert!(
                (rank - found).abs() <= 1e-4 * rank,
                "{graph} {engine}: vertex {key}: {found}, not {rank}"
            );
        }
    }
}

#[test]
fn bfs_gives_the_published_distances() {
    let Some(data) = data() else { return };
    let bfs = data.join("bfs");
    check_bfs(&bfs.join("dir-input"), "1 --format adjacency", &bfs.join("dir-output"));
    check_bfs(&bfs.join("undir-input"), "1 --format adjacency --undirected", &bfs.join("undir-output"));
}

#[test]
fn pagerank_gives_the_published_ranks() {
    let Some(data) = data() else { return };
    let pr = data.join("pr");
    check_pagerank(&pr.join("dir-input"), "14 --format adjacency", &pr.join("dir-output"));
    check_pagerank(&pr.join("undir-input"), "26 --format adjacency --undirected", &pr.join("undir-output"));
}

#[test]
fn the_example_graphs_give_the_published_results_in_both_formats() {
    let Some(data) = data() else { return };
    let example = |name: &str| data.join("example").join(name);
    for (name, option, source) in [("example-directed", "", 1), ("example-undirected", "--undirected", 2)] {
        let (bfs, pr) = (example(&format!("{name}-BFS")), example(&format!("{name}-PR")));
        let (edges, lines) = (example(&format!("{name}.e")), example(&format!("{name}-input")));
        check_bfs(&edges, &format!("{source} {option}"), &bfs);
        check_bfs(&lines, &format!("{source} --format adjacency {option}"), &bfs);
        check_pagerank(&edges, &format!("2 {option}"), &pr);
        check_pagerank(&lines, &format!("2 --format adjacency {option}"), &pr);
    }
}

#[test]
fn the_vertices_of_the_vertex_file_come_first_and_in_its_order() {
    let Some(data) = data() else { return };
    let edges = data.join("example/example-directed.e");
    let (_, keys) = run(&format!("run bfs --graph {} --source 1", edges.display()));
    let vertices = fs::read_to_string(data.join("example/example-directed.v")).unwrap();
    let vertices: Vec<u64> = vertices.lines().map(|line| line.trim().parse().unwrap()).collect();
    assert_eq!(keys, vertices);
}
