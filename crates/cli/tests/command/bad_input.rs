//! Unreadable or invalid input: an error with the position, an exit code, no result.

use crate::common::Folder;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

/// Runs `hedgerow run` and `hedgerow stats` on a file of this content, which they must refuse.
fn refused(content: impl AsRef<[u8]>, options: &str, parts: &[&str]) {
    let folder = Folder::with("graph", content);
    for command in ["run pagerank --output result --graph", "run bfs --graph", "stats", "demo --graph"] {
        folder.fails(&format!("{command} graph {options}"), 3, parts);
    }
    assert_eq!(folder.names(), ["graph"]);
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_bad_line_is_named_with_what_was_expected() {
    refused("1 2\n3\n", "", &["graph:2:", "expected a destination"]);
    let many = ["graph:2:9", "expected at most 4 columns", "; that is --format adjacency"];
    refused("1 2\n3 4 5 6 7\n", "", &many);
    refused("1 2\n-3 4\n", "", &["graph:2:1", "-3", "not negative"]);
    refused("1 x\n", "", &["graph:1:3", "decimal digits", "; that is --keys text"]);
    refused("1 18446744073709551616\n", "", &["graph:1:3", "at most 18446744073709551615"]);
    refused("1 2 heavy\n", "", &["graph:1:5", "expected a weight"]);
    refused("1 2 x\n", "--format adjacency", &["graph:1:5"]);
}

#[test]
fn text_must_be_utf8() {
    refused(b"a b\ncaf\xe9 c\n", "--keys text", &["graph:2:1", "UTF-8"]);
}

#[test]
fn a_binary_file_is_no_graph() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    refused(bytes, "", &["graph:1:"]);
}

#[test]
fn a_line_without_end_is_refused() {
    refused(vec![b'1'; 3 << 20], "", &["graph:1:1", "expected the line to end within"]);
}

#[test]
fn a_compressed_file_that_was_cut_is_damaged() {
    let text: String = (0..5000).map(|number| format!("{number} {}\n", number * 7919 % 5000)).collect();
    let whole = gzipped(&text);
    refused(&whole[..whole.len() / 2], "", &["gzip", "cut short or damaged"]);
    refused(&whole[..whole.len() - 3], "--skip-bad-lines", &["gzip", "cut short or damaged"]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let folder = Folder::with("graph", "1 2\n");
    folder.fails("stats nowhere.txt", 3, &["nowhere.txt", "No such file"]);
    folder.fails("run bfs --graph .", 3, &["directory"]);
    folder.fails("run bfs --graph graph --vertices nowhere.txt", 3, &["nowhere.txt"]);
    folder.write("vertices", "1\n2 3\n");
    folder.fails("run bfs --graph graph --vertices vertices", 3, &["vertices:2:3", "one key per line"]);
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let folder = Folder::with("graph", "1 2\nx y\n2 3\n4\n3 1 1 1 1\n3 4\n");
    for command in ["run bfs --graph", "run pagerank --graph", "stats", "demo --graph"] {
        let summary = folder.json(&format!("{command} graph --skip-bad-lines"));
        assert_eq!((&summary["skipped_lines"], &summary["edges"]), (&3.into(), &3.into()), "{command}");
    }
    let output = folder.hedgerow("stats graph --skip-bad-lines").success().get_output().clone();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("graph:2:1: found \"x\""), "{text}");
}

#[test]
fn an_empty_graph_has_no_ranks_and_no_source() {
    let folder = Folder::with("graph", "# nothing\n");
    for engine in ["rapid", "tel", "csr"] {
        let options = format!("--graph graph --engine {engine}");
        let summary = folder.json(&format!("run pagerank {options} --output ranks"));
        assert_eq!((&summary["vertices"], &summary["edges"]), (&0.into(), &0.into()));
        assert_eq!(folder.read("ranks"), "");
        folder.fails(&format!("run bfs {options} --source 1"), 3, &["no vertex 1"]);
        folder.fails(&format!("run bfs {options}"), 3, &["no vertex to start from"]);
    }
}

#[test]
fn a_source_that_is_not_in_the_graph_is_an_error() {
    let folder = Folder::with("graph", "1 2\n");
    folder.fails("run bfs --graph graph --source 3 --output depths", 3, &["no vertex 3", "--source"]);
    folder.fails("run bfs --graph graph --keys text --source b", 3, &["no vertex b"]);
    folder.fails("run bfs --graph graph --keys dense --source 4294967295", 3, &["no vertex 4294967295"]);
    assert_eq!(folder.names(), ["graph"]);
}

#[test]
fn every_kernel_refuses_a_source_that_is_not_in_the_graph() {
    let folder = Folder::with("graph", "1 2 1.5\n");
    for kernel in ["bfs", "sssp", "khop", "betweenness"] {
        let command = format!("run {kernel} --graph graph --source 3 --output result");
        folder.fails(&command, 3, &["no vertex 3", "--source"]);
    }
    for kernel in ["khop", "betweenness"] {
        folder.fails(
            &format!("run {kernel} --graph graph --source 1 --source 2 --source 7"),
            3,
            &["no vertex 7"],
        );
    }
    assert_eq!(folder.names(), ["graph"]);
}

#[test]
fn invalid_or_missing_weights_are_named_with_their_edge() {
    let folder = Folder::with("graph", "1 2 0.5\n2 9 -1\n");
    let refused = |graph: &str, parts: &[&str]| {
        folder.fails(&format!("run sssp --graph {graph} --source 1 --output distances"), 3, parts);
    };
    refused("graph", &["graph: the edge from 2 to 9 has the weight -1", "must be 0 or more"]);
    folder.write("missing", "1 2 0.5\n2 9\n");
    refused("missing", &["missing: the edge from 2 to 9 has no weight", "--unit-weights"]);
    folder.write("nan", "1 2 NaN\n");
    refused("nan", &["nan:1:5", "expected a weight"]);
    folder.write("none", "1 2 0.5\n");
    refused("none --columns topology", &["the edge from 1 to 2 has no weight"]);
    assert_eq!(folder.names(), ["graph", "missing", "nan", "none"]);
    folder.hedgerow("run sssp --graph graph --source 1 --unit-weights").success();
}

#[test]
fn an_empty_graph_has_an_answer_to_every_question_without_a_source() {
    let folder = Folder::with("graph", "# nothing\n");
    for engine in ["rapid", "tel", "csr"] {
        for kernel in ["wcc", "lcc", "cdlp", "kcore", "betweenness --all-sources", "betweenness --samples 3"]
        {
            let command = format!("run {kernel} --graph graph --engine {engine} --output result");
            assert_eq!(folder.json(&command)["vertices"], 0);
            assert_eq!(folder.read("result"), "");
        }
        assert_eq!(folder.json(&format!("run triangles --graph graph --engine {engine}"))["triangles"], 0);
        for kernel in ["sssp", "khop"] {
            let command = format!("run {kernel} --graph graph --engine {engine}");
            folder.fails(&command, 3, &["no vertex to start from"]);
        }
    }
}

#[test]
fn dense_ids_with_enormous_gaps_are_refused_before_memory_is_used() {
    let folder = Folder::with("graph", "1 4294967294\n");
    for kernel in ["bfs", "pagerank", "wcc", "lcc", "cdlp", "kcore", "betweenness --all-sources"] {
        for engine in ["rapid", "tel", "csr"] {
            let command =
                format!("run {kernel} --keys dense --engine {engine} --output result --graph graph");
            folder.fails(&command, 4, &["sparse", "; that is --keys number"]);
        }
    }
    assert_eq!(folder.json("run bfs --graph graph")["reached"], 2);
    assert_eq!(folder.names(), ["graph"]);
}

#[test]
fn components_are_counted_however_sparse_the_ids_are() {
    let folder = Folder::with("graph", "1 4294967294\n7 7\n4000000000 1\n30 2000000000\n");
    let expected = serde_json::json!({"count": 3, "largest": 3, "single": 1});
    for options in ["", "--undirected", "--keys dense", "--keys dense --undirected"] {
        assert_eq!(folder.json(&format!("stats graph {options}"))["components"], expected, "{options}");
    }
}

#[test]
fn a_dense_id_beyond_the_limit_is_refused() {
    let folder = Folder::with("graph", "1 4294967295\n");
    for command in ["run bfs --graph", "stats", "demo --graph"] {
        folder.fails(
            &format!("{command} graph --keys dense"),
            4,
            &["4294967295", "4294967294", "--keys number"],
        );
    }
}

#[test]
fn a_result_that_could_not_be_written_is_refused_before_the_graph_is_read() {
    let folder = Folder::with("graph", "no graph\n");
    folder.fails("run bfs --graph graph", 3, &["graph:1:1"]);
    folder.fails("run bfs --graph graph --output no/new", 1, &["no/new"]);
    folder.fails("run pagerank --graph graph --output no/new", 1, &["no/new"]);
}

#[test]
fn a_result_does_not_overwrite_its_input() {
    let folder = Folder::with("graph", "1 2\n");
    folder.write("vertices", "1\n");
    for command in [
        "run bfs --graph graph --output graph",
        "run bfs --graph ./graph --output graph",
        "run bfs --graph graph --vertices vertices --output vertices",
        "stats graph --plot graph",
        "convert graph new.sg --mapping graph",
        "convert graph new.sg --mapping new.sg",
        "convert graph graph --to csv",
        "bench --quick --dataset graph --json graph",
    ] {
        folder.fails(command, 2, &["reads or writes this file already"]);
    }
    assert_eq!(folder.read("graph"), "1 2\n");
    assert_eq!(folder.names(), ["graph", "vertices"]);
}

#[test]
fn a_name_that_promises_what_is_not_written_is_refused() {
    let folder = Folder::with("graph", "1 2\n");
    for command in [
        "run bfs --graph graph --output depths.txt.bz2",
        "stats graph --plot degrees.svg.xz",
        "convert graph graph.zip",
        "generate kronecker --scale 3 --output new.el.bz2",
        "generate stream --vertices 3 --changes 9 --output new.txt.7z",
        "convert graph graph.BZ2",
        "convert graph graph.tar",
        "convert graph graph.sg --mapping keys.lz4",
    ] {
        folder.fails(command, 2, &["cannot write", ".gz, .zst or neither"]);
    }
    for name in ["new.sg", "new.el", "new.adj"] {
        let command = format!("generate uniform --vertices 3 --edges 5 --weights --output {name}");
        folder.fails(&command, 2, &[name, "no place for weights"]);
    }
    folder.fails("generate uniform --vertices 3 --edges 5 --output new.wsg", 1, &["edges without weights"]);
    assert_eq!(folder.names(), ["graph"]);
}

#[test]
fn a_result_that_cannot_be_written_is_an_error_and_leaves_what_was_there() {
    let folder = Folder::with("graph", "1 2\n");
    let refusal = &["no/new: cannot create: No such file or directory", "; look at the folder"];
    folder.fails("run bfs --graph graph --output no/new", 1, refusal);
    folder.fails("run pagerank --graph graph --output no/new", 1, refusal);
    folder.fails("generate kronecker --scale 3 --output no/new", 1, refusal);
    folder.fails("run bfs --graph graph --output .", 1, &["this is a directory"]);
    folder.fails("run bfs .", 3, &["this directory is not a store: `hedgerow import FILE --store DIR`"]);
    folder.write("depths", "old");
    folder.fails("run bfs --graph graph --source 9 --output depths", 3, &[]);
    assert_eq!(folder.read("depths"), "old");
    folder.hedgerow("run bfs --graph graph --source 1 --output depths").success();
    assert_eq!(folder.read("depths"), "1 0\n2 1\n");
    assert_eq!(folder.names(), ["depths", "graph"]);
}
