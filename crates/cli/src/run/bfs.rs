//! `hedgerow run bfs`

use super::facts::{self, Facts, JsonKey};
use super::{LargestDegree, Target};
use crate::args::{BfsArgs, KeysName};
use crate::console::Console;
use crate::error::CliError;
use crate::input::Loaded;
use crate::interrupt::Interrupt;
use crate::threads::Threads;
use crate::{progress, results, text};
use hedgerow::kernels::{Bfs, BfsResult};
use hedgerow::{ErrorKind, Key, VertexId};
use hedgerow_formats::VertexKey;
use serde::Serialize;
use std::time::Duration;

/// What LDBC Graphalytics writes for a vertex that cannot be reached.
const UNREACHED: u64 = i64::MAX as u64;

#[derive(Debug, Serialize)]
struct Summary {
    kernel: &'static str,
    #[serde(flatten)]
    facts: Facts,
    source: JsonKey,
    /// It was not given: it is the vertex with the largest out-degree.
    source_chosen: bool,
    reached: u64,
    levels: u32,
    edges_examined: u64,
}

/// Runs the search.
pub fn execute(args: &BfsArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let given = args.source.as_ref().map(|text| parse_key(text, args.common.format.keys)).transpose()?;
    let threads = Threads::new(args.common.threads)?;
    let loaded = facts::load(&args.common, &threads, console, interrupt)?;
    let (target, copied) = facts::target(&args.common, &loaded, &threads, console, interrupt)?;
    let source = match &given {
        Some(key) => find(key, args, &loaded)?,
        None => largest(args, &target, &threads, interrupt)?,
    };
    let (result, elapsed) = search(&target, source, &threads, console, interrupt)?;
    if let Some(path) = &args.common.output {
        results::write(path, &loaded.snapshot, interrupt, |vertex| match result.depths[vertex.index()] {
            Bfs::UNREACHED => UNREACHED,
            depth => u64::from(depth),
        })?;
    }
    let key = loaded.snapshot.key(source).expect("the search has started there");
    let summary = Summary {
        kernel: "bfs",
        facts: Facts::new(&args.common, &threads, &loaded, copied, elapsed),
        source: key.into(),
        source_chosen: given.is_none(),
        reached: result.reached,
        levels: result.levels,
        edges_examined: result.edges_examined,
    };
    console.print(&summary, |summary| describe(summary, &loaded))
}

/// A key as it stands on the command line: the same digits as in a file.
fn parse_key(text: &str, keys: KeysName) -> Result<Key, CliError> {
    match keys {
        KeysName::Text => Ok(Key::Text(text.into())),
        KeysName::Number | KeysName::Dense => {
            let number = u64::parse(text.as_bytes()).map(Key::Number);
            number.map_err(|_| CliError::WrongKey { key: text.into(), expected: "numbers below 2^64" })
        }
    }
}

fn find(key: &Key, args: &BfsArgs, loaded: &Loaded) -> Result<VertexId, CliError> {
    let found = match loaded.snapshot.vertex_id(key) {
        // A number beyond the ids of a dense graph.
        Err(error) if error.kind() == ErrorKind::InvalidInput => None,
        found => found?,
    };
    found.ok_or_else(|| CliError::NoSuchVertex { key: key.to_string(), graph: args.common.graph.clone() })
}

fn largest(
    args: &BfsArgs,
    target: &Target<'_>,
    threads: &Threads,
    interrupt: &Interrupt,
) -> Result<VertexId, CliError> {
    let execution = threads.execution(interrupt);
    let largest = interrupt.or_interrupted(target.run(LargestDegree { execution }))?;
    largest.ok_or_else(|| CliError::EmptyGraph(args.common.graph.clone()))
}

fn search(
    target: &Target<'_>,
    source: VertexId,
    threads: &Threads,
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(BfsResult, Duration), CliError> {
    let bar = progress::spinner(console, "searching");
    let execution = threads.execution(interrupt);
    let result = target.run(Bfs { execution, ..Bfs::new(source) });
    bar.finish_and_clear();
    let result = interrupt.or_interrupted(result)?;
    let elapsed = result.elapsed;
    Ok((result, elapsed))
}

fn describe(summary: &Summary, loaded: &Loaded) -> String {
    let chosen = if summary.source_chosen { ", the vertex with the largest out-degree" } else { "" };
    let vertices = loaded.snapshot.vertex_count();
    let mut rows = summary.facts.rows(loaded);
    rows.push(("source", format!("{}{chosen}", summary.source)));
    rows.push(("reached", format!("{} of {}", text::Count(summary.reached), text::Count(vertices))));
    rows.push(("levels", summary.levels.to_string()));
    rows.extend(summary.facts.output_row());
    text::table(&rows)
}
