//! `hedgerow run bfs`

use super::args::BfsArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, sources};
use crate::error::CliError;
use crate::text::Count;
use hedgerow::VertexId;
use hedgerow::kernels::Bfs;
use serde_json::json;
use std::slice;

impl RunCommand for BfsArgs {
    fn name(&self) -> &'static str {
        "bfs"
    }

    fn options(&self) -> RunOptions<'_> {
        let sources = self.source.source.as_slice();
        RunOptions { sources, reads_in_neighbors: true, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let (source, chosen) = session.source()?;
        let watch = session.watch("searching");
        let (label, parents) = (session.label, self.tree.parents);
        let result = watch.run(Bfs { label, parents, execution: watch.execution(), ..Bfs::new(source) })?;
        let (key, vertices) = (session.key(source)?, session.graph.loaded.state.vertex_count());
        let rows = vec![
            ("source", sources::describe(slice::from_ref(&key), chosen)),
            ("reached", format!("{} of {}", Count(result.reached), Count(vertices))),
            ("levels", result.levels.to_string()),
        ];
        let details = json!({
            "source": key,
            "source_chosen": chosen,
            "reached": result.reached,
            "levels": result.levels,
            "edges_examined": result.edges_examined,
        });
        let depths = result.depths;
        let value = Box::new(move |vertex: VertexId| match depths[vertex.index()] {
            Bfs::UNREACHED => Some(Value::Unreached),
            depth => Some(Value::Whole(depth.into())),
        });
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
