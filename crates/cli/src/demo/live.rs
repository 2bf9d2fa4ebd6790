//! The live view of a running demo.

use super::shared::Shared;
use crate::console::Console;
use crate::text;
use hedgerow::Graph;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::thread;
use std::time::{Duration, Instant};

/// Interval between two samples of the state, and between two checks for the end of the demo.
const POLL: Duration = Duration::from_millis(20);
/// Interval between two drawings in a terminal.
const DRAW: Duration = Duration::from_millis(250);
/// Interval between two lines if nothing can be drawn.
const LINE: Duration = Duration::from_secs(1);

/// A view of the running demo on standard error: drawn in a terminal, line by line elsewhere, not
/// at all where the result is JSON.
pub struct Live<'a> {
    console: &'a Console,
    graph: &'a Graph,
    total: u64,
    shared: &'a Shared,
    bar: ProgressBar,
}

/// The state at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The moment.
    pub at: Instant,
    /// Edges written so far.
    pub rows: u64,
}

impl<'a> Live<'a> {
    /// A view of a demo that writes `total` edges.
    pub fn new(console: &'a Console, graph: &'a Graph, total: u64, shared: &'a Shared) -> Self {
        let bar = if console.shows_progress() {
            let style = ProgressStyle::with_template("{msg}").expect("the template is a constant");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        } else {
            ProgressBar::hidden()
        };
        Live { console, graph, total, shared, bar }
    }

    /// Shows progress until the demo is over; returns the state at many moments from start to end.
    pub fn show(&self, is_over: impl Fn() -> bool) -> Vec<Sample> {
        let interval = if self.console.shows_progress() { DRAW } else { LINE };
        let first = self.sample();
        let (mut last, mut samples) = (first, vec![first]);
        while !is_over() {
            thread::sleep(POLL);
            let now = self.sample();
            samples.push(now);
            if now.at - last.at >= interval {
                self.show_sample(first, last, now);
                last = now;
            }
        }
        self.bar.finish_and_clear();
        samples
    }

    fn sample(&self) -> Sample {
        Sample { at: Instant::now(), rows: self.shared.rows() }
    }

    fn show_sample(&self, first: Sample, last: Sample, now: Sample) {
        if self.console.is_json() {
            return;
        }
        let lines = self.lines(first, last, now);
        if self.console.shows_progress() {
            self.bar.set_message(lines.join("\n"));
            self.bar.tick();
        } else {
            self.console.note(&lines.join("; "));
        }
    }

    /// The lines of the view; each fits a terminal of 80 columns.
    fn lines(&self, first: Sample, last: Sample, now: Sample) -> [String; 5] {
        let (rows, total) = (text::Count(now.rows), text::Count(self.total));
        let current = text::edges_per_second(now.rows - last.rows, now.at - last.at);
        let mean = text::edges_per_second(now.rows - first.rows, now.at - first.at);
        let commits = text::counted(self.shared.commits(), "commit", "commits");
        let open = self.graph.snapshots();
        let oldest = open.iter().max_by_key(|snapshot| snapshot.age);
        let oldest = oldest.map_or("none open now".to_string(), |snapshot| {
            let behind = text::counted(snapshot.behind, "commit", "commits");
            format!("oldest open for {}, {behind} behind", text::duration(snapshot.age))
        });
        let kernels = self.shared.last_kernels().map_or("not finished yet".to_string(), |(pagerank, bfs)| {
            format!("PageRank {}, BFS {}", text::duration(pagerank), text::duration(bfs))
        });
        let memory = self.graph.memory();
        [
            format!("written   {rows} of {total} edges in {commits}"),
            format!("speed     {current} now, {mean} on average"),
            format!("snapshots {} opened, {oldest}", text::Count(self.shared.snapshots())),
            format!("kernels   {kernels}"),
            format!(
                "memory    {}, of which {} for open snapshots only",
                text::Bytes(memory.total_bytes() as u64),
                text::Bytes(memory.retained_bytes as u64)
            ),
        ]
    }
}
