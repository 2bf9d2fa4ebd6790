//! Options that comparisons share: a time in seconds, and the directory of the stores.

use anyhow::{Context, Result};
use std::path::Path;
use tempfile::TempDir;

/// Parses a time in seconds.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.001..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected a number of seconds from 0.001 to 3600".to_owned()),
    }
}

/// A folder for stores, removed with its contents when dropped.
pub fn folder_in(directory: &Path) -> Result<TempDir> {
    let folder = tempfile::Builder::new().prefix("hedgerow-compare-").tempdir_in(directory);
    folder.with_context(|| format!("no stores can be made in {}", directory.display()))
}
