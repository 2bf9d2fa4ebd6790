//! `hedgerow run pagerank`

use super::Target;
use super::facts::{self, Facts, JsonKey};
use crate::args::PageRankArgs;
use crate::console::Console;
use crate::error::CliError;
use crate::input::Loaded;
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use crate::{progress, results, text};
use hedgerow::kernels::{PageRank, PageRankResult, Progress};
use hedgerow::{Snapshot, VertexId};
use serde::Serialize;
use std::fmt;

/// So many of the highest ranks are shown.
const TOP: usize = 10;

#[derive(Debug, Serialize)]
struct Summary {
    kernel: &'static str,
    #[serde(flatten)]
    facts: Facts,
    damping: f64,
    iterations: u32,
    /// By how much the last iteration changed the ranks, summed over all vertices.
    change: f64,
    top: Vec<Ranked>,
}

/// A vertex and its rank.
#[derive(Debug, Serialize)]
struct Ranked {
    key: JsonKey,
    rank: f64,
}

/// A rank in the fewest digits that give the same number again.
struct Shortest(f64);

impl fmt::Display for Shortest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Runs PageRank.
pub fn execute(args: &PageRankArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let threads = Threads::new(args.common.threads)?;
    let loaded = facts::load(&args.common, &threads, console, interrupt)?;
    let (target, copied) = facts::target(&args.common, &loaded, &threads, console, interrupt)?;
    let result = iterate(&target, args, &threads, console, interrupt)?;
    if let Some(path) = &args.common.output {
        results::write(path, &loaded.snapshot, interrupt, |vertex| Shortest(result.ranks[vertex.index()]))?;
    }
    let summary = Summary {
        kernel: "pagerank",
        facts: Facts::new(&args.common, &threads, &loaded, copied, result.elapsed),
        damping: args.damping,
        iterations: result.iterations,
        change: result.change,
        top: highest(&loaded.snapshot, &result.ranks),
    };
    console.print(&summary, |summary| describe(summary, &loaded))
}

fn iterate(
    target: &Target<'_>,
    args: &PageRankArgs,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<PageRankResult, CliError> {
    let bar = progress::of_steps(console, "iterating", u64::from(args.iterations));
    let report = |progress: Progress| bar.set_position(u64::from(progress.iteration));
    let execution = threads.execution(interrupt).reporting_to(&report);
    let result = target.run(PageRank {
        damping: args.damping,
        iterations: args.iterations,
        tolerance: args.tolerance,
        execution,
        ..PageRank::default()
    });
    bar.finish_and_clear();
    interrupt.or_interrupted(result)
}

/// The vertices with the highest ranks, descending; of equal ones the lowest id first.
fn highest(snapshot: &Snapshot, ranks: &[f64]) -> Vec<Ranked> {
    let mut top: Vec<(f64, VertexId)> = Vec::with_capacity(TOP + 1);
    for (vertex, rank) in (0..).map(VertexId::new).zip(ranks.iter().copied()) {
        let full = top.len() == TOP;
        // The last check is for ids that no vertex has.
        if full && top[TOP - 1].0 >= rank || snapshot.key(vertex).is_none() {
            continue;
        }
        top.truncate(TOP - 1);
        let position = top.partition_point(|(other, _)| *other >= rank);
        top.insert(position, (rank, vertex));
    }
    let keyed = top.into_iter().filter_map(|(rank, vertex)| {
        let key = snapshot.key(vertex)?.into();
        Some(Ranked { key, rank })
    });
    keyed.collect()
}

fn describe(summary: &Summary, loaded: &Loaded) -> String {
    let mut rows = summary.facts.rows(loaded);
    let iterations = match summary.iterations {
        0 => "0".to_string(),
        some => format!("{some}, the last changed the ranks by {:.3e}", summary.change),
    };
    rows.push(("iterations", iterations));
    rows.extend(summary.facts.output_row());
    let ranks =
        summary.top.iter().map(|ranked| format!("  {:<20} {:.10}\n", ranked.key.to_string(), ranked.rank));
    let ranks: String = ranks.collect();
    let heading = if ranks.is_empty() { "" } else { "highest ranks\n" };
    text::table(&rows) + heading + &ranks
}
