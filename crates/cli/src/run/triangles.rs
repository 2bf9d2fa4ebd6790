//! `hedgerow run triangles`

use super::args::TrianglesArgs;
use super::session::{Finished, Session};
use super::{RunCommand, RunOptions};
use crate::error::CliError;
use crate::text::Count;
use hedgerow::kernels::TriangleCount;
use serde_json::json;
use std::time::Duration;

impl RunCommand for TrianglesArgs {
    fn name(&self) -> &'static str {
        "triangles"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions::new()
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let watch = session.watch("counting");
        let execution = watch.execution();
        let result =
            watch.run(TriangleCount { label: session.label, execution, ..TriangleCount::default() })?;
        let rows = vec![("triangles", Count(result.triangles).to_string())];
        let ordered = result.ordered.as_ref().map(Duration::as_secs_f64);
        let details = json!({ "triangles": result.triangles, "ordered_seconds": ordered });
        let value = Box::new(|_| None);
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "",
            value,
            parents: None,
        })
    }
}
