//! `hedgerow check`

use super::CheckArgs;
use super::problem::{Problem, Torn};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::{progress, text};
use hedgerow::store::{self, FilesCheck};
use serde::Serialize;

/// Advice on damage, if log and checkpoint have everything.
const LOG: &str = "`hedgerow recover DIR --to-last-valid` repairs the log, but gives up every commit after its first \
                   damage, and replaces a damaged checkpoint if the log has every commit; a damaged manifest needs a copy";

/// Advice on damage, if an engine keeps edges in its own files.
const ENGINE_FILES: &str = "`hedgerow recover DIR --to-last-valid` repairs the log, but gives up every commit after its first damage \
                            that the files of the engine do not have; if these are damaged, it makes them anew if the log has \
                            every commit; else they need a copy, and so does a damaged manifest";

#[derive(Debug, Serialize)]
struct Checked {
    store: String,
    whole: bool,
    /// Commits of the log that can be read.
    commits: u64,
    /// The last commit before the first gap.
    last: u64,
    /// The commit whose state the checkpoint contains.
    checkpoint: Option<u64>,
    torn: Option<Torn>,
    /// The contents of the engine's files, if the engine keeps edges in its own files.
    #[serde(skip_serializing_if = "Option::is_none")]
    engine_files: Option<EngineFiles>,
    problems: Vec<Problem>,
}

/// The contents of an engine's files.
#[derive(Debug, Serialize)]
struct EngineFiles {
    files: u64,
    bytes: u64,
    blocks: u64,
    /// Versions of edges and vertices.
    versions: u64,
    /// Versions that are deletions.
    deletions: u64,
    /// Versions that have a newer one in the same file.
    replaced: u64,
    /// Files that no part of the store uses.
    unlisted: Vec<String>,
    unlisted_bytes: u64,
    /// Further problems of files with many, which are not listed.
    more_problems: u64,
}

impl From<FilesCheck> for EngineFiles {
    fn from(found: FilesCheck) -> Self {
        EngineFiles {
            files: found.files.files,
            bytes: found.files.bytes,
            blocks: found.blocks,
            versions: found.versions,
            deletions: found.deletions,
            replaced: found.replaced,
            unlisted: found.unlisted,
            unlisted_bytes: found.unlisted_bytes,
            more_problems: found.more_problems,
        }
    }
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
        engine_files: report.engine_files.map(EngineFiles::from),
        problems: report.problems.iter().map(Problem::from).collect(),
    };
    console.print(&checked, describe)?;
    let problems = match checked.problems.len() as u64 {
        0 => return Ok(()),
        count => text::counted(count, "problem", "problems"),
    };
    let what = match checked.engine_files {
        Some(_) => ENGINE_FILES,
        None => LOG,
    };
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
    if let Some(EngineFiles { files, bytes, blocks, versions, deletions, replaced, .. }) =
        &checked.engine_files
    {
        let (files, blocks) =
            (text::counted(*files, "file", "files"), text::counted(*blocks, "block", "blocks"));
        let versions = text::counted(*versions, "version", "versions");
        let (deletions, replaced) = (text::Count(*deletions), text::Count(*replaced));
        let bytes = text::Bytes(*bytes);
        rows.push((
            "edge files",
            format!("{files}, {bytes}, {blocks}, {versions}, {deletions} of them deletions and {replaced} replaced"),
        ));
    }
    if let Some(EngineFiles { unlisted, unlisted_bytes, .. }) =
        checked.engine_files.as_ref().filter(|files| !files.unlisted.is_empty())
    {
        let files = text::counted(unlisted.len() as u64, "file", "files");
        let (first, bytes) = (&unlisted[0], text::Bytes(*unlisted_bytes));
        rows.push((
            "left over",
            format!("{files}, {bytes}, such as {first}, which the next opening for writing removes"),
        ));
    }
    rows.extend(checked.problems.iter().map(|problem| ("problem", problem.to_string())));
    if let Some(more) =
        checked.engine_files.as_ref().map(|files| files.more_problems).filter(|more| *more > 0)
    {
        rows.push(("", format!("and {} of the same files", text::counted(more, "problem", "problems"))));
    }
    text::table(&rows)
}
