//! A disk that is full for the files of an engine, in a flush, a merge and the manifest: writes
//! stop with an error that names the cause, reads continue, and once there is room writes continue,
//! too.

use super::own_files::{LSM, on_files};
use hedgerow::store::check_on;
use hedgerow::{
    CheckpointOptions, CompactOptions, Compaction, EngineKind, Error, ErrorKind, Graph, GraphOptions,
    LabelId, ReadGraph, WriteGraph,
};
use hedgerow_log::files::{
    EngineFiles, File, FileError, FileOperation, FileSystem, HeldLock, LockError, OpenMode,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::collections::BTreeSet;
use std::error::Error as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{io, iter};

/// A directory in which the files of an engine take a limited number of bytes.
#[derive(Clone, Debug)]
struct SmallDisk {
    files: SimulatedFiles,
    limits: Arc<Limits>,
}

#[derive(Debug)]
struct Limits {
    /// Bytes of all files of the engine together.
    bytes: AtomicU64,
    /// True if manifests of the engine cannot grow.
    is_manifest_full: AtomicBool,
    /// True if the next manifest of the store cannot be written.
    is_store_manifest_full: AtomicBool,
    /// Operations that failed.
    refused: AtomicU64,
}

impl SmallDisk {
    fn new(bytes: u64) -> Self {
        let limits = Limits {
            bytes: AtomicU64::new(bytes),
            is_manifest_full: AtomicBool::default(),
            is_store_manifest_full: AtomicBool::default(),
            refused: AtomicU64::default(),
        };
        SmallDisk { files: SimulatedFiles::new(3), limits: Arc::new(limits) }
    }

    fn set_bytes(&self, bytes: u64) {
        self.limits.bytes.store(bytes, Ordering::Relaxed);
    }

    fn refused(&self) -> u64 {
        self.limits.refused.load(Ordering::Relaxed)
    }

    /// Fails if the file `name` cannot grow by `more` bytes.
    fn check_room(&self, operation: FileOperation, name: &str, more: u64) -> Result<(), FileError> {
        if !name.starts_with(EngineFiles::PREFIX) {
            return match name == "MANIFEST.new" && self.limits.is_store_manifest_full.load(Ordering::Relaxed)
            {
                true => Err(self.full(operation, name)),
                false => Ok(()),
            };
        }
        let names = self.files.list()?;
        let of_engine = names.iter().filter(|name| name.starts_with(EngineFiles::PREFIX));
        let lengths = of_engine.map(|name| self.files.open(name, OpenMode::Read)?.length());
        let used: u64 = lengths.sum::<Result<u64, FileError>>()?;
        let is_full = used + more > self.limits.bytes.load(Ordering::Relaxed)
            || name.contains("manifest") && self.limits.is_manifest_full.load(Ordering::Relaxed);
        if is_full { Err(self.full(operation, name)) } else { Ok(()) }
    }

    fn full(&self, operation: FileOperation, name: &str) -> FileError {
        self.limits.refused.fetch_add(1, Ordering::Relaxed);
        FileError::new(operation, name, io::Error::from_raw_os_error(28))
    }
}

impl FileSystem for SmallDisk {
    fn location(&self) -> PathBuf {
        self.files.location()
    }

    fn create_directory(&self) -> Result<(), FileError> {
        self.files.create_directory()
    }

    fn list(&self) -> Result<Vec<String>, FileError> {
        self.files.list()
    }

    fn open(&self, name: &str, access: OpenMode) -> Result<Box<dyn File>, FileError> {
        if access == OpenMode::Create {
            self.check_room(FileOperation::Create, name, 1)?;
        }
        let file = self.files.open(name, access)?;
        Ok(Box::new(SmallFile { name: name.to_owned(), file, disk: self.clone() }))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        self.files.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<(), FileError> {
        self.files.remove(name)
    }

    fn sync_directory(&self) -> Result<(), FileError> {
        self.files.sync_directory()
    }

    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError> {
        self.files.lock(name)
    }

    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError> {
        self.files.lock_shared(name)
    }
}

#[derive(Debug)]
struct SmallFile {
    name: String,
    file: Box<dyn File>,
    disk: SmallDisk,
}

impl File for SmallFile {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError> {
        self.file.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError> {
        let end = offset + bytes.len() as u64;
        self.disk.check_room(FileOperation::Write, &self.name, end.saturating_sub(self.file.length()?))?;
        self.file.write_at(bytes, offset)
    }

    fn set_length(&self, length: u64) -> Result<(), FileError> {
        self.file.set_length(length)
    }

    fn length(&self) -> Result<u64, FileError> {
        self.file.length()
    }

    fn sync(&self) -> Result<(), FileError> {
        self.file.sync()
    }
}

const KNOWS: LabelId = LabelId::DEFAULT;

fn options() -> GraphOptions {
    on_files(EngineKind::Erased(&LSM))
}

/// A graph on a small disk, and the edges that it acknowledged.
struct Subject {
    disk: SmallDisk,
    graph: Graph,
    edges: BTreeSet<(u64, u64)>,
    next: u64,
}

impl Subject {
    fn new(options: &GraphOptions, bytes: u64) -> Self {
        let disk = SmallDisk::new(bytes);
        let graph = options.create_on(Arc::new(disk.clone())).unwrap();
        Subject { disk, graph, edges: BTreeSet::new(), next: 0 }
    }

    /// Puts the next edge, or deletes one every few times.
    fn commit(&mut self) -> Result<(), Error> {
        let number = self.next;
        let edge = (number * 7 % 40, 100 + number * 13 % 90);
        match number % 5 {
            4 => {
                let (from, to) = self.edges.first().copied().unwrap_or(edge);
                self.graph.delete_edge(KNOWS, from, to)?;
                self.edges.remove(&(from, to));
            }
            _ => {
                self.graph.put_edge(KNOWS, edge.0, edge.1)?;
                self.edges.insert(edge);
            }
        }
        self.next += 1;
        Ok(())
    }

    /// Commits up to `count` times, until one fails.
    fn commit_all(&mut self, count: u64) -> Result<(), Error> {
        (0..count).try_for_each(|_| self.commit())
    }

    /// Checks that the graph has exactly the acknowledged edges.
    fn check(&self) {
        check(&self.graph, &self.edges);
    }

    /// Checks that the graph can be reopened, and that its files are undamaged.
    fn check_reopened(self) {
        self.graph.close().unwrap();
        drop(self.graph);
        let report = check_on(&(Arc::new(self.disk.files.clone()) as Arc<dyn FileSystem>)).unwrap();
        assert!(report.problems.is_empty(), "{report:?}");
        check(&options().open_on(Arc::new(self.disk.files)).unwrap(), &self.edges);
    }
}

fn check(graph: &Graph, edges: &BTreeSet<(u64, u64)>) {
    let snapshot = graph.snapshot().unwrap();
    let all = snapshot.all_edges::<()>(KNOWS).unwrap().map(|edge| {
        let edge = edge.unwrap();
        let number = |key: hedgerow::Key| key.to_string().parse::<u64>().unwrap();
        let (one, other) = (number(edge.source), number(edge.destination));
        (one.min(other), one.max(other))
    });
    assert!(all.collect::<BTreeSet<_>>() == *edges);
    for (from, to) in edges.iter().take(20) {
        assert!(graph.contains_edge(KNOWS, *from, *to).unwrap());
    }
}

fn is_full(error: &Error) -> bool {
    let causes = iter::successors(error.source(), |&error| error.source());
    let mut kinds = causes.filter_map(|error| error.downcast_ref::<io::Error>()).map(io::Error::kind);
    error.kind() == ErrorKind::Storage && kinds.any(|kind| kind == io::ErrorKind::StorageFull)
}

#[test]
fn writes_stop_at_a_full_disk_and_go_on_when_there_is_room() {
    let mut stopped = 0;
    // The disk gets full at different points of flushes and merges.
    for bytes in (1_000..30_000).step_by(700) {
        let mut subject = Subject::new(&options(), bytes);
        let before = subject.graph.snapshot().unwrap();
        if let Err(error) = subject.commit_all(1500) {
            stopped += 1;
            assert!(is_full(&error), "{error}");
            subject.check();
            // Nothing was poisoned, and nothing is written while there is no room.
            assert!(is_full(&subject.commit().unwrap_err()));
            subject.check();
        }
        assert_eq!(before.edge_count(), 0);
        drop(before);
        subject.disk.set_bytes(u64::MAX);
        // The failure of a background merge is reported once.
        let _ = subject.graph.reclaim();
        subject.commit_all(300).unwrap();
        subject.graph.reclaim().unwrap();
        subject.check();
        subject.check_reopened();
    }
    assert!(stopped > 10, "{stopped}");
}

#[test]
fn a_merge_that_finds_no_room_changes_nothing_and_can_be_repeated() {
    let mut subject = Subject::new(&options().compaction(Compaction::Off), u64::MAX);
    subject.commit_all(1200).unwrap();
    let report = subject.graph.engine_report().unwrap().unwrap();
    let files = report.totals().files;
    assert!(report.parts.iter().any(|part| part.levels[0].files.files > 1), "{report:?}");
    let mut refused = 0;
    for more in (0..files.bytes).step_by(150) {
        subject.disk.set_bytes(files.bytes + more);
        match subject.graph.compact(&CompactOptions::new()) {
            Ok(_) => break,
            Err(error) => assert!(is_full(&error), "{error}"),
        }
        refused += 1;
        subject.check();
    }
    assert!(refused > 2, "{refused}");
    subject.disk.set_bytes(u64::MAX);
    let compacted = subject.graph.compact(&CompactOptions::new()).unwrap();
    let report = subject.graph.engine_report().unwrap().unwrap();
    assert_eq!((compacted.after, report.unlisted.files), (report.totals().files, 0));
    subject.check();
    subject.commit_all(300).unwrap();
    subject.check();
    subject.check_reopened();
}

#[test]
fn a_manifest_that_cannot_grow_stops_writes_until_it_can() {
    let mut subject = Subject::new(&options(), u64::MAX);
    for round in 0..6 {
        subject.commit_all(100 + 30 * round).unwrap();
        subject.disk.limits.is_manifest_full.store(true, Ordering::Relaxed);
        let error = subject.commit_all(2000).unwrap_err();
        assert!(is_full(&error) && error.to_string().contains("engine-manifest-"), "{error}");
        subject.check();
        assert!(is_full(&subject.commit().unwrap_err()));
        // The files of such a flush belong to no level, and do not accumulate.
        let unlisted = subject.graph.engine_report().unwrap().unwrap().unlisted;
        let refused = subject.disk.refused();
        assert!(is_full(&subject.commit().unwrap_err()) && subject.disk.refused() > refused);
        let later = subject.graph.engine_report().unwrap().unwrap().unlisted;
        assert!(later.bytes <= 4 * unlisted.bytes, "{unlisted:?} {later:?}");
        subject.disk.limits.is_manifest_full.store(false, Ordering::Relaxed);
        let _ = subject.graph.reclaim();
        subject.commit_all(100).unwrap();
        subject.check();
    }
    subject.graph.compact(&CompactOptions::new()).unwrap();
    assert_eq!(subject.graph.engine_report().unwrap().unwrap().unlisted.files, 0);
    subject.check_reopened();
}

#[test]
fn a_log_that_cannot_be_pruned_now_is_pruned_later() {
    let mut subject = Subject::new(&options().segment_bytes(16 << 10), u64::MAX);
    let segments = |subject: &Subject| subject.graph.store_info().unwrap().segments;
    while segments(&subject) == 1 {
        subject.commit().unwrap();
    }
    subject.disk.limits.is_store_manifest_full.store(true, Ordering::Relaxed);
    let error = subject.graph.checkpoint(&CheckpointOptions::new()).unwrap_err();
    assert!(is_full(&error) && error.to_string().contains("MANIFEST.new"), "{error}");
    subject.commit_all(5).unwrap();
    subject.disk.limits.is_store_manifest_full.store(false, Ordering::Relaxed);
    assert_eq!(segments(&subject), 2);
    assert_eq!(subject.graph.checkpoint(&CheckpointOptions::new()).unwrap().pruned, 1);
    assert_eq!(segments(&subject), 1);
    subject.commit_all(100).unwrap();
    subject.check();
    subject.check_reopened();
}
