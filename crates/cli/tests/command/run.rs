//! `hedgerow run`: options, summaries, result files.

use crate::common::{Folder, PROGRAM, key_values};
use flate2::read::GzDecoder;
use std::io::Read;

const UNREACHED: &str = "9223372036854775807";

/// A path 10 -> 20 -> 30 with a repeated edge and a self loop, and an edge 40 -> 10.
const PATH: &str = "# a comment\n10 20\n20 30 0.5\n10 20\n20 20\n40 10\n";

fn lines(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

#[test]
fn results_are_in_the_order_in_which_vertices_first_appear() {
    let folder = Folder::with("graph", PATH);
    for engine in ["rapid", "csr"] {
        folder
            .hedgerow(&format!("run bfs --graph graph --source 10 --engine {engine} --output depths"))
            .success();
        let expected = lines(&[("10", "0"), ("20", "1"), ("30", "2"), ("40", UNREACHED)]);
        assert_eq!(key_values(&folder.read("depths")), expected, "{engine}");
    }
    assert_eq!(folder.names(), ["depths", "graph"]);
}

#[test]
fn undirected_edges_are_followed_both_ways() {
    let folder = Folder::with("graph", PATH);
    folder.hedgerow("run bfs --graph graph --source 30 --undirected --output depths").success();
    let expected = lines(&[("10", "2"), ("20", "1"), ("30", "0"), ("40", "3")]);
    assert_eq!(key_values(&folder.read("depths")), expected);
}

#[test]
fn the_summary_of_bfs_has_the_facts() {
    let folder = Folder::with("graph", PATH);
    let summary = folder.json("run bfs --graph graph --source 10 --threads 1");
    assert_eq!(summary["kernel"], "bfs");
    assert_eq!(
        (&summary["vertices"], &summary["edges"], &summary["rows"]),
        (&4.into(), &4.into(), &5.into())
    );
    assert_eq!((&summary["reached"], &summary["levels"]), (&3.into(), &3.into()));
    assert_eq!((&summary["source"], &summary["source_chosen"]), (&10.into(), &false.into()));
    assert_eq!((&summary["engine"], &summary["threads"]), (&"csr".into(), &1.into()));
    assert_eq!(summary["skipped_lines"], 0);
    assert!(summary["load_seconds"].as_f64().unwrap() > 0.0);
    assert!(summary["kernel_seconds"].as_f64().unwrap() > 0.0);

    let output = folder.hedgerow("run bfs --graph graph --source 10").success().get_output().clone();
    let text = String::from_utf8(output.stderr).unwrap();
    for part in ["vertices", "4 in 5 rows", "edges/s", "reached", "3 of 4", "levels"] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn without_a_source_the_search_starts_at_the_largest_out_degree() {
    let folder = Folder::with("graph", PATH);
    let summary = folder.json("run bfs --graph graph");
    assert_eq!((&summary["source"], &summary["source_chosen"]), (&20.into(), &true.into()));
    // The first of the vertices with equal degrees.
    let tie = Folder::with("graph", "7 8\n9 8\n");
    for engine in ["rapid", "csr"] {
        assert_eq!(tie.json(&format!("run bfs --graph graph --engine {engine}"))["source"], 7);
    }
}

#[test]
fn pagerank_runs_ten_iterations_by_default() {
    let folder = Folder::with("graph", PATH);
    let summary = folder.json("run pagerank --graph graph --output ranks");
    assert_eq!((&summary["kernel"], &summary["iterations"]), (&"pagerank".into(), &10.into()));
    assert_eq!(folder.json("run pagerank --graph graph --iterations 3")["iterations"], 3);
    let tolerant = folder.json("run pagerank --graph graph --iterations 10000 --tolerance 1e-3");
    assert!((1..10000).contains(&tolerant["iterations"].as_u64().unwrap()));

    let ranks = key_values(&folder.read("ranks"));
    let rank = |key: &str| -> f64 {
        ranks.iter().find(|(found, _)| found == key).map(|(_, rank)| rank.parse().unwrap()).unwrap()
    };
    let sum: f64 = ["10", "20", "30", "40"].iter().map(|key| rank(key)).sum();
    assert!((sum - 1.0).abs() < 1e-12);
    let top = summary["top"].as_array().unwrap();
    assert_eq!(top.len(), 4);
    assert!(top.windows(2).all(|pair| pair[0]["rank"].as_f64() >= pair[1]["rank"].as_f64()));
    // The summary and the file have the same digits.
    let output = folder.hedgerow("run pagerank --graph graph --json").success().get_output().clone();
    let json = String::from_utf8(output.stdout).unwrap();
    assert!(ranks.iter().all(|(_, rank)| json.contains(&format!("\"rank\": {rank}\n"))), "{json}");
}

#[test]
fn without_damping_and_iterations_all_ranks_are_equal() {
    let folder = Folder::with("graph", PATH);
    for options in ["--iterations 0", "--damping 0"] {
        folder.hedgerow(&format!("run pagerank --graph graph {options} --output ranks")).success();
        let ranks = key_values(&folder.read("ranks"));
        assert!(ranks.iter().all(|(_, rank)| rank == "0.25"), "{options}: {ranks:?}");
    }
}

#[test]
fn engines_and_threads_agree() {
    let folder = Folder::new();
    folder.hedgerow("generate kronecker --scale 10 --edge-factor 8 --output graph").success();
    for direction in ["", "--undirected"] {
        let run = |kernel: &str, options: &str| {
            let arguments = format!("run {kernel} --graph graph {direction} {options} --output result");
            folder.hedgerow(&arguments).success();
            key_values(&folder.read("result"))
        };
        let exact = [
            "bfs",
            "sssp --unit-weights",
            "wcc",
            "lcc",
            "cdlp",
            "kcore",
            "khop --hops 1",
            "betweenness --samples 5",
            "betweenness --samples 1 --seed 2",
        ];
        let alone = exact.map(|kernel| run(kernel, "--threads 1"));
        let ranks = run("pagerank", "--threads 1");
        for options in ["--threads 3", "--engine csr --threads 1", "--engine csr --threads 2"] {
            for (kernel, alone) in exact.iter().zip(&alone) {
                assert_eq!(run(kernel, options), *alone, "{kernel} {options}");
            }
            for ((key, rank), (other_key, other)) in run("pagerank", options).iter().zip(&ranks) {
                let (rank, other): (f64, f64) = (rank.parse().unwrap(), other.parse().unwrap());
                assert_eq!(key, other_key);
                assert!((rank - other).abs() < 1e-12, "{options}: vertex {key}: {rank} and {other}");
            }
        }
    }
}

#[test]
fn a_vertex_on_its_own_is_a_vertex() {
    let folder = Folder::with("graph.e", "1 2\n");
    folder.write("more", "7\n2\n");
    folder.hedgerow("run bfs --graph graph.e --vertices more --source 1 --output depths").success();
    let expected = lines(&[("7", UNREACHED), ("2", "1"), ("1", "0")]);
    assert_eq!(key_values(&folder.read("depths")), expected);

    folder.write("graph.v", "5\n");
    assert_eq!(folder.json("run bfs --graph graph.e")["vertices"], 3);
    assert_eq!(folder.json("run bfs --graph graph.e --vertices more")["vertices"], 4);

    folder.write("lines", "1 2 3\n4\n");
    assert_eq!(folder.json("run pagerank --graph lines --format adjacency")["vertices"], 4);
}

#[test]
fn keys_can_be_text() {
    let folder = Folder::with("graph", "Zürich Genève\nGenève Bern 7\n");
    let summary = folder.json("run bfs --graph graph --keys text --source Zürich --output depths");
    assert_eq!((&summary["source"], &summary["reached"]), (&"Zürich".into(), &3.into()));
    assert_eq!(folder.read("depths"), "Zürich 0\nGenève 1\nBern 2\n");
}

#[test]
fn number_keys_have_the_full_range() {
    let graph = "0 4294967294\n4294967294 4294967295\n4294967295 18446744073709551615\n";
    let folder = Folder::with("graph", graph);
    for engine in ["rapid", "csr"] {
        folder
            .hedgerow(&format!("run bfs --graph graph --source 0 --engine {engine} --output depths"))
            .success();
        let expected = "0 0\n4294967294 1\n4294967295 2\n18446744073709551615 3\n";
        assert_eq!(folder.read("depths"), expected, "{engine}");
    }
    folder.hedgerow("run bfs --graph graph --source 18446744073709551615").success();
}

#[test]
fn dense_keys_are_ids_and_gaps_are_no_vertices() {
    let folder = Folder::with("graph", "5 3\n3 9\n");
    for engine in ["rapid", "csr"] {
        let arguments = format!("run pagerank --graph graph --keys dense --engine {engine} --output ranks");
        assert_eq!(folder.json(&arguments)["vertices"], 3);
        let keys: Vec<_> = key_values(&folder.read("ranks")).into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["3", "5", "9"]);
    }
}

#[test]
fn compressed_files_and_column_orders_are_read() {
    let folder = Folder::new();
    folder.hedgerow("generate kronecker --scale 6 --output plain").success();
    for name in ["graph.gz", "graph.zst"] {
        folder.hedgerow(&format!("generate kronecker --scale 6 --output {name}")).success();
        let plain = folder.json("stats plain");
        let packed = folder.json(&format!("stats {name}"));
        assert_eq!((&plain["edges"], &plain["degrees"]), (&packed["edges"], &packed["degrees"]));
    }
    folder.write("timed", "1 2 1082040961.5 0.5\n");
    folder.hedgerow("stats timed --columns timestamp").success();
    folder.write("odd", "1 2 x y\n");
    folder.fails("stats odd", 3, &["odd:1:5", "weight"]);
    folder.hedgerow("stats odd --columns topology").success();
}

#[test]
fn a_graph_can_come_from_standard_input() {
    let folder = Folder::new();
    let read = |command: &str, input: &'static str| {
        let mut hedgerow = assert_cmd::Command::new(PROGRAM);
        hedgerow.current_dir(folder.root()).args(command.split_whitespace()).write_stdin(input).assert()
    };
    read("run bfs --graph - --source 1 --output depths", "1 2\n2 3\n").success();
    assert_eq!(folder.read("depths"), "1 0\n2 1\n3 2\n");
    let refused = read("stats -", "1 2\n3\n").code(3).get_output().clone();
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.starts_with("error: standard input:2:2: "), "{error}");
}

#[test]
fn a_result_is_compressed_if_its_name_says_so() {
    let folder = Folder::with("graph", "1 2\n2 3\n");
    folder.hedgerow("run bfs --graph graph --source 1 --output depths.gz").success();
    let mut text = String::new();
    GzDecoder::new(&std::fs::read(folder.path("depths.gz")).unwrap()[..]).read_to_string(&mut text).unwrap();
    assert_eq!(text, "1 0\n2 1\n3 2\n");
    // A mapping is compressed, too; and the command reads a file that it has written.
    folder.hedgerow("convert graph graph.mtx --keys text --mapping keys.zst").success();
    assert_eq!(folder.json("stats keys.zst")["rows"], 3);
}
