//! The speed of the disk alone: synced appends of the size of a commit of one edge.

use anyhow::{Context, Result};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Approximate bytes that Hedgerow writes for a synced commit of one edge; further bytes that a
/// store writes are its own overhead.
const COMMIT: usize = 44;

/// Bytes of the file, written in advance, so that a sync writes no metadata.
const LENGTH: usize = 16 << 20;

const PAGE: usize = 4 << 10;

/// A file to append to.
#[derive(Debug)]
pub struct Disk {
    file: File,
    position: usize,
}

impl Disk {
    /// A file in `folder`.
    pub fn new(folder: &Path) -> Result<Self> {
        let path = folder.join("limit");
        let open = || {
            let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path)?;
            // Page by page: Linux keeps each write as one folio in its cache, and would check a
            // large folio as a whole at each append.
            (0..LENGTH).step_by(PAGE).try_for_each(|at| file.write_all_at(&[0; PAGE], at as u64))?;
            file.sync_data()?;
            Ok::<_, std::io::Error>(file)
        };
        Ok(Disk { file: open().with_context(|| path.display().to_string())?, position: 0 })
    }

    /// Appends and syncs for the given time; returns the time of each append.
    pub fn sync_for(&mut self, time: Duration) -> Result<Vec<Duration>> {
        let (begin, mut latencies) = (Instant::now(), Vec::new());
        while begin.elapsed() < time {
            let started = Instant::now();
            if self.position + COMMIT > LENGTH {
                self.position = 0;
            }
            self.file.write_all_at(&[7; COMMIT], self.position as u64)?;
            self.file.sync_data()?;
            self.position += COMMIT;
            latencies.push(started.elapsed());
        }
        Ok(latencies)
    }
}
