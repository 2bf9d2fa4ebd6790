//! The action of a command, and its place.

use clap::Args;

/// The action of a command, and its place: `P` names a file or a store on a command line, and has
/// no such options in `hedgerow shell`, which has its store open.
#[derive(Debug, Args)]
pub struct At<W: Args, P: Args> {
    #[command(flatten)]
    pub what: W,
    #[command(flatten)]
    pub place: P,
}
