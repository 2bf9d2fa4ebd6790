//! `hedgerow convert`

use crate::common::Folder;
use serde_json::Value;

const GRAPH: &str = "10 20 3\n20 30 4\n# comment\n30 10 5\n30 30 6\n";

#[test]
fn a_graph_goes_through_all_formats_and_comes_back() {
    let folder = Folder::with("graph.wel", GRAPH);
    let chain = ["a.csv.gz", "b.mtx", "c.wsg.zst", "d.tsv", "e.e", "f.wel"];
    let mut from = "graph.wel";
    for to in chain {
        let converted = folder.json(&format!("convert {from} {to} --keys number"));
        assert_eq!((&converted["edges"], &converted["output"]), (&4.into(), &to.into()), "{to}");
        assert_eq!(converted["renumbered"], to == "b.mtx" || to == "c.wsg.zst", "{to}");
        from = to;
    }
    // Only the keys were lost on the way.
    assert_eq!(folder.read("f.wel"), "0 1 3\n1 2 4\n2 0 5\n2 2 6\n");
    assert_eq!(folder.read("e.v"), "0\n1\n2\n");
}

#[test]
fn keys_are_kept_where_possible_and_otherwise_mapped() {
    let folder = Folder::with("graph.txt", GRAPH);
    folder.json("convert graph.txt graph.e");
    assert_eq!(folder.read("graph.e"), "10 20 3\n20 30 4\n30 10 5\n30 30 6\n");
    let converted = folder.json("convert graph.txt graph.sg --mapping keys");
    assert_eq!((&converted["renumbered"], &converted["vertices"]), (&true.into(), &3.into()));
    assert_eq!(converted["lost_weights"], 4);
    assert_eq!(folder.read("keys"), "0 10\n1 20\n2 30\n");
    folder.hedgerow("convert graph.txt graph.mtx --mapping keys").success();
    assert_eq!(folder.read("keys"), "1 10\n2 20\n3 30\n");
    let output = folder.hedgerow("convert graph.txt graph.sg").success().get_output().clone();
    assert!(String::from_utf8(output.stdout).unwrap().contains("--mapping FILE writes down their keys"));

    folder.write("named.txt", "pear apple\nfig pear\n");
    folder.hedgerow("convert named.txt named.sg --keys text --mapping keys").success();
    assert_eq!(folder.read("keys"), "0 apple\n1 fig\n2 pear\n");

    let dense = folder.json("convert graph.txt dense.sg --keys dense --mapping keys");
    assert_eq!((&dense["renumbered"], &dense["vertices"]), (&false.into(), &31.into()));
    assert_eq!(folder.read("keys").lines().last(), Some("30 30"));
}

#[test]
fn undirected_graphs_stay_what_they_are() {
    let folder = Folder::with("graph.txt", GRAPH);
    let stats = |name: &str| {
        let stats = folder.json(&format!("stats {name} --undirected"));
        ["vertices", "edges", "self_loops"].map(|field| stats[field].clone())
    };
    let expected = stats("graph.txt");
    for name in ["g.mtx", "g.sg", "g.e", "g.adj"] {
        folder.hedgerow(&format!("convert graph.txt {name} --undirected")).success();
        assert_eq!(stats(name), expected, "{name}");
    }
    assert!(folder.read("g.mtx").starts_with("%%MatrixMarket matrix coordinate integer symmetric\n3 3 4\n"));
}

#[test]
fn formats_can_be_named_for_files_whose_names_say_nothing() {
    let folder = Folder::with("in", "1 2 3\n2\n");
    folder.json("convert in out --from adjacency --to mtx");
    assert_eq!(folder.read("out"), "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 3\n");
    // A matrix is recognized by its first line.
    assert_eq!(folder.json("stats out")["vertices"], 3);
    folder.json("convert out in.sg --format mtx");
    assert_eq!(folder.json("convert in.sg out --to csv")["lost_vertices"], 3);
    assert_eq!(folder.read("out"), "0,1\n0,2\n");
}

#[test]
fn a_failed_conversion_leaves_the_old_file() {
    let folder = Folder::with("graph.txt", "1 2\n2 x\n");
    folder.write("old.sg", "old");
    folder.fails("convert graph.txt old.sg --mapping keys", 3, &["graph.txt:2:3"]);
    folder.write("half.txt", "1 2 0.5\n");
    folder.fails("convert half.txt old.wsg --mapping keys", 1, &["whole number of 32 bits"]);
    folder.fails("convert half.txt graph.txt --to graphalytics", 2, &["must end in .e"]);
    folder.fails("convert half.txt - --to graphalytics", 2, &["must end in .e"]);
    folder.fails(
        "convert old.sg new.txt",
        3,
        &["old.sg: byte 0: found", "0 or 1, whether the graph is directed"],
    );
    assert_eq!(folder.read("old.sg"), "old");
    assert_eq!(folder.names(), ["graph.txt", "half.txt", "old.sg"]);
    let skipped = folder.json("convert graph.txt old.sg --skip-bad-lines");
    assert_eq!((&skipped["skipped_lines"], &skipped["rows"]), (&1.into(), &1.into()));
}

#[test]
fn binary_graphs_are_read_by_all_commands() {
    let folder = Folder::new();
    let generated = folder.json("generate kronecker --scale 8 --weights --output kron.wsg");
    assert_eq!((&generated["edges"], &generated["weights"]), (&4096.into(), &Value::Bool(true)));
    folder.json("convert kron.wsg kron.txt.zst");
    let of = |name: &str| {
        let mut stats = folder.json(&format!("stats {name}"));
        ["edges", "self_loops"].map(|field| stats[field].take())
    };
    assert_eq!(of("kron.wsg"), of("kron.txt.zst"));
    assert_eq!(folder.json("stats kron.wsg")["vertices"], 256);
    assert!(folder.json("run bfs --graph kron.wsg")["reached"].as_u64() > Some(100));
}
