//! What the tests of the command share.

use assert_cmd::assert::Assert;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hedgerow");

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

    /// Runs `hedgerow` with these arguments, separated by blanks.
    pub fn hedgerow(&self, arguments: &str) -> Assert {
        let mut command = assert_cmd::Command::new(PROGRAM);
        command.current_dir(self.root()).args(arguments.split_whitespace()).assert()
    }

    /// The same, and it must succeed with JSON on its standard output and nothing on the other.
    pub fn json(&self, arguments: &str) -> serde_json::Value {
        let output = self.hedgerow(&format!("{arguments} --json")).success().stderr("").get_output().clone();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The same, and it must fail with this exit code and say all of `parts` on standard error.
    pub fn fails(&self, arguments: &str, code: i32, parts: &[&str]) {
        let output = self.hedgerow(arguments).code(code).stdout("").get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.starts_with("error: "), "{error}");
        for part in parts {
            assert!(error.contains(part), "{part:?} is not in: {error}");
        }
    }
}

/// A file of lines `key value`.
pub fn key_values(text: &str) -> Vec<(String, String)> {
    let pair = |line: &str| {
        let (key, value) = line.split_once(' ').unwrap();
        (key.to_string(), value.to_string())
    };
    text.lines().map(pair).collect()
}
