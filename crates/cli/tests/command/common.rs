//! Helpers of the tests of the command.

use assert_cmd::assert::Assert;
use hedgerow::EngineKind;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hedgerow");

/// The options of the command that choose each engine.
pub fn engine_options() -> impl Iterator<Item = String> {
    EngineKind::ALL.iter().map(|engine| format!("--engine {engine}"))
}

/// A folder of files for one test, in which the command runs.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    /// A folder with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = Folder::new();
        folder.write(name, content);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// Returns `hedgerow` with these arguments, separated by blanks, ready to run.
    pub fn command(&self, arguments: &str) -> assert_cmd::Command {
        let mut command = assert_cmd::Command::new(PROGRAM);
        command.current_dir(self.root()).args(arguments.split_whitespace());
        command
    }

    /// Runs `hedgerow` with these arguments, separated by blanks.
    pub fn hedgerow(&self, arguments: &str) -> Assert {
        self.command(arguments).assert()
    }

    /// Like `json`, without these members.
    pub fn json_without(&self, arguments: &str, members: &[&str]) -> serde_json::Value {
        let mut output = self.json(arguments);
        let object = output.as_object_mut().unwrap();
        members.iter().for_each(|name| drop(object.remove(*name)));
        output
    }

    /// Runs `hedgerow` with these arguments, separated by blanks, and this standard input.
    pub fn pipe(&self, arguments: &str, input: impl Into<Vec<u8>>) -> Assert {
        self.command(arguments).write_stdin(input).assert()
    }

    /// Like `pipe`; the command must fail, print nothing, and name all of `parts` in its error.
    pub fn pipe_fails(&self, arguments: &str, input: impl Into<Vec<u8>>, parts: &[&str]) {
        let output = self.pipe(arguments, input).failure().stdout("").get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        for part in parts {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
    }

    /// Starts `hedgerow` with these arguments and a piped standard error.
    #[cfg(target_os = "linux")]
    pub fn start(&self, arguments: &str) -> Child {
        let mut command = Command::new(PROGRAM);
        command.args(arguments.split_whitespace()).current_dir(self.root());
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The output of `hedgerow` with these arguments; it must succeed.
    pub fn text(&self, arguments: &str) -> String {
        let output = self.hedgerow(arguments).success().stderr("").get_output().clone();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs `hedgerow` with these arguments and `--json`; it must succeed with JSON on its standard
    /// output and nothing on standard error.
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        let output = self.hedgerow(&format!("{arguments} --json")).success().stderr("").get_output().clone();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs `hedgerow` with these arguments; it must fail with this exit code and print all of
    /// `parts` on standard error.
    pub fn fails(&self, arguments: &str, code: i32, parts: &[&str]) {
        let output = self.hedgerow(arguments).code(code).stdout("").get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: "), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
    }
}

/// Returns true if the process has a handler for SIGINT, which is number 2.
#[cfg(target_os = "linux")]
pub fn listens(child: &Child) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    u64::from_str_radix(caught.trim(), 16).unwrap() & 0b10 != 0
}

/// Sends the process a signal, such as `-INT`.
#[cfg(target_os = "linux")]
pub fn send(child: &Child, signal: &str) {
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// The lines of a text, sorted, each once.
pub fn lines_of(text: &str) -> BTreeSet<String> {
    text.lines().map(str::to_owned).collect()
}

/// Checks that the store named `store` has the edges of this text, and no others.
pub fn assert_holds(folder: &Folder, text: &str) {
    folder.json("export store --output edges.el");
    assert!(lines_of(&folder.read("edges.el")) == lines_of(text), "the edges of the store are others");
}

/// A file of lines `key value`.
pub fn key_values(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (key, value) = line.split_once(' ').unwrap();
        (key.to_string(), value.to_string())
    };
    text.lines().map(pair).collect()
}

/// A store `bank` of text keys with two labels, made by an import of two edges and some commits.
pub fn bank(engine: EngineKind) -> Folder {
    let folder = Folder::with("graph", "anna ben\nben carl\n");
    folder.json(&format!(
        "import graph --store bank --keys text --engine {engine} --labels knows,pays:number=key+amount=f64! --vertex-properties age=i64 \
         --checkpoint never"
    ));
    folder.json("put vertex anna bank --property age=30");
    folder.json("put edge anna dora bank --label pays --key 7 --property amount=1.5");
    folder.json("delete vertex ben bank");
    folder
}
