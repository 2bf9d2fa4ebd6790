//! The writing threads.

use super::shared::Shared;
use super::stream::Stream;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use hedgerow::{AsKey, Graph, LabelId, Snapshot, WriteGraph};
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

/// Edges that a writer of single edges takes from the stream at a time.
const SINGLE_EDGES: usize = 64;

/// The size of a writer's commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Commits of n edges at a time.
    Batches(usize),
    /// One commit per edge.
    Singles,
}

/// Statistics of writers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Writing {
    /// Commits of many edges.
    pub batches: Commits,
    /// Commits of one edge.
    pub singles: Commits,
    /// New edges, according to the commits.
    edges_added: u64,
    /// The time of the last commit.
    pub finished: Option<Instant>,
}

/// The number of commits, and their durations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Commits {
    /// Number of commits.
    pub count: u64,
    /// Total time.
    pub total: Duration,
    /// The longest time.
    pub longest: Duration,
}

impl Style {
    /// One style per writer: batches, except that the last of several commits single edges.
    pub fn of_writers(writers: NonZeroUsize, batch: NonZeroUsize) -> Vec<Style> {
        let mut styles = vec![Style::Batches(batch.get()); writers.get()];
        if let [_, .., last] = &mut styles[..] {
            *last = Style::Singles;
        }
        styles
    }
}

/// Puts edges into the graph until the stream ends.
pub fn write<K: AsKey>(
    graph: &Graph,
    stream: &Stream<K>,
    style: Style,
    shared: &Shared,
    interrupt: &Interrupt,
) -> Result<Writing, CliError> {
    let mut writing = Writing::default();
    loop {
        interrupt.check()?;
        let count = if let Style::Batches(count) = style { count } else { SINGLE_EDGES };
        let edges = stream.take(count);
        if edges.is_empty() {
            writing.finished = Some(Instant::now());
            return Ok(writing);
        }
        match style {
            Style::Batches(_) => {
                let started = Instant::now();
                let commit = graph.ingest(LabelId::DEFAULT, edges)?;
                writing.edges_added += commit.edges_added.at_least();
                writing.batches.add(started.elapsed());
                shared.committed(edges.len() as u64);
            }
            Style::Singles => {
                for (source, destination) in edges {
                    let started = Instant::now();
                    let commit = graph.put_edge(LabelId::DEFAULT, source, destination)?;
                    writing.edges_added += commit.edges_added.at_least();
                    writing.singles.add(started.elapsed());
                    shared.committed(1);
                }
            }
        }
    }
}

impl Writing {
    /// Combines the statistics of several writers.
    pub fn sum(writers: impl IntoIterator<Item = Writing>) -> Writing {
        writers.into_iter().fold(Writing::default(), |sum, writing| Writing {
            batches: sum.batches.plus(writing.batches),
            singles: sum.singles.plus(writing.singles),
            edges_added: sum.edges_added + writing.edges_added,
            finished: sum.finished.max(writing.finished),
        })
    }

    /// The number of commits of both kinds.
    pub fn commits(&self) -> u64 {
        self.batches.count + self.singles.count
    }

    /// Checks that the final state has exactly the edges that the commits have added.
    pub fn check(&self, snapshot: &Snapshot) -> Result<(), CliError> {
        let (added, found) = (self.edges_added, snapshot.edge_count().at_most());
        if added == found {
            return Ok(());
        }
        Err(CliError::Wrong(format!("the commits added {added} edges, but the graph has {found}")))
    }
}

impl Commits {
    fn add(&mut self, elapsed: Duration) {
        *self = self.plus(Commits { count: 1, total: elapsed, longest: elapsed });
    }

    fn plus(self, other: Commits) -> Commits {
        Commits {
            count: self.count + other.count,
            total: self.total + other.total,
            longest: self.longest.max(other.longest),
        }
    }

    /// The mean duration of a commit; `None` if there was none.
    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| self.total.div_f64(self.count as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_several_writers_commits_single_edges() {
        let styles =
            |writers| Style::of_writers(NonZeroUsize::new(writers).unwrap(), NonZeroUsize::new(9).unwrap());
        assert_eq!(styles(1), [Style::Batches(9)]);
        assert_eq!(styles(2), [Style::Batches(9), Style::Singles]);
        assert_eq!(styles(3), [Style::Batches(9), Style::Batches(9), Style::Singles]);
    }
}
