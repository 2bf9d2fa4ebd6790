//! Miri and the sanitizers. They need a nightly toolchain.

use crate::run::{Tally, command, nightly_cargo, root, step, tests};
use crate::workspace::{Package, selected, with_models, with_unsafe_code};
use anyhow::Result;
use std::panic::resume_unwind;
use std::process::Command;
use std::sync::Mutex;
use std::thread;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Tests that Miri interprets in packages whose full tests would take too long: library tests by
/// parts of their names, half a minute per package, and further ones for the full extent. In other
/// packages it interprets all library tests.
const INTERPRETED: &[(&str, &str, &str)] = &[
    ("hedgerow-hybrid", "versions::tests", "members memory_of_rewritten retained"),
    ("hedgerow-in-memory", "reclamation vertices heap records::memory all_are_removed", "records::parallel"),
    ("hedgerow-lab-engines", "radix::simd", "fine_grained::tests::edges::a_"),
    ("hedgerow-lsm", "largest_gaps", "frame a_row_that_is_visited"),
    ("hedgerow-model", "token", "intersect search"),
    ("hedgerow-rapid", "empty_effects garbage_moves subgraphs::chain", "edges::a_set_becomes large_sets"),
    ("hedgerow-sequencer", "locks slots published_head registration", ""),
    (
        "hedgerow-tel",
        "empty_effects",
        "garbage_moves labels_of_one_vertex edges_are_deleted long_records what_a_pinned",
    ),
];

/// Packages in which Miri accepts pointers made of addresses. crossbeam-epoch, with which rayon
/// steals work, makes some, and so do arc-swap and record handles. Everywhere else Miri insists on
/// strict provenance.
const PERMISSIVE: &[&str] =
    &["hedgerow-hybrid", "hedgerow-in-memory", "hedgerow-lab-engines", "hedgerow-rapid", "hedgerow-tel"];

/// Packages whose unsafe blocks only make tokens, without a memory access to check.
pub const OF_TOKENS: &[&str] = &["hedgerow-testing"];

/// The extent of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The tests that fit into the time of CI.
    Brief,
    /// All useful tests.
    Full,
}

/// Packages without unsafe code whose tests exercise the unsafe code of others: graphs and kernels
/// on every engine, and readers of foreign files.
const DRIVING: &str = "-p hedgerow -p hedgerow-compiled-kernels -p hedgerow-kernels -p hedgerow-formats";

/// Interprets the library tests of packages with unsafe code.
pub fn miri(packages: &[Package], extent: Extent) -> Result<Tally> {
    if let Some(missing) = missing(&["miri", "rust-src"]) {
        return Ok(Tally::skipped("Miri", &missing));
    }
    if packages.is_empty() {
        return Ok(Tally::default());
    }
    if step("standard library for Miri", &mut nightly_cargo("miri setup --quiet")).is_err() {
        return Ok(Tally::skipped(
            "Miri",
            "its standard library could not be built, for which it may need a network",
        ));
    }
    // An interpreter uses one core: two at a time.
    let waiting = Mutex::new(packages.iter().filter(|package| !OF_TOKENS.contains(&&*package.name)));
    let work = || -> Result<Tally> {
        let mut tally = Tally::default();
        loop {
            let next = waiting.lock().map_or(None, |mut waiting| waiting.next());
            let Some(package) = next else { return Ok(tally) };
            tally = tally.plus(interpret(package, extent)?);
        }
    };
    thread::scope(|scope| {
        let other = scope.spawn(work);
        let tally = work()?;
        let other = other.join().unwrap_or_else(|panicked| resume_unwind(panicked))?;
        Ok(tally.plus(other))
    })
}

/// Interprets library tests of a package.
fn interpret(package: &Package, extent: Extent) -> Result<Tally> {
    // crossbeam-epoch, used by rayon's threads, keeps garbage until the process ends, and the
    // stricter aliasing model rejects it.
    let flags = "-Zmiri-tree-borrows -Zmiri-ignore-leaks -Zmiri-disable-isolation";
    let chosen = INTERPRETED.iter().find(|(name, ..)| *name == package.name);
    let names = match (chosen, extent) {
        (None, _) => String::new(),
        (Some((_, names, _)), Extent::Brief) => (*names).to_owned(),
        (Some((_, names, further)), Extent::Full) => format!("{names} {further}"),
    };
    let mut miri = nightly_cargo(&format!("miri test --quiet {} --lib", package.selection()));
    let provenance = match PERMISSIVE.contains(&&*package.name) {
        true => "permissive",
        false => "strict",
    };
    let flags = format!("{flags} -Zmiri-{provenance}-provenance");
    // An interpreted case takes about a thousand times as long.
    miri.env("MIRIFLAGS", flags).env("CARGO_TARGET_DIR", "target/miri").env("PROPTEST_CASES", "4");
    tests(&format!("Miri: {}", package.name), &mut miri, &names)
}

/// Returns the reason why AddressSanitizer cannot run here.
pub fn no_address() -> Option<String> {
    missing(&[])
}

/// Runs the tests of packages, with checked memory accesses and leaks.
pub fn address(packages: &[Package]) -> Result<Tally> {
    match packages.is_empty() {
        true => Ok(Tally::default()),
        false => address_of(&mut address_command(packages), &selected(packages)),
    }
}

/// Returns the command of [`address`].
pub fn address_command(packages: &[Package]) -> Command {
    address_command_for(&selected(packages))
}

/// Runs all tests of everything that stores, reads or computes on a graph, with checked memory
/// accesses and leaks.
pub fn address_of_all() -> Result<Tally> {
    let packages = selected(&with_unsafe_code()?) + DRIVING;
    address_of(&mut address_command_for(&packages), &packages)
}

fn address_command_for(packages: &str) -> Command {
    let arguments = format!("test --quiet --no-fail-fast --lib --tests --target {TARGET} {packages}");
    let mut command = nightly_cargo(&arguments);
    command
        .env("RUSTFLAGS", "-Zsanitizer=address --cfg hedgerow_checked_memory")
        .env("CARGO_TARGET_DIR", "target/asan");
    command
}

fn address_of(command: &mut Command, packages: &str) -> Result<Tally> {
    match missing(&[]) {
        Some(missing) => Ok(Tally::skipped("AddressSanitizer", &missing)),
        None => tests(&format!("AddressSanitizer: {packages}"), command, ""),
    }
}

/// Runs the concurrent tests, with checked ordering of memory accesses.
pub fn thread() -> Result<Tally> {
    if let Some(missing) = missing(&["rust-src"]) {
        return Ok(Tally::skipped("ThreadSanitizer", &missing));
    }
    let packages = selected(&with_models()?) + DRIVING;
    let arguments =
        format!("test --quiet --no-fail-fast --lib --tests -Zbuild-std --target {TARGET} {packages}");
    let mut run = nightly_cargo(&arguments);
    run.env("RUSTFLAGS", "-Zsanitizer=thread --cfg hedgerow_checked_memory")
        .env("TSAN_OPTIONS", format!("suppressions={}/xtask/tsan.supp", root().display()))
        .env("CARGO_TARGET_DIR", "target/tsan");
    tests("ThreadSanitizer", &mut run, "")
}

/// Installs a nightly toolchain with these components if possible; otherwise returns the missing
/// parts.
fn missing(components: &[&str]) -> Option<String> {
    let is_complete = || {
        let list = command("rustup", "component list --toolchain nightly --installed").output();
        list.is_ok_and(|list| {
            let installed = String::from_utf8_lossy(&list.stdout).into_owned();
            let has = |component: &&str| installed.lines().any(|line| line.starts_with(*component));
            list.status.success() && components.iter().all(has)
        })
    };
    if is_complete() {
        return None;
    }
    let has_toolchain = command("rustup", "run nightly rustc --version").output();
    let install = match has_toolchain.is_ok_and(|output| output.status.success()) {
        true => format!("component add --toolchain nightly {}", components.join(" ")),
        false => {
            let components: String = components.iter().map(|name| format!(" --component {name}")).collect();
            format!("toolchain install nightly --profile minimal --no-self-update{components}")
        }
    };
    // Success is checked below.
    let _ = step("nightly toolchain", &mut command("rustup", &install));
    let wanted = [&["a nightly toolchain"], components].concat().join(", ");
    (!is_complete()).then(|| format!("it needs {wanted}, which rustup cannot install here"))
}
