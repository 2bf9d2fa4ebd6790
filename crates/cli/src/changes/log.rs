//! `hedgerow log`

use super::LogArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::listing::{Form, Listing};
use crate::text::{Count, Moment, counted};
use hedgerow::LabelSchema;
use hedgerow::store::{self, CommitRange, EdgeSummary, ListedCommit, Manifest};
use hedgerow_formats::STANDARD_OUTPUT;
use serde::Serialize;
use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::Path;

/// Commits that are listed at a terminal, without `--limit`.
const AT_TERMINAL: usize = 20;

/// A commit, with its changes.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    timestamp: u64,
    time: Moment,
    edges: Vec<EdgesOfLabel<'a>>,
    /// Null if the log does not tell added vertices from changed ones: `vertices_changed` then
    /// counts both.
    vertices_added: Option<u64>,
    vertices_changed: u64,
    vertices_deleted: u64,
    /// True if the commit notes the position of an import.
    import: bool,
}

/// The changed edges of a label.
#[derive(Debug, Serialize)]
struct EdgesOfLabel<'a> {
    label: &'a str,
    put: u64,
    deleted: u64,
}

#[derive(Debug, Serialize)]
struct Head {
    store: String,
}

/// The beginning of the record.
#[derive(Debug, Serialize)]
struct Tail {
    /// True if more commits were requested than --limit allows.
    limited: bool,
    /// The log has every commit after this one; 0 if it has all.
    log_begins_after: u64,
    /// The time of that commit.
    log_begins_after_time: Option<Moment>,
}

/// Lists the commits that the log of a store has.
pub fn execute(args: &LogArgs, console: &Console) -> Result<(), CliError> {
    let path = args.place.path();
    let labels = store::manifest(path).map_err(StoredError::from)?.options.catalog.labels().to_vec();
    let is_terminal = io::stdout().is_terminal() && !console.is_json();
    let limit = args.limit.map(NonZeroUsize::get).or(is_terminal.then_some(AT_TERMINAL));
    let limit = limit.unwrap_or(usize::MAX) as u64;
    let range = CommitRange {
        since: args.since.unwrap_or(0),
        until: args.until.unwrap_or(u64::MAX),
        oldest_first: args.oldest_first,
        ..CommitRange::default()
    };
    let form = Form::of_console(console, "commits");
    let head = Head { store: path.display().to_string() };
    let mut listing = Listing::begin(Path::new(STANDARD_OUTPUT), form, &head)?;
    let (mut commits, mut limited) = (0, false);
    let manifest = store::commits(path, &range, |commit| {
        if commits == limit {
            limited = true;
            return Ok(ControlFlow::Break(()));
        }
        commits += 1;
        let listed = Listed::of(&commit, &labels);
        listing.item(&listed, || listed.line(labels.len() > 1))?;
        Ok::<_, CliError>(ControlFlow::Continue(()))
    });
    let manifest = manifest.map_err(|error| match error {
        CliError::Graph(error) => StoredError::from(error).into(),
        error => error,
    })?;
    let begin = manifest.oldest_readable.0;
    let time = (begin > 0 && manifest.oldest_wall_clock > 0).then_some(Moment(manifest.oldest_wall_clock));
    let tail = Tail { limited, log_begins_after: begin, log_begins_after_time: time };
    listing.finish(&tail)?;
    let is_cut = args.since.is_some_and(|since| since > manifest.oldest_wall_clock);
    if console.is_json() {
        return Ok(());
    }
    if limited {
        console.note("note: there are more commits; --limit N lists more of them");
    } else if !is_cut && let Some(earlier) = earlier(&manifest) {
        console.note(&format!("note: {earlier}"));
    }
    Ok(())
}

/// The place of the commits before the log, as a sentence; `None` if the log has every commit.
fn earlier(manifest: &Manifest) -> Option<String> {
    let begin = manifest.oldest_readable.0;
    let place = match manifest.checkpoint {
        Some(checkpoint) => format!("the checkpoint of commit {}", Count(checkpoint.at.0)),
        None => "the files of the engine".to_owned(),
    };
    (begin > 0)
        .then(|| format!("commits up to {} are only in {place}, which does not list them", Count(begin)))
}

impl<'a> Listed<'a> {
    fn of(commit: &ListedCommit, labels: &'a [LabelSchema]) -> Self {
        let name = |label: usize| labels.get(label).map_or("a label added meanwhile", |label| &label.name);
        let edges = |edges: &EdgeSummary| {
            let EdgeSummary { label, put, deleted } = *edges;
            EdgesOfLabel { label: name(label.index()), put, deleted }
        };
        let summary = &commit.summary;
        Listed {
            timestamp: commit.at.0,
            time: Moment(commit.wall_clock),
            edges: summary.edges.iter().map(edges).collect(),
            vertices_added: summary.vertices_added,
            vertices_changed: summary.vertices_changed,
            vertices_deleted: summary.vertices_deleted,
            import: summary.notes_input,
        }
    }

    /// The commit in a line, with the labels of edges if there are several.
    fn line(&self, names_labels: bool) -> String {
        let mut changes = Vec::new();
        for EdgesOfLabel { label, put, deleted } in &self.edges {
            let of = if names_labels { format!(" of {label}") } else { String::new() };
            for (count, change) in [(*put, "put"), (*deleted, "deleted")] {
                if count > 0 {
                    changes.push(format!("{}{of} {change}", counted(count, "edge", "edges")));
                }
            }
        }
        let put = if self.vertices_added.is_some() { "changed" } else { "put" };
        let vertices = [
            (self.vertices_added.unwrap_or(0), "added"),
            (self.vertices_changed, put),
            (self.vertices_deleted, "deleted"),
        ];
        let vertices = vertices.into_iter().filter(|(count, _)| *count > 0);
        changes.extend(
            vertices.map(|(count, change)| format!("{} {change}", counted(count, "vertex", "vertices"))),
        );
        if self.import {
            changes.push("position of an import".to_owned());
        }
        format!("{:<8} {}  {}", self.timestamp, self.time, changes.join(", "))
    }
}
