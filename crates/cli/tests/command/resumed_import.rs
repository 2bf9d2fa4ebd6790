//! Imports that are stopped and resumed.

use crate::common::{Folder, assert_holds};
use std::fmt::Write;

/// Distinct edges.
fn graph(edges: u64) -> String {
    (0..edges).fold(String::new(), |mut text, edge| {
        writeln!(text, "{} {}", edge % 997, edge).unwrap();
        text
    })
}

#[test]
fn a_bad_line_stops_an_import_which_resumes_when_it_is_fixed() {
    let folder = Folder::with("good", "1 2\n2 3\n");
    let bad = "3 4\n4 5\n5 6\n6 7\n7 8\nx 9\n9 10\n";
    folder.write("bad", bad);
    let import = "import good bad --store store --chunk 2";
    let stopped =
        ["bad:6:1: found \"x\"", "4 edges of", "/bad and all that was named before it are in store"];
    folder.fails(import, 3, &stopped);
    let info = folder.json("info store");
    assert_eq!(
        (&info["edges"], &info["timestamp"], &info["import"]["finished"]),
        (&6.into(), &3.into(), &false.into())
    );
    assert!(folder.text("info store").contains("interrupted in"));
    // Nothing is imported twice, even if nothing can be imported.
    folder.fails(import, 3, &stopped);
    assert_eq!(folder.json("info store")["timestamp"], 3);
    folder.write("bad", bad.replace('x', "8"));
    let resumed = folder.json("import good bad --store store --chunk 100");
    assert_eq!(
        (&resumed["resumed"], &resumed["rows"], &resumed["commits"]),
        (&true.into(), &3.into(), &2.into())
    );
    assert_holds(&folder, "1 2\n2 3\n3 4\n4 5\n5 6\n6 7\n7 8\n8 9\n9 10\n");
    assert_eq!(folder.json("info store")["import"]["finished"], true);
    folder.write("next", "1 100\n");
    assert_eq!(folder.json("import next --store store")["resumed"], false);
}

#[test]
fn vertices_and_edges_resume_independently() {
    // Lines without neighbors come before the edges of their batch: their order depends on the size
    // of the chunks.
    let lines: Vec<_> = (0..40)
        .map(|vertex| {
            if vertex % 3 == 0 {
                format!("{vertex} {} {}", vertex + 1, vertex + 2)
            } else {
                format!("{}", vertex + 1000)
            }
        })
        .collect();
    let whole = lines.join("\n");
    for stop in [1, 7, 20, 39] {
        for (chunk, next) in [(1, 5), (3, 2), (5, 100)] {
            let folder = Folder::new();
            let mut bad = lines.clone();
            bad[stop] = "x".into();
            folder.write("graph.adj", bad.join("\n"));
            let import = "import graph.adj --store store --chunk";
            folder.fails(&format!("{import} {chunk}"), 3, &[&format!("graph.adj:{}:1", stop + 1)]);
            folder.write("graph.adj", &whole);
            let resumed = folder.json(&format!("{import} {next}"));
            let stats = folder.json("stats graph.adj");
            for field in ["vertices", "edges"] {
                assert_eq!(resumed[field], stats[field], "{stop} {chunk} {next}");
            }
        }
    }
}

#[test]
fn another_import_is_distinguished_from_the_interrupted_one() {
    let folder = Folder::with("graph", "1 2\n2 3\n3 4\n4 x\n");
    folder.write("other", "7 8\n");
    folder.fails("import graph --store store --chunk 1", 3, &["graph:4:3"]);
    let interrupted =
        ["an import of other files into store was interrupted", "/graph (format auto", "--anew"];
    folder.fails("import other --store store", 2, &interrupted);
    folder.fails("import graph other --store store", 2, &interrupted);
    folder.fails("import graph --store store --columns topology", 2, &interrupted);
    folder.write("graph", "1 2\n2 4\n3 4\n4 5\n");
    folder.fails(
        "import graph --store store",
        2,
        &["graph was changed where it is imported already", "--anew"],
    );
    folder.write("graph", "1 2\n");
    folder.fails("import graph --store store", 2, &["graph was changed where it is imported already"]);
    folder.json("import other --store store --anew");
    folder.write("graph", "1 2\n2 3\n3 4\n");
    assert_eq!(folder.json("import graph --store store")["rows"], 3);
    assert_holds(&folder, "1 2\n2 3\n3 4\n7 8\n");
}

#[cfg(target_os = "linux")]
mod signals {
    use super::*;
    use crate::common::{listens, send};
    use std::io::Read;
    use std::thread;
    use std::time::Duration;

    const EDGES: u64 = 200_000;
    const CHUNK: u64 = 500;

    #[test]
    fn an_import_that_is_killed_at_any_moment_goes_on_and_imports_nothing_twice() {
        is_killed_and_goes_on("");
    }

    /// Parts of the graph are in files of the engine when the process dies, others in the log only.
    #[test]
    fn an_import_to_disk_that_is_killed_at_any_moment_goes_on() {
        is_killed_and_goes_on(" --engine lsm --memory 200KiB");
    }

    fn is_killed_and_goes_on(options: &str) {
        let text = graph(EDGES);
        let folder = Folder::with("graph", &text);
        let import = format!("import graph --store store --checkpoint never --chunk {CHUNK}{options}");
        let mut random = 12_345_u64;
        let mut killed = 0;
        for _ in 0..10 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mut child = folder.start(&import);
            thread::sleep(Duration::from_millis(5 + (random >> 33) % 400));
            let was_running = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            killed += u32::from(was_running && !child.wait().unwrap().success());
        }
        assert!(killed > 0, "the import was over before it could be killed");
        folder.json(&import);
        assert_holds(&folder, &text);
        // Every chunk was one commit, and the end another. After a complete import a new one began.
        let info = folder.json("info store");
        let (finished, commits) = (&info["import"]["finished"], info["timestamp"].as_u64().unwrap());
        assert_eq!((finished, commits % (EDGES / CHUNK + 1)), (&true.into(), 0), "{commits} commits");
        assert!(folder.json("check store")["whole"] == true);
    }

    #[test]
    fn ctrl_c_ends_an_import_after_its_chunk_and_it_goes_on() {
        let text = graph(EDGES);
        let folder = Folder::with("graph", &text);
        let import = format!("import graph --store store --chunk {CHUNK}");
        let mut child = folder.start(&import);
        while !listens(&child) || !folder.path("store/MANIFEST").exists() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(50));
        send(&child, "-INT");
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{error}");
        let parts =
            ["error: interrupted by Ctrl-C; ", " edges of ", "in store: the same command goes on from there"];
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
        let imported = folder.json("info store --quick");
        assert_eq!(imported["open_in"], serde_json::Value::Null);
        let resumed = folder.json(&import);
        assert_eq!(resumed["resumed"], true);
        assert!(resumed["rows"].as_u64().is_some_and(|rows| rows < EDGES && rows % CHUNK == 0));
        assert_holds(&folder, &text);
    }
}
