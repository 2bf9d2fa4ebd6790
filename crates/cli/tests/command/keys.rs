//! Unusual keys in text output.

use crate::common::Folder;

#[test]
fn keys_with_line_ends_are_quoted_in_text() {
    let folder =
        Folder::with("e.jsonl", "{\"from\":\"a\\nb\",\"to\":\"\"}\n{\"from\":\"a\\nb\",\"to\":\"c d\"}\n");
    folder.json("import e.jsonl --store store --keys text");
    folder.hedgerow("run bfs --store store --output depths").success();
    assert_eq!(folder.read("depths"), "\"a\\nb\" 0\n\"\" 1\n\"c d\" 1\n");
    folder.hedgerow("run wcc --store store --output components").success();
    assert_eq!(folder.read("components"), "\"a\\nb\" \"\"\n\"\" \"\"\n\"c d\" \"\"\n");
    folder.hedgerow("export store --output e.sg --mapping keys").success();
    assert_eq!(folder.read("keys"), "0 \"\"\n1 \"a\\nb\"\n2 c d\n");

    let run = |arguments: &[&str]| {
        let mut command = assert_cmd::Command::new(crate::common::PROGRAM);
        let output = command.current_dir(folder.root()).args(arguments).assert().get_output().clone();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    assert_eq!(run(&["neighbors", "a\nb", "--store", "store"]), "\"\"\n\"c d\"\n");
    assert_eq!(run(&["get", "edge", "a\nb", "", "--store", "store"]), "\"a\\nb\" \"\"\n");
    assert!(run(&["get", "vertex", "a\nb", "--store", "store"]).starts_with("vertex      \"a\\nb\"\n"));
    assert_eq!(run(&["put", "edge", "x\ry", "a", "--store", "store"]), "edge from \"x\\ry\" to a added\n");
    assert_eq!(run(&["get", "vertex", "x\ny", "--store", "store"]).lines().count(), 1);
    assert_eq!(run(&["get", "edge", "x\ny", "", "--store", "store"]).lines().count(), 1);
    assert_eq!(run(&["run", "bfs", "--store", "store", "--source", "x\ny"]).lines().count(), 1);
}
