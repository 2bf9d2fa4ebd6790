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
fn the_name_decides_on_compression() {
    let folder = Folder::new();
    for (name, magic) in [("graph.gz", &[0x1f, 0x8b][..]), ("graph.zst", &[0x28, 0xb5, 0x2f, 0xfd][..])] {
        folder.hedgerow(&format!("generate kronecker --scale 5 --output {name}")).success();
        assert!(std::fs::read(folder.path(name)).unwrap().starts_with(magic), "{name}");
        assert_eq!(folder.json(&format!("stats {name}"))["rows"], 512);
    }
}
