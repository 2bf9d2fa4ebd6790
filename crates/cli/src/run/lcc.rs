//! `hedgerow run lcc`

use super::args::LccArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions};
use crate::error::CliError;
use crate::float::Float;
use hedgerow::VertexId;
use hedgerow::kernels::LocalClustering;
use serde_json::json;

impl RunCommand for LccArgs {
    fn name(&self) -> &'static str {
        "lcc"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions { reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let watch = session.watch("counting");
        let execution = watch.execution();
        let result = watch.run(LocalClustering { label: session.label, execution })?;
        let details = json!({ "mean": Float(result.mean), "ordered_seconds": result.ordered.as_secs_f64() });
        let rows = vec![("mean", format!("{:.6}", result.mean))];
        let coefficients = result.coefficients;
        let value = Box::new(move |vertex: VertexId| Some(Value::Float(coefficients[vertex.index()])));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "coefficient",
            value,
            parents: None,
        })
    }
}
