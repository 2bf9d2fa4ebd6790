//! `hedgerow compact`

use super::rewrite::Rewrite;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::{progress, text};
use hedgerow::{CompactOptions, CompactReport, Graph};
use serde::Serialize;
use std::time::Instant;

/// The result of a compaction.
#[derive(Debug, Serialize)]
pub struct Compacted {
    /// The engine's files before and afterwards.
    files_before: u64,
    files: u64,
    bytes_before: u64,
    bytes: u64,
    /// Versions of edges and vertices in the files, deletions and replaced ones included.
    versions_before: u64,
    versions: u64,
    seconds: text::Seconds,
}

impl Rewrite for Compacted {
    /// Compacts the files of the graph's engine. After Ctrl-C, files compacted by then stay
    /// compacted.
    fn write(graph: &Graph, console: &Console, interrupt: &Interrupt) -> Result<Self, CliError> {
        let started = Instant::now();
        let bar = progress::of_bytes(console, "compact", Some(0));
        let shown = bar.clone();
        let options = CompactOptions::new().cancelled_by(interrupt.token()).reporting_to(move |progress| {
            shown.set_length(progress.of);
            shown.set_position(progress.bytes);
            shown.set_message(format!("compact, {}", text::counted(progress.files, "file", "files")));
        });
        let report = graph.compact(&options);
        bar.finish_and_clear();
        let report =
            interrupt.or_interrupted(report.map_err(StoredError::from)).map_err(|error| match error {
                CliError::Interrupted(signal) => {
                    let kept =
                        "what was merged before stays so, and the next `hedgerow compact` goes on from there";
                    StoredError::Interrupted { signal, kept: kept.to_owned() }.into()
                }
                error => error,
            })?;
        let CompactReport { before, after, versions_before, versions_after, .. } = report;
        Ok(Compacted {
            files_before: before.files,
            files: after.files,
            bytes_before: before.bytes,
            bytes: after.bytes,
            versions_before,
            versions: versions_after,
            seconds: text::Seconds(started.elapsed()),
        })
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let Compacted { files_before, bytes_before, versions_before, files, bytes, versions, .. } = *self;
        vec![
            ("before", size(files_before, bytes_before, versions_before)),
            ("after", size(files, bytes, versions)),
            ("compact", self.seconds.to_string()),
        ]
    }
}

fn size(files: u64, bytes: u64, versions: u64) -> String {
    let files = text::counted(files, "file", "files");
    let versions = text::counted(versions, "version", "versions");
    format!("{files}, {}, {versions} of vertices and edges", text::Bytes(bytes))
}
