//! `hedgerow run sssp`

use super::args::SsspArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, sources};
use crate::error::CliError;
use crate::float::Float;
use crate::input::Weights;
use crate::text::Count;
use hedgerow::VertexId;
use hedgerow::kernels::{KernelError, Sssp};
use serde_json::json;
use std::slice;

impl RunCommand for SsspArgs {
    fn name(&self) -> &'static str {
        "sssp"
    }

    fn options(&self) -> RunOptions<'_> {
        let weights = if self.unit_weights { Weights::Unit } else { Weights::FromFile };
        let sources = self.source.source.as_slice();
        RunOptions { sources, weights, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let (source, chosen) = session.source()?;
        let watch = session.watch("searching");
        let (label, execution) = (session.label, watch.execution());
        let result = watch.run(Sssp::<f64> { label, execution, ..Sssp::new(source) });
        let result = result.map_err(|error| name_edge(error, session))?;
        let (key, vertices) = (session.key(source)?, session.graph.loaded.snapshot.vertex_count());
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
        })
    }
}

/// Names an edge that cannot be part of a path by its keys. Edges of files were already checked
/// while reading.
fn name_edge(error: CliError, session: &Session<'_>) -> CliError {
    let CliError::Graph(graph) = &error else { return error };
    let Some(&KernelError::InvalidWeight { source_vertex, destination, weight }) = graph.kernel() else {
        return error;
    };
    let (Ok(from), Ok(to)) = (session.key(source_vertex), session.key(destination)) else { return error };
    CliError::NegativeWeight {
        graph: session.graph.place.path().into(),
        from: from.to_string(),
        to: to.to_string(),
        weight,
    }
}
