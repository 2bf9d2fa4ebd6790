//! The figures of a stream while it is read.

use super::input::Extent;
use super::run::Totals;
use crate::console::{Console, Format};
use crate::error::CliError;
use crate::{progress, text};
use indicatif::ProgressBar;
use serde::Serialize;
use std::time::{Duration, Instant};

/// The time between two lines of JSON.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time between two updates of a terminal.
const REDRAW: Duration = Duration::from_millis(200);

/// Shows figures: on a terminal a bar, as JSON a line per second.
pub struct Live<'a> {
    console: &'a Console,
    extent: Extent,
    follows: bool,
    bar: ProgressBar,
    started: Instant,
    /// The changes up to the last line, and its time.
    before: (u64, Instant),
}

/// A line of JSON.
#[derive(Debug, Serialize)]
struct Line {
    ended: bool,
    seconds: text::Seconds,
    edges: u64,
    deletions: u64,
    commits: u64,
    /// The end of the committed part.
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offsets: Option<Vec<i64>>,
    /// Bytes of a file after that.
    lag_bytes: Option<u64>,
    /// Records of a topic that were not read yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag_records: Option<u64>,
    /// The age of the last commit.
    age_seconds: Option<text::Seconds>,
    /// Since the line before, with deletions.
    edges_per_second: f64,
}

impl<'a> Live<'a> {
    pub fn new(console: &'a Console, extent: Extent, follows: bool) -> Self {
        let bar = match extent {
            Extent::Topic => progress::spinner(console, "reading"),
            Extent::File(_) if !follows => progress::of_bytes(console, "reading", extent.bytes()),
            Extent::File(_) | Extent::Pipe => progress::of_bytes(console, "reading", None),
        };
        let started = Instant::now();
        Live { console, extent, follows, bar, started, before: (0, started) }
    }

    /// Shows the totals, if it is time.
    pub fn show(&mut self, totals: &Totals) -> Result<(), CliError> {
        let elapsed = self.before.1.elapsed();
        let interval = if self.console.is_json() { INTERVAL } else { REDRAW };
        if elapsed < interval || !(self.console.is_json() || self.console.shows_progress()) {
            return Ok(());
        }
        let line = self.line(totals, elapsed);
        self.before = (line.changes(), Instant::now());
        if self.console.is_json() {
            return self.console.with(Format::JsonLines).print(&line, |_| String::new());
        }
        self.bar.set_position(line.bytes.unwrap_or_default());
        let rate = text::edges_per_second(line.changes(), line.seconds.0);
        let lag = line.lag_bytes.map(|bytes| text::Bytes(bytes).to_string());
        let lag = lag.or(line.lag_records.map(|records| text::counted(records, "record", "records")));
        let lag = lag.filter(|_| self.follows).map_or(String::new(), |lag| format!(", {lag} behind"));
        let age = line.age_seconds.map_or(String::new(), |age| format!(", last commit {age} ago"));
        self.bar.set_message(format!("{} edges, {rate}{lag}{age}", text::Count(line.changes())));
        Ok(())
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, totals: &Totals, elapsed: Duration) -> Line {
        let Totals { edges, deletions, commits, ref read, behind, last, .. } = *totals;
        let bytes = read.bytes();
        let size = self.extent.bytes();
        Line {
            ended: false,
            seconds: text::Seconds(self.started.elapsed()),
            edges,
            deletions,
            commits,
            bytes,
            offsets: read.offsets().map(<[_]>::to_vec),
            lag_bytes: size.zip(bytes).map(|(size, bytes)| size.saturating_sub(bytes)),
            lag_records: behind,
            age_seconds: last.map(|last| text::Seconds(last.elapsed())),
            edges_per_second: text::rate(edges + deletions - self.before.0, elapsed),
        }
    }
}

impl Line {
    fn changes(&self) -> u64 {
        self.edges + self.deletions
    }
}
