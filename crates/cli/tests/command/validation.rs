//! The validation graphs of LDBC Graphalytics, with their published results.
//!
//! They are not part of the repository: if they are missing, these tests are skipped.

use crate::common::{Folder, key_values};
use hedgerow_testing::skipped::public_data;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn data() -> Option<PathBuf> {
    public_data("graphalytics-validation")
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

/// The comparison of results.
#[derive(Clone, Copy)]
enum Same {
    /// Character by character.
    Text,
    /// Numbers within this relative difference.
    Near(f64),
    /// Vertices have equal values where the published values are equal.
    Groups,
}

/// Runs a kernel with these options on both engines.
fn check(kernel: &str, graph: &Path, options: &str, published: &Path, same: Same) {
    for engine in ["rapid", "csr"] {
        let graph = graph.display();
        let what = format!("{kernel} {graph} {engine}");
        let (found, _) = run(&format!("run {kernel} --graph {graph} {options} --engine {engine}"));
        let expected = expected(published);
        assert!(found.keys().eq(expected.keys()), "{what}");
        match same {
            Same::Text => assert_eq!(found, expected, "{what}"),
            Same::Near(tolerance) => {
                for (key, exact) in &expected {
                    let (exact, found): (f64, f64) = (exact.parse().unwrap(), found[key].parse().unwrap());
                    let near = exact == found || (exact - found).abs() <= tolerance * exact;
                    assert!(near, "{what}: vertex {key}: {found}, not {exact}");
                }
            }
            Same::Groups => {
                let pairs: BTreeSet<_> = expected.keys().map(|key| (&expected[key], &found[key])).collect();
                let (names, others): (BTreeSet<_>, BTreeSet<_>) = pairs.iter().copied().unzip();
                assert_eq!([names.len(), others.len()], [pairs.len(); 2], "{what}");
            }
        }
    }
}

/// Checks a graph in the kernel's own folder, directed and undirected; `suffix` ends the name of
/// its input file.
fn check_own(kernel: &str, folder: &str, options: &str, suffix: &str, same: Same) {
    let Some(data) = data() else { return };
    let folder = data.join(folder);
    for (name, direction) in [("dir", ""), ("undir", "--undirected")] {
        let format = if suffix.is_empty() { "--format adjacency" } else { "" };
        let graph = folder.join(format!("{name}-input{suffix}"));
        let published = folder.join(format!("{name}-output"));
        check(kernel, &graph, &format!("{options} {format} {direction}"), &published, same);
    }
}

#[test]
fn bfs_gives_the_published_distances() {
    check_own("bfs", "bfs", "--source 1", "", Same::Text);
}

#[test]
fn pagerank_gives_the_published_ranks() {
    let Some(data) = data() else { return };
    let (pr, near) = (data.join("pr"), Same::Near(1e-4));
    let options = "--iterations 14 --format adjacency";
    check("pagerank", &pr.join("dir-input"), options, &pr.join("dir-output"), near);
    let options = "--iterations 26 --format adjacency --undirected";
    check("pagerank", &pr.join("undir-input"), options, &pr.join("undir-output"), near);
}

#[test]
fn wcc_gives_the_published_components() {
    check_own("wcc", "wcc", "", "", Same::Groups);
}

#[test]
fn cdlp_gives_the_published_communities() {
    check_own("cdlp", "cdlp", "--iterations 5", "", Same::Text);
}

#[test]
fn lcc_gives_the_published_coefficients() {
    check_own("lcc", "lcc", "", "", Same::Near(1e-6));
}

#[test]
fn sssp_gives_the_published_distances() {
    check_own("sssp", "sssp", "--source 1", ".e", Same::Near(1e-9));
}

#[test]
fn the_example_graphs_give_the_published_results_in_both_formats() {
    let Some(data) = data() else { return };
    let example = |name: &str| data.join("example").join(name);
    for (name, direction, source) in [("example-directed", "", 1), ("example-undirected", "--undirected", 2)]
    {
        let source = format!("--source {source}");
        for (kernel, options, published, same) in [
            ("bfs", &source[..], "BFS", Same::Text),
            ("pagerank", "--iterations 2", "PR", Same::Near(1e-4)),
            ("wcc", "", "WCC", Same::Groups),
            ("cdlp", "--iterations 2", "CDLP", Same::Text),
            ("lcc", "", "LCC", Same::Near(1e-6)),
            ("sssp", &source[..], "SSSP", Same::Near(1e-9)),
        ] {
            let published = example(&format!("{name}-{published}"));
            let edges = example(&format!("{name}.e"));
            check(kernel, &edges, &format!("{options} {direction}"), &published, same);
            if kernel != "sssp" {
                let lines = example(&format!("{name}-input"));
                let options = format!("{options} --format adjacency {direction}");
                check(kernel, &lines, &options, &published, same);
            }
        }
    }
}

#[test]
fn results_match_known_facts_of_public_graphs() {
    let Some(data) = data() else { return };
    let folder = Folder::new();
    for (file, triangles, largest, clustering) in [
        ("wiki-Vote.txt", 608_389, 7_066, 0.1409),
        ("email-Eu-core.txt", 105_461, 986, 0.3994),
        ("ca-HepPh.txt", 3_358_499, 11_204, 0.6115),
    ] {
        let graph = data.join("..").join(file);
        let summary = |kernel: &str| folder.json(&format!("run {kernel} --graph {}", graph.display()));
        for direction in ["", "--undirected"] {
            assert_eq!(summary(&format!("triangles {direction}"))["triangles"], triangles, "{file}");
            assert_eq!(summary(&format!("wcc {direction}"))["largest"], largest, "{file}");
        }
        let mean = summary("lcc --undirected")["mean"].as_f64().unwrap();
        assert!((mean - clustering).abs() < 5e-5, "{file}: {mean}");
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
