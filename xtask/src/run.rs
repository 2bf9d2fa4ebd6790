//! Runs cargo and counts the results of its tests.

use anyhow::{Context, Result, bail};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

/// The results of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Tests that passed.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests, or steps, that could not run or are ignored, each with the reason.
    pub skipped: Vec<String>,
}

impl Tally {
    /// Returns the tally of one skipped step.
    pub fn skipped(step: &str, why: &str) -> Tally {
        eprintln!("== {step}: skipped, {why}");
        Tally { skipped: vec![format!("{step}: {why}")], ..Tally::default() }
    }

    /// Returns the sum of both tallies.
    pub fn plus(mut self, other: Tally) -> Tally {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped.extend(other.skipped);
        self
    }
}

/// Returns the root of the workspace.
pub fn root() -> &'static Path {
    // This crate is directly below the root.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Returns a cargo command in the root of the workspace, of this toolchain.
pub fn cargo(arguments: &str) -> Command {
    command(&std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()), arguments)
}

/// Returns a cargo command of the nightly toolchain.
pub fn nightly_cargo(arguments: &str) -> Command {
    let mut nightly = command("rustup", &format!("run nightly cargo {arguments}"));
    // The calling toolchain must not choose the compiler of another.
    for variable in ["RUSTC", "RUSTDOC", "CARGO", "RUSTUP_TOOLCHAIN"] {
        nightly.env_remove(variable);
    }
    nightly
}

/// Returns a command in the root of the workspace; arguments are separated by blanks.
pub fn command(program: &str, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace()).current_dir(root());
    command
}

/// Tells tests which points of their long searches to check; see `testing/src/sample.rs`.
pub const SAMPLE_SEED: &str = "SAMPLE_SEED";

/// Returns the seed of this run's samples: from the environment, or else one that belongs to the
/// last commit. Other commits check other points, and a failure of a commit can be repeated.
pub fn sample_seed() -> &'static str {
    static SEED: OnceLock<String> = OnceLock::new();
    SEED.get_or_init(|| std::env::var(SAMPLE_SEED).unwrap_or_else(|_| seed_of_commit().to_string()))
}

/// Returns a part of the hash of the committed files, small enough to type; 0 without a repository.
fn seed_of_commit() -> u32 {
    let output = command("git", "rev-parse --short=6 HEAD^{tree}").output();
    let hash = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    u32::from_str_radix(hash.trim().get(..6).unwrap_or("0"), 16).unwrap_or(0)
}

/// Runs a step. Fails if the step fails.
pub fn step(name: &str, command: &mut Command) -> Result<()> {
    let begin = Instant::now();
    eprintln!("== {name}");
    let status = command.status().with_context(|| format!("{name}: could not start {command:?}"))?;
    if !status.success() {
        bail!("{name} failed ({status})");
    }
    report_time(name, begin);
    Ok(())
}

/// Runs `cargo test` with these arguments for the test harness, shows the unusual lines of its
/// output, and counts the results. A failing test is counted, not an error.
pub fn tests(name: &str, command: &mut Command, harness: &str) -> Result<Tally> {
    let begin = Instant::now();
    eprintln!("== {name}");
    // A line per test, with the reason if it is ignored.
    command.args(["--", "--format", "pretty"]).args(harness.split_whitespace());
    if command.get_envs().all(|(variable, _)| variable != SAMPLE_SEED) {
        command.env(SAMPLE_SEED, sample_seed());
    }
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("{name}: could not start"))?;
    let output = child.stdout.take().context("the output was piped")?;
    let mut count = Count::default();
    for line in BufReader::new(output).lines() {
        let line = line?;
        if !is_usual(&line) {
            println!("{line}");
        }
        count.line(&line);
    }
    let missing: Vec<&str> =
        harness.split_whitespace().filter(|word| !word.starts_with("--") && !count.has_run(word)).collect();
    let tally = count.tally();
    let status = child.wait()?;
    if !status.success() && tally.failed == 0 {
        bail!("{name} failed ({status})");
    }
    if !missing.is_empty() {
        bail!("{name}: no test is called {}", missing.join(", or "));
    }
    report_time(name, begin);
    Ok(tally)
}

/// Names the step, because some run at the same time.
fn report_time(name: &str, begin: Instant) {
    eprintln!("   {name}: {:.0} s", begin.elapsed().as_secs_f64());
}

/// Returns true if a line only reports that a test runs or passes.
fn is_usual(line: &str) -> bool {
    let is_test = line.starts_with("test ") && (line.ends_with(" ... ok") || line.contains(" ... ignored"));
    is_test || line.is_empty() || line.starts_with("running ") || line.starts_with("skipped: ")
}

/// Counts the results in the output of tests.
#[derive(Default)]
struct Count {
    tally: Tally,
    /// Tests that reported themselves as skipped, and that the harness counted as passed.
    passed_unrun: u64,
    /// The names of all tests that were run.
    run: Vec<String>,
}

impl Count {
    fn line(&mut self, line: &str) {
        let tally = &mut self.tally;
        if let Some(result) = line.strip_prefix("test result: ") {
            tally.passed += number_before(result, " passed");
            tally.failed += number_before(result, " failed");
        } else if let Some(skipped) = line.strip_prefix("skipped: ") {
            self.passed_unrun += 1;
            tally.skipped.push(skipped.to_owned());
        } else if let Some((test, why)) = ignored(line) {
            tally.skipped.push(format!("{test}: {why}"));
        } else if let Some((test, _)) = line.strip_prefix("test ").and_then(|test| test.split_once(" ... ")) {
            self.run.push(test.to_owned());
        }
    }

    /// Returns true if a test was run whose name contains `part`.
    fn has_run(&self, part: &str) -> bool {
        self.run.iter().any(|name| name.contains(part))
    }

    fn tally(self) -> Tally {
        Tally { passed: self.tally.passed.saturating_sub(self.passed_unrun), ..self.tally }
    }
}

fn number_before(result: &str, word: &str) -> u64 {
    let before = result.split(word).next().unwrap_or_default();
    before.split_whitespace().last().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the ignored test that a line reports, and the reason; `None` if another test runs it.
fn ignored(line: &str) -> Option<(&str, &str)> {
    let (test, why) = line.strip_prefix("test ")?.split_once(" ... ignored")?;
    let why = why.trim_start_matches(", ");
    (!why.starts_with("run by ")).then_some((test, if why.is_empty() { "no reason is given" } else { why }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(lines: &[&str]) -> Tally {
        let mut count = Count::default();
        lines.iter().for_each(|line| count.line(line));
        count.tally()
    }

    #[test]
    fn counts_are_read_from_result_lines_only() {
        let line = "test result: FAILED. 12 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out";
        let tally = counted(&[line, "test a::b ... ok", "4 passed"]);
        assert_eq!(tally, Tally { passed: 12, failed: 3, skipped: vec![] });
    }

    #[test]
    fn a_skipped_test_did_not_pass() {
        let tally = counted(&[
            "skipped: sizes: there is no data",
            "test sizes ... ok",
            "test result: ok. 2 passed; 0 failed; 3 ignored",
        ]);
        assert_eq!(
            tally,
            Tally { passed: 1, failed: 0, skipped: vec!["sizes: there is no data".to_owned()] }
        );
    }

    #[test]
    fn ignored_tests_are_skipped_unless_another_test_runs_them() {
        let tally = counted(&[
            "test search ... ignored, a search of minutes",
            "test full ... ignored, run by the test above, on a small disk",
            "test odd ... ignored",
        ]);
        assert_eq!(tally.skipped, ["search: a search of minutes", "odd: no reason is given"]);
    }

    #[test]
    fn only_tests_that_were_run_have_names() {
        let mut count = Count::default();
        ["test a::b ... ok", "test c ... FAILED", "test d ... ignored", "running 3 tests"]
            .iter()
            .for_each(|line| count.line(line));
        assert!(count.has_run("a::") && count.has_run("c"));
        assert!(!count.has_run("d") && !count.has_run("running"));
    }

    #[test]
    fn a_filter_that_matches_nothing_fails() {
        let echo = |text: &str| tests("echo", command("echo", "").arg(text), "b");
        assert!(echo("test a::b ... ok").is_ok());
        let error = echo("test a::c ... ok").unwrap_err().to_string();
        assert!(error.contains("no test is called b"), "{error}");
    }

    #[test]
    fn a_test_that_fails_is_shown() {
        assert!(is_usual("test a ... ok") && is_usual("running 3 tests"));
        assert!(!is_usual("test a ... FAILED") && !is_usual("test result: ok. 1 passed; 0 failed"));
    }
}
