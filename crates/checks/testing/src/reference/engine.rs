//! The traits of the engine: commits add recent entries, a flush moves them to a file, and
//! maintenance merges files.

use super::entry::{Entry, Key, Table};
use super::file::{name_of, unwritten};
use super::graph::ReferenceEngine;
use super::manifest::Flushed;
use super::sources::Sources;
use super::stage::ReferenceChanges;
use super::view::ReferenceView;
use hedgerow_encoding::{EntryKey, decode_vertex};
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamps};
use hedgerow_model::{
    Admission, Allowance, Changes, CommitTimestamp, Counts, Durable, Engine, EngineError, KeyRef,
    LabelSchema, LockUnit, MaintenanceProgress, MemoryUse, ReadError, Reclaimed, Staged, UnitLocks, VertexId,
    ViewState,
};
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::Ordering;
use rayon::ThreadPool;

/// The files and the recent changes that a snapshot reads.
pub struct ReferenceSnapshot(Arc<Sources>);

impl Engine for ReferenceEngine {
    type Snapshot = ReferenceSnapshot;
    type View<'s> = ReferenceView<'s>;
    type Room = ();
    type Staged<'l> = ReferenceChanges;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        LockUnit(vertex.get())
    }

    fn exists(&self, vertex: VertexId) -> bool {
        self.vertices.contains(vertex)
    }

    /// Stages effects only: a single edge takes the same way as any other commit.
    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        (): &'l mut (),
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Staged<ReferenceChanges>, EngineError> {
        match changes {
            Changes::Commit { effects, .. } => self.stage_effects(locks, effects, allowance),
            Changes::Each(_) => Ok(Staged::none(ReferenceChanges(Vec::new()))),
        }
    }

    fn apply(&self, _locks: &mut HeldLocks<'_>, stamps: Stamps, ReferenceChanges(changes): ReferenceChanges) {
        let vertices = changes.iter().filter(|(key, _)| key.table == Table::VERTICES);
        for (Key { entry, .. }, content) in vertices {
            match content {
                Some(_) => self.vertices.insert(VertexId::new(entry.owner)),
                None => self.vertices.remove(VertexId::new(entry.owner)),
            }
        }
        // May overlap with other commits, but not with a flush or merge, which would miss changes
        // to the old sources.
        let sources = self.sources.lock();
        let mut recent = sources.recent.lock();
        changes.into_iter().for_each(|(key, content)| recent.put(stamps.first(), key, content));
    }

    fn add_label(&self, label: &LabelSchema) {
        self.catalog.push(label.clone());
    }

    fn open_snapshot(&self, _: &Registered) -> Result<ReferenceSnapshot, EngineError> {
        Ok(ReferenceSnapshot(self.sources()))
    }

    fn view<'s>(&'s self, snapshot: &'s ReferenceSnapshot, at: &'s Registered) -> ReferenceView<'s> {
        let sources = Arc::clone(&snapshot.0);
        ReferenceView { engine: self, sources, state: ViewState::Registered(at), table: Table::VERTICES }
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<ReferenceView<'l>, ReadError> {
        let (sources, state) = (self.sources(), ViewState::Locked(locks));
        Ok(ReferenceView { engine: self, sources, state, table: Table::VERTICES })
    }

    fn is_maintenance_due(&self) -> bool {
        self.sources.lock().files.len() >= self.options.files
    }

    /// Merges all files into one if there are many, without the versions that no live timestamp
    /// sees. One step does everything, whatever the budget.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        _units: &UnitLocks<'_>,
        _budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
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
            self.files.remove(&name).map_err(unwritten(name.clone()))?;
            work.merged.swap_remove(unread);
        }
        Ok(MaintenanceProgress { reclaimed, advanced: advanced || work.merged.len() < merged })
    }

    fn memory(&self) -> MemoryUse {
        let sources = self.sources();
        let live_bytes = sources.recent.lock().bytes();
        let index_bytes = sources.files.iter().map(|file| size_of_val(&*file.blocks)).sum();
        MemoryUse { live_bytes, index_bytes, ..MemoryUse::default() }
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

    fn admit(&self, bytes: usize) -> Admission {
        let held = self.sources.lock().recent.lock().bytes();
        match held > 0 && held.saturating_add(bytes) > self.options.recent_bytes {
            true => Admission::AfterFlush,
            false => Admission::Granted,
        }
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
