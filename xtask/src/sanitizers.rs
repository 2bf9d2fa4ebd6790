//! Miri and the sanitizers. They need the nightly toolchain and are run by hand, not in CI.

use crate::run::{command, nightly_cargo, step};
use anyhow::Result;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The modules with unsafe code, interpreted.
pub fn miri() -> Result<()> {
    install("miri rust-src");
    // crossbeam-epoch casts integers to pointers, keeps garbage until the process ends, and is not
    // accepted by the stricter aliasing model.
    let flags =
        "-Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks -Zmiri-disable-isolation";
    let modules = [
        "-p hedgerow-subgraphs --lib chain",
        "-p hedgerow-rapid --lib edges::a_set_becomes",
        "-p hedgerow-rapid --lib large_sets",
        "-p hedgerow-tel --lib labels_of_one_vertex",
        "-p hedgerow-tel --lib edges_are_deleted",
        "-p hedgerow-tel --lib long_records",
        "-p hedgerow-tel --lib what_a_pinned",
        "-p hedgerow-sync -p hedgerow-model --lib",
        "-p hedgerow --lib locks",
        "-p hedgerow --lib degrees",
        "-p hedgerow --lib seats",
        "-p hedgerow --lib announced",
        "-p hedgerow --lib registration",
    ];
    for module in modules {
        let mut miri = nightly_cargo(&format!("miri test {module}"));
        miri.env("MIRIFLAGS", flags).env("CARGO_TARGET_DIR", "target/miri");
        step(&format!("miri {module}"), &mut miri)?;
    }
    Ok(())
}

/// Everything that stores or reads a graph, with checked memory accesses and leaks.
pub fn address() -> Result<()> {
    let packages = "-p hedgerow -p hedgerow-engines -p hedgerow-rapid -p hedgerow-tel -p hedgerow-subgraphs -p hedgerow-csr -p hedgerow-erased -p hedgerow-lab -p hedgerow-kernels \
         -p hedgerow-formats";
    let mut tests = nightly_cargo(&format!("test --lib --tests --target {TARGET} {packages}"));
    tests
        .env("RUSTFLAGS", "-Zsanitizer=address --cfg hedgerow_checked_memory")
        .env("CARGO_TARGET_DIR", "target/asan");
    step("AddressSanitizer", &mut tests)
}

/// The concurrent tests, with checked ordering of memory accesses.
pub fn thread() -> Result<()> {
    install("rust-src");
    let packages = "-p hedgerow -p hedgerow-engines -p hedgerow-log -p hedgerow-rapid -p hedgerow-tel -p hedgerow-kernels";
    let build = format!("test --lib --tests -Zbuild-std --target {TARGET} {packages}");
    let mut tests = nightly_cargo(&build);
    tests
        .env("RUSTFLAGS", "-Zsanitizer=thread --cfg hedgerow_checked_memory")
        .env("TSAN_OPTIONS", format!("suppressions={}/xtask/tsan.supp", crate::run::root().display()))
        .env("CARGO_TARGET_DIR", "target/tsan");
    step("ThreadSanitizer", &mut tests)
}

fn install(components: &str) {
    // If it fails the next step says what is missing.
    let _ = step(
        "components",
        &mut command("rustup", &format!("component add --toolchain nightly {components}")),
    );
}
