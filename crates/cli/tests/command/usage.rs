//! Help, and invalid command lines.

use crate::common::Folder;

#[test]
fn the_help_lists_commands_and_exit_codes() {
    let output = Folder::new().hedgerow("--help").success().get_output().clone();
    let help = String::from_utf8(output.stdout).unwrap();
    for part in ["demo", "generate", "run", "stats", "Exit codes:", "130", "Examples:"] {
        assert!(help.contains(part), "{part}");
    }
}

#[test]
fn usage_lines_have_the_store_last() {
    for (command, arguments) in [
        ("neighbors", "<KEY> <DIR>"),
        ("path", "<FROM> <TO> <DIR>"),
        ("get vertex", "<KEY> <DIR>"),
        ("put edge", "<FROM> <TO> <DIR>"),
        ("delete edge", "<FROM> <TO> <DIR>"),
        ("delete vertex", "[KEY]... <DIR>"),
        ("label add", "<LABELS> <DIR>"),
        ("info", "<DIR>"),
    ] {
        let output = Folder::new().hedgerow(&format!("{command} --help")).success().get_output().clone();
        let help = String::from_utf8(output.stdout).unwrap();
        assert!(help.contains(&format!("Usage: hedgerow {command} [OPTIONS] {arguments}\n")), "{help}");
    }
}

#[test]
fn shells_can_complete_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = Folder::new().hedgerow(&format!("completions {shell}")).success().get_output().clone();
        let script = String::from_utf8(output.stdout).unwrap();
        for part in [
            "convert",
            "kronecker",
            "pagerank",
            "skip-bad-lines",
            "completions",
            "import",
            "export",
            "neighbors",
            "from-checkpoint",
            "to-last-valid",
        ] {
            assert!(script.contains(part), "{shell}: {part}");
        }
    }
    Folder::new().hedgerow("completions csh").code(2);
}

#[test]
fn an_invalid_value_is_named_with_what_was_expected() {
    let folder = Folder::with("graph", "1 2\n");
    for (arguments, expected) in [
        ("run bfs --graph graph --threads 0", "expected a number from 1 to 1024"),
        ("run bfs --graph graph --threads 100000000", "expected a number from 1 to 1024"),
        ("run bfs --graph graph --source -1", "--source \"-1\": the keys of this graph are numbers"),
        ("run bfs --graph graph --source +1", "--source \"+1\": the keys of this graph are numbers"),
        ("run pagerank --graph graph --iterations -1", "-1 is not in 0..="),
        ("run pagerank --graph graph --damping -0.5", "expected a number from 0 to 1"),
        ("run pagerank --graph graph --tolerance -1", "expected a number that is not negative"),
        ("run cdlp --graph graph --iterations -1", "-1 is not in 0..="),
        ("run khop --graph graph --hops -1", "-1 is not in 0..="),
        (
            "run khop --graph graph --source 1 --source -1",
            "--source \"-1\": the keys of this graph are numbers",
        ),
        ("run khop --graph graph --source 1,2", "--source \"1,2\": the keys of this graph are numbers"),
        ("run betweenness --graph graph", "--samples <N>"),
        ("stats graph --plot /dev/stdout", "standard output is taken"),
        ("run bfs --graph graph --memory-limit much", "expected a size above 0, such as 2GiB"),
        ("run bfs --graph graph --memory-limit 0", "expected a size above 0, such as 2GiB"),
        ("demo --memory-limit 5XB", "expected a size above 0, such as 2GiB"),
        ("demo --writers 100000000", "expected a number from 1 to 1024"),
        ("demo --readers 0", "expected a number from 1 to 1024"),
        ("demo --batch 0", "expected a whole number from 1"),
        ("demo --keys text", "--graph"),
        ("demo --scale 3 --skip-bad-lines", "cannot be used with"),
        ("demo --vertices nowhere", "--graph"),
    ] {
        folder.fails(arguments, 2, &[expected]);
    }
    assert_eq!(folder.names(), ["graph"]);
}

#[test]
fn an_invalid_command_line_ends_with_code_2() {
    let folder = Folder::with("graph", "1 2\n");
    for arguments in [
        "",
        "fly",
        "run",
        "run bfs",
        "run clustering --graph graph",
        "run wcc --graph graph --source 1",
        "run triangles --graph graph --output triangles",
        "run betweenness --graph graph",
        "run betweenness --graph graph --samples 0",
        "run betweenness --graph graph --samples 2 --all-sources",
        "run betweenness --graph graph --source x",
        "run khop --graph graph --limit 0",
        "run khop --graph graph --source 1 --source x",
        "run bfs --graph graph --unit-weights",
        "run bfs --graph graph --iterations 3",
        "run bfs --graph graph --threads 0",
        "run bfs --graph graph --engine btree",
        "run bfs --graph graph --source abc",
        "run bfs --graph graph --source -1",
        "run bfs --graph graph --source 18446744073709551616",
        "run pagerank --graph graph --damping 1.5",
        "run pagerank --graph graph --damping NaN",
        "run pagerank --graph graph --tolerance -1",
        "run pagerank --graph graph --iterations -1",
        "stats",
        "generate kronecker",
        "generate kronecker --scale 32 --output x",
        "generate kronecker --scale 31 --edge-factor 18446744073709551615 --output x",
        "demo --writers 0",
        "demo --batch 0",
        "demo --scale 5 --graph graph",
    ] {
        folder.hedgerow(arguments).code(2).stdout("");
    }
    assert_eq!(folder.names(), ["graph"]);
}
