//! The external checker: a program that knows nothing of Hedgerow.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The version that the installed checker prints.
const VERSION: &str = "adya 0.1.0";

/// Time limit of the checker for one kind of cycle, in milliseconds.
pub const PATIENCE: &str = "20000";

/// The path of the checker, as the test task installs it.
pub fn checker() -> &'static Path {
    static CHECKER: OnceLock<PathBuf> = OnceLock::new();
    CHECKER.get_or_init(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).unwrap();
        let path = root.join("target/tools/bin/adya");
        let version = Command::new(&path).arg("--version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        if !version.as_ref().is_ok_and(|version| version == VERSION) {
            panic!(
                "these histories are judged by {VERSION}, which is not at {}: {version:?}; install it by `cargo xtask tools`",
                path.display()
            );
        }
        path
    })
}

/// The checker's verdict on a history.
#[derive(Debug)]
pub struct Verdict {
    /// True if the history is allowed. False for undecided histories.
    pub valid: bool,
    /// The anomalies found.
    pub anomalies: Vec<String>,
}

/// Judges a history by a consistency model.
pub fn judge(history: &Path, model: &str) -> Verdict {
    let output = Command::new(checker())
        .args(["check", "--json", "--cycle-search-timeout", PATIENCE, "--consistency-models", model])
        .arg(history)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    let anomalies = report["anomaly_types"].as_array().unwrap();
    let anomalies = anomalies.iter().map(|anomaly| anomaly.as_str().unwrap().to_owned()).collect();
    let valid = report["valid"] == Value::Bool(true);
    assert_eq!(valid, output.status.success(), "its exit status says what its report says");
    Verdict { valid, anomalies }
}
