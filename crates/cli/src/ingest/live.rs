//! The figures of a stream while it is read.

use super::reader::size;
use super::run::Totals;
use crate::console::{Console, Format};
use crate::error::CliError;
use crate::{progress, text};
use indicatif::ProgressBar;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The time between two lines of JSON.
const INTERVAL: Duration = Duration::from_secs(1);

/// The time between two updates of a terminal.
const REDRAW: Duration = Duration::from_millis(200);

/// Shows figures: on a terminal a bar, as JSON a line per second.
pub struct Live<'a> {
    console: &'a Console,
    input: PathBuf,
    is_file: bool,
    follows: bool,
    bar: ProgressBar,
    started: Instant,
    /// The totals of the last line, and its time.
    before: (Totals, Instant),
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
    bytes: u64,
    /// Bytes of a file after that.
    lag_bytes: Option<u64>,
    /// The age of the last commit.
    age_seconds: Option<text::Seconds>,
    /// Since the line before, with deletions.
    edges_per_second: f64,
}

impl<'a> Live<'a> {
    pub fn new(console: &'a Console, input: PathBuf, (is_file, follows): (bool, bool)) -> Self {
        let total = if follows { None } else { size(&input, is_file) };
        let bar = progress::of_bytes(console, "reading", total);
        let started = Instant::now();
        Live { console, input, is_file, follows, bar, started, before: (Totals::default(), started) }
    }

    /// Shows the totals, if it is time.
    pub fn show(&mut self, totals: &Totals) -> Result<(), CliError> {
        let elapsed = self.before.1.elapsed();
        let interval = if self.console.is_json() { INTERVAL } else { REDRAW };
        if elapsed < interval || !(self.console.is_json() || self.console.shows_progress()) {
            return Ok(());
        }
        let line = self.line(totals, elapsed);
        self.before = (totals.clone(), Instant::now());
        if self.console.is_json() {
            return self.console.with(Format::JsonLines).print(&line, |_| String::new());
        }
        self.bar.set_position(line.bytes);
        let rate = text::edges_per_second(line.changes(), line.seconds.0);
        let lag = line.lag_bytes.filter(|_| self.follows);
        let lag = lag.map_or(String::new(), |bytes| format!(", {} behind", text::Bytes(bytes)));
        let age = line.age_seconds.map_or(String::new(), |age| format!(", last commit {age} ago"));
        self.bar.set_message(format!("{} edges, {rate}{lag}{age}", text::Count(line.changes())));
        Ok(())
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, totals: &Totals, elapsed: Duration) -> Line {
        let Totals { edges, deletions, commits, bytes, last, .. } = *totals;
        let before = self.before.0.edges + self.before.0.deletions;
        Line {
            ended: false,
            seconds: text::Seconds(self.started.elapsed()),
            edges,
            deletions,
            commits,
            bytes,
            lag_bytes: size(&self.input, self.is_file).map(|size| size.saturating_sub(bytes)),
            age_seconds: last.map(|last| text::Seconds(last.elapsed())),
            edges_per_second: text::rate(edges + deletions - before, elapsed),
        }
    }
}

impl Line {
    fn changes(&self) -> u64 {
        self.edges + self.deletions
    }
}
