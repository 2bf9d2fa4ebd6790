//! `hedgerow run`: loads a graph file, or opens a store, and runs a kernel on the graph.
//!
//! Each kernel has a file with what is special about it ([`RunCommand`]); `session` does the rest.

mod args;
mod betweenness;
mod bfs;
mod cdlp;
mod facts;
mod hub;
mod kcore;
mod key_order;
mod khop;
mod lcc;
mod pagerank;
mod ranking;
mod session;
mod sources;
mod sssp;
mod target;
mod triangles;
mod value;
mod wcc;

use crate::error::CliError;
use crate::input::Weights;
use crate::options::At;
use args::ResultArgs;
use clap::Args;
use session::{Finished, Session};
use std::path::Path;

pub use args::{EngineName, KernelCommand, RunArgs, RunnerArgs};
pub use hub::LargestDegree;
pub use session::{OpenGraph, compute, execute, keys_of, label_of};
pub use target::Target;

/// A kernel on the command line.
pub trait RunCommand {
    /// Its name on the command line and in the summary.
    fn name(&self) -> &'static str;

    /// What it needs of the graph, and where its result goes.
    fn options(&self) -> RunOptions<'_>;

    /// Runs the kernel on the loaded graph.
    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError>;
}

/// What a kernel needs of the graph, and where its result goes.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Where the result of every vertex goes.
    pub output: Output<'a>,
    /// The keys that the kernel starts from.
    pub sources: &'a [String],
    /// What happens to the weights of edges.
    pub weights: Weights,
    /// Whether the kernel reads in-neighbors: if so, a directed graph is loaded with them.
    pub reads_in_neighbors: bool,
}

/// Where the result of every vertex goes.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// The kernel has one result for the whole graph, which is in the summary.
    None,
    /// Not given on the command line.
    Default,
    /// To this file, or `-`.
    File(&'a Path),
}

impl RunOptions<'_> {
    /// Those of a kernel without sources, weights, in-neighbors, and results of vertices.
    pub fn new() -> Self {
        let (weights, reads_in_neighbors) = (Weights::Ignored, false);
        RunOptions { output: Output::None, sources: &[], weights, reads_in_neighbors }
    }
}

impl<'a> From<&'a ResultArgs> for RunOptions<'a> {
    fn from(args: &'a ResultArgs) -> Self {
        let output = args.output.as_deref().map_or(Output::Default, Output::File);
        RunOptions { output, ..RunOptions::new() }
    }
}

impl<P: Args> KernelCommand<P> {
    /// The kernel as a trait object.
    pub fn command(&self) -> &dyn RunCommand {
        self.parts().0
    }

    /// The graph, and how the kernel runs on it.
    pub fn place(&self) -> &P {
        self.parts().1
    }

    fn parts(&self) -> (&dyn RunCommand, &P) {
        match self {
            KernelCommand::Bfs(At { what, place }) => (what, place),
            KernelCommand::Pagerank(At { what, place }) => (what, place),
            KernelCommand::Sssp(At { what, place }) => (what, place),
            KernelCommand::Wcc(At { what, place }) => (what, place),
            KernelCommand::Triangles(At { what, place }) => (what, place),
            KernelCommand::Betweenness(At { what, place }) => (what, place),
            KernelCommand::Lcc(At { what, place }) => (what, place),
            KernelCommand::Cdlp(At { what, place }) => (what, place),
            KernelCommand::Kcore(At { what, place }) => (what, place),
            KernelCommand::Khop(At { what, place }) => (what, place),
        }
    }
}
