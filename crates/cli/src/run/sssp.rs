//! `hedgerow run sssp`

use super::args::SsspArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, sources};
use crate::error::CliError;
use crate::float::Float;
use crate::input::Weights;
use crate::text::Count;
use hedgerow::kernels::{EdgeWeight, ParallelWeight, Sssp};
use hedgerow::{ColumnType, VertexId};
use serde_json::json;
use std::slice;

impl RunCommand for SsspArgs {
    fn name(&self) -> &'static str {
        "sssp"
    }

    fn options(&self) -> RunOptions<'_> {
        let weights = if self.unit_weights { Weights::Unit } else { Weights::FromFile };
        let sources = self.source.source.as_slice();
        let weight = self.weight.as_deref().map(|name| (name, ParallelWeight::Least));
        RunOptions { sources, weights, weight, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let (source, chosen) = session.source()?;
        let watch = session.watch("searching");
        // The kernel reads values of this type in place, and copies others.
        let weight = session.weight.filter(|weight| *weight != EdgeWeight::Value(ColumnType::F64));
        let (label, parents, execution) = (session.label, self.tree.parents, watch.execution());
        let result = watch.run(Sssp::<f64> { label, weight, parents, execution, ..Sssp::new(source) })?;
        let (key, vertices) = (session.key(source)?, session.graph.loaded.state.vertex_count());
        let distances = result.distances;
        let reached = distances.iter().copied().filter(|distance| distance.is_finite());
        let farthest = reached.fold(0.0, f64::max);
        let rows = vec![
            ("source", sources::describe(slice::from_ref(&key), chosen)),
            ("reached", format!("{} of {}", Count(result.reached), Count(vertices))),
            ("farthest", Float(farthest).to_string()),
        ];
        let details = json!({
            "source": key,
            "source_chosen": chosen,
            "unit_weights": self.unit_weights,
            "weight": self.weight,
            "reached": result.reached,
            "farthest": Float(farthest),
            "rounds": result.rounds,
            "edges_examined": result.edges_examined,
        });
        let value = Box::new(move |vertex: VertexId| Some(Value::Float(distances[vertex.index()])));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "distance",
            value,
            parents: result.parents,
        })
    }
}
