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

use crate::console::Console;
use crate::error::CliError;
use crate::input::Weights;
use crate::interrupt::Interrupt;
use args::{CommonRunArgs, KernelCommand, ResultArgs};
use session::{Finished, Session};
use std::path::Path;

pub use args::RunArgs;
pub use hub::LargestDegree;
pub use target::Target;

/// The location of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// In a graph file.
    File(&'a Path),
    /// In the store in this directory.
    Store(&'a Path),
}

impl<'a> Place<'a> {
    /// The file, or the directory.
    pub fn path(self) -> &'a Path {
        match self {
            Place::File(path) | Place::Store(path) => path,
        }
    }
}

/// A kernel on the command line.
pub trait RunCommand {
    /// Its name on the command line and in the summary.
    fn name(&self) -> &'static str;

    /// The options, without the parameters of the kernel.
    fn options(&self) -> RunOptions<'_>;

    /// Runs the kernel on the loaded graph.
    fn run(&self, session: &Session<'_>) -> Result<Finished, CliError>;
}

/// How a graph is loaded for a kernel, and where its result goes.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// The options that all kernels have.
    pub common: &'a CommonRunArgs,
    /// The file for the result of every vertex.
    pub output: Option<&'a Path>,
    /// The keys that the kernel starts from.
    pub sources: &'a [String],
    /// What happens to the weights of edges.
    pub weights: Weights,
    /// Whether the kernel reads in-neighbors: if so, a directed graph is loaded with them.
    pub reads_in_neighbors: bool,
}

impl<'a> From<&'a CommonRunArgs> for RunOptions<'a> {
    /// No output, sources, weights or in-neighbors.
    fn from(common: &'a CommonRunArgs) -> Self {
        let (weights, reads_in_neighbors) = (Weights::Ignored, false);
        RunOptions { common, output: None, sources: &[], weights, reads_in_neighbors }
    }
}

impl<'a> From<&'a ResultArgs> for RunOptions<'a> {
    fn from(args: &'a ResultArgs) -> Self {
        RunOptions { output: args.output.as_deref(), ..(&args.common).into() }
    }
}

impl KernelCommand {
    /// The kernel as a trait object.
    pub fn command(&self) -> &dyn RunCommand {
        match self {
            KernelCommand::Bfs(args) => args,
            KernelCommand::Pagerank(args) => args,
            KernelCommand::Sssp(args) => args,
            KernelCommand::Wcc(args) => args,
            KernelCommand::Triangles(args) => args,
            KernelCommand::Betweenness(args) => args,
            KernelCommand::Lcc(args) => args,
            KernelCommand::Cdlp(args) => args,
            KernelCommand::Kcore(args) => args,
            KernelCommand::Khop(args) => args,
        }
    }
}

/// Runs the kernel.
pub fn execute(kernel: &KernelCommand, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    session::execute(kernel.command(), console, interrupt)
}
