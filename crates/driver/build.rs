//! Passes facts about this build to the report.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let profile = std::env::var("PROFILE").unwrap_or_default();
    let optimization = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo::rustc-env=HEDGEROW_RUSTC={}", version.unwrap_or_default());
    println!("cargo::rustc-env=HEDGEROW_PROFILE={profile}, opt-level {optimization}");
    println!("cargo::rerun-if-changed=build.rs");
}
