//! `hedgerow run kcore`

use super::args::KcoreArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions};
use crate::error::CliError;
use crate::text;
use hedgerow::VertexId;
use hedgerow::kernels::Cores;
use serde_json::json;

impl RunCommand for KcoreArgs {
    fn name(&self) -> &'static str {
        "kcore"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions { reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let watch = session.watch("peeling");
        let result = watch.run(Cores { label: session.label, execution: watch.execution() })?;
        let (largest, cores) = (result.largest, result.cores);
        let innermost = cores.iter().filter(|core| **core == largest).count() as u64;
        let members = text::counted(innermost, "vertex", "vertices");
        let rows = vec![("largest core", format!("{largest}, of {members}"))];
        let details = json!({ "largest": largest, "innermost": innermost, "iterations": result.iterations });
        let value = Box::new(move |vertex: VertexId| Some(Value::Whole(cores[vertex.index()].into())));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "core",
            value,
            parents: None,
        })
    }
}
