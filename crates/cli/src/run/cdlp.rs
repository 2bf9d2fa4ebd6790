//! `hedgerow run cdlp`

use super::args::CdlpArgs;
use super::key_order::{self, KeyOrder};
use super::session::{Finished, Session};
use super::{RunCommand, RunOptions};
use crate::error::CliError;
use crate::text;
use hedgerow::VertexId;
use hedgerow::kernels::Communities;
use serde_json::json;

impl RunCommand for CdlpArgs {
    fn name(&self) -> &'static str {
        "cdlp"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions { reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        // Keys are the labels, and the smallest of equally frequent labels wins: the ranks of the
        // keys preserve that.
        let order = KeyOrder::of(&session.graph.loaded.state)?;
        let iterations = self.iterations;
        let watch = session.watch_iterations("propagating", iterations);
        let result = watch.run(Communities {
            iterations,
            label: session.label,
            first_labels: Some(order.ranks()),
            execution: watch.execution(),
        })?;
        let labels = result.labels;
        let of_vertices = labels.iter().copied().filter(|label| *label != Communities::NO_VERTEX);
        let largest = key_order::largest(of_vertices);
        let changed = text::counted(result.changed, "vertex", "vertices");
        let rows = vec![
            ("communities", key_order::describe(result.count, largest)),
            ("iterations", format!("{}, {changed} changed in the last", result.iterations)),
        ];
        let details = json!({
            "communities": result.count,
            "largest": largest,
            "iterations": result.iterations,
            "changed": result.changed,
        });
        let value = Box::new(move |vertex: VertexId| order.value(labels[vertex.index()]));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "community",
            value,
            parents: None,
        })
    }
}
