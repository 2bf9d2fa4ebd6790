//! Suspicious lines of graph files get a note on standard error.

use crate::common::Folder;

/// The output of the command on standard error; it must succeed.
fn notes(folder: &Folder, arguments: &str) -> String {
    String::from_utf8(folder.hedgerow(arguments).success().get_output().stderr.clone()).unwrap()
}

#[test]
fn a_first_line_of_sizes_gets_a_note() {
    let folder = Folder::with("graph", "4 5\n1 2\n2 3\n3 4\n4 1\n1 3\n");
    for command in
        ["stats graph", "run wcc --graph graph --json", "convert graph new.sg", "import graph --store store"]
    {
        let notes = notes(&folder, command);
        assert!(notes.starts_with("note: graph: the first line was read as an edge"), "{command}: {notes}");
        assert!(notes.contains("4 vertices and 5 edges") && notes.lines().count() == 1, "{command}: {notes}");
    }
    folder.write("graph", "4 5\n1 2\n2 3\n3 4\n4 1\n1 5\n");
    assert_eq!(notes(&folder, "stats graph"), "");
}

#[test]
fn times_as_weights_get_a_note_where_weights_are_used() {
    let folder = Folder::with("graph", "1 2 1082040961\n2 3 1082155839\n");
    for command in
        ["run sssp --graph graph --source 1", "import graph --store store --weights", "convert graph new.mtx"]
    {
        let notes = notes(&folder, command);
        assert!(
            notes.starts_with("note: graph: the weights seem to be Unix times: --columns timestamp"),
            "{notes}"
        );
    }
    for command in [
        "run bfs graph --output distances",
        "stats graph",
        "convert graph new.txt",
        "import graph --store other",
    ] {
        assert_eq!(notes(&folder, command), "", "{command}");
    }
    assert_eq!(notes(&folder, "convert graph new.mtx --columns timestamp"), "");
}

#[test]
fn names_of_columns_are_no_vertices() {
    let folder = Folder::with("edges.csv", "Source,Target\nanna,ben\n");
    folder.write("edges.txt", "Source\tTarget\nanna\tben\n");
    folder.write("keys.csv", "key\nanna\nzoe\n");
    folder.json("import edges.csv --vertices keys.csv --store store --keys text");
    assert_eq!(folder.json("info store")["vertices"], 3);
    folder.json("import edges.txt --store other --keys text");
    assert_eq!(folder.json("info other")["vertices"], 2);
    let note = "note: keys.csv: the first line, \"key\", was read as a key";
    assert!(notes(&folder, "stats edges.txt --vertices keys.csv --keys text").starts_with(note));
}
