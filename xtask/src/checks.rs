//! The checks that must pass before a change lands.

use crate::changes::changed;
use crate::laboratory;
use crate::run::{SAMPLE_SEED, Tally, cargo, command, sample_seed, step, tests};
use crate::sanitizers::Extent;
use crate::workspace::{Package, packages, selected, with_models, with_unsafe_code};
use crate::{kafka, sanitizers, tidy, tools};
use anyhow::{Context, Result, bail};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Schedules per model in an ordinary test run; `soak` runs many more.
const SCHEDULES: u32 = 2_000;

/// Checks formatting, lints, documentation, and the compilation of fuzz targets; runs all tests,
/// the models, and changed unsafe code under Miri and AddressSanitizer.
pub fn test() -> Result<()> {
    let begin = Instant::now();
    eprintln!("== failures, losses of power and damage: a sample, {SAMPLE_SEED}={}", sample_seed());
    install_components();
    step("formatting", &mut cargo("fmt --all --check"))?;
    tidy::check()?;
    step("lints", &mut cargo("clippy --workspace --all-targets --quiet -- -D warnings"))?;
    features()?;
    let mut documentation = cargo("doc --workspace --no-deps --quiet");
    step("documentation", documentation.env("RUSTDOCFLAGS", "-D warnings"))?;
    let lints =
        "clippy --locked --quiet --bins --manifest-path fuzz/Cargo.toml --target-dir target -- -D warnings";
    step("fuzz targets", &mut cargo(lints))?;
    tools::install_checker()?;
    let changed_unsafe_code = changed_unsafe_code()?;
    // Under AddressSanitizer instead of as usual, not in addition.
    let no_address = sanitizers::no_address();
    let addressed = if no_address.is_none() { &*changed_unsafe_code } else { &[] };
    let later = [models(SCHEDULES)?, sanitizers::address_command(addressed)];
    let later = if addressed.is_empty() { &later[..1] } else { &later };
    let mut builds = later.iter().map(build_in_background).collect::<Result<Vec<_>>>()?;
    let excluded: String = addressed.iter().map(|package| format!("--exclude {} ", package.name)).collect();
    // Lints compile the examples.
    let kinds = "--lib --bins --tests";
    let ordinary = format!("test --workspace {excluded} {kinds} --quiet --no-fail-fast");
    let mut tally = tests("tests", &mut cargo(&ordinary), "")?;
    let examples = "test --workspace --doc --quiet --no-fail-fast";
    tally = tally.plus(tests("examples of the documentation", &mut cargo(examples), "")?);
    for build in &mut builds {
        // A failed build also fails the step that runs the tests, which shows the cause.
        build.wait()?;
    }
    tally = tally.plus(shuttle(SCHEDULES)?);
    tally = tally.plus(match &no_address {
        Some(missing) => Tally::skipped("AddressSanitizer", missing),
        None => sanitizers::address(addressed)?,
    });
    tally = tally.plus(sanitizers::miri(&changed_unsafe_code, Extent::Brief)?);
    report(&tally.plus(laboratory::test_if_changed()?), begin)
}

/// Returns the packages with unsafe memory accesses that changed, or are built from a package that
/// changed.
fn changed_unsafe_code() -> Result<Vec<Package>> {
    let changed = changed(&packages()?);
    let is_checked = |package: &Package| {
        changed.contains(&package.name) && !sanitizers::OF_TOKENS.contains(&&*package.name)
    };
    Ok(with_unsafe_code()?.into_iter().filter(is_checked).collect())
}

/// Feature sets for lints of the library alone. Builds of other crates always enable more features.
const FEATURES: [&str; 2] = ["rapid", "async,hybrid,kernels,lsm,serde,tel"];

fn features() -> Result<()> {
    for features in FEATURES {
        let lints = format!("clippy -p hedgerow --quiet --no-default-features --features {features}");
        step(&format!("features {features}"), &mut cargo(&format!("{lints} -- -D warnings")))?;
    }
    kafka::lints()
}

/// Lets the test that compares the tables of options in docs/cli.md with the help write these
/// tables.
pub fn write_tables_of_options() -> Result<()> {
    let mut test = cargo("test --quiet -p hedgerow-cli --lib the_tables_of_options_are_those_of_the_help");
    step("tables of options", test.env("HEDGEROW_WRITE_DOCUMENTS", "1"))
}

/// Runs the models of the commit pipeline and of the engines under the model checker.
pub fn shuttle(iterations: u32) -> Result<Tally> {
    tests(&format!("models, {iterations} schedules each"), &mut models(iterations)?, "")
}

fn models(iterations: u32) -> Result<Command> {
    let packages = selected(&with_models()?);
    let mut models = cargo(&format!("test --quiet {packages} --test shuttle"));
    models
        .env("RUSTFLAGS", "--cfg hedgerow_shuttle")
        .env("CARGO_TARGET_DIR", "target/shuttle")
        .env("SHUTTLE_ITERATIONS", iterations.to_string());
    Ok(models)
}

/// Starts to compile the tests that `tests` will run, on processors that the earlier tests leave
/// idle.
fn build_in_background(tests: &Command) -> Result<Child> {
    let mut build = command("nice", "");
    build.arg(tests.get_program()).args(tests.get_args()).arg("--no-run");
    for (name, value) in tests.get_envs() {
        match value {
            Some(value) => build.env(name, value),
            None => build.env_remove(name),
        };
    }
    build.stdout(Stdio::null()).stderr(Stdio::null());
    build.spawn().context("could not start nice")
}

/// Runs long searches, all unsafe code under Miri and AddressSanitizer, and tests with a long
/// build.
pub fn soak(cases: u32, iterations: u32) -> Result<()> {
    let begin = Instant::now();
    tools::install_checker()?;
    let mut properties = cargo("test --workspace --quiet --no-fail-fast --release");
    let rounds = (cases / 40).max(1);
    properties
        .env(SAMPLE_SEED, "all")
        .env("PROPTEST_CASES", cases.to_string())
        .env("HISTORY_ROUNDS", rounds.to_string())
        .env("CRASH_SEEDS", (cases / 10).to_string())
        .env("FAULT_SEEDS", (cases / 50).to_string())
        .env("DAMAGE_SAMPLES", (cases * 50).to_string())
        .env("MUTATIONS", cases.to_string())
        .env("CHECKED_HISTORIES", (cases / 4).to_string())
        .env("KILL_ROUNDS", (cases / 2).to_string())
        .env("OVERSUBSCRIBED_SECONDS", (cases / 20).to_string());
    let mut tally = tests(&format!("properties, {cases} cases each"), &mut properties, "")?;
    let mut bugs = cargo("test --release --quiet -p hedgerow-log --tests");
    let searched = tests(SEARCH, &mut bugs, &format!("--ignored {SEARCH}"))?;
    // The first run skipped this search.
    tally.skipped.retain(|skipped| !skipped.contains(SEARCH));
    tally = tally.plus(searched);
    tally = tally.plus(shuttle(iterations)?);
    tally =
        tally.plus(sanitizers::miri(&with_unsafe_code()?, Extent::Full)?).plus(sanitizers::address_of_all()?);
    report(&tally.plus(laboratory::test(iterations)?), begin)
}

/// A test of `hedgerow-log` that is ignored because it takes long.
const SEARCH: &str = "search_for_planted_bugs";

/// Installs the components that the checks need, if rustup manages the toolchain.
fn install_components() {
    let installed =
        |tool: &str| cargo(&format!("{tool} --version")).output().is_ok_and(|o| o.status.success());
    if !(installed("fmt") && installed("clippy")) {
        // If the installation fails, the next step reports the missing tool.
        let _ = step("components", &mut command("rustup", "component add rustfmt clippy"));
    }
}

/// Prints the final report: skipped tests with reasons, then one line of counts. Fails if a test
/// failed.
pub fn report(tally: &Tally, begin: Instant) -> Result<()> {
    eprintln!("== done in {:.0} s", begin.elapsed().as_secs_f64());
    tally.skipped.iter().for_each(|skipped| println!("skipped: {skipped}"));
    println!("{} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.skipped.len());
    if tally.failed > 0 {
        bail!("{} tests failed", tally.failed);
    }
    Ok(())
}
