//! `hedgerow generate`

use crate::common::Folder;

#[test]
fn the_same_seed_gives_the_same_graph_and_another_one_another() {
    let folder = Folder::new();
    let generate = |seed: u32, name: &str| {
        let arguments = format!("generate kronecker --scale 7 --edge-factor 4 --seed {seed} --output {name}");
        let summary = folder.json(&arguments);
        assert_eq!((&summary["edges"], &summary["vertices"]), (&512.into(), &128.into()));
        folder.read(name)
    };
    let (one, again, other) = (generate(1, "one"), generate(1, "again"), generate(2, "other"));
    assert_eq!(one.lines().count(), 512);
    assert_eq!(one, again);
    assert_ne!(one, other);
    let keys = one.split_whitespace().map(|key| key.parse::<u64>().unwrap());
    assert!(keys.max().unwrap() < 128);
    assert_eq!(folder.names(), ["again", "one", "other"]);
}

#[test]
fn the_name_determines_the_compression() {
    let folder = Folder::new();
    for (name, magic) in [("graph.gz", &[0x1f, 0x8b][..]), ("graph.zst", &[0x28, 0xb5, 0x2f, 0xfd][..])] {
        folder.hedgerow(&format!("generate kronecker --scale 5 --output {name}")).success();
        assert!(std::fs::read(folder.path(name)).unwrap().starts_with(magic), "{name}");
        assert_eq!(folder.json(&format!("stats {name}"))["rows"], 512);
    }
}

#[test]
fn uniform_graphs_and_weights_are_the_same_for_the_same_seed() {
    let folder = Folder::new();
    let generate = |options: &str, name: &str| {
        folder.json(&format!("generate uniform --vertices 50 --edges 300 {options} --output {name}"));
        folder.read(name)
    };
    let plain = generate("--seed 7", "plain.txt");
    assert_eq!(plain.lines().count(), 300);
    assert_ne!(plain, generate("--seed 8", "other.txt"));
    let weighted = generate("--seed 7 --weights", "weighted.txt");
    assert_eq!(weighted, generate("--seed 7 --weights", "again.txt"));
    for (plain, weighted) in plain.lines().zip(weighted.lines()) {
        let weight: u64 = weighted.strip_prefix(plain).unwrap().trim().parse().unwrap();
        assert!((1..=255).contains(&weight));
    }
    folder.hedgerow("generate uniform --vertices 50 --edges 300 --seed 7 --output graph.mtx").success();
    let stats = folder.json("stats graph.mtx");
    let edges = folder.json("stats plain.txt");
    assert_eq!((&stats["vertices"], &stats["edges"]), (&50.into(), &edges["edges"]));
}

#[test]
fn the_threads_do_not_change_the_graph() {
    let folder = Folder::new();
    for (model, name) in [
        ("kronecker --scale 14 --edge-factor 9", "g.el"),
        ("uniform --vertices 9999 --edges 150000 --weights", "g.wsg"),
    ] {
        for threads in [1, 3] {
            folder
                .hedgerow(&format!("generate {model} --threads {threads} --output {threads}{name}"))
                .success();
        }
        let read = |threads| std::fs::read(folder.path(&format!("{threads}{name}"))).unwrap();
        assert!(read(1) == read(3), "{name}");
    }
}

#[test]
fn a_stream_is_an_edge_list_of_changes_in_the_order_of_time() {
    let folder = Folder::new();
    let arguments = "generate stream --vertices 100 --changes 2000 --deletions 0.3 --output stream.txt";
    let stream = folder.json(arguments);
    let deletions = stream["deletions"].as_u64().unwrap();
    assert!((300..700).contains(&deletions), "{deletions}");
    let (mut edges, mut time) = (std::collections::HashSet::new(), 0);
    for line in folder.read("stream.txt").lines() {
        let fields: Vec<i64> = line.split(' ').map(|field| field.parse().unwrap()).collect();
        let [source, destination, change, timestamp] = fields[..] else { panic!("{line}") };
        assert!(timestamp >= time);
        time = timestamp;
        match change {
            1 => assert!(edges.insert((source, destination))),
            -1 => assert!(edges.remove(&(source, destination))),
            _ => panic!("{line}"),
        }
    }
    assert_eq!(stream["edges"], edges.len());
    assert_eq!(folder.json("stats stream.txt")["rows"], 2000);
    let again = folder.read("stream.txt");
    folder.hedgerow(arguments).success();
    assert_eq!(folder.read("stream.txt"), again);
}

#[test]
fn impossible_graphs_are_refused() {
    let folder = Folder::new();
    for (arguments, expected) in [
        ("uniform --vertices 0 --edges 1 --output x", "0 vertices"),
        ("uniform --vertices 4294967296 --edges 1 --output x", "4294967296 vertices"),
        ("stream --vertices 1 --changes 5 --output x", "1 vertices, expected 2"),
        ("stream --vertices 9 --changes 5 --output x", "at least one for each"),
        ("stream --vertices 9 --changes 9 --deletions 0.7 --output x", "0 to 0.5"),
        ("stream --vertices 9 --changes 9 --output x.sg", "let its name end in .txt"),
        ("stream --vertices 9 --changes 9 --output x.el.gz", "let its name end in .txt"),
    ] {
        folder.fails(&format!("generate {arguments}"), 2, &[expected]);
    }
    folder.fails("generate uniform --vertices 2 --edges 2 --output x.wsg", 1, &["edges without weights"]);
    assert!(folder.names().is_empty());
}
