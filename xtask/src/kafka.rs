//! Tests against a broker of Kafka.

use crate::run::{cargo, step};
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// The folder in which the tests look for the broker.
const FOLDER: &str = "target/kafka";

/// The broker, and a log that it writes nowhere.
const PROJECT: &str = r#"<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hedgerow</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>4.3.1</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-nop</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"#;

/// Fetches the broker with Maven, unless it is there, and runs the lints and tests of the feature
/// `kafka` of the command.
pub fn test() -> Result<()> {
    let is_there = Path::new(FOLDER).read_dir().is_ok_and(|files| files.count() > 1);
    if !is_there {
        std::fs::create_dir_all(FOLDER).context(FOLDER)?;
        let project = format!("{FOLDER}/pom.xml");
        std::fs::write(&project, PROJECT).context(FOLDER)?;
        let mut fetch = Command::new("mvn");
        fetch.args(["--quiet", "--batch-mode", "--file", &project, "dependency:copy-dependencies"]);
        step("fetching Kafka", fetch.args(["-DoutputDirectory=.", "-DincludeScope=runtime"]))?;
    }
    lints()?;
    step("tests with Kafka", &mut cargo("test --quiet -p hedgerow-cli --features kafka --test kafka"))
}

/// Lints the command with the feature, and its tests.
pub fn lints() -> Result<()> {
    let lints = "clippy --quiet -p hedgerow-cli --features kafka --all-targets -- -D warnings";
    step("lints with Kafka", &mut cargo(lints))
}
