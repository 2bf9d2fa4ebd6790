//! The commands of README.md run as they are printed.

use crate::common::{Folder, PROGRAM};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Values that are smaller here than in README.md, so that a build without optimization finishes in
/// seconds.
const SMALLER: [(&str, &str); 2] =
    [("--scale 18", "--scale 8"), ("--dataset kron-20", "--quick --dataset kron-8")];

/// The lines after `$ ` of the block below the heading.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let (_, section) = readme.split_once("\n## On the command line\n").unwrap();
    let (block, _) = section.split_once("```console\n").unwrap().1.split_once("```").unwrap();
    block.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

#[test]
fn the_commands_of_the_readme_run_one_after_the_other() {
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    let programs = Path::new(PROGRAM).parent().unwrap();
    let path =
        env::join_paths([programs.into()].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap())));
    let path = path.unwrap();
    let folder = Folder::new();
    for printed in commands {
        let command = SMALLER.iter().fold(printed, |line, (large, small)| line.replace(large, small));
        let mut shell = Command::new("sh");
        let output =
            shell.args(["-c", &command]).current_dir(folder.root()).env("PATH", &path).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}\n{error}");
        assert!(!error.contains("error:"), "{command}\n{error}");
    }
}
