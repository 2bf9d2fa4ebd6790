//! `hedgerow run pagerank`

use super::args::PageRankArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, ranking};
use crate::error::CliError;
use crate::float::Float;
use crate::input::Weights;
use hedgerow::VertexId;
use hedgerow::kernels::{PageRank, ParallelWeight};
use serde_json::{Value as Json, json};

impl RunCommand for PageRankArgs {
    fn name(&self) -> &'static str {
        "pagerank"
    }

    fn options(&self) -> RunOptions<'_> {
        let weight = self.weight.as_deref().map(|name| (name, ParallelWeight::Sum));
        let weights = if weight.is_some() { Weights::FromFile } else { Weights::Ignored };
        let sources = &self.source;
        RunOptions { sources, weights, weight, reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let PageRankArgs { damping, iterations, tolerance, .. } = *self;
        let sources = session.given_sources()?;
        let shares: Vec<_> = sources.iter().map(|vertex| (*vertex, 1.0)).collect();
        let watch = session.watch_iterations("iterating", iterations);
        let result = watch.run(PageRank {
            label: session.label,
            damping,
            iterations,
            tolerance,
            weight: session.weight,
            personalization: Some(&shares[..]).filter(|shares| !shares.is_empty()),
            execution: watch.execution(),
            ..PageRank::default()
        })?;
        let top = ranking::highest(&session.graph.loaded.state, &result.ranks)?;
        let appendix = ranking::describe("highest ranks", &top);
        let top: Vec<Json> =
            top.into_iter().map(|(key, rank)| json!({ "key": key, "rank": Float(rank) })).collect();
        let (iterations, change) = (result.iterations, result.change);
        let done = match iterations {
            0 => "0".to_string(),
            some => format!("{some}, the last changed the ranks by {change:.3e}"),
        };
        let keys = sources.iter().map(|vertex| session.key(*vertex)).collect::<Result<Vec<_>, _>>()?;
        let details = json!({
            "damping": damping,
            "weight": self.weight,
            "sources": keys,
            "iterations": iterations,
            "change": Float(change),
            "top": top,
        });
        let ranks = result.ranks;
        let value = Box::new(move |vertex: VertexId| Some(Value::Float(ranks[vertex.index()])));
        let rows = vec![("iterations", done)];
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix,
            column: "rank",
            value,
            parents: None,
        })
    }
}
