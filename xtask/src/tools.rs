//! Programs that the tests drive, installed below `target/tools`.

use crate::run::{cargo, command, root, step};
use anyhow::{Context, Result};
use std::fs;

/// The checker that judges histories of transactions (`crates/checks/isolation`).
const CHECKER: &str = "adya";
const CHECKER_VERSION: &str = "0.1.0";

/// The build directory.
const BUILD: &str = "target/tools/build";

/// Installs the isolation checker unless the right version is installed.
pub fn install_checker() -> Result<()> {
    let program = root().join("target/tools/bin").join(CHECKER);
    let wanted = format!("{CHECKER} {CHECKER_VERSION}");
    let found = command(&program.to_string_lossy(), "--version").output();
    if found.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim() == wanted) {
        return Ok(());
    }
    let install = format!(
        "install {CHECKER} --version {CHECKER_VERSION} --no-default-features --locked --quiet --force \
         --root target/tools --target-dir {BUILD}"
    );
    step(&format!("installing {wanted}"), &mut cargo(&install)).with_context(|| {
        format!(
            "crates/checks/isolation needs {wanted} of crates.io; without a network, put it at {}",
            program.display()
        )
    })?;
    fs::remove_dir_all(root().join(BUILD)).context("removing what the build left")
}
