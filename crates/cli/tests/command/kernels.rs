//! `hedgerow run`: the result and the summary of each kernel.

use crate::common::{Folder, key_values};

/// The result file of a kernel on a graph.
fn result(graph: &str, arguments: &str) -> Vec<(String, String)> {
    let folder = Folder::with("graph", graph);
    let mut results = ["rapid", "csr"].map(|engine| {
        folder
            .hedgerow(&format!("run {arguments} --graph graph --engine {engine} --output result"))
            .success();
        key_values(&folder.read("result"))
    });
    assert_eq!(results[0], results[1], "{arguments}");
    std::mem::take(&mut results[0])
}

fn lines(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn summary(graph: &str, arguments: &str) -> serde_json::Value {
    let folder = Folder::with("graph", graph);
    let summary = folder.json(&format!("run {arguments} --graph graph"));
    assert!(summary["kernel_seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(summary["kernel"], arguments.split(' ').next().unwrap());
    // The text output also has a line for every row.
    folder.hedgerow(&format!("run {arguments} --graph graph")).success();
    summary
}

/// A square 50, 40, 30, 20 with an edge out to 60, and a separate triangle 1, 2, 3; larger keys
/// first.
const SQUARE: &str = "50 40\n40 30\n30 20\n20 50\n20 60\n1 2\n2 3\n3 1\n";

#[test]
fn every_kernel_handles_tiny_graphs() {
    let far = i64::MAX.to_string();
    let expected = [
        ("bfs", "0", ["0", &far]),
        ("pagerank", "1.0", ["0.5", "0.5"]),
        ("sssp --unit-weights", "0.0", ["0.0", "Infinity"]),
        ("wcc", "5", ["5", "6"]),
        ("betweenness --all-sources", "0.0", ["0.0", "0.0"]),
        ("betweenness --samples 3", "0.0", ["0.0", "0.0"]),
        ("lcc", "0.0", ["0.0", "0.0"]),
        ("cdlp", "5", ["5", "6"]),
        ("kcore", "0", ["0", "0"]),
    ];
    for direction in ["", "--undirected"] {
        for (kernel, alone, [first, second]) in expected {
            let kernel = format!("{kernel} {direction}");
            assert_eq!(result("5\n", &format!("{kernel} --format adjacency")), lines(&[("5", alone)]));
            assert_eq!(result("5 5\n6 6\n", &kernel), lines(&[("5", first), ("6", second)]), "{kernel}");
        }
        assert_eq!(result("5 5\n6 6\n", &format!("khop {direction}")), lines(&[("5", "0")]));
        assert_eq!(summary("5 5\n6 6\n", &format!("triangles {direction}"))["triangles"], 0);
    }
    let mean = summary("", "lcc")["mean"].as_f64().unwrap();
    assert!(mean == 0.0 && mean.is_sign_positive());
    assert_eq!(summary("", "triangles")["triangles"], 0);
    for kernel in ["pagerank", "wcc", "betweenness --all-sources", "lcc", "cdlp", "kcore"] {
        assert_eq!(result("", kernel), []);
    }
}

#[test]
fn shortest_paths_add_weights() {
    let roads = "7 8 1.5\n8 9 0.25\n7 9 2\n9 7 0\n5 7 1\n";
    let expected = lines(&[("7", "0.0"), ("8", "1.5"), ("9", "1.75"), ("5", "Infinity")]);
    assert_eq!(result(roads, "sssp --source 7"), expected);
    let undirected = lines(&[("7", "0.0"), ("8", "0.25"), ("9", "0.0"), ("5", "1.0")]);
    assert_eq!(result(roads, "sssp --source 7 --undirected"), undirected);
    let units = lines(&[("7", "0.0"), ("8", "1.0"), ("9", "1.0"), ("5", "Infinity")]);
    assert_eq!(result(roads, "sssp --source 7 --unit-weights"), units);
    let summary = summary(roads, "sssp --source 7");
    assert_eq!((&summary["reached"], &summary["farthest"]), (&3.into(), &1.75.into()));
    assert_eq!((&summary["source"], &summary["unit_weights"]), (&7.into(), &false.into()));
}

#[test]
fn of_several_weights_of_an_edge_the_last_counts() {
    assert_eq!(result("1 2 5\n1 2 3\n", "sssp --source 1"), lines(&[("1", "0.0"), ("2", "3.0")]));
    let turned = result("1 2 5\n2 1 3\n", "sssp --source 1 --undirected");
    assert_eq!(turned, lines(&[("1", "0.0"), ("2", "3.0")]));
}

#[test]
fn components_are_named_by_their_smallest_key() {
    let expected = lines(&[
        ("50", "20"),
        ("40", "20"),
        ("30", "20"),
        ("20", "20"),
        ("60", "20"),
        ("1", "1"),
        ("2", "1"),
        ("3", "1"),
    ]);
    assert_eq!(result(SQUARE, "wcc"), expected);
    let summary = summary(SQUARE, "wcc");
    assert_eq!((&summary["components"], &summary["largest"]), (&2.into(), &5.into()));
    assert_eq!(result("b c\na c\n", "wcc --keys text"), lines(&[("b", "a"), ("c", "a"), ("a", "a")]));
}

#[test]
fn triangles_are_counted_whatever_the_direction() {
    for direction in ["", "--undirected"] {
        assert_eq!(summary(SQUARE, &format!("triangles {direction}"))["triangles"], 1);
    }
}

#[test]
fn betweenness_counts_the_paths_from_its_sources() {
    let path = "1 2\n2 3\n3 4\n";
    let scores =
        |first, second, third, last| lines(&[("1", first), ("2", second), ("3", third), ("4", last)]);
    assert_eq!(result(path, "betweenness --all-sources"), scores("0.0", "2.0", "2.0", "0.0"));
    assert_eq!(result(path, "betweenness --all-sources --undirected"), scores("0.0", "4.0", "4.0", "0.0"));
    assert_eq!(result(path, "betweenness --source 1 --source 3"), scores("0.0", "2.0", "1.0", "0.0"));
    assert_eq!(result(path, "betweenness --samples 9"), scores("0.0", "2.0", "2.0", "0.0"));
    let sampled = summary(path, "betweenness --samples 2 --seed 3");
    assert_eq!(sampled["sources"], 2);
    let all = summary(path, "betweenness --all-sources --undirected");
    assert_eq!((&all["top"][0]["key"], &all["top"][0]["score"]), (&2.into(), &4.0.into()));
}

#[test]
fn coefficients_depend_on_the_direction() {
    let triangle = "1 2\n2 3\n3 1\n3 4\n";
    let of = |first, second, third| lines(&[("1", first), ("2", second), ("3", third), ("4", "0.0")]);
    assert_eq!(result(triangle, "lcc"), of("0.5", "0.5", "0.16666666666666666"));
    assert_eq!(result(triangle, "lcc --undirected"), of("1.0", "1.0", "0.3333333333333333"));
    let mean = summary(triangle, "lcc --undirected")["mean"].as_f64().unwrap();
    assert!((mean - 7.0 / 12.0).abs() < 1e-12);
}

#[test]
fn labels_are_keys_however_the_vertices_are_numbered() {
    // In the first iteration every vertex takes the smallest key around, not the smallest id.
    let expected = lines(&[("9", "3"), ("7", "3"), ("3", "7")]);
    assert_eq!(result("9 7\n7 3\n9 3\n", "cdlp --iterations 1"), expected);
    let text = result("z y\ny a\nz a\n", "cdlp --iterations 1 --keys text");
    assert_eq!(text, lines(&[("z", "a"), ("y", "a"), ("a", "y")]));
    let summary = summary(SQUARE, "cdlp --iterations 50");
    assert!(summary["communities"].as_u64().unwrap() >= 2 && summary["iterations"].as_u64().unwrap() <= 50);
    assert_eq!(result(SQUARE, "cdlp --iterations 0").first(), lines(&[("50", "50")]).first());
}

#[test]
fn cores_ignore_direction_repetition_and_self_loops() {
    let graph = "1 2\n2 1\n2 3\n3 1\n3 4\n4 4\n5 5\n";
    let expected = lines(&[("1", "2"), ("2", "2"), ("3", "2"), ("4", "1"), ("5", "0")]);
    for direction in ["", "--undirected"] {
        assert_eq!(result(graph, &format!("kcore {direction}")), expected);
    }
    let summary = summary(graph, "kcore");
    assert_eq!((&summary["largest"], &summary["innermost"]), (&2.into(), &3.into()));
}

#[test]
fn neighborhoods_list_what_is_near_and_nothing_else() {
    assert_eq!(result(SQUARE, "khop --source 40 --hops 2"), lines(&[("40", "0"), ("30", "1"), ("20", "2")]));
    let several = lines(&[("50", "1"), ("20", "0"), ("60", "1"), ("1", "0"), ("2", "1")]);
    assert_eq!(result(SQUARE, "khop --source 20 --source 1 --hops 1"), several);
    assert_eq!(result(SQUARE, "khop --source 20 --hops 1 --limit 2"), lines(&[("50", "1"), ("20", "0")]));
    let summary = summary(SQUARE, "khop --hops 1 --limit 2");
    assert_eq!((&summary["sources"], &summary["source_chosen"]), (&serde_json::json!([20]), &true.into()));
    assert_eq!(summary["found_by_hops"], serde_json::json!([1, 1]));
    assert_eq!((&summary["found"], &summary["truncated"]), (&2.into(), &true.into()));
}
