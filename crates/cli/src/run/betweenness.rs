//! `hedgerow run betweenness`

use super::args::BetweennessArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, ranking};
use crate::error::CliError;
use crate::float::Float;
use crate::text::Count;
use hedgerow::VertexId;
use hedgerow::kernels::{Betweenness, Sources};
use serde_json::{Value as Json, json};

impl RunCommand for BetweennessArgs {
    fn name(&self) -> &'static str {
        "betweenness"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions { sources: &self.source, reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let (given, vertices) = (session.given_sources()?, session.graph.loaded.state.vertex_count());
        let (sources, searches) = match self.samples {
            _ if !given.is_empty() => (Sources::Given(&given), given.len() as u64),
            Some(count) => (Sources::Sampled { count, seed: self.seed }, vertices.min(count.into())),
            None => (Sources::All, vertices),
        };
        // A graph has fewer than 2^32 vertices, and a command line fewer keys.
        let watch = session.watch_iterations("searching", searches as u32);
        let execution = watch.execution();
        let result =
            watch.run(Betweenness { label: session.label, execution, ..Betweenness::new(sources) })?;
        let top = ranking::highest(&session.graph.loaded.state, &result.scores)?;
        let appendix = ranking::describe("highest scores", &top);
        let top: Vec<Json> =
            top.into_iter().map(|(key, score)| json!({ "key": key, "score": Float(score) })).collect();
        let rows = vec![("sources", format!("{} of {}", Count(searches), Count(vertices)))];
        let details = json!({
            "sources": result.iterations,
            "edges_examined": result.edges_examined,
            "top": top,
        });
        let scores = result.scores;
        let value = Box::new(move |vertex: VertexId| Some(Value::Float(scores[vertex.index()])));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix,
            column: "score",
            value,
            parents: None,
        })
    }
}
