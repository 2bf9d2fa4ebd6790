//! The changes since the upstream branch, or on it.

use crate::run::command;
use crate::workspace::{Package, with_dependents};
use std::collections::BTreeSet;

/// Candidates for the base branch, the likeliest first.
const UPSTREAM: [&str; 4] = ["@{upstream}", "origin/HEAD", "origin/main", "main"];

/// The age of work that is checked again on the upstream branch itself, where the last check is
/// unknown: half a day, in seconds.
const CHECKED_AGAIN: u64 = 12 * 3600;

/// Returns the files that differ from the merge base with the upstream branch, committed or not. If
/// there are none, this is the upstream branch itself: then returns the files that differ from its
/// last commit at least half a day older than the newest. `None` if no such commit is known, as in
/// a shallow clone.
fn changed_files() -> Option<Vec<String>> {
    let base = UPSTREAM.iter().find_map(|branch| git(&format!("merge-base HEAD {branch}")));
    let files = changed_since(&base?)?;
    if !files.is_empty() {
        return Some(files);
    }
    let newest: u64 = git("show --no-patch --format=%ct HEAD")?.parse().ok()?;
    let before = newest - CHECKED_AGAIN;
    let base = git(&format!("rev-list --first-parent --max-count=1 --before={before} HEAD"))?;
    if base.is_empty() { None } else { changed_since(&base) }
}

/// Returns the files that differ from a commit, committed or not.
fn changed_since(commit: &str) -> Option<Vec<String>> {
    let committed = git(&format!("diff --name-only {commit}"))?;
    let untracked = git("ls-files --others --exclude-standard")?;
    Some(committed.lines().chain(untracked.lines()).map(str::to_owned).collect())
}

/// Returns the names of the packages of `all` that changed, or are built from one that changed; of
/// all if the changes are unknown.
pub fn changed(all: &[Package]) -> BTreeSet<String> {
    let files = changed_files();
    let is_changed = |package: &&Package| {
        files.as_ref().is_none_or(|files| files.iter().any(|file| package.contains(file)))
    };
    let names = all.iter().filter(is_changed).map(|package| package.name.clone());
    with_dependents(all, names.collect())
}

/// Returns the output of git, without the last line break; `None` if it fails.
fn git(arguments: &str) -> Option<String> {
    let output = command("git", arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}
