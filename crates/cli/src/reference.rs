//! The documents agree with the command line: the tables of options in `docs/cli.md` and
//! `docs/bench.md` are made from `--help`, and every command that a document shows is valid.
//!
//! A table lies between a line `<!-- options: COMMANDS -->` and `<!-- end of options -->`. The
//! commands are separated by commas, each with its subcommand; a heading of the help in brackets
//! selects the options below it instead of the options without a heading. An option that only some
//! of several commands have is listed with these commands.

use crate::args::{self, Cli};
use crate::bench;
use clap::{Arg, Command, CommandFactory, Parser};
use hedgerow_driver::{ENGINES, WORKLOADS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{env, fs};

const BEGIN: &str = "<!-- options: ";
const END: &str = "<!-- end of options -->";

/// Options that no table has.
const NOWHERE: [&str; 2] = ["help", "version"];

/// Options that many commands share, and that the document describes once, in words. In the
/// benchmark, some of these names mean something else.
const DESCRIBED_ONCE: [&str; 9] =
    ["json", "memory_limit", "scratch", "wait", "graph", "store", "directory", "as_of", "as_of_time"];

/// An environment variable with which the test writes the documents.
const WRITE: &str = "HEDGEROW_WRITE_DOCUMENTS";

/// The documents with tables of options, and the minimum number of tables in each.
const WITH_TABLES: [(&str, usize); 2] = [("docs/cli.md", 5), ("docs/bench.md", 1)];

/// The document with all tables made anew from the commands.
fn with_tables(text: &str) -> String {
    let (mut made, mut rest) = (String::new(), text);
    while let Some(begin) = rest.find(BEGIN) {
        let (before, marker) = rest.split_at(begin);
        let (commands, _) = marker[BEGIN.len()..].split_once(" -->").expect("a marker ends");
        let (_, after) = marker.split_once(END).expect("a table ends");
        made += &format!("{before}{BEGIN}{commands} -->\n{}{END}", table(commands));
        rest = after;
    }
    made + rest
}

fn table(commands: &str) -> String {
    let commands: Vec<&str> = commands.split(", ").collect();
    let different: BTreeSet<&str> =
        commands.iter().map(|named| named.split(" [").next().unwrap_or(named)).collect();
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for named in &commands {
        let (path, heading) = match named.split_once(" [") {
            Some((path, heading)) => (path, Some(heading.trim_end_matches(']'))),
            None => (*named, None),
        };
        let command = command(path);
        let name = path.split(' ').next_back().unwrap_or(path);
        let is_listed = |arg: &&Arg| {
            let id = arg.get_id().as_str();
            let is_described = NOWHERE.contains(&id) || path != "bench" && DESCRIBED_ONCE.contains(&id);
            arg.get_help_heading() == heading && !is_described && !arg.is_hide_set()
        };
        for row in command.get_arguments().filter(is_listed).map(row) {
            match rows.iter_mut().find(|(other, _)| *other == row) {
                Some((_, names)) => names.push(name),
                None => rows.push((row, vec![name])),
            }
        }
    }
    let mut table = "| option | meaning |\n|---|---|\n".to_owned();
    // Options of all commands come first.
    rows.sort_by_key(|(_, names)| names.len() < different.len());
    for (row, names) in rows {
        let of =
            if names.len() < different.len() { format!("{}: ", names.join(", ")) } else { String::new() };
        table += &format!("| {of}{row} |\n");
    }
    table
}

/// Finds a command by the path of its names; the program itself is `hedgerow`.
fn command(path: &str) -> Command {
    let mut program = Cli::command();
    program.build();
    path.split(' ').filter(|name| *name != "hedgerow").fold(program, |command, name| {
        let found = command.find_subcommand(name);
        found.unwrap_or_else(|| panic!("there is no command {name:?} in {path:?}")).clone()
    })
}

/// The cells of an option: its names with its value, and its help with the values and the default.
fn row(arg: &Arg) -> String {
    let value = arg.get_value_names().filter(|_| arg.get_action().takes_values());
    let value = value.map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
    let name = match (arg.get_long(), value) {
        (Some(long), Some(value)) => format!("`--{long} {value}`"),
        (Some(long), None) => format!("`--{long}`"),
        (None, value) => format!("`{}`", value.unwrap_or_else(|| arg.get_id().to_string())),
    };
    let short = arg.get_short().map(|short| format!(", `-{short}`")).unwrap_or_default();
    let aliases = arg.get_visible_aliases().unwrap_or_default();
    let aliases: String = aliases.iter().map(|alias| format!(", `--{alias}`")).collect();
    let mut meaning = arg.get_help().map(ToString::to_string).unwrap_or_default().replace('\n', " ");
    if arg.get_action().takes_values() {
        let values = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
        let described: Vec<String> = values
            .map(|value| match value.get_help() {
                Some(help) => format!("`{}`: {help}", value.get_name()),
                None => format!("`{}`", value.get_name()),
            })
            .collect();
        if !described.is_empty() {
            let separator = if described[0].contains(": ") { "; " } else { ", " };
            meaning += &format!(". {}", described.join(separator));
        }
        let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        if !defaults.is_empty() && !arg.is_hide_default_value_set() {
            meaning += &format!(" [default: {}]", defaults.join(","));
        }
    }
    // A bar ends a cell of the table, even in code.
    let cell = |text: &str| text.replace('|', "\\|");
    format!("{}{short}{aliases} | {}", cell(&name), cell(&meaning))
}

#[test]
fn the_tables_of_options_are_those_of_the_help() {
    for (name, least) in WITH_TABLES {
        let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
        let text = fs::read_to_string(&document).expect("the document is there");
        let made = with_tables(&text);
        assert!(made.matches(BEGIN).count() >= least, "tables are missing in {name}");
        if env::var_os(WRITE).is_some() {
            fs::write(&document, &made).expect("the document can be written");
        } else {
            let differs = text.lines().zip(made.lines()).find(|(written, made)| written != made);
            assert!(
                text == made,
                "{name} differs from --help, `cargo xtask cli-docs` updates it: {differs:?}"
            );
        }
    }
}

#[test]
fn an_option_is_listed_with_the_commands_that_have_it() {
    let table = table("run bfs, run khop");
    assert!(
        table.contains("\n| khop: `--hops N` | Maximum number of edges to follow [default: 2] |\n"),
        "{table}"
    );
    assert!(
        table.contains("\n| bfs: `--source KEY` | The vertex")
            && table.contains("\n| khop: `--source KEY` | A vertex"),
        "{table}"
    );
    assert!(table.contains("\n| `--threads N` |") && !table.contains("`--json`"), "{table}");
}

/// README.md and all documents below docs.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = vec![root.join("README.md")];
    for folder in ["docs", "docs/notes"] {
        let files = fs::read_dir(root.join(folder)).expect("the documents are there");
        let files = files.map(|file| file.expect("a document can be read").path());
        documents.extend(files.filter(|file| file.extension().is_some_and(|extension| extension == "md")));
    }
    documents
}

/// The commands of this program in a line of a document, which may be a pipeline, each with its
/// arguments. A placeholder, such as DIR or KERNEL, makes it a pattern and no command.
fn commands_in(line: &str) -> Vec<Vec<String>> {
    let line = line.trim_start().trim_start_matches("$ ").replace("target/dist/hedgerow", "hedgerow");
    let line = line.replace("cargo run --release -- ", "hedgerow ");
    // A description follows.
    let line = line.split("   ").next().unwrap_or_default();
    let line = line.split(" # ").next().unwrap_or_default();
    let is_pattern = |word: &String| {
        word.contains(['…', '|']) && word.len() > 1
            || word.len() > 1 && word.chars().all(|letter| letter.is_ascii_uppercase())
    };
    let Ok(words) = shell_words::split(line) else { return Vec::new() };
    let parts = words.split(|word| matches!(word.as_str(), "|" | "&&"));
    let parts =
        parts.map(|part| part.split(|word| matches!(word.as_str(), "<" | ">")).next().unwrap_or(part));
    let parts = parts.filter(|part| part.first().is_some_and(|word| word == "hedgerow"));
    parts.filter(|part| !part.iter().any(is_pattern)).map(<[String]>::to_vec).collect()
}

#[test]
fn every_command_in_the_documents_is_one() {
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).expect("the document can be read");
        for command in text.replace("\\\n", "").lines().flat_map(commands_in) {
            let parsed = Cli::try_parse_from(&command);
            assert!(parsed.is_ok(), "{}: {}\n{}", document.display(), command.join(" "), parsed.unwrap_err());
            if let Ok(Cli { command: args::Command::Bench(args), .. }) = parsed {
                let settings = bench::settings(&args, ENGINES, WORKLOADS);
                assert!(settings.is_ok(), "{}: {}", document.display(), command.join(" "));
            }
            checked += 1;
        }
    }
    assert!(checked > 70, "only {checked} commands were found");
}

#[test]
fn commands_are_found_in_lines() {
    let found = |line| commands_in(line).iter().map(|words| words.join(" ")).collect::<Vec<_>>();
    assert_eq!(
        found("$ hedgerow generate kronecker | hedgerow run bfs - | head   # all"),
        ["hedgerow generate kronecker", "hedgerow run bfs -"]
    );
    assert_eq!(found("    hedgerow shell wiki --json < commands > results"), ["hedgerow shell wiki --json"]);
    assert_eq!(found("    hedgerow check DIR    reads everything"), [""; 0]);
    assert_eq!(found("The hedgerow command reads graphs."), [""; 0]);
}
