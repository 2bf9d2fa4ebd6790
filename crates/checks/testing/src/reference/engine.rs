//! The engine: commits add recent entries, a flush moves them to a file, and maintenance merges
//! files.

use super::entry::{Entry, Key, Table};
use super::file::{SortedFile, name_of};
use super::manifest::{self, Flushed, Manifest};
use super::prepare::ReferenceChanges;
use super::recent::Recent;
use super::sources::Sources;
use super::view::ReferenceView;
use super::{PREFIX, ReferenceOptions, unwritten};
use hedgerow_encoding::{EntryKey, ParallelList, decode_vertex};
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp};
use hedgerow_model::{
    AddLabels, Admission, Allowance, Catalog, CommitTimestamp, Counts, Durable, EdgeOutcome, Effects, Engine,
    EngineError, GrowingCatalog, KeyRef, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse,
    NoShortWrites, ParallelEdges, ParallelOutcome, Prepared, ReadError, Reclaimed, Topology, UnitLocks,
    VertexId, ViewState,
};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use hedgerow_sync::{Arc, Mutex};
use rayon::ThreadPool;
use std::convert::Infallible;

/// A graph in files. See the [module](super).
pub struct ReferenceEngine {
    pub(super) options: ReferenceOptions,
    /// The labels. They grow in memory, where nothing has to be named durably.
    pub(super) catalog: GrowingCatalog,
    /// `None` in memory.
    files: Option<Arc<dyn FileSystem>>,
    /// The sources of views. A flush or a merge replaces them as a whole.
    sources: Mutex<Arc<Sources>>,
    durable_through: AtomicU64,
    /// The counts as of opening.
    counts: Counts,
    /// Flushes and merges take turns.
    work: Mutex<Work>,
}

struct Work {
    flushed: Flushed,
    /// No number is used twice: a file whose manifest may or may not exist must not be overwritten.
    next_file: u64,
    /// Merged files that may still be read.
    merged: Vec<Arc<SortedFile>>,
}

/// The files and the recent changes that a snapshot reads.
pub struct ReferenceSnapshot(Arc<Sources>);

/// Checks that a vertex, which is a lock unit, is locked.
pub(super) fn check_lock(locks: &HeldLocks<'_>, vertex: VertexId, done: &str) {
    assert!(locks.covers(LockUnit(vertex.get())), "vertex {vertex} is {done} without its lock");
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
        let counts = count(&sources, &options, flushed.vertex_bound)?;
        Ok(ReferenceEngine {
            catalog: (&options.catalog).into(),
            options,
            files: Some(files),
            sources: Mutex::new(Arc::new(sources)),
            durable_through: AtomicU64::new(flushed.durable_through.0),
            counts,
            work: Mutex::new(Work { flushed, next_file, merged: Vec::new() }),
        })
    }

    /// Creates an empty engine in memory.
    #[must_use]
    pub fn in_memory(topology: Topology, catalog: &Catalog) -> Self {
        ReferenceEngine {
            options: ReferenceOptions { topology, ..ReferenceOptions::default() },
            catalog: catalog.into(),
            files: None,
            sources: Mutex::default(),
            durable_through: AtomicU64::default(),
            counts: Counts::default(),
            work: Mutex::new(Work { flushed: Flushed::default(), next_file: 0, merged: Vec::new() }),
        }
    }

    /// The files of an engine in files.
    fn files(&self) -> &dyn FileSystem {
        &**self.files.as_ref().expect("the engine owns files")
    }

    pub(super) fn is_in_memory(&self) -> bool {
        self.files.is_none()
    }

    fn sources(&self) -> Arc<Sources> {
        Arc::clone(&self.sources.lock())
    }

    /// Lists these files durably in the manifest, and makes them the sources of later views, with
    /// the recent changes after the flush.
    fn install(&self, files: Vec<Arc<SortedFile>>, flushed: &Flushed) -> Result<(), EngineError> {
        Manifest::replace(self.files(), flushed, &files)?;
        let durable_through = flushed.durable_through;
        let mut sources = self.sources.lock();
        let rest = sources.recent.lock().after(durable_through);
        *sources = Arc::new(Sources { recent: Mutex::new(rest), files });
        self.durable_through.store(durable_through.0, Ordering::Release);
        Ok(())
    }

    /// Writes a sorted file with a new number.
    fn write(
        &self,
        work: &mut Work,
        entries: impl Iterator<Item = Result<Entry, ReadError>>,
    ) -> Result<Arc<SortedFile>, EngineError> {
        work.next_file += 1;
        let number = work.next_file - 1;
        SortedFile::write(self.files(), number, self.options.block_bytes, entries).map(Arc::new)
    }
}

/// Counts the graph in these sources.
fn count(sources: &Sources, options: &ReferenceOptions, vertex_bound: u32) -> Result<Counts, ReadError> {
    let mut counts = Counts { vertex_bound, ..Counts::default() };
    for visible in sources.visible(Table::all(), CommitTimestamp(u64::MAX)) {
        let (Key { table, entry: EntryKey { owner, neighbor } }, content) = visible?;
        let Some((label, direction)) = table.adjacency() else {
            counts.vertices += 1;
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

impl Engine for ReferenceEngine {
    type Snapshot = ReferenceSnapshot;
    type View<'s> = ReferenceView<'s>;
    type Room = ();
    type Changes<'l> = ReferenceChanges;
    type LatestError = Infallible;
    type ShortWrites = NoShortWrites;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        LockUnit(vertex.get())
    }

    fn prepare<'l>(
        &'l self,
        locks: &'l HeldLocks<'_>,
        effects: &'l Effects,
        (): &'l mut (),
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Prepared<ReferenceChanges>, EngineError> {
        self.prepare_changes(locks, effects, allowance)
    }

    fn apply(&self, stamp: Stamp, changes: ReferenceChanges) {
        // May overlap with other commits, but not with a flush or merge, which would miss changes
        // to the old sources.
        let sources = self.sources.lock();
        let mut recent = sources.recent.lock();
        changes.0.into_iter().for_each(|(key, content)| recent.put(stamp, key, content));
    }

    fn durable(&self) -> Option<&dyn Durable> {
        (!self.is_in_memory()).then_some(self)
    }

    fn add_labels(&self) -> Option<&dyn AddLabels> {
        self.is_in_memory().then_some(self)
    }

    fn admit(&self, bytes: usize) -> Admission {
        if self.is_in_memory() {
            return Admission::Granted;
        }
        let held = self.sources.lock().recent.lock().bytes();
        match held > 0 && held.saturating_add(bytes) > self.options.recent_bytes {
            true => Admission::AfterFlush,
            false => Admission::Granted,
        }
    }

    fn open_snapshot(&self, _: &Registered) -> Result<ReferenceSnapshot, EngineError> {
        Ok(ReferenceSnapshot(self.sources()))
    }

    fn view<'s>(&'s self, snapshot: &'s ReferenceSnapshot, at: &'s Registered) -> ReferenceView<'s> {
        let sources = Arc::clone(&snapshot.0);
        ReferenceView { engine: self, sources, state: ViewState::Registered(at) }
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<ReferenceView<'l>, Infallible> {
        Ok(ReferenceView { engine: self, sources: self.sources(), state: ViewState::Locked(locks) })
    }

    fn is_maintenance_due(&self) -> bool {
        !self.is_in_memory() && self.sources.lock().files.len() >= self.options.files
    }

    /// Drops the versions that no live timestamp sees: in memory at once, in files by a merge of
    /// all files into one if there are many. One step does everything, whatever the budget.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        _units: &dyn UnitLocks,
        _budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        if self.is_in_memory() {
            return Ok(self.drop_garbage(live).into());
        }
        let Some(mut work) = self.work.try_lock() else {
            let reclaimed = Reclaimed { more: self.is_maintenance_due(), ..Reclaimed::default() };
            return Ok(MaintenanceProgress { reclaimed, advanced: false });
        };
        let mut reclaimed = Reclaimed::default();
        let advanced = self.is_maintenance_due();
        if advanced {
            let old = Sources { files: self.sources().files.clone(), ..Sources::default() };
            let new = self.write(&mut work, old.needed(live, &mut reclaimed.versions))?;
            self.install(vec![new], &work.flushed)?;
            work.merged.extend(old.files);
        }
        // Only old snapshots reference these files, and no new reference to them is made.
        let merged = work.merged.len();
        while let Some(unread) = work.merged.iter().position(|file| Arc::strong_count(file) == 1) {
            let name = name_of(work.merged[unread].number);
            self.files().remove(&name).map_err(unwritten(name.clone()))?;
            work.merged.swap_remove(unread);
        }
        Ok(MaintenanceProgress { reclaimed, advanced: advanced || work.merged.len() < merged })
    }

    fn memory(&self) -> MemoryUse {
        let sources = self.sources();
        let recent = sources.recent.lock();
        let retained_bytes = if self.is_in_memory() { recent.superseded_bytes() } else { 0 };
        let live_bytes = recent.bytes() - retained_bytes;
        let index_bytes = sources.files.iter().map(|file| size_of_val(&*file.blocks)).sum();
        MemoryUse { live_bytes, retained_bytes, index_bytes, ..MemoryUse::default() }
    }
}

impl ReferenceEngine {
    /// Drops the versions in memory that no live timestamp sees.
    fn drop_garbage(&self, live: &LiveTimestamps) -> Reclaimed {
        let sources = self.sources.lock();
        let mut reclaimed = Reclaimed::default();
        loop {
            let mut versions = 0;
            let needed = sources.needed(live, &mut versions);
            let needed: Recent = needed.map(|entry| entry.expect("no file is read")).collect();
            if versions == 0 {
                return reclaimed;
            }
            // Deletions of what was dropped just now go in the next round.
            let mut recent = sources.recent.lock();
            reclaimed.versions += versions;
            reclaimed.bytes += recent.bytes() - needed.bytes();
            *recent = needed;
        }
    }
}

impl AddLabels for ReferenceEngine {
    fn add_label(&self, label: &LabelSchema) {
        self.catalog.push(label.clone());
    }
}

impl Durable for ReferenceEngine {
    fn durable_through(&self) -> CommitTimestamp {
        CommitTimestamp(self.durable_through.load(Ordering::Acquire))
    }

    fn counts(&self) -> Result<Counts, EngineError> {
        Ok(self.counts.clone())
    }

    fn note(&self) -> Vec<u8> {
        self.work.lock().flushed.note.clone()
    }

    fn each_key(&self, visit: &mut dyn FnMut(VertexId, KeyRef<'_>)) -> Result<(), EngineError> {
        let vertices = Table::VERTICES.keys(EntryKey::rows(0..u32::MAX));
        for visible in self.sources().visible(vertices, self.durable_through()) {
            let (Key { entry, .. }, content) = visible?;
            let vertex = VertexId::new(entry.owner);
            let key = decode_vertex(&content);
            let key = key.map_err(|error| ReadError::new(format!("the key of vertex {vertex}"), error));
            key?.0.into_iter().for_each(|key| visit(vertex, key));
        }
        Ok(())
    }

    /// Writes all versions, needed or not: the next merge drops unneeded ones.
    fn flush(&self, at: &Registered, _live: &LiveTimestamps, note: &[u8]) -> Result<(), EngineError> {
        let mut work = self.work.lock();
        if at.at() <= self.durable_through() {
            return Ok(());
        }
        let sources = self.sources();
        let mut files = sources.files.clone();
        let mut entries = sources.recent.lock().entries(&Table::all());
        entries.retain(|Entry { version, .. }| version.at.0 <= at.at());
        if !entries.is_empty() {
            files.push(self.write(&mut work, entries.into_iter().map(Ok))?);
        }
        let vertex_bound = at.counts().vertex_bound;
        let flushed = Flushed { durable_through: at.at(), vertex_bound, note: note.to_vec() };
        self.install(files, &flushed)?;
        work.flushed = flushed;
        Ok(())
    }
}
