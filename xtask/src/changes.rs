//! The changes since the upstream branch.

use crate::run::command;
use crate::workspace::Package;

/// Candidates for the base branch, the likeliest first.
const UPSTREAM: [&str; 4] = ["@{upstream}", "origin/HEAD", "origin/main", "main"];

/// Files that differ from the merge base with the upstream branch, committed or not. `None` if no
/// such base is known, or nothing differs from it: then this may be the upstream branch itself.
fn changed_files() -> Option<Vec<String>> {
    let base = UPSTREAM.iter().find_map(|branch| git(&format!("merge-base HEAD {branch}")))?;
    let committed = git(&format!("diff --name-only {}", base.trim()))?;
    let untracked = git("ls-files --others --exclude-standard")?;
    let files: Vec<String> = committed.lines().chain(untracked.lines()).map(str::to_owned).collect();
    (!files.is_empty()).then_some(files)
}

/// The changed ones of `packages`; all of them if the changes are unknown.
pub fn changed(packages: Vec<Package>) -> Vec<Package> {
    match changed_files() {
        Some(files) => touched(packages, &files),
        None => packages,
    }
}

fn touched(packages: Vec<Package>, files: &[String]) -> Vec<Package> {
    packages.into_iter().filter(|package| files.iter().any(|file| package.contains(file))).collect()
}

/// The output of git; `None` if it fails.
fn git(arguments: &str) -> Option<String> {
    let output = command("git", arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_touched_by_its_files() {
        let package =
            |name: &str| Package { name: format!("hedgerow-{name}"), folder: format!("crates/{name}") };
        let files = ["crates/rapid/src/pool/mod.rs", "docs/bench.md"].map(str::to_owned);
        assert_eq!(touched(vec![package("rapid"), package("tel")], &files), [package("rapid")]);
    }
}
