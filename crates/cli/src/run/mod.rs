//! `hedgerow run`: loads a graph file, or opens a store, and runs a kernel on the graph.
//!
//! Each kernel has a file with its specifics ([`RunCommand`]) and reads the graph through a
//! `session`; `execute` does the rest.

mod args;
mod betweenness;
mod bfs;
mod cdlp;
mod execute;
mod facts;
mod hub;
mod kcore;
mod key_order;
mod khop;
mod lcc;
mod pagerank;
mod ranking;
mod results;
mod session;
mod sources;
mod sssp;
mod triangles;
mod value;
mod wcc;

use crate::error::CliError;
use crate::input::Weights;
use crate::options::At;
use args::ResultArgs;
use clap::Args;
use hedgerow::kernels::ParallelWeight;
use session::{Finished, Session};
use std::path::Path;

pub use args::{EngineName, KernelCommand, RunArgs, RunnerArgs};
pub use execute::{compute, execute, keys_of, label_of};
pub use hub::LargestDegree;
pub use session::OpenGraph;

/// A kernel on the command line.
pub trait RunCommand {
    /// The name on the command line and in the summary.
    fn name(&self) -> &'static str;

    /// The requirements of the kernel on the graph, and the destination of its result.
    fn options(&self) -> RunOptions<'_>;

    /// Runs the kernel on the loaded graph.
    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError>;
}

/// The requirements of a kernel on the graph, and the destination of its result.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// The destination of the results of vertices.
    pub output: Output<'a>,
    /// The keys that the kernel starts from.
    pub sources: &'a [String],
    /// The treatment of edge weights in files.
    pub weights: Weights,
    /// The property to weigh edges by, or `value`; and the weight of parallel edges.
    pub weight: Option<(&'a str, ParallelWeight)>,
    /// True if the kernel reads in-neighbors: then a directed graph is loaded with them.
    pub reads_in_neighbors: bool,
}

/// The destination of the results of vertices.
#[derive(Clone, Copy, Debug)]
pub enum Output<'a> {
    /// The kernel has one result for the whole graph, which is in the summary.
    None,
    /// The command line gives no destination.
    Default,
    /// This file, or `-`.
    File(&'a Path),
}

impl RunOptions<'_> {
    /// Options of a kernel without sources, weights, in-neighbors, and results of vertices.
    pub fn new() -> Self {
        let (weights, reads_in_neighbors) = (Weights::Ignored, false);
        RunOptions { output: Output::None, sources: &[], weights, weight: None, reads_in_neighbors }
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

    /// The place of the graph, and the options for running the kernel.
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
