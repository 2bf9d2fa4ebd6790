//! The commands of README.md, docs/tasks.md and docs/cli.md run in the order in which they stand.

use crate::common::{Folder, PROGRAM};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Values that are smaller here than on the page, so that a build without optimization finishes in
/// seconds, and commands that would wait for a person.
const SMALLER: &[(&str, &str)] = &[
    ("--scale 18", "--scale 8"),
    ("--scale 20", "--scale 8"),
    ("--dataset kron-20", "--quick --dataset kron-8"),
    ("--vertices 1000000 --edges 16000000", "--vertices 1000 --edges 16000"),
    ("--vertices 100000 --changes 2000000", "--vertices 100 --changes 2000"),
    ("hedgerow demo --scale 16 --writers 4", "hedgerow demo --scale 8 --writers 4"),
    ("hedgerow demo --plot", "hedgerow demo --scale 8 --plot"),
    ("--interval 0.5 --count 10", "--interval 0.1 --count 2"),
    (" && man pages/hedgerow-run-bfs.1", ""),
];

/// Whole lines that run otherwise here.
const OTHERWISE: &[(&str, &str)] = &[
    ("hedgerow demo", "hedgerow demo --scale 8"),
    ("hedgerow watch wiki", "hedgerow watch wiki --count 1"),
    ("hedgerow erase vertex anna accounts", "hedgerow erase vertex anna accounts --yes"),
    // A file is followed until a signal.
    (
        "hedgerow ingest follows.txt live --follow --within 0.02",
        "hedgerow ingest follows.txt live --within 0.02",
    ),
    (
        "hedgerow ingest follows.txt follows --format operations --follow",
        "hedgerow ingest follows.txt follows --format operations",
    ),
    ("hedgerow changes bank --follow", "hedgerow changes bank"),
    ("hedgerow changes bank --follow --json", "hedgerow changes bank --json"),
    ("hedgerow changes bank --from start --follow --json", "hedgerow changes bank --from start --json"),
    // The stores are younger here.
    ("hedgerow changes bank --from yesterday", "hedgerow changes bank --from start"),
    (
        "hedgerow changes bank --from yesterday --to 12h --label pays",
        "hedgerow changes bank --from start --to now --label pays",
    ),
    (
        "hedgerow changes bank --from 1200 --to 1300 --csv > changes.csv",
        "hedgerow changes bank --from start --to 2 --csv > changes.csv",
    ),
    ("hedgerow diff bank yesterday", "hedgerow diff bank newest"),
    ("hedgerow diff bank yesterday --count", "hedgerow diff bank newest --count"),
    (
        "hedgerow diff bank 1200 1300 --label pays --output changes.csv",
        "hedgerow diff bank newest newest --label pays --output changes.csv",
    ),
];

fn page(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// Runs a line as it is printed, in a shell.
fn run(folder: &Folder, printed: &str) {
    let otherwise = OTHERWISE.iter().find(|(line, _)| *line == printed).map_or(printed, |(_, line)| line);
    let command =
        SMALLER.iter().fold(otherwise.to_owned(), |line, (large, small)| line.replace(large, small));
    let programs = Path::new(PROGRAM).parent().unwrap();
    let path = env::var_os("PATH").unwrap();
    let path = env::join_paths([programs.into()].into_iter().chain(env::split_paths(&path))).unwrap();
    let mut shell = Command::new("bash");
    shell.args(["-c", &command]).current_dir(folder.root()).env("PATH", path).env("HOME", folder.root());
    let output = shell.stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}\n{error}");
    assert!(!error.contains("error:"), "{command}\n{error}");
}

#[test]
fn the_commands_of_the_readme_run_one_after_the_other() {
    let readme = page("README.md");
    let (_, section) = readme.split_once("\n## On the command line\n").unwrap();
    let (block, _) = section.split_once("```console\n").unwrap().1.split_once("```").unwrap();
    let commands: Vec<_> = block.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(commands.len() > 10, "{commands:?}");
    let folder = Folder::new();
    commands.iter().for_each(|command| run(&folder, command));
}

#[test]
fn the_commands_of_the_page_of_tasks_run_one_after_the_other() {
    let page = page("docs/tasks.md");
    let commands: Vec<_> = page.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    assert!(commands.len() > 30, "{commands:?}");
    let folder = Folder::new();
    commands.iter().for_each(|command| run(&folder, command));
}

#[test]
fn the_examples_of_the_command_line_run_one_after_the_other() {
    let page = page("docs/cli.md");
    let (_, sections) = page.split_once("\n## ").unwrap();
    let is_command =
        |line: &&str| ["hedgerow ", "printf ", "source <("].iter().any(|start| line.starts_with(start));
    let commands: Vec<_> =
        sections.lines().filter_map(|line| line.strip_prefix("    ")).filter(is_command).collect();
    assert!(commands.len() > 60, "{commands:?}");
    let folder = with_files_of_the_examples();
    // Some examples use stores that the page imports later.
    commands
        .iter()
        .filter(|command| command.starts_with("hedgerow import "))
        .for_each(|import| run(&folder, import));
    run(&folder, "hedgerow backup bank backup");
    commands.iter().for_each(|command| run(&folder, command));
}

/// The files and stores that the examples name and do not make.
fn with_files_of_the_examples() -> Folder {
    let folder = Folder::new();
    for (name, text) in [
        ("wiki-Vote.txt", "30 1412\n30 3352\n30 5254\n3 30\n3 5254\n1412 3352\n"),
        ("ca-HepPh.txt", "1 2\n2 3\n3 1\n3 4\n"),
        ("email-Eu-core.txt", "0 1\n1 2\n2 0\n"),
        ("roads.e", "1 2 0.5\n2 3 1.5\n"),
        ("roads.v", "1\n2\n3\n"),
        ("2024.csv", "1,2,1700000000\n"),
        ("2025.csv", "2,3,1750000000\n"),
        ("knows.txt", "anna ben\nben carl\nanna carl\n"),
        (
            "pays.csv",
            "from,to,amount,at,note,due date\nanna,ben,9.5,2026-01-02,rent,2026-02-01\nben,carl,1200,2026-01-03,,\nanna,ben,2000,2026-01-04,car,\n",
        ),
        ("knows.csv", "from,to,since\nanna,ben,2020\n"),
        ("people.csv", "id,name\nanna,Anna\nben,Ben\n"),
        ("numbered.csv", "from,to,number,amount\nanna,ben,1001,9.5\nanna,ben,1002,8\n"),
        ("gone.txt", "carl\n"),
        ("commands", "get vertex 30\n"),
    ] {
        folder.write(name, text);
    }
    for command in [
        "gzip -k ca-HepPh.txt 2025.csv",
        "hedgerow generate kronecker --scale 6 --weights --output kron.wel.zst --quiet",
        "hedgerow convert kron.wel.zst kron.sg --undirected --quiet",
        "hedgerow import wiki-Vote.txt --store web --engine lsm --quiet",
        "mkdir .zfunc",
    ] {
        run(&folder, command);
    }
    folder
}
