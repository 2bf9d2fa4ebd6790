//! The progress of an import.

use super::position::Tallies;
use crate::console::Console;
use crate::{progress, text};
use indicatif::ProgressBar;
use std::time::Instant;

/// A bar for one file. A resumed import first checks the part that an earlier import read; the rate
/// and the time left are for the current phase.
pub struct ImportBar {
    bar: ProgressBar,
    /// The part that an earlier import read.
    imported: Tallies,
    /// The time of the first imported edge, and the number of edges read by then.
    importing: Option<(Instant, u64)>,
}

impl ImportBar {
    /// A bar for a file of `total` bytes, if that is known, of which `imported` is in the store.
    pub fn new(console: &Console, total: Option<u64>, imported: Tallies) -> Self {
        let is_resumed = imported.items() > 0;
        let bar = progress::of_bytes(console, if is_resumed { "checking" } else { "importing" }, total);
        let importing = (!is_resumed).then(|| (Instant::now(), 0));
        ImportBar { bar, imported, importing }
    }

    /// Shows that `read` is imported, and that `bytes` were read for it.
    pub fn show(&mut self, bytes: u64, read: &Tallies) {
        self.bar.set_position(bytes);
        let edges = read.edges.count;
        match self.importing {
            Some((since, before)) if edges > before => {
                let rate = text::edges_per_second(edges - before, since.elapsed());
                self.bar.set_message(format!("importing {rate}"));
            }
            None if read.items() > self.imported.items() => {
                self.importing = Some((Instant::now(), edges));
                self.bar.set_message("importing");
                self.bar.reset_eta();
            }
            _ => {}
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
