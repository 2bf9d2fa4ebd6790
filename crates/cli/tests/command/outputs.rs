//! Outputs that would overwrite an input, another output, or a file in a store.

use crate::common::{Folder, PROGRAM};
use std::fs;
use std::process::{Command, Stdio};

const REFUSED: &str = "reads or writes this file already";

#[test]
fn a_graph_file_is_not_converted_into_itself() {
    let folder = Folder::with("w.el", "1 2 0.5\n2 3 1.5\n");
    for command in [
        "convert w.el w.el",
        "convert w.el ./w.el",
        "convert ./w.el w.el",
        "convert w.el w.el --to mtx",
        "convert w.el new.txt --vertices new.txt",
    ] {
        folder.write("new.txt", "7\n");
        folder.fails(command, 2, &["OUTPUT", REFUSED]);
    }
    assert_eq!(folder.read("w.el"), "1 2 0.5\n2 3 1.5\n");
    assert_eq!(folder.names(), ["new.txt", "w.el"]);
}

#[cfg(unix)]
#[test]
fn links_to_an_input_are_the_input() {
    let folder = Folder::with("w.el", "1 2 0.5\n");
    std::os::unix::fs::symlink(folder.path("w.el"), folder.path("soft.el")).unwrap();
    fs::hard_link(folder.path("w.el"), folder.path("hard.el")).unwrap();
    for (input, output) in
        [("w.el", "soft.el"), ("soft.el", "w.el"), ("w.el", "hard.el"), ("hard.el", "soft.el")]
    {
        folder.fails(&format!("convert {input} {output}"), 2, &[output, REFUSED]);
        folder.fails(&format!("run bfs --graph {input} --output {output}"), 2, &[output, REFUSED]);
        folder.fails(&format!("stats {input} --plot {output}"), 2, &[output, REFUSED]);
    }
    assert_eq!(folder.read("w.el"), "1 2 0.5\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_standard_input_is_redirected_from_is_an_input() {
    let folder = Folder::with("w.el", "1 2 0.5\n");
    let input = fs::File::open(folder.path("w.el")).unwrap();
    let mut command = Command::new(PROGRAM);
    command.args(["convert", "-", "w.el"]).current_dir(folder.root());
    let output = command.stdin(Stdio::from(input)).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains(REFUSED));
    assert_eq!(folder.read("w.el"), "1 2 0.5\n");
}

#[test]
fn the_vertex_file_of_a_pair_is_an_input_or_an_output_with_its_edge_file() {
    let folder = Folder::with("g.e", "1 2\n");
    folder.write("g.v", "1\n2\n3\n");
    folder.write("x.txt", "1 2\n");
    for command in [
        "convert g.e g.v",
        "convert g.e out.sg --mapping g.v",
        "convert x.txt g.e --vertices g.v",
        "convert x.txt new.e --mapping new.v",
        "run wcc --graph g.e --output g.v",
        "stats g.e --plot g.v",
    ] {
        folder.fails(command, 2, &[REFUSED]);
    }
    assert_eq!(folder.read("g.v"), "1\n2\n3\n");
    assert_eq!(folder.names(), ["g.e", "g.v", "x.txt"]);
}

#[test]
fn outputs_of_one_command_are_different_files() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store");
    for command in [
        "export store --output a.csv --vertices-output a.csv",
        "export store --output a.csv --vertices-output ./a.csv",
        "export store --output a.sg --mapping a.sg",
        "export store --output a.e --mapping a.v",
        "export store --output a.e --vertices-output a.v",
    ] {
        folder.fails(command, 2, &[REFUSED]);
    }
    assert_eq!(folder.names(), ["graph", "store"]);
}

#[test]
fn nothing_is_written_among_the_files_of_a_store() {
    let folder = Folder::with("graph", "1 2\n");
    folder.json("import graph --store store");
    for command in ["export store --output store/MANIFEST", "run bfs --store store --output store/new"] {
        folder.fails(command, 2, &[REFUSED]);
    }
    for command in [
        "convert graph store/MANIFEST",
        "run bfs --graph graph --output ./store/new",
        "stats graph --plot store/new.svg",
        "generate uniform --vertices 3 --edges 5 --output store/LOCK",
        "generate stream --vertices 3 --changes 9 --output store/new",
    ] {
        folder.fails(command, 2, &["this directory is a store"]);
    }
    assert_eq!(folder.json("check store")["whole"], true);
}
