//! `--memory-limit`

use crate::common::Folder;

/// A folder with a file whose graph takes about two megabytes.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.hedgerow("generate kronecker --scale 13 --output graph").success();
    folder
}

#[test]
fn a_graph_that_would_hold_more_than_its_limit_is_refused() {
    let folder = folder();
    folder.write("ranks", "old");
    let static_graph = ["the graph needs", "of at most 102400;", "--memory-limit"];
    let engine = ["the commit needs", "the graph holds", "of at most 102400;", "--memory-limit"];
    for (command, parts) in [
        ("run bfs --graph graph", &static_graph[..]),
        ("run pagerank --graph graph --output ranks", &static_graph),
        ("stats graph", &static_graph),
        ("run bfs --graph graph --engine rapid", &engine),
        ("demo --scale 13", &engine),
    ] {
        folder.fails(&format!("{command} --memory-limit 100KiB"), 4, parts);
    }
    // The vertices alone, and the gaps between dense ids.
    folder.write("vertices", (0..20_000).map(|vertex| format!("{vertex}\n")).collect::<String>());
    folder.write("sparse", "1 2\n1000000 3\n");
    for command in ["run wcc sparse --vertices vertices", "run wcc sparse --keys dense"] {
        folder.fails(&format!("{command} --memory-limit 100KiB"), 4, &static_graph);
    }
    assert_eq!(folder.read("ranks"), "old");
}

#[test]
fn sizes_are_read_with_and_without_a_unit() {
    let folder = folder();
    for (size, bytes) in [("100kb", "100000"), ("0.5MiB", "524288"), ("300KiB", "307200"), ("70000", "70000")]
    {
        folder.fails(&format!("stats graph --memory-limit {size}"), 4, &[&format!("of at most {bytes};")]);
    }
}

#[test]
fn a_limit_that_is_large_enough_changes_nothing() {
    let folder = folder();
    let free = folder.json("run bfs --graph graph");
    for size in ["1GiB", "18446744073709551615"] {
        let limited = folder.json(&format!("run bfs --graph graph --memory-limit {size}"));
        assert_eq!((&limited["reached"], &limited["levels"]), (&free["reached"], &free["levels"]));
    }
    let demo = folder.json("demo --scale 8 --memory-limit 64MB");
    assert_eq!(demo["comparison"]["equal"], true);
}
