//! The state of the engine: its sources, and the work on them.

use super::entry::{Entry, Key, Table};
use super::file::{PREFIX, SortedFile, name_of, unwritten};
use super::manifest::{self, Flushed, Manifest};
use super::options::ReferenceOptions;
use super::sources::Sources;
use hedgerow_encoding::{EntryKey, ParallelList};
use hedgerow_in_memory::vertices::VertexSet;
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    CommitTimestamp, Counts, EdgeOutcome, EngineError, GrowingCatalog, LockUnit, ParallelEdges,
    ParallelOutcome, ReadError, VertexId,
};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Arc, Mutex};

/// A graph in files. See the [module](super).
pub struct ReferenceEngine {
    pub(super) options: ReferenceOptions,
    /// The labels, which grow. The store keeps them.
    pub(super) catalog: GrowingCatalog,
    pub(super) files: Arc<dyn FileSystem>,
    /// The sources of views. A flush or a merge replaces them as a whole.
    pub(super) sources: Mutex<Arc<Sources>>,
    pub(super) durable_through: AtomicU64,
    /// The vertices that exist.
    pub(super) vertices: VertexSet,
    /// The counts as of opening.
    pub(super) counts: Counts,
    /// Flushes and merges take turns.
    pub(super) work: Mutex<Work>,
}

pub(super) struct Work {
    pub(super) flushed: Flushed,
    /// No number is used twice: a file whose manifest may or may not exist must not be overwritten.
    pub(super) next_file: u64,
    /// Merged files that may still be read.
    pub(super) merged: Vec<Arc<SortedFile>>,
}

impl ReferenceEngine {
    /// Opens the engine's files, or starts empty if there are none. Removes files that a flush or a
    /// merge left unfinished. Reads everything once, to count.
    ///
    /// # Errors
    /// A file could not be read, or an unfinished one not be removed.
    pub fn open(files: Arc<dyn FileSystem>, options: ReferenceOptions) -> Result<Self, EngineError> {
        let Manifest { flushed, files: named } = Manifest::read(&*files)?;
        let names: Vec<String> = named.iter().map(|(number, _)| name_of(*number)).collect();
        let place = files.location().display().to_string();
        for name in files.list().map_err(|error| ReadError::new(place, error))? {
            let is_left = name.starts_with(PREFIX) && name != manifest::name() && !names.contains(&name);
            if is_left && !files.is_read_only() {
                files.remove(&name).map_err(unwritten(name.clone()))?;
            }
        }
        let next_file = named.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        let opened =
            named.iter().map(|(number, bytes)| SortedFile::open(&*files, *number, *bytes).map(Arc::new));
        let sources = Sources { files: opened.collect::<Result<_, _>>()?, ..Sources::default() };
        let vertices = VertexSet::default();
        let counts = count(&sources, &options, &vertices, flushed.vertex_bound)?;
        Ok(ReferenceEngine {
            catalog: (&options.catalog).into(),
            options,
            files,
            sources: Mutex::new(Arc::new(sources)),
            durable_through: AtomicU64::new(flushed.durable_through.0),
            vertices,
            counts,
            work: Mutex::new(Work { flushed, next_file, merged: Vec::new() }),
        })
    }

    pub(super) fn sources(&self) -> Arc<Sources> {
        Arc::clone(&self.sources.lock())
    }

    /// Lists these files durably in the manifest, and makes them the sources of later views, with
    /// the recent changes after the flush.
    pub(super) fn install(&self, files: Vec<Arc<SortedFile>>, flushed: &Flushed) -> Result<(), EngineError> {
        Manifest::replace(&*self.files, flushed, &files)?;
        let durable_through = flushed.durable_through;
        let mut sources = self.sources.lock();
        let rest = sources.recent.lock().after(durable_through);
        *sources = Arc::new(Sources { recent: Mutex::new(rest), files });
        self.durable_through.store(durable_through.0, Ordering::Release);
        Ok(())
    }

    /// Writes a sorted file with a new number.
    pub(super) fn write(
        &self,
        work: &mut Work,
        entries: impl Iterator<Item = Result<Entry, ReadError>>,
    ) -> Result<Arc<SortedFile>, EngineError> {
        work.next_file += 1;
        let number = work.next_file - 1;
        SortedFile::write(&*self.files, number, self.options.block_bytes, entries).map(Arc::new)
    }
}

/// Counts the graph in these sources, and collects its vertices.
fn count(
    sources: &Sources,
    options: &ReferenceOptions,
    vertices: &VertexSet,
    vertex_bound: u32,
) -> Result<Counts, ReadError> {
    let mut counts = Counts { vertex_bound, ..Counts::default() };
    for visible in sources.visible(Table::all(), CommitTimestamp(u64::MAX)) {
        let (Key { table, entry: EntryKey { owner, neighbor } }, content) = visible?;
        let Some((label, direction)) = table.adjacency() else {
            counts.vertices += 1;
            vertices.insert(VertexId::new(owner));
            continue;
        };
        if options.topology.is_canonical_entry(direction, VertexId::new(owner), VertexId::new(neighbor)) {
            counts.add(&[EdgeOutcome { label, added: 1, removed: 0 }]);
            if options.catalog.are_parallel(label) {
                let edges = ParallelList::of_record(&content)?.count()?;
                counts.add_parallel(&[ParallelOutcome { label, net: edges as i64 }]);
            }
        }
    }
    Ok(counts)
}

/// Checks that a vertex, which is a lock unit, is locked.
pub(super) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId, done: &str) {
    assert!(locks.covers(LockUnit(vertex.get())), "vertex {vertex} is {done} without its lock");
}
