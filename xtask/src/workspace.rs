//! The packages of the product and of the laboratory, as found in their folders, from which the
//! checks derive their targets.

use crate::run::root;
use crate::tidy::UNSAFE_FILES;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::fs;

/// A package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name in cargo.
    pub name: String,
    /// The path relative to the root, with slashes.
    pub folder: String,
    /// The names of the packages of ours that it is built from, tests apart.
    pub dependencies: BTreeSet<String>,
}

/// Returns all packages of the product, by folder.
pub fn packages() -> Result<Vec<Package>> {
    packages_in("crates")
}

/// Returns all packages of the laboratory, by folder.
pub fn laboratory() -> Result<Vec<Package>> {
    packages_in("lab")
}

fn packages_in(folder: &str) -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let path = root().join(&folder);
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap_or_default();
        if let Some(name) = name_in(&manifest) {
            let dependencies = dependencies_in(&manifest);
            packages.push(Package { name: name.to_owned(), folder, dependencies });
            continue;
        }
        for entry in fs::read_dir(&path).with_context(|| path.display().to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() && entry.file_name() != "target" {
                folders.push(format!("{folder}/{}", entry.file_name().to_string_lossy()));
            }
        }
    }
    packages.sort_by(|one, other| one.folder.cmp(&other.folder));
    Ok(packages)
}

/// Returns the packages with models for the model checker: a test `shuttle`.
pub fn with_models() -> Result<Vec<Package>> {
    let has_models = |package: &Package| {
        let tests = root().join(&package.folder).join("tests");
        tests.join("shuttle.rs").exists() || tests.join("shuttle/main.rs").exists()
    };
    Ok(packages()?.into_iter().filter(has_models).collect())
}

/// Returns the packages with unsafe code of their own, by the list of files that may contain any.
pub fn with_unsafe_code() -> Result<Vec<Package>> {
    let has_unsafe_code = |package: &Package| UNSAFE_FILES.iter().any(|file| package.contains(file));
    Ok(packages()?.into_iter().filter(has_unsafe_code).collect())
}

impl Package {
    /// Returns the arguments by which cargo finds the package.
    pub fn selection(&self) -> String {
        let manifest = if self.folder.starts_with("lab/") { "--manifest-path lab/Cargo.toml " } else { "" };
        format!("{manifest}-p {}", self.name)
    }

    /// Returns true if a file, relative to the root, belongs to the package.
    pub fn contains(&self, file: &str) -> bool {
        file.strip_prefix(&self.folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Returns the names of the packages of `all` that one of `changed` is, or is built from.
pub fn with_dependents(all: &[Package], changed: BTreeSet<String>) -> BTreeSet<String> {
    let mut touched = changed;
    loop {
        let before = touched.len();
        for package in all {
            if !touched.is_disjoint(&package.dependencies) {
                touched.insert(package.name.clone());
            }
        }
        if touched.len() == before {
            return touched;
        }
    }
}

/// Returns the arguments by which cargo finds all packages.
pub fn selected(packages: &[Package]) -> String {
    packages.iter().map(|package| package.selection() + " ").collect()
}

/// Returns the name of the package that a manifest describes; `None` if it describes none.
fn name_in(manifest: &str) -> Option<&str> {
    let package = manifest.split_once("[package]")?.1;
    let value = package.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(value.trim().trim_matches('"'))
}

/// Returns the names of the packages of ours among the dependencies of a manifest, those of its
/// tests apart.
fn dependencies_in(manifest: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_listed = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            is_listed = line == "[dependencies]";
        }
        let name: String = line.chars().take_while(|c| c.is_alphanumeric() || *c == '-').collect();
        if is_listed && name.starts_with("hedgerow") {
            names.insert(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(packages: &[Package]) -> Vec<&str> {
        packages.iter().map(|package| &*package.name).collect()
    }

    #[test]
    fn packages_are_found_by_what_they_contain() {
        let (models, unsafe_code) = (with_models().unwrap(), with_unsafe_code().unwrap());
        assert!(names(&models).contains(&"hedgerow") && names(&models).contains(&"hedgerow-log"));
        assert!(names(&unsafe_code).contains(&"hedgerow-rapid"));
        assert!(selected(&models).contains("-p hedgerow-log "));
        assert!(names(&laboratory().unwrap()).contains(&"hedgerow-lab"));
    }

    #[test]
    fn every_listed_file_with_unsafe_code_exists() {
        for file in UNSAFE_FILES {
            assert!(root().join(file).exists(), "{file}");
        }
    }

    #[test]
    fn a_file_belongs_to_the_package_of_its_folder() {
        let package = Package {
            name: "hedgerow-tel".to_owned(),
            folder: "crates/engines/tel".to_owned(),
            dependencies: BTreeSet::new(),
        };
        assert!(package.contains("crates/engines/tel/src/view.rs"));
        assert!(!package.contains("crates/telling/src/view.rs") && !package.contains("crates/engines/tel"));
    }

    #[test]
    fn a_change_touches_all_that_is_built_from_it() {
        let all = packages().unwrap();
        let touched = with_dependents(&all, BTreeSet::from(["hedgerow-sync".to_owned()]));
        for name in ["hedgerow-sync", "hedgerow-tel", "hedgerow-rapid", "hedgerow-cli"] {
            assert!(touched.contains(name), "{name}");
        }
        assert!(!touched.contains("hedgerow-derive"));
        let touched = with_dependents(&all, BTreeSet::from(["hedgerow-cli".to_owned()]));
        assert_eq!(touched.len(), 1);
    }

    #[test]
    fn manifests_say_names_and_dependencies() {
        let manifest = "[package]\nname = \"one\"\n[[bin]]\nname = \"two\"\n[dependencies]\n\
                        hedgerow-log.workspace = true\nrand = \"1\"\n[dev-dependencies]\nhedgerow-tel.workspace = true\n";
        assert_eq!(name_in(manifest), Some("one"));
        assert_eq!(dependencies_in(manifest), BTreeSet::from(["hedgerow-log".to_owned()]));
        assert_eq!(name_in("[workspace]\n"), None);
    }
}
