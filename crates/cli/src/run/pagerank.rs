//! `hedgerow run pagerank`

use super::args::PageRankArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, ranking};
use crate::error::CliError;
use crate::float::Float;
use hedgerow::VertexId;
use hedgerow::kernels::PageRank;
use serde_json::{Value as Json, json};

impl RunCommand for PageRankArgs {
    fn name(&self) -> &'static str {
        "pagerank"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions { reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let PageRankArgs { damping, iterations, tolerance, .. } = *self;
        let watch = session.watch_iterations("iterating", iterations);
        let (label, execution) = (session.label, watch.execution());
        let kernel = PageRank { label, damping, iterations, tolerance, execution, ..PageRank::default() };
        let result = watch.run(kernel)?;
        let top = ranking::highest(&session.graph.loaded.snapshot, &result.ranks)?;
        let appendix = ranking::describe("highest ranks", &top);
        let top: Vec<Json> =
            top.into_iter().map(|(key, rank)| json!({ "key": key, "rank": Float(rank) })).collect();
        let (iterations, change) = (result.iterations, result.change);
        let done = match iterations {
            0 => "0".to_string(),
            some => format!("{some}, the last changed the ranks by {change:.3e}"),
        };
        let details =
            json!({ "damping": damping, "iterations": iterations, "change": Float(change), "top": top });
        let ranks = result.ranks;
        let value = Box::new(move |vertex: VertexId| Some(Value::Float(ranks[vertex.index()])));
        let rows = vec![("iterations", done)];
        Ok(Finished { elapsed: result.elapsed, details, rows, appendix, column: "rank", value })
    }
}
