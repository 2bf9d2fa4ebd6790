//! `--scratch`

#![cfg(target_os = "linux")]

use crate::common::Folder;

#[test]
fn results_are_equal_in_a_file_and_in_memory() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("scratch")).unwrap();
    folder.json("generate kronecker --scale 10 --output kron");
    let in_memory = folder.json("run wcc --graph kron");
    let in_file = folder.json("run wcc --graph kron --scratch scratch");
    assert_eq!(in_file["components"], in_memory["components"]);
    assert_eq!((&in_memory["engine"], &in_file["engine"]), (&"csr".into(), &"tel".into()));
    let imported = folder.json("import kron --store store --scratch scratch");
    assert_eq!(imported["engine"], "tel");
    let stored = folder.json("run wcc --store store --scratch scratch");
    assert_eq!(stored["components"], in_memory["components"]);
    folder.write("graph", "1 2\n1 3\n");
    folder.json("import graph --store small");
    assert_eq!(folder.text("neighbors 1 --store small --scratch scratch"), "2\n3\n");
    assert_eq!(std::fs::read_dir(folder.path("scratch")).unwrap().count(), 0);
}

#[test]
fn impossible_requests_are_reported() {
    let folder = Folder::with("graph", "1 2\n");
    folder.fails("run wcc --graph graph --scratch missing", 1, &["missing", "choose a directory"]);
    folder.fails("run wcc --graph graph --engine rapid --scratch .", 1, &["rapid", "in memory only"]);
    let other = "import graph --store store --engine rapid --scratch .";
    folder.fails(other, 3, &["\"rapid\"", "the engine `tel`"]);
    assert_eq!(folder.names(), ["graph"]);
}
