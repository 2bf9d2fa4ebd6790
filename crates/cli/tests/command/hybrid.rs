//! Stores of the engine `hybrid`, whose edges wait in a log before they are archived.

use crate::common::Folder;

#[test]
fn results_are_equal_on_hybrid_and_rapid() {
    let folder = Folder::new();
    folder.json("generate kronecker --scale 12 --weights --output kron");
    let plain = folder.json("import kron --store plain --weights --undirected");
    let logged =
        folder.json("import kron --store logged --weights --undirected --engine hybrid --chunk 3000");
    // Counted exactly if the last edge happens to be archived by the end.
    let counts = [&serde_json::Value::Null, &plain["edges_added"]];
    assert!(logged["engine"] == "hybrid" && counts.contains(&&logged["edges_added"]), "{logged}");
    for kernel in ["bfs", "sssp", "wcc", "kcore", "lcc", "cdlp", "pagerank"] {
        let run = |graph: &str, output: &str| {
            let summary = folder.json(&format!("run {kernel} {graph} --threads 1 --output {output}"));
            (summary["engine"].clone(), folder.read(output))
        };
        let ((plain, expected), (logged, found)) =
            (run("plain", "expected"), run("logged --engine hybrid", "found"));
        assert_eq!((plain, logged), ("rapid".into(), "hybrid".into()));
        let (_, of_file) = run("kron --undirected --engine hybrid", "found");
        for found in [found, of_file] {
            match kernel {
                // Sums depend on the order of neighbors.
                "pagerank" => assert!(are_close(&found, &expected), "{kernel}"),
                _ => assert!(found == expected, "{kernel}"),
            }
        }
    }
    folder.json("checkpoint logged");
    let info = folder.json("info logged");
    assert_eq!(
        (&info["engine"], &info["vertices"]),
        (&"hybrid".into(), &folder.json("info plain")["vertices"])
    );
    folder.json("check logged");
}

/// Returns true if lines of a key and a number have equal keys and nearly equal numbers.
fn are_close(one: &str, other: &str) -> bool {
    let lines = |text: &str| -> Vec<(String, f64)> {
        let line = |line: &str| {
            let (key, number) = line.split_once(' ').expect("a key and a number");
            (key.to_owned(), number.parse().expect("a number"))
        };
        text.lines().map(line).collect()
    };
    let (one, other) = (lines(one), lines(other));
    let pairs = || one.iter().zip(&other);
    one.len() == other.len()
        && pairs().all(|((key, one), (same, other))| key == same && (one - other).abs() <= 1e-9 * other)
}

/// A file of one commit is archived as a whole or not at all: each view shows all of it.
#[test]
fn kernels_run_on_stale_and_private_views() {
    let folder = Folder::new();
    folder.json("generate kronecker --scale 10 --output kron");
    folder.json("import kron --store store --engine hybrid");
    folder.json("run wcc kron --threads 1 --output expected");
    for graph in ["kron --engine hybrid", "store", "kron"] {
        for view in ["stale", "private"] {
            let run = format!("run wcc {graph} --view {view} --threads 1 --output found");
            let summary = folder.json(&run);
            assert_eq!((&summary["view"], &summary["commits_behind"]), (&view.into(), &0.into()));
            assert_eq!(folder.read("found"), folder.read("expected"), "{run}");
        }
        let summary = folder.json(&format!("run wcc {graph} --view fresh --output found"));
        assert!(summary.get("view").is_none());
    }
    let shown = folder.text("run triangles kron --undirected --view stale");
    assert!(shown.contains("view") && shown.contains("stale, 0 commits behind the newest"), "{shown}");
}

#[test]
fn edges_are_put_found_and_deleted() {
    let folder = Folder::with("graph", "1 2\n1 3\n2 3\n1 2\n");
    folder.json("import graph --store store --engine hybrid");
    folder.text("put edge 3 4 --store store");
    folder.text("delete edge 1 2 --store store");
    assert_eq!(folder.text("neighbors 1 --store store"), "3\n");
    assert_eq!(folder.text("neighbors 3 --store store"), "4\n");
    let info = folder.json("info store");
    let exact = folder.json("info store --exact");
    assert_eq!((&exact["edges"], exact.get("edges_at_least")), (&3.into(), None));
    assert_eq!((&info["engine"], &info["vertices"]), (&"hybrid".into(), &4.into()));
    assert!(info["edges_at_least"].as_u64() <= Some(3) && info["edges"].as_u64() >= Some(3));
    folder.text("put edge 4 1 --store store");
    assert_eq!(folder.text("neighbors 4 --store store"), "1\n");
}
