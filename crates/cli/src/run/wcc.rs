//! `hedgerow run wcc`

use super::args::WccArgs;
use super::key_order::{self, KeyOrder};
use super::session::{Finished, Session};
use super::{RunCommand, RunOptions};
use crate::error::CliError;
use hedgerow::VertexId;
use hedgerow::kernels::Wcc;
use serde_json::json;

impl RunCommand for WccArgs {
    fn name(&self) -> &'static str {
        "wcc"
    }

    /// In-neighbors would let the kernel skip edges, but loading them takes longer than all the
    /// passes.
    fn options(&self) -> RunOptions<'_> {
        (&self.result).into()
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let watch = session.watch("joining");
        let result =
            watch.run(Wcc { label: session.label, execution: watch.execution(), ..Wcc::default() })?;
        let components = result.components;
        let of_vertices = || components.iter().copied().filter(|component| *component != Wcc::NO_VERTEX);
        let largest = key_order::largest(of_vertices());
        let rows = vec![("components", key_order::describe(result.count, largest))];
        let details =
            json!({ "components": result.count, "largest": largest, "iterations": result.iterations });

        // A component is named by its smallest key.
        let order = KeyOrder::of(&session.graph.loaded.state)?;
        let mut names = vec![u32::MAX; components.len()];
        session.graph.loaded.state.for_each_vertex(|vertex, _| {
            let name = &mut names[components[vertex.index()] as usize];
            *name = order.rank(vertex).min(*name);
        })?;
        let value = Box::new(move |vertex: VertexId| order.value(names[components[vertex.index()] as usize]));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "component",
            value,
            parents: None,
        })
    }
}
