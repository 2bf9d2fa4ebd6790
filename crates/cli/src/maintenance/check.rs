//! `hedgerow check`

use super::CheckArgs;
use super::problem::{Problem, Torn};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::{progress, text};
use hedgerow::store;
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Checked {
    store: String,
    whole: bool,
    /// Commits of the log that can be read.
    commits: u64,
    /// The last commit before the first gap.
    last: u64,
    /// The commit whose state the checkpoint is.
    checkpoint: Option<u64>,
    torn: Option<Torn>,
    problems: Vec<Problem>,
}

/// Reads everything and prints the problems; if there are any, returns an error.
pub fn execute(args: &CheckArgs, console: &Console) -> Result<(), CliError> {
    let path = args.place.path();
    let bar = progress::spinner(console, "reading");
    let report = store::check(path).map_err(StoredError::from)?;
    bar.finish_and_clear();
    let checked = Checked {
        store: path.display().to_string(),
        whole: report.problems.is_empty(),
        commits: report.commits,
        last: report.last.0,
        checkpoint: report.checkpoint.map(|checkpoint| checkpoint.at.0),
        torn: report.torn.as_ref().map(Torn::from),
        problems: report.problems.iter().map(Problem::from).collect(),
    };
    console.print(&checked, describe)?;
    let problems = match checked.problems.len() as u64 {
        0 => return Ok(()),
        count => text::counted(count, "problem", "problems"),
    };
    let what = "`hedgerow recover DIR --to-last-valid` repairs the log, but gives up every commit after its first \
                damage, and replaces a damaged checkpoint if the log has every commit; a damaged manifest needs a copy";
    Err(StoredError::Damaged { problems, store: path.into(), what }.into())
}

fn describe(checked: &Checked) -> String {
    let commit = |at: u64| format!("commit {}", text::Count(at));
    let mut rows = vec![
        ("store", checked.store.clone()),
        ("state", if checked.whole { "whole".into() } else { "damaged".into() }),
        ("log", text::counted(checked.commits, "commit", "commits")),
        ("last", commit(checked.last)),
        ("checkpoint", checked.checkpoint.map_or("none".into(), commit)),
    ];
    if let Some(torn) = &checked.torn {
        rows.push(("torn", format!("{torn}, which the next opening cuts")));
    }
    rows.extend(checked.problems.iter().map(|problem| ("problem", problem.to_string())));
    text::table(&rows)
}
