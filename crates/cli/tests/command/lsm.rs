//! Stores of the engine `lsm`, which keeps edges on disk.

use crate::common::Folder;

/// So little that an import is flushed and compacted several times.
const MEMORY: &str = "--memory 200KiB";

#[test]
fn results_are_equal_on_disk_and_in_memory() {
    let folder = Folder::new();
    folder.json("generate kronecker --scale 12 --weights --output kron");
    folder.json("import kron --store memory --weights --undirected");
    let imported =
        folder.json(&format!("import kron --store disk --weights --undirected --engine lsm {MEMORY}"));
    assert_eq!((&imported["engine"], &imported["edges_added"]), (&"lsm".into(), &serde_json::Value::Null));
    for kernel in ["bfs", "sssp", "wcc", "kcore", "lcc"] {
        let run = |store: &str, memory: &str| {
            let run = format!("run {kernel} {store} --threads 2 --output {store}.txt {memory}");
            let summary = folder.json(&run);
            (summary["engine"].clone(), folder.read(&format!("{store}.txt")))
        };
        let ((in_memory, expected), (on_disk, found)) = (run("memory", ""), run("disk", MEMORY));
        assert_eq!((in_memory, on_disk), ("rapid".into(), "lsm".into()));
        assert!(found == expected, "{kernel}");
    }
    let counted = |store: &str| {
        let stats = folder.json(&format!("stats {store}"));
        ["vertices", "edges", "self_loops", "degrees"].map(|field| stats[field].clone())
    };
    assert_eq!(counted("disk"), counted("memory"));
    folder.fails("run bfs disk --engine rapid", 2, &["is lsm, not rapid"]);
    folder.fails(&format!("run bfs memory {MEMORY}"), 3, &["\"rapid\"", "leave the memory budget out"]);
}

#[test]
fn edges_are_put_found_and_deleted() {
    let folder = Folder::with("graph", "1 2\n1 3\n2 3\n1 2\n");
    folder.json("import graph --store store --engine lsm");
    folder.text("put edge 3 4 --store store");
    folder.text("delete edge 1 2 --store store");
    assert_eq!(folder.text("neighbors 1 --store store"), "3\n");
    assert_eq!(folder.text("neighbors 3 --store store"), "4\n");
    folder.text("checkpoint store");
    let info = folder.json("info store");
    assert_eq!((&info["engine"], &info["vertices"]), (&"lsm".into(), &4.into()));
    assert!(info["edges_at_least"].as_u64() < info["edges"].as_u64());
    assert!(folder.text("info store").contains("at most "));
    assert_eq!(folder.text("neighbors 2 --store store"), "3\n");
}
