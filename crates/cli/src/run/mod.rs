//! `hedgerow run`: loads a graph file and runs a kernel on it.

mod bfs;
mod facts;
mod hub;
mod pagerank;
mod target;

use crate::args::KernelCommand;
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;

pub use hub::LargestDegree;
pub use target::Target;

/// Runs the kernel.
pub fn execute(kernel: &KernelCommand, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    match kernel {
        KernelCommand::Bfs(args) => bfs::execute(args, console, interrupt),
        KernelCommand::Pagerank(args) => pagerank::execute(args, console, interrupt),
    }
}
