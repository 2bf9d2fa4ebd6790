//! Files loaded into static graphs, compared with the same files loaded into an engine.

use crate::common::Folder;
use hedgerow::EngineKind;
use serde_json::Value;

/// Members that depend on the machine, or name the engine.
const NOT_COMPARED: [&str; 7] = [
    "engine",
    "threads",
    "load_seconds",
    "load_edges_per_second",
    "kernel_seconds",
    "csr_build_seconds",
    "output",
];

/// A folder with graphs in every format, small and of several chunks.
fn folder() -> Folder {
    let folder = Folder::new();
    folder
        .write("odd.el", "# odd\n7 3 2.5\r\n3 7 1\n\n7 3 0.5\n9 9 4\n18446744073709551615 7 1\n5 3 2\n3 5 2");
    folder.write("names.csv", "anna,ben,1\nben,zoë,2\nanna,ben,3\nzoë,zoë,1\n");
    folder.write("bad.txt", "1 2\nno line\n2 3\n3 x\n3 4\n");
    folder.write("alone.adj", "4 1 2\n8\n1 4\n6\n9 4 4 2\n");
    folder.write("more", "70\n3\n71\n");
    folder.write("ids", "3 0\n0 5\n5 3\n9 3\n");
    folder.write(
        "square.mtx",
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 3\n1 2 0.5\n3 3 1\n4 1 2\n",
    );
    folder.write("times", "1 2 1082040961\n2 1 1082040962\n");
    folder.json("generate kronecker --scale 11 --output kron.el");
    folder.json("generate kronecker --scale 9 --weights --output kron.wel");
    for (from, to) in [
        ("kron.el", "kron.sg"),
        ("kron.el", "both.sg --undirected"),
        ("kron.wel", "kron.wsg"),
        ("kron.wel", "both.wsg --undirected"),
        ("kron.el", "kron.adj"),
        ("kron.wel", "kron.mtx"),
        ("kron.wel", "kron.e"),
        ("kron.el", "kron.el.gz"),
        ("kron.el", "both.sg.zst --undirected"),
    ] {
        folder.json(&format!("convert {from} {to}"));
    }
    folder
}

/// The summary of a command without what is not compared.
fn summary(folder: &Folder, command: &str) -> Value {
    folder.json_without(command, &NOT_COMPARED)
}

#[test]
fn results_are_those_of_an_engine_for_every_format_and_option() {
    let folder = folder();
    let graphs = [
        "odd.el",
        "odd.el --undirected",
        "odd.el --keys text",
        "odd.el --vertices more",
        "odd.el --columns topology",
        "names.csv --keys text",
        "names.csv --keys text --undirected",
        "bad.txt --skip-bad-lines",
        "alone.adj",
        "alone.adj --undirected",
        "ids --keys dense",
        "ids --keys dense --vertices more --undirected",
        "square.mtx",
        "times --columns timestamp",
        "kron.el",
        "kron.el --undirected",
        "kron.el.gz --undirected",
        "kron.sg",
        "kron.sg --undirected",
        "kron.sg --keys dense",
        "kron.sg --keys text",
        "both.sg",
        "both.sg.zst",
        "both.wsg",
        "kron.wsg",
        "kron.adj",
        "kron.mtx --undirected",
        "kron.e",
    ];
    for graph in graphs {
        for kernel in ["wcc", "pagerank", "bfs --parents", "sssp --unit-weights"] {
            let run = |options: &str| {
                let summary = summary(&folder, &format!("run {kernel} {graph} --output out {options}"));
                (summary, folder.read("out"))
            };
            let expected = run("--engine rapid");
            for options in ["", "--threads 1", "--engine csr"] {
                assert_eq!(run(options), expected, "{kernel} {graph} {options}");
            }
        }
        let expected = summary(&folder, &format!("stats {graph} --scratch ."));
        assert_eq!(summary(&folder, &format!("stats {graph}")), expected, "stats {graph}");
    }
    for graph in ["odd.el", "odd.el --undirected", "kron.wel", "kron.wsg", "both.wsg", "kron.mtx", "kron.e"] {
        let run = |options: &str| {
            let summary = summary(&folder, &format!("run sssp {graph} --output out {options}"));
            (summary, folder.read("out"))
        };
        assert_eq!(run(""), run("--engine rapid"), "sssp {graph}");
    }
}

#[test]
fn errors_are_those_of_an_engine() {
    let folder = folder();
    folder.write("negative.wel", "1 2 1\n2 3 -4\n");
    folder.json("convert negative.wel negative.wsg");
    let mut cut = std::fs::read(folder.path("kron.sg")).unwrap();
    cut.truncate(cut.len() - 4);
    folder.write("cut.sg", &cut);
    let mut outside = std::fs::read(folder.path("kron.sg")).unwrap();
    let last = outside.len() - 4;
    outside[last..].copy_from_slice(&i32::MAX.to_le_bytes());
    folder.write("outside.sg", &outside);
    for command in [
        "run wcc bad.txt",
        "run sssp names.csv --keys text --columns topology",
        "run sssp negative.wel",
        "run sssp negative.wsg",
        "run wcc cut.sg",
        "run wcc outside.sg",
        "run wcc missing.el",
        "run bfs odd.el --source 4",
        "run wcc ids --keys dense --vertices odd.el",
    ] {
        let message = |options: &str| {
            let output = folder.command(&format!("{command} {options}")).output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let expected = message("--engine rapid");
        assert_ne!(expected.0, Some(0), "{command}");
        assert_eq!(message(""), expected, "{command}");
    }
}

#[test]
fn a_serialized_graph_is_undirected_if_it_says_so() {
    let folder = folder();
    let edges = &folder.json("run wcc kron.el --undirected")["edges"];
    for graph in ["both.sg", "both.sg.zst"] {
        for options in ["", "--engine tel", "--undirected"] {
            let summary = folder.json(&format!("run wcc {graph} {options}"));
            assert_eq!(
                (&summary["undirected"], &summary["edges"]),
                (&true.into(), edges),
                "{graph} {options}"
            );
        }
    }
    assert_eq!(folder.json("run wcc kron.sg")["undirected"], false);
}

#[test]
fn serialized_graphs_from_pipes_are_read_once() {
    let folder = folder();
    let expected = summary(&folder, "run wcc both.sg");
    let bytes = std::fs::read(folder.path("both.sg")).unwrap();
    for name in ["-", "/dev/stdin"] {
        let mut command = folder.command(&format!("run wcc {name} --format sg --json --quiet"));
        let output = command.write_stdin(bytes.clone()).output().unwrap();
        let read: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&read["edges"], &read["components"]), (&expected["edges"], &expected["components"]));
    }
}

#[test]
fn views_of_files_are_those_of_their_engine() {
    let folder = folder();
    folder.json("generate kronecker --scale 12 --output large");
    for engine in EngineKind::ALL.iter().filter(|engine| engine.owns_files()) {
        folder.json(&format!("import odd.el --store {engine} --engine {engine}"));
    }
    for view in ["stale", "private"] {
        assert_eq!(folder.json(&format!("run wcc large --view {view}"))["engine"], "rapid");
        for engine in EngineKind::ALL {
            let summary = folder.json(&match engine.owns_files() {
                true => format!("run wcc {engine} --view {view}"),
                false => format!("run wcc large --engine {engine} --view {view}"),
            });
            assert_eq!((&summary["engine"], &summary["view"]), (&engine.name().into(), &view.into()));
        }
    }
}

#[test]
fn the_first_error_of_a_file_is_reported_however_many_threads_read_it() {
    let mut text = "1 2 1\n".repeat(100_000);
    text.push_str("1 2 -5\n");
    text.push_str(&"1 2 1\n".repeat(20_000));
    text.push_str("no edge\n");
    let folder = Folder::with("graph.wel", text);
    for options in ["--threads 1", "--threads 2", "--threads 8", "--engine rapid"] {
        folder.fails(&format!("run sssp graph.wel {options}"), 3, &["weight -5"]);
    }
    folder.fails("run wcc graph.wel", 3, &["graph.wel:120002"]);
}

#[test]
fn rows_that_are_not_those_of_an_undirected_graph_are_read_as_edges() {
    let folder = Folder::with("graph", "0 1\n1 2\n2 0\n");
    folder.json("convert graph directed.sg");
    let mut bytes = std::fs::read(folder.path("directed.sg")).unwrap();
    // Marked as undirected, without the in-neighbors.
    bytes[0] = 0;
    bytes.truncate(17 + 4 * 8 + 3 * 4);
    folder.write("marked.sg", &bytes);
    for options in ["", "--engine rapid"] {
        let summary = folder.json(&format!("run triangles marked.sg {options}"));
        assert_eq!((&summary["triangles"], &summary["undirected"]), (&1.into(), &true.into()));
    }
}
