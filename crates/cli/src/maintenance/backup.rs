//! `hedgerow backup`

use super::BackupArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::{progress, text};
use hedgerow::store::{self, BackupReport};
use serde::Serialize;
use std::time::Instant;

#[derive(Debug, Serialize)]
struct BackedUp {
    store: String,
    backup: String,
    /// True if an older backup was brought up to date.
    incremental: bool,
    /// The last commit in the backup.
    last: u64,
    /// The time of that commit.
    time: Option<text::Moment>,
    files: u64,
    bytes: u64,
    kept_bytes: u64,
    removed_files: u64,
    seconds: text::Seconds,
}

/// Copies the store.
pub fn execute(args: &BackupArgs, console: &Console) -> Result<(), CliError> {
    let started = Instant::now();
    let bar = progress::spinner(console, "copying");
    let report = store::backup(&args.store, &args.backup).map_err(StoredError::from)?;
    bar.finish_and_clear();
    let BackupReport { incremental, last, wall_clock, files, bytes, kept_bytes, removed_files } = report;
    let done = BackedUp {
        store: args.store.display().to_string(),
        backup: args.backup.display().to_string(),
        incremental,
        last: last.0,
        time: (wall_clock > 0).then_some(text::Moment(wall_clock)),
        files,
        bytes,
        kept_bytes,
        removed_files,
        seconds: text::Seconds(started.elapsed()),
    };
    let printed = console.summarize(None, &done, describe);
    printed.map_err(|error| error.but("the backup is complete"))
}

fn describe(done: &BackedUp) -> String {
    let kind = if done.incremental { "incremental" } else { "full" };
    let mut rows = vec![
        ("store", done.store.clone()),
        ("backup", format!("{}, {kind}", done.backup)),
        ("last commit", text::commit_made(done.last, done.time)),
        ("copied", size(done.files, done.bytes)),
    ];
    if done.incremental {
        let removed = text::counted(done.removed_files, "file", "files");
        rows.push(("kept", format!("{}, checked; {removed} removed", text::Bytes(done.kept_bytes))));
    }
    let rate = text::rate(done.bytes, done.seconds.0) as u64;
    rows.push(("time", format!("{}, {}/s", done.seconds, text::Bytes(rate))));
    text::table(&rows)
}

fn size(files: u64, bytes: u64) -> String {
    format!("{}, {}", text::counted(files, "file", "files"), text::Bytes(bytes))
}
