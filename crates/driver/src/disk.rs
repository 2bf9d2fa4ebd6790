//! The speed of the disk alone, an upper limit for every store on it.

use crate::Failure;
use crate::monitor::Latencies;
use crate::stores::TemporaryStore;
use crate::watch::check;
use hedgerow::kernels::CancelToken;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Approximate bytes that a synced commit of one edge writes to a log.
const COMMIT: usize = 44;

/// Bytes of the file to which commits are appended, starting over when it is full.
pub(crate) const APPENDED: usize = 16 << 20;

/// Bytes per write of bulk data.
const PIECE: usize = 1 << 20;

/// Bytes per write when filling a file for appends: larger writes would make each append slower,
/// because Linux keeps such a write as one folio in its cache, and checks all of it again.
const PAGE: usize = 4 << 10;

/// Latencies of operations, and the elapsed time.
#[derive(Debug)]
pub(crate) struct Waits {
    pub(crate) latencies: Latencies,
    pub(crate) elapsed: Duration,
}

impl Waits {
    pub(crate) fn none() -> Self {
        Waits { latencies: Latencies::new(), elapsed: Duration::ZERO }
    }

    /// Operations per second.
    pub(crate) fn rate(&self) -> f64 {
        self.latencies.count() as f64 / self.elapsed.as_secs_f64()
    }
}

/// A file whose every byte was written before, like the segments of a log: a sync then writes only
/// the appended data, and no metadata.
#[derive(Debug)]
pub(crate) struct Disk<'s> {
    _store: &'s TemporaryStore,
    path: PathBuf,
    file: File,
    length: usize,
    position: usize,
}

impl<'s> Disk<'s> {
    /// A file of `length` zeros.
    pub(crate) fn new(store: &'s TemporaryStore, length: usize) -> Result<Self, Failure> {
        let path = store.path().join("limit");
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|source| Failure::File { path: path.clone(), source })?;
        let disk = Disk { _store: store, path, file, length, position: 0 };
        disk.fill(0, PAGE).map_err(|source| disk.failed(source))?;
        Ok(disk)
    }

    fn failed(&self, source: io::Error) -> Failure {
        Failure::File { path: self.path.clone(), source }
    }

    /// Writes the whole file in order, `at_a_time` bytes per write, and syncs it.
    fn fill(&self, byte: u8, at_a_time: usize) -> io::Result<()> {
        let piece = vec![byte; at_a_time];
        for position in (0..self.length).step_by(at_a_time) {
            let piece = &piece[..at_a_time.min(self.length - position)];
            self.file.write_all_at(piece, position as u64)?;
        }
        self.file.sync_data()
    }

    /// Bytes per second when writing the whole file in order, with a sync at the end.
    pub(crate) fn bandwidth(&self) -> Result<f64, Failure> {
        let started = Instant::now();
        self.fill(1, PIECE).map_err(|source| self.failed(source))?;
        Ok(self.length as f64 / started.elapsed().as_secs_f64())
    }

    /// Repeatedly appends as many bytes as a commit of one edge and syncs them, for the given time.
    pub(crate) fn sync_for(
        &mut self,
        time: Duration,
        waits: &mut Waits,
        cancel: &CancelToken,
    ) -> Result<(), Failure> {
        let begin = Instant::now();
        while begin.elapsed() < time {
            check(cancel)?;
            let started = Instant::now();
            self.append().map_err(|source| self.failed(source))?;
            waits.latencies.record(started.elapsed());
        }
        waits.elapsed += begin.elapsed();
        Ok(())
    }

    fn append(&mut self) -> io::Result<()> {
        if self.position + COMMIT > self.length {
            self.position = 0;
        }
        self.file.write_all_at(&[7; COMMIT], self.position as u64)?;
        self.position += COMMIT;
        self.file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use crate::stores::StoreFolder;
    use hedgerow::{CommitTimestamp, Durability, EngineKind, LabelId, WriteGraph};

    #[test]
    fn what_is_appended_is_as_long_as_a_synced_commit_of_one_edge() {
        let folder = StoreFolder::new(None).unwrap();
        let store = folder.new_store().unwrap();
        let options = load::options(EngineKind::Rapid, 1).durability(Durability::Sync);
        let graph = load::stored_graph(&store, &options, 1 << 20).unwrap();
        graph.flush().unwrap();
        let end = || {
            let segments = hedgerow::store::manifest(store.path()).unwrap().segments;
            segments.iter().filter_map(|segment| segment.sealed).map(|sealed| sealed.end).sum::<u64>()
        };
        graph.close().unwrap();
        drop(graph);
        let before = end();

        let graph = hedgerow::Graph::open(store.path()).unwrap();
        let commits = 100;
        for number in 0..commits {
            graph
                .put_edge(LabelId::DEFAULT, number * 7_919 % 1_000_003, number * 104_729 % 1_000_003)
                .unwrap();
        }
        assert!(graph.store_info().unwrap().durable > CommitTimestamp(commits));
        graph.close().unwrap();
        let header = 64;
        let each = (end() - before - header) / commits;
        assert!(each.abs_diff(COMMIT as u64) <= 4, "a commit takes {each} bytes");
    }

    #[test]
    fn the_file_is_written_over_and_over_and_stays_as_long() {
        let folder = StoreFolder::new(None).unwrap();
        let store = folder.new_store().unwrap();
        let length = 5 * COMMIT + 1;
        let mut disk = Disk::new(&store, length).unwrap();
        (0..7).for_each(|_| disk.append().unwrap());
        assert_eq!(disk.position, 2 * COMMIT);
        let bytes = std::fs::read(&disk.path).unwrap();
        assert_eq!((bytes.len(), bytes[0], bytes[length - 2], bytes[length - 1]), (length, 7, 7, 0));
        assert!(disk.bandwidth().unwrap() > 0.0);
        assert!(std::fs::read(&disk.path).unwrap().iter().all(|byte| *byte == 1));

        let mut waits = Waits::none();
        disk.sync_for(Duration::from_millis(2), &mut waits, &CancelToken::new()).unwrap();
        assert!(
            waits.latencies.count() > 0 && waits.elapsed >= Duration::from_millis(2) && waits.rate() > 0.0
        );
    }
}
