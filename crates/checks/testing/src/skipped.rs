//! Tests that cannot run here report that they are skipped, and `cargo xtask test` counts them.

use std::cell::Cell;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;

/// Reports that the calling test, or a part of it, is skipped. Only the first reason of a test is
/// reported.
///
/// Bypasses the test harness, which does not show the output of a passing test.
pub fn skip(why: impl Display) {
    std::thread_local! {
        static IS_REPORTED: Cell<bool> = const { Cell::new(false) };
    }
    if IS_REPORTED.replace(true) {
        return;
    }
    // The harness runs each test on a thread named after the test.
    let thread = thread::current();
    let line = format!("\nskipped: {}: {why}\n", thread.name().unwrap_or("a test"));
    // A closed output is ignored: then the report is not counted either.
    let _ = std::io::stdout().write_all(line.as_bytes());
}

/// Returns the path of a file or folder of the public data sets, in `../shared/data` next to the
/// repository. If it is missing, reports the calling test as [skipped](skip), and returns `None`.
///
/// # Panics
/// The path is missing and the environment variable `CI` is set, so that no test is skipped there
/// unnoticed.
#[must_use]
pub fn public_data(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    let is_ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    assert!(!is_ci, "CI is set, and the public data set {} is missing", path.display());
    skip(format_args!("there is no ../shared/data/{name}"));
    None
}
