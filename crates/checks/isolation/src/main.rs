//! The processes that the tests judge and kill.

use clap::{Parser, Subcommand};
use hedgerow_isolation::{lists, load};
use std::path::PathBuf;
use std::process::ExitCode;

/// The processes that the tests judge and kill.
#[derive(Parser)]
#[command(name = "hedgerow-isolation")]
struct Arguments {
    #[command(subcommand)]
    process: Process,
}

#[derive(Subcommand)]
enum Process {
    /// Serves lists in a store until its input ends.
    Serve(lists::ServerOptions),
    /// Passes transactions from its input to a server, and the answers to its output: the process
    /// that the checker starts per client.
    Relay {
        /// The socket on which the server listens.
        #[arg(long)]
        socket: PathBuf,
    },
    /// Commits to a store until it is killed, and writes acknowledgements to its output.
    Load(load::LoadOptions),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().process {
        Process::Serve(options) => lists::serve(&options),
        Process::Relay { socket } => lists::relay(&socket),
        Process::Load(options) => load::run(&options),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
