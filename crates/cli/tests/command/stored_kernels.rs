//! `hedgerow run --store`: the results equal the results on the imported file.

use crate::common::{Folder, key_values};
use serde_json::Value;

const KERNELS: [&str; 10] = [
    "bfs",
    "pagerank",
    "sssp",
    "wcc",
    "lcc",
    "cdlp",
    "kcore",
    "khop --hops 2",
    "betweenness --samples 5",
    "triangles",
];

/// The summary of a kernel, without the fields that are specific to a file or a store, or that
/// depend on whether in-neighbors are kept.
fn summary(folder: &Folder, command: &str) -> Value {
    let mut summary = folder.json(command);
    let fields = summary.as_object_mut().unwrap();
    fields.retain(|field, _| {
        !field.ends_with("seconds")
            && !["edges_examined", "iterations"].contains(&field.as_str())
            && !["graph", "rows", "skipped_lines", "load_edges_per_second"].contains(&field.as_str())
            && !["store", "timestamp", "from_checkpoint", "output"].contains(&field.as_str())
    });
    summary
}

#[test]
fn a_kernel_has_equal_results_on_a_file_and_on_its_store() {
    let folder = Folder::new();
    folder.json("generate kronecker --scale 9 --edge-factor 8 --weights --output kron.wel");
    for (direction, store) in [("", "directed"), ("--undirected", "undirected"), ("--reverse", "reverse")] {
        folder.json(&format!("import kron.wel --store {store} --weights {direction}"));
        let direction = direction.replace("--reverse", "");
        for kernel in KERNELS {
            let output = if kernel == "triangles" { "" } else { "--output" };
            for engine in ["rapid", "csr"] {
                let options = |result: &str| match output {
                    "" => format!("--engine {engine}"),
                    output => format!("--engine {engine} {output} {result}"),
                };
                let of_file = summary(
                    &folder,
                    &format!("run {kernel} --graph kron.wel {direction} {}", options("one")),
                );
                let of_store = summary(&folder, &format!("run {kernel} --store {store} {}", options("two")));
                // The order of sums depends on whether in-neighbors are kept, and on the ids.
                if !kernel.starts_with("pagerank") && !kernel.starts_with("betweenness") {
                    assert_eq!(of_store, of_file, "{kernel} {engine} {store}");
                }
                if !output.is_empty() {
                    assert_close(
                        &folder.read("one"),
                        &folder.read("two"),
                        &format!("{kernel} {engine} {store}"),
                    );
                }
            }
        }
    }
}

/// Checks that keys are equal, and values up to rounding.
fn assert_close(one: &str, two: &str, what: &str) {
    let (one, two) = (key_values(one), key_values(two));
    assert_eq!(one.len(), two.len(), "{what}");
    for ((key, value), (other_key, other)) in one.iter().zip(&two) {
        assert_eq!(key, other_key, "{what}");
        let (value, other) = (value.parse::<f64>().unwrap(), other.parse::<f64>().unwrap());
        assert!(
            value == other || (value - other).abs() <= 1e-9 * value.abs(),
            "{what}: {key} {value} {other}"
        );
    }
}

#[test]
fn the_summary_says_which_state_of_which_store_it_is() {
    let folder = Folder::with("graph", "1 2\n2 3\n");
    folder.json("import graph --store store");
    folder.json("put edge 3 4 --store store");
    let newest = folder.json("run bfs --store store --source 1");
    assert_eq!(
        (&newest["store"], &newest["timestamp"], &newest["reached"]),
        (&"store".into(), &2.into(), &4.into())
    );
    assert_eq!(
        (&newest["from_checkpoint"], newest.get("graph"), newest.get("rows")),
        (&false.into(), None, None)
    );
    let checkpoint = folder.json("run bfs --store store --source 1 --from-checkpoint");
    assert_eq!((&checkpoint["timestamp"], &checkpoint["reached"]), (&1.into(), &3.into()));
    assert_eq!(checkpoint["from_checkpoint"], true);
    let text = folder.text("run bfs --store store --source 1 --from-checkpoint --output distances");
    assert!(text.contains("store, directed, its checkpoint at commit 1"), "{text}");
    assert!(folder.text("run bfs --store store --output distances").contains("store, directed, commit 2"));
}

#[test]
fn a_kernel_looks_at_the_label_that_is_named() {
    let folder = Folder::with("one", "1 2\n2 3\n");
    folder.write("two.wel", "3 1 0.5\n3 4 1.5\n");
    folder.json("import one --store store --labels one,two:f64");
    folder.json("import two.wel --store store --label two");
    for engine in ["rapid", "csr"] {
        for (label, source, reached, edges) in [("one", 1, 3, 2), ("two", 3, 3, 2), ("two", 1, 1, 2)] {
            let command =
                format!("run bfs --store store --label {label} --source {source} --engine {engine}");
            let summary = folder.json(&command);
            assert_eq!(
                (&summary["reached"], &summary["edges"]),
                (&reached.into(), &edges.into()),
                "{command}"
            );
        }
        let farthest =
            folder.json(&format!("run sssp --store store --label two --source 3 --engine {engine}"));
        assert_eq!(farthest["farthest"], 1.5);
        assert_eq!(folder.json(&format!("run bfs --store store --label two --engine {engine}"))["source"], 3);
    }
}

#[test]
fn options_that_do_not_apply_to_a_store_are_refused() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store");
    for (options, code, parts) in [
        ("bfs --store store --graph graph", 2, ["cannot be used with", "--store"]),
        ("bfs", 2, ["--graph <FILE>", "--store <DIR>"]),
        ("bfs --store store --undirected", 2, ["--undirected", "cannot be used with"]),
        ("bfs --store store --keys text", 2, ["--keys", "cannot be used with"]),
        ("bfs --store store --vertices graph", 2, ["--vertices", "cannot be used with"]),
        ("sssp --store store --unit-weights", 2, ["--unit-weights", "cannot be used with"]),
        ("bfs --graph graph --label edge", 2, ["--label", "cannot be used with"]),
        ("bfs --graph graph --from-checkpoint", 2, ["--from-checkpoint", "cannot be used with"]),
        ("bfs --store store --label knows", 2, ["no label \"knows\" in store", "only \"edge\""]),
        ("bfs --store store --source x", 2, ["--source \"x\"", "numbers below 2^64"]),
        ("bfs --store store --source 7", 3, ["there is no vertex 7 in store", ""]),
        ("bfs --store nowhere", 3, ["there is no store in nowhere", ""]),
        ("sssp --store store", 3, ["carry no value", "import the graph with --weights"]),
        ("bfs --store store --output store/MANIFEST", 2, ["reads or writes this file already", ""]),
        ("bfs --store store --output store/new", 2, ["reads or writes this file already", ""]),
    ] {
        folder.fails(&format!("run {options}"), code, &parts);
    }
    folder.write("negative.wel", "1 2 -1\n");
    folder.json("import negative.wel --store weighted --weights");
    let refused = ["weighted: the edge from 1 to 2 has the weight -1", "must be 0 or more"];
    for engine in ["rapid", "csr"] {
        folder.fails(&format!("run sssp --store weighted --source 1 --engine {engine}"), 3, &refused);
    }
    folder.write("empty", "");
    folder.json("import empty --store empty-store");
    folder.fails("run bfs --store empty-store", 3, &["no vertex to start from"]);
}
