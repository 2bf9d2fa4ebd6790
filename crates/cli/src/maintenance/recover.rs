//! `hedgerow recover`

use super::RecoverArgs;
use super::problem::Problem;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::{progress, text};
use hedgerow::store::{self, Cut, ReplacedCheckpoint};
use serde::Serialize;

#[derive(Debug, Serialize)]
struct Recovered {
    store: String,
    /// The last commit that is left.
    last: u64,
    /// Commits that could still be read, and were given up because they came after the damage.
    commits_given_up: u64,
    /// The last commit that is known to have been durable.
    durable: u64,
    cuts: Vec<CutAway>,
    checkpoint_replaced: Option<Replaced>,
    /// The files that keep the former files of the engine, if the log replaces them.
    set_aside: Vec<String>,
    /// The problems that remain.
    problems: Vec<Problem>,
}

#[derive(Debug, Serialize)]
struct CutAway {
    segment: String,
    offset: u64,
    bytes: u64,
    kept_in: String,
}

/// A damaged checkpoint that the log replaces.
#[derive(Debug, Serialize)]
struct Replaced {
    /// The commit whose state the checkpoint contained.
    timestamp: u64,
    problem: String,
    kept_in: Option<String>,
}

impl From<ReplacedCheckpoint> for Replaced {
    fn from(replaced: ReplacedCheckpoint) -> Self {
        let ReplacedCheckpoint { at, problem, kept_in } = replaced;
        Replaced { timestamp: at.0, problem, kept_in }
    }
}

impl From<Cut> for CutAway {
    fn from(cut: Cut) -> Self {
        let Cut { segment, offset, bytes, kept_in } = cut;
        CutAway { segment, offset, bytes, kept_in }
    }
}

/// Truncates the log at its first damage and prints the commits given up. Remaining damage is an
/// error.
pub fn execute(args: &RecoverArgs, console: &Console) -> Result<(), CliError> {
    let path = args.place.path();
    if !args.to_last_valid {
        return Err(StoredError::RecoverHow(path.into()).into());
    }
    let bar = progress::spinner(console, "repairing");
    let before = store::check(path).map_err(StoredError::from)?;
    let repair =
        args.wait.until_open(None, || store::recover_to_last_valid(path)).map_err(StoredError::from)?;
    let after = store::check(path).map_err(StoredError::from)?;
    bar.finish_and_clear();
    let recovered = Recovered {
        store: path.display().to_string(),
        last: repair.last.0,
        commits_given_up: before.commits.saturating_sub(after.commits),
        durable: repair.durable.0,
        cuts: repair.cuts.into_iter().map(CutAway::from).collect(),
        checkpoint_replaced: repair.replaced.map(Replaced::from),
        set_aside: repair.set_aside,
        problems: after.problems.iter().map(Problem::from).collect(),
    };
    console.print(&recovered, describe).map_err(|error| error.but("the repair is done"))?;
    let problems = match recovered.problems.len() as u64 {
        0 => return Ok(()),
        count => format!("still {}", text::counted(count, "problem", "problems")),
    };
    let what = "bring back a copy of the store";
    Err(StoredError::Damaged { problems, store: path.into(), what }.into())
}

fn describe(recovered: &Recovered) -> String {
    let Recovered { store, last, durable, commits_given_up, cuts, checkpoint_replaced, set_aside, problems } =
        recovered;
    let mut rows = vec![("store", store.clone()), ("last", format!("commit {}", text::Count(*last)))];
    if cuts.is_empty() && durable <= last {
        rows.push(("given up", "nothing: the log is whole".into()));
    } else {
        let readable = text::counted(*commits_given_up, "commit", "commits");
        rows.push(("given up", format!("{readable} that could be read, and what was damaged")));
    }
    if durable > last {
        let lost = text::counted(durable - last, "commit", "commits");
        rows.push(("lost", format!("{lost} that had been durable, up to commit {}", text::Count(*durable))));
    }
    if let (Some(Replaced { problem, .. }), Some(first)) = (checkpoint_replaced, set_aside.first()) {
        let files = text::counted(set_aside.len() as u64, "file", "files");
        let kept = format!("{files} of the engine, kept as {first} and so on");
        rows.push((
            "set aside",
            format!("{kept}: the next opening makes them anew from the log, since {problem}"),
        ));
    } else if let Some(Replaced { timestamp, problem, kept_in }) = checkpoint_replaced {
        let kept = kept_in.as_ref().map(|file| format!(", kept in {file}")).unwrap_or_default();
        let at = text::Count(*timestamp);
        rows.push(("checkpoint", format!("of commit {at}{kept}; the log replaces it, since {problem}")));
    }
    rows.extend(cuts.iter().map(|CutAway { segment, offset, bytes, kept_in }| {
        let bytes = text::Bytes(*bytes);
        ("cut", format!("{bytes} of {segment} from byte {offset} on, kept in {kept_in}"))
    }));
    rows.extend(problems.iter().map(|problem| ("problem", problem.to_string())));
    text::table(&rows)
}
