//! `hedgerow run khop`

use super::args::KhopArgs;
use super::session::{Finished, Session};
use super::value::Value;
use super::{RunCommand, RunOptions, sources};
use crate::error::CliError;
use crate::text::Count;
use hedgerow::VertexId;
use hedgerow::kernels::Neighborhood;
use serde_json::json;
use std::collections::HashMap;

impl RunCommand for KhopArgs {
    fn name(&self) -> &'static str {
        "khop"
    }

    fn options(&self) -> RunOptions<'_> {
        RunOptions { sources: &self.source, ..(&self.result).into() }
    }

    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError> {
        let (vertices, chosen) = session.sources()?;
        let limit = self.limit.map(std::num::NonZeroUsize::get);
        let watch = session.watch("searching");
        let execution = watch.execution();
        let kernel = Neighborhood {
            label: session.label,
            limit,
            execution,
            ..Neighborhood::new(&vertices, self.hops)
        };
        let result = watch.run(kernel)?;
        let keys = vertices.iter().map(|vertex| session.key(*vertex)).collect::<Result<Vec<_>, _>>()?;
        let by_hops: Vec<_> = (0..result.levels()).map(|hops| result.at(hops).len()).collect();
        let (found, all) = (result.vertices.len() as u64, session.graph.loaded.state.vertex_count());
        let limited = if result.truncated { ", there are more" } else { "" };
        let rows = vec![
            (if keys.len() == 1 { "source" } else { "sources" }, sources::describe(&keys, chosen)),
            ("found", format!("{} of {}{limited}", Count(found), Count(all))),
            ("by hops", by_hops.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
        ];
        let details = json!({
            "sources": keys,
            "source_chosen": chosen,
            "hops": self.hops,
            "found": found,
            "found_by_hops": by_hops,
            "truncated": result.truncated,
            "edges_examined": result.edges_examined,
        });
        let hops: HashMap<_, _> = result.hops().collect();
        let value =
            Box::new(move |vertex: VertexId| hops.get(&vertex).map(|hops| Value::Whole((*hops).into())));
        Ok(Finished {
            elapsed: result.elapsed,
            details,
            rows,
            appendix: String::new(),
            column: "hops",
            value,
            parents: None,
        })
    }
}
