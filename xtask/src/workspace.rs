//! The packages of the workspace, as found in its folders, from which the checks derive their
//! targets.

use crate::run::root;
use crate::tidy::UNSAFE_FILES;
use anyhow::{Context, Result};
use std::fs;

/// The crate that drives other stores. Its unsafe code calls C, which neither Miri nor a sanitizer
/// sees.
const FOREIGN: &str = "crates/compare";

/// A package below `crates`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The name in cargo.
    pub name: String,
    /// The path relative to the root, with slashes.
    pub folder: String,
}

/// Returns all packages, by folder.
pub fn packages() -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    for entry in fs::read_dir(root().join("crates"))? {
        let folder = format!("crates/{}", entry?.file_name().to_string_lossy());
        let manifest = root().join(&folder).join("Cargo.toml");
        let text = fs::read_to_string(&manifest).with_context(|| manifest.display().to_string())?;
        let name = name_in(&text).with_context(|| format!("no name in {}", manifest.display()))?;
        packages.push(Package { name: name.to_owned(), folder });
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
    let has_unsafe_code = |package: &Package| {
        package.folder != FOREIGN && UNSAFE_FILES.iter().any(|file| package.contains(file))
    };
    Ok(packages()?.into_iter().filter(has_unsafe_code).collect())
}

impl Package {
    /// Returns true if a file, relative to the root, belongs to the package.
    pub fn contains(&self, file: &str) -> bool {
        file.strip_prefix(&self.folder).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Returns the arguments `-p NAME` of all packages.
pub fn selected(packages: &[Package]) -> String {
    packages.iter().map(|package| format!("-p {} ", package.name)).collect()
}

/// Returns the name of the package that a manifest describes: the first `name` in it.
fn name_in(manifest: &str) -> Option<&str> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("name = "))?;
    Some(value.trim().trim_matches('"'))
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
        assert!(!names(&unsafe_code).contains(&"hedgerow-compare"));
        assert!(selected(&models).contains("-p hedgerow-log "));
    }

    #[test]
    fn a_file_belongs_to_the_package_of_its_folder() {
        let package = Package { name: "hedgerow-tel".to_owned(), folder: "crates/tel".to_owned() };
        assert!(package.contains("crates/tel/src/view.rs"));
        assert!(!package.contains("crates/telling/src/view.rs") && !package.contains("crates/tel"));
    }

    #[test]
    fn the_first_name_is_that_of_the_package() {
        assert_eq!(name_in("[package]\nname = \"one\"\n[[bin]]\nname = \"two\"\n"), Some("one"));
        assert_eq!(name_in("[workspace]\n"), None);
    }
}
