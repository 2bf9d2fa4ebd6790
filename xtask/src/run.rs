//! Running cargo and counting what its tests report.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
}

impl Tally {
    /// Both together.
    pub fn plus(self, other: Tally) -> Tally {
        Tally { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// The root of the workspace.
pub fn root() -> &'static Path {
    // This crate lies directly below the root.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// A cargo command in the root of the workspace, of this toolchain.
pub fn cargo(arguments: &str) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), arguments)
}

/// A cargo command of the nightly toolchain.
pub fn nightly_cargo(arguments: &str) -> Command {
    let mut nightly = command("rustup", &format!("run nightly cargo {arguments}"));
    // A toolchain that called us must not choose the compiler of another.
    for variable in ["RUSTC", "RUSTDOC", "CARGO", "RUSTUP_TOOLCHAIN"] {
        nightly.env_remove(variable);
    }
    nightly
}

/// A command in the root of the workspace; arguments are separated by blanks.
pub fn command(program: &str, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace()).current_dir(root());
    command
}

/// Runs a step and fails if it fails.
pub fn step(name: &str, command: &mut Command) -> Result<()> {
    eprintln!("== {name}");
    let status = command.status().with_context(|| format!("{name}: could not start {command:?}"))?;
    if !status.success() {
        bail!("{name} failed ({status})");
    }
    Ok(())
}

/// Runs a test step, shows its output, and counts what it reports. A failing test is counted, not an error.
pub fn tests(name: &str, command: &mut Command) -> Result<Tally> {
    eprintln!("== {name}");
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("{name}: could not start"))?;
    let output = child.stdout.take().context("the output was piped")?;
    let mut tally = Tally::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        tally = tally.plus(parse(&line));
    }
    let status = child.wait()?;
    if !status.success() && tally.failed == 0 {
        bail!("{name} failed ({status})");
    }
    Ok(tally)
}

/// The counts in a line `test result: ok. 3 passed; 0 failed; …`.
fn parse(line: &str) -> Tally {
    let Some(result) = line.strip_prefix("test result: ") else { return Tally::default() };
    let number_before = |word: &str| -> u64 {
        let before = result.split(word).next().unwrap_or_default();
        before.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or(0)
    };
    Tally { passed: number_before(" passed"), failed: number_before(" failed") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_result_lines_only() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(parse(line), Tally { passed: 12, failed: 3 });
        assert_eq!(parse("test a::b ... ok"), Tally::default());
    }
}
