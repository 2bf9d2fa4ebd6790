//! Style that no compiler checks.

use crate::run::root;
use crate::words;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};

/// The only files of the laboratory with `unsafe` code.
const LABORATORY_UNSAFE_FILES: &[&str] = &[
    "lab/command/src/compare/stores/lmdb.rs",
    "lab/engines/src/fine_grained/view.rs",
    "lab/engines/src/radix/simd.rs",
];

/// The only files of the product with `unsafe` code: small, each behind a safe interface.
pub const UNSAFE_FILES: &[&str] = &[
    "crates/checks/testing/src/accounting.rs",
    "crates/checks/testing/src/allocation.rs",
    "crates/checks/testing/src/check.rs",
    "crates/checks/testing/src/contract.rs",
    "crates/checks/testing/src/durable.rs",
    "crates/checks/testing/src/parallel.rs",
    "crates/checks/testing/src/pipeline.rs",
    "crates/checks/testing/src/records.rs",
    "crates/checks/testing/src/scenario.rs",
    "crates/core/model/src/token.rs",
    "crates/core/sequencer/src/locks.rs",
    "crates/core/sequencer/src/registration.rs",
    "crates/core/sequencer/src/sequencer.rs",
    "crates/core/sequencer/src/sequencer/restore.rs",
    "crates/core/sync/src/epoch/modelled.rs",
    "crates/core/sync/src/epoch/production.rs",
    "crates/core/sync/src/fork.rs",
    "crates/core/sync/src/prefetch.rs",
    "crates/core/sync/src/raw_lock.rs",
    "crates/core/sync/tests/epoch.rs",
    "crates/engines/hybrid/src/adjacency/arena.rs",
    "crates/engines/hybrid/src/adjacency/block.rs",
    "crates/engines/hybrid/src/adjacency/former.rs",
    "crates/engines/hybrid/src/adjacency/logged.rs",
    "crates/engines/hybrid/src/adjacency/note.rs",
    "crates/engines/hybrid/src/adjacency/row.rs",
    "crates/engines/hybrid/src/adjacency/table.rs",
    "crates/engines/hybrid/src/adjacency/tests.rs",
    "crates/engines/hybrid/src/adjacency/writer.rs",
    "crates/engines/hybrid/src/archiving.rs",
    "crates/engines/hybrid/src/changes.rs",
    "crates/engines/hybrid/src/cursor.rs",
    "crates/engines/hybrid/src/edge_log/tests.rs",
    "crates/engines/hybrid/src/view.rs",
    "crates/engines/hybrid/tests/shuttle/adjacency.rs",
    "crates/engines/hybrid/tests/shuttle/edge_log.rs",
    "crates/engines/in-memory/src/reclamation/mapping.rs",
    "crates/engines/in-memory/src/records/cursor.rs",
    "crates/engines/in-memory/src/records/heap.rs",
    "crates/engines/in-memory/src/records/heap/reused.rs",
    "crates/engines/in-memory/src/records/memory.rs",
    "crates/engines/in-memory/src/records/mod.rs",
    "crates/engines/in-memory/src/records/parallel.rs",
    "crates/engines/in-memory/src/records/stage.rs",
    "crates/engines/in-memory/src/vertices/keeps.rs",
    "crates/engines/in-memory/src/vertices/vertex.rs",
    "crates/engines/lsm/src/levels/frame/mod.rs",
    "crates/engines/rapid/src/block.rs",
    "crates/engines/rapid/src/container.rs",
    "crates/engines/rapid/src/directory.rs",
    "crates/engines/rapid/src/extent.rs",
    "crates/engines/rapid/src/leaf.rs",
    "crates/engines/rapid/src/pool/mod.rs",
    "crates/engines/rapid/src/pool/region.rs",
    "crates/engines/rapid/src/shared.rs",
    "crates/engines/rapid/src/subgraphs/chain.rs",
    "crates/engines/rapid/src/subgraphs/chain/tests.rs",
    "crates/engines/rapid/src/subgraphs/owned.rs",
    "crates/engines/rapid/src/subgraphs/past.rs",
    "crates/engines/rapid/src/subgraphs/view.rs",
    "crates/engines/tel/src/apply.rs",
    "crates/engines/tel/src/block.rs",
    "crates/engines/tel/src/block/owned.rs",
    "crates/engines/tel/src/block/times.rs",
    "crates/engines/tel/src/edge.rs",
    "crates/engines/tel/src/engine.rs",
    "crates/engines/tel/src/index.rs",
    "crates/engines/tel/src/keeps.rs",
    "crates/engines/tel/src/stage.rs",
    "crates/engines/tel/src/reclaim.rs",
    "crates/engines/tel/src/retired.rs",
    "crates/engines/tel/src/sparse.rs",
    "crates/engines/tel/src/store/extent.rs",
    "crates/engines/tel/src/store/free_block.rs",
    "crates/engines/tel/src/store/mod.rs",
    "crates/engines/tel/src/view.rs",
];

/// The crate that names atomics, locks and epochs; all others import them from it.
const SYNC_CRATE: &str = "crates/core/sync/";

/// Names that only the sync crate may use.
const SYNC_NAMES: &[&str] = &["std::sync::atomic", "std::sync::Mutex", "std::sync::RwLock", "parking_lot::"];

/// Crates whose file accesses all go through the file system of `crates/core/log/src/files`, so that
/// tests can make any access fail.
const STORE_CRATES: &[&str] = &[
    "crates/engines/lsm/src/levels/",
    "crates/core/log/src/",
    "crates/core/sequencer/src/",
    "crates/core/pipeline/src/",
    "crates/hedgerow/src/",
];

/// The folder that names the operating system's files.
const REAL_FILES: &str = "crates/core/log/src/files/real";

/// Names that only the folder [`REAL_FILES`] may use.
const FILE_NAMES: &[&str] = &["std::fs", "rustix::fs", "std::os::unix::fs", "tempfile::", "memmap2::"];

/// The maximum number of lines of a file: a longer one has more than one purpose.
const LONGEST_FILE: usize = 600;

/// Checks every Rust file of the workspace, and the words of every document.
pub fn check() -> Result<()> {
    eprintln!("== style");
    let mut complaints = Vec::new();
    for file in rust_files()? {
        let text = std::fs::read_to_string(root().join(&file)).with_context(|| file.display().to_string())?;
        complaints.extend(complaints_about(&file, &text));
    }
    for file in words::documents()? {
        let text = std::fs::read_to_string(root().join(&file)).with_context(|| file.display().to_string())?;
        let found = (1..).zip(text.lines()).flat_map(|(number, line)| {
            words::complaints_about(line).map(move |complaint| (number, complaint))
        });
        complaints
            .extend(found.map(|(number, complaint)| format!("{}:{number}: {complaint}", file.display())));
    }
    if complaints.is_empty() {
        return Ok(());
    }
    bail!("style:\n  {}", complaints.join("\n  "));
}

/// Returns all Rust files of the workspace, of the laboratory and of the tasks, sorted.
pub fn rust_files() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::from("crates"), PathBuf::from("lab"), PathBuf::from("xtask")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            match entry.file_type()?.is_dir() {
                true if path.ends_with("target") => {}
                true => folders.push(path),
                false if path.extension().is_some_and(|extension| extension == "rs") => files.push(path),
                false => {}
            }
        }
    }
    files.sort();
    Ok(files)
}

fn complaints_about(file: &Path, text: &str) -> Vec<String> {
    let name = file.to_string_lossy().replace('\\', "/");
    let mut complaints = Vec::new();
    let mut complain = |line: usize, what: &str| complaints.push(format!("{name}:{line}: {what}"));
    if name.starts_with("xtask/") {
        return complaints;
    }
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split("//").next().unwrap_or_default();
        let is_unsafe =
            code.contains("unsafe {") || code.contains("unsafe impl") || code.contains("unsafe fn");
        let is_test = ["/tests/", "/examples/"].iter().any(|folder| name.contains(folder))
            || name.ends_with("/tests.rs");
        if is_unsafe
            && !is_test
            && !UNSAFE_FILES.contains(&&*name)
            && !LABORATORY_UNSAFE_FILES.contains(&&*name)
        {
            complain(number, "unsafe code belongs into a file listed in xtask/src/tidy.rs");
        }
        if !is_test && !name.starts_with(SYNC_CRATE) && SYNC_NAMES.iter().any(|sync| code.contains(sync)) {
            complain(number, "take atomics, locks and epochs from hedgerow-sync");
        }
        let is_store = STORE_CRATES.iter().any(|folder| name.starts_with(folder));
        let is_real = name.starts_with(REAL_FILES);
        if is_store && !is_real && !is_test && FILE_NAMES.iter().any(|file| code.contains(file)) {
            complain(number, "a store touches files only through the trait FileSystem of hedgerow-log");
        }
        words::complaints_about(line).for_each(|complaint| complain(number, &complaint));
    }
    words::complaints_about_comments(text).into_iter().for_each(|(number, what)| complain(number, &what));
    let length = text.lines().count();
    if length > LONGEST_FILE {
        complain(length, "a file this long has more than one purpose");
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        check().unwrap();
    }

    #[test]
    fn complaints_name_file_and_line() {
        let text = "fn one() {}\nuse std::sync::atomic::AtomicU64; // unsafe { }\n";
        let complaints = complaints_about(Path::new("crates/cli/src/main.rs"), text);
        assert_eq!(complaints.len(), 1);
        assert!(complaints[0].starts_with("crates/cli/src/main.rs:2: take atomics"), "{complaints:?}");
    }

    #[test]
    fn a_store_touches_files_through_the_trait() {
        let text = "use std::fs::File;\n";
        let count = |file: &str| complaints_about(Path::new(file), text).len();
        assert_eq!(count("crates/core/log/src/log/writer.rs"), 1);
        assert_eq!(count("crates/hedgerow/src/graph.rs"), 1);
        assert_eq!(count("crates/core/log/src/files/real.rs"), 0);
        assert_eq!(count("crates/formats/src/source.rs"), 0);
    }
}
