//! Streams that are put into a store.

use crate::common::{Folder, assert_holds, engine_options, lines_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Random numbers below a bound.
fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut random = seed;
    move |bound| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    }
}

/// Runs `hedgerow ingest`, which must succeed; returns the last line of its JSON.
fn ingest(folder: &Folder, arguments: &str) -> Value {
    let output = folder.text(&format!("ingest {arguments} --json"));
    serde_json::from_str(output.lines().next_back().unwrap()).unwrap()
}

/// Lines of operations on random edges of a few vertices, with a comment now and then.
fn operations(count: u64, vertices: u64, seed: u64) -> String {
    let mut draw = draws(seed);
    (0..count).fold(String::new(), |mut text, _| {
        let sign = if draw(3) == 0 { '-' } else { '+' };
        writeln!(text, "{sign} {} {}", draw(vertices), draw(vertices)).unwrap();
        if draw(50) == 0 {
            text.push_str("# a comment\n");
        }
        text
    })
}

/// The edges after these lines, as an edge list.
fn after(operations: &str) -> String {
    let mut edges = BTreeSet::new();
    for line in operations.lines().filter(|line| !line.starts_with('#')) {
        match line.split_at(2) {
            ("+ ", edge) => _ = edges.insert(edge),
            (_, edge) => _ = edges.remove(edge),
        }
    }
    edges.into_iter().fold(String::new(), |text, edge| text + edge + "\n")
}

#[test]
fn a_file_is_read_as_an_import_reads_it() {
    let folder = Folder::with(
        "graph",
        "source,target,weight\n# a comment\n1,2,0.5\n2,3,1.5\n\n3\t1 2 77\n1 2 4\n9 9 3",
    );
    folder.write("names", "anna ben\nben \tcarl\n");
    for (file, options) in [
        ("graph", ""),
        ("graph", "--undirected"),
        ("graph", "--reverse --keys dense --engine tel"),
        ("graph", "--weights --label likes"),
        ("graph", "--labels likes,loves:f64 --label loves"),
        ("names", "--keys text"),
        ("names", "--keys text --undirected --engine hybrid"),
    ] {
        for batch in [1, 2, 1000] {
            let folder_of = |name: &str| drop(std::fs::remove_dir_all(folder.path(name)));
            folder_of("one");
            folder_of("other");
            let ingested = ingest(&folder, &format!("{file} one --batch {batch} {options}"));
            let imported = folder.json(&format!("import {file} --store other --format edges {options}"));
            let rows = imported["rows"].as_u64().unwrap();
            assert_eq!((&ingested["edges"], &ingested["created"]), (&rows.into(), &true.into()), "{options}");
            assert_eq!(ingested["commits"], rows.div_ceil(batch) + 1, "{options}");
            for field in ["topology", "keys", "label", "engine"] {
                assert_eq!(ingested[field], imported[field], "{options}");
            }
            assert_eq!(ingested["edges_of_store"], imported["edges"], "{options}");
            folder.hedgerow("export one --output one.txt --quiet").success();
            folder.hedgerow("export other --output other.txt --quiet").success();
            assert_eq!(lines_of(&folder.read("one.txt")), lines_of(&folder.read("other.txt")), "{options}");
        }
    }
    folder.fails("ingest graph typed --labels likes:u32", 2, &["a weight of type f64 at most", "u32"]);
    folder.fails(
        "ingest graph plain --labels likes --weights",
        2,
        &["--weights: the edges of the label \"likes\""],
    );
    folder.fails("ingest none store", 3, &["none: cannot open"]);
    assert!(!folder.path("typed").exists() && !folder.path("store").exists());
}

#[test]
fn binary_pairs_are_edges_of_numbers_or_ids() {
    let edges = (0..3000).map(|edge| (edge % 97, edge * 3 % 1009)).collect::<Vec<(u32, u32)>>();
    let expected = edges.iter().fold(String::new(), |text, (from, to)| text + &format!("{from} {to}\n"));
    let narrow: Vec<u8> =
        edges.iter().flat_map(|(from, to)| [*from, *to]).flat_map(u32::to_le_bytes).collect();
    let wide = edges.iter().flat_map(|(from, to)| [*from, *to]).map(u64::from);
    let wide: Vec<u8> = wide.flat_map(u64::to_le_bytes).collect();
    for (format, bytes, width) in [("pairs32", &narrow, 8), ("pairs64", &wide, 16)] {
        for keys in ["number", "dense"] {
            let folder = Folder::with("edges", bytes);
            let command = format!("edges store --format {format} --keys {keys} --batch 700");
            let ingested = ingest(&folder, &command);
            assert_eq!((&ingested["edges"], &ingested["commits"]), (&3000.into(), &6.into()));
            assert_holds(&folder, &expected);
            // A pair that is cut short.
            folder.write("edges", [&bytes[..], &[7; 5]].concat());
            let end = bytes.len();
            let cut =
                format!("edges: byte {end}: found the end after 5 bytes, expected a pair of {width} bytes");
            folder.fails(&format!("ingest {command}"), 3, &[&cut]);
            folder.write("edges", [bytes, &bytes[..width]].concat());
            let ingested = ingest(&folder, &command);
            assert_eq!((&ingested["edges"], &ingested["resumed_at"]), (&1.into(), &end.into()));
        }
    }
    let folder = Folder::with("edges", [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    let parts = ["edges: byte 8: found the pair 3 4294967295", "the first 8 bytes of ", " are in store"];
    folder.fails("ingest edges store --format pairs32 --keys dense", 3, &parts);
    assert_holds(&folder, "1 2\n");
}

#[test]
fn the_last_operation_on_an_edge_counts_whatever_the_commits() {
    let text = operations(1500, 12, 7);
    for engine in engine_options() {
        for options in ["--batch 1", "--batch 7", "--undirected --batch 64", ""] {
            let folder = Folder::with("events", &text);
            let ingested = ingest(&folder, &format!("events store --format operations {engine} {options}"));
            let deletions = text.lines().filter(|line| line.starts_with('-')).count();
            assert_eq!(ingested["deletions"], deletions, "{engine} {options}");
            if options.contains("--undirected") {
                // The order of the ends has no meaning.
                let sorted = |line: &str| {
                    let mut ends: Vec<u64> = line[2..].split(' ').map(|end| end.parse().unwrap()).collect();
                    ends.sort_unstable();
                    format!("{} {} {}\n", &line[..1], ends[0], ends[1])
                };
                let sorted: String = text.lines().filter(|line| !line.starts_with('#')).map(sorted).collect();
                folder.json("export store --output edges.el");
                let found = folder.read("edges.el").lines().count();
                assert_eq!(found, after(&sorted).lines().count(), "{engine}");
            } else {
                assert_holds(&folder, &after(&text));
            }
        }
    }
}

#[test]
fn a_bad_line_stops_the_stream_where_it_is_and_the_rest_follows() {
    let folder = Folder::with("graph", "1 2\n2 3\n3 x\n4 5\n");
    let stopped =
        ["graph:3:3: found \"x\"", "the edges of the first 8 bytes of", "in store: the same command goes on"];
    folder.fails("ingest graph store", 3, &stopped);
    assert_holds(&folder, "1 2\n2 3\n");
    let info = folder.json("info store");
    assert_eq!((&info["import"]["bytes"], &info["import"]["finished"]), (&8.into(), &false.into()));
    assert!(folder.text("info store").contains("not finished, 8 bytes of "));
    folder.write("other", "7 8\n");
    for other in ["ingest other store", "import other --store store"] {
        folder.fails(other, 2, &["store has 8 bytes of ", "/graph, and `hedgerow ingest`", "--anew"]);
    }
    let skipping = ingest(&folder, "graph store --skip-bad-lines");
    assert_eq!((&skipping["skipped_lines"], &skipping["edges"]), (&1.into(), &1.into()));
    folder.write("graph", "1 2\n2 3\n3 x\n4 5\n5 6\n6 7");
    let ingested = ingest(&folder, "graph store");
    assert_eq!((&ingested["edges"], &ingested["resumed_at"]), (&2.into(), &16.into()));
    assert_holds(&folder, "1 2\n2 3\n4 5\n5 6\n6 7\n");
    // A finished file is followed by others.
    assert_eq!(ingest(&folder, "other store")["edges"], 1);
    assert_eq!(ingest(&folder, "other store")["commits"], 0, "nothing is new");
    folder.json("import graph --store store --skip-bad-lines");
    let unsigned = ["other:1:1: found \"7 8\", expected + or -"];
    folder.fails("ingest other store --format operations", 3, &unsigned);
}

#[test]
fn another_file_of_the_same_name_is_refused() {
    let folder = Folder::with("graph", "1 2\n2 3\n3 4\n");
    ingest(&folder, "graph store");
    folder.write("graph", "1 2\n2 3\n");
    folder.fails("ingest graph store", 2, &["graph has 8 bytes now, but 12 bytes of it were read", "--anew"]);
    folder.write("graph", "1 2\n2 9\n3 4\n4 5\n");
    folder.fails(
        "ingest graph store",
        2,
        &["graph does not begin with the 12 bytes that the store has", "--anew"],
    );
    assert_holds(&folder, "1 2\n2 3\n3 4\n");
    assert_eq!(ingest(&folder, "graph store --anew")["edges"], 4);
    // Far from the position, only a replay sees that another byte has changed.
    let text = (0..5000).fold(String::new(), |text, edge| text + &format!("7 {edge}\n"));
    folder.write("long", &text);
    ingest(&folder, "long store");
    folder.write("long", text.replacen('7', "8", 1) + "1 1\n");
    folder.fails("ingest long store --replayed", 2, &["long does not begin with", "--anew"]);
    assert_eq!(ingest(&folder, "long store")["edges"], 1);
}

#[test]
fn a_pipe_is_new_or_comes_again() {
    let folder = Folder::new();
    let run = |arguments: &str, input: &str| {
        let mut command = folder.command(&format!("ingest - store --json {arguments}"));
        let output = command.write_stdin(input).output().unwrap();
        let text = if output.status.success() { output.stdout } else { output.stderr };
        let last = String::from_utf8(text).unwrap().lines().next_back().unwrap().to_owned();
        let json: Value = serde_json::from_str(&last).unwrap();
        (output.status.code().unwrap(), json)
    };
    assert_eq!(run("", "1 2\n2 3").1["edges"], 2, "an unfinished line is a line");
    assert_eq!(run("", "3 4\n").1["edges"], 1, "all bytes are new");
    assert_eq!(run("--replayed", "3 4\n5 6\n").1["edges"], 1, "the store has the first line");
    assert_eq!(run("--replayed", "3 4\n5 6\n7 x\n").0, 3);
    let (code, error) = run("--replayed", "3 4\n5 7\n7 8\n");
    assert_eq!((code, error["error"].as_str().unwrap().contains("--anew")), (2, true), "{error}");
    let (code, error) = run("--replayed", "3 4\n");
    assert_eq!((code, error["exit_code"].clone()), (2, 2.into()), "{error}");
    assert_eq!(run("--replayed", "3 4\n5 6\n7 8\n").1["resumed_at"], 8);
    assert_holds(&folder, "1 2\n2 3\n3 4\n5 6\n7 8\n");
}

#[cfg(target_os = "linux")]
mod live {
    use super::*;
    use crate::common::{PROGRAM, listens, send};
    use std::fs::OpenOptions;
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    /// Starts the command with a pipe as its standard input.
    fn piped(folder: &Folder, arguments: &str) -> Child {
        let mut command = Command::new(PROGRAM);
        command.args(arguments.split_whitespace()).current_dir(folder.root());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until other processes see this number of edges in the store.
    fn await_edges(folder: &Folder, edges: usize) {
        let begin = Instant::now();
        loop {
            let is_copied = folder.command("backup store copy --quiet").output().unwrap().status.success();
            let found = is_copied.then(|| folder.json("stats copy")["edges"].clone());
            if found == Some(edges.into()) {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(30), "{found:?} edges, expected {edges}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Sends a signal and returns both outputs; the command must end with this exit code.
    fn ended_by(signal: &str, code: i32, mut child: Child) -> (String, String) {
        send(&child, signal);
        let (mut output, mut error) = (String::new(), String::new());
        child.stdout.take().map(|mut pipe| pipe.read_to_string(&mut output).unwrap());
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{error}");
        (output, error)
    }

    #[test]
    fn a_growing_file_is_followed_until_a_signal_and_goes_on_later() {
        for (signal, name) in [("-INT", "Ctrl-C"), ("-TERM", "SIGTERM")] {
            let folder = Folder::with("graph", "1 2\n");
            let append = |text: &str| {
                let mut file = OpenOptions::new().append(true).open(folder.path("graph")).unwrap();
                file.write_all(text.as_bytes()).unwrap();
            };
            let child = piped(&folder, "ingest graph store --follow --within 0.01 --json");
            await_edges(&folder, 1);
            append("2 3\n3 4");
            await_edges(&folder, 2);
            append("5\n4 5\n");
            await_edges(&folder, 4);
            append("6");
            let (output, error) = ended_by(signal, 0, child);
            assert_eq!(error, "");
            let last: Value = serde_json::from_str(output.lines().next_back().unwrap()).unwrap();
            assert_eq!(
                (&last["ended"], &last["edges"], &last["signal"]),
                (&true.into(), &4.into(), &name.into())
            );
            append(" 7\n");
            let ingested = ingest(&folder, "graph store");
            assert_eq!((&ingested["edges"], &ingested["resumed_at"]), (&1.into(), &17.into()));
            assert_holds(&folder, "1 2\n2 3\n3 45\n4 5\n6 7\n");
        }
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_followed_is_an_error() {
        let folder = Folder::with("graph", "1 2\n2 3\n");
        let mut child = piped(&folder, "ingest graph store --follow");
        await_edges(&folder, 2);
        folder.write("graph", "7\n");
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{error}");
        assert!(error.contains("bytes now, but 8 bytes of it were read"), "{error}");
    }

    #[test]
    fn edges_of_a_slow_pipe_are_committed_in_time_and_figures_are_printed() {
        let folder = Folder::new();
        let mut child = piped(&folder, "ingest - store --follow --within 0.05 --json");
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(b"1 2\n2 3\n3").unwrap();
        await_edges(&folder, 2);
        // Longer than the time between two lines.
        thread::sleep(Duration::from_millis(1200));
        pipe.write_all(b" 4").unwrap();
        drop(pipe);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        let output = String::from_utf8(output.stdout).unwrap();
        let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(lines.len() >= 2, "{output}");
        let (last, before) = lines.split_last().unwrap();
        assert!(before.iter().all(|line| line["ended"] == false && line["lag_bytes"].is_null()));
        let then = &before[before.len() - 1];
        assert_eq!((&then["edges"], &then["bytes"]), (&2.into(), &8.into()));
        assert!(then["age_seconds"].as_f64().unwrap() > 0.5, "{then}");
        assert_eq!((&last["ended"], &last["edges"], &last["bytes"]), (&true.into(), &3.into(), &11.into()));
    }

    #[test]
    fn ctrl_c_commits_what_a_pipe_has_brought() {
        let folder = Folder::new();
        let mut child = piped(&folder, "ingest - store --within 100");
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(b"1 2\n2 3\n3").unwrap();
        while !listens(&child) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(300));
        let (_, error) = ended_by("-INT", 130, child);
        let parts = [
            "error: interrupted by Ctrl-C; ",
            "the first 8 bytes of standard input are in store: --replayed",
        ];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        drop(pipe);
        assert_holds(&folder, "1 2\n2 3\n");
    }

    #[test]
    fn a_stream_that_is_killed_at_any_moment_is_in_the_store_exactly_up_to_its_position() {
        is_killed_and_goes_on(" --durability sync");
    }

    #[test]
    fn a_stream_to_disk_that_is_killed_at_any_moment_goes_on() {
        is_killed_and_goes_on(" --engine lsm --memory 200KiB --durability sync");
    }

    fn is_killed_and_goes_on(options: &str) {
        let text = operations(300_000, 300, 3);
        let folder = Folder::with("events", &text);
        let command = format!("events store --format operations --checkpoint never --batch 300{options}");
        let (mut draw, mut stops) = (draws(5), BTreeSet::new());
        for _ in 0..8 {
            let mut child = folder.start(&format!("ingest {command}"));
            thread::sleep(Duration::from_millis(100 + draw(250)));
            child.kill().unwrap();
            child.wait().unwrap();
            if !folder.path("store/MANIFEST").exists() {
                continue;
            }
            let bytes = folder.json("info store")["import"]["bytes"].as_u64().unwrap_or(0) as usize;
            assert_holds(&folder, &after(&text[..bytes]));
            stops.insert(bytes);
        }
        assert!(
            stops.iter().any(|bytes| (1..text.len()).contains(bytes)),
            "it was over before it was killed"
        );
        let ingested = ingest(&folder, &command);
        let rest = &text[ingested["resumed_at"].as_u64().unwrap() as usize..];
        let changes = rest.lines().filter(|line| !line.starts_with('#')).count() as u64;
        assert_eq!(ingested["edges"].as_u64().unwrap() + ingested["deletions"].as_u64().unwrap(), changes);
        assert_holds(&folder, &after(&text));
        assert!(folder.json("check store")["whole"] == true);
    }
}
