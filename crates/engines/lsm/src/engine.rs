//! Opening the engine, and its trait: commits go into the active MemGraph, a flush moves them to
//! level 0, maintenance compacts levels.

use crate::LsmOptions;
use crate::adjacency::{VERTICES, columns, columns_of, number_of};
use crate::changes::{LsmChanges, NewContent, NewVersion};
use crate::graph::{LsmEngine, MemoryLimits};
use crate::kept_rows::{KeptBytes, KeptRows};
use crate::levels::{LevelOptions, LevelSet, LevelTree, RowContent};
use crate::mem_graph::{FlushedMemGraphs, MemContent, MemGraph};
use crate::pace::Pace;
use crate::reader::RowReader;
use crate::sources::RowSources;
use crate::view::LsmView;
use hedgerow_in_memory::vertices::VertexSet;
use hedgerow_log::files::FileSystem;
use hedgerow_model::token::{HeldLocks, LiveTimestamps, Registered, Stamp, Stamps};
use hedgerow_model::{
    Allowance, Catalog, Changes, CommitTimestamp, Counts, Direction, Durable, Engine, EngineError,
    GrowingCatalog, LabelId, LabelSchema, LockUnit, MaintenanceProgress, MemoryUse, ReadError, Reclaimed,
    Staged, StoredEdge, Topology, UnitLocks, VertexId, ViewState,
};
use hedgerow_sync::{Arc, Mutex, RwLock};
use rayon::ThreadPool;
use std::ops::ControlFlow;

/// The MemGraphs and the files that a snapshot reads, and the rows that it keeps.
#[derive(Debug)]
pub struct LsmSnapshot {
    sources: Arc<RowSources>,
    kept: KeptRows,
}

/// Staged changes.
#[derive(Debug)]
pub enum LsmStaged<'l> {
    /// Commits of one edge each.
    Each(&'l [StoredEdge]),
    /// A commit of effects.
    Commit(LsmChanges),
}

/// Prefetch distance, in changes, for the node of a row; twice the distance for its bucket. Enough
/// for an access to memory, few enough to stay in the cache.
const PREFETCH_DISTANCE: usize = 8;

/// Returns the counts of the graph in these levels: those of the last flush, narrowed by the edges
/// in the files.
fn counts_in(levels: &LevelSet, topology: Topology, catalog: &Catalog) -> Counts {
    let mut counts = levels.counts().clone();
    // The catalog checked that its labels fit in 16 bits.
    for label in (0..catalog.labels().len() as u16).map(LabelId) {
        let stored = number_of(label, Direction::Out);
        counts.narrow(label, levels.count(stored, topology.is_undirected()));
    }
    counts
}

impl LsmEngine {
    /// Opens the engine's files, or starts empty if there are none. Reads the indexes of the files
    /// and the vertices, not the edges.
    ///
    /// # Errors
    /// A file could not be read or is damaged, or a file that an earlier process left unfinished
    /// could not be removed.
    pub fn open(files: Arc<dyn FileSystem>, options: LsmOptions) -> Result<Self, EngineError> {
        let LsmOptions {
            topology,
            catalog,
            mem_graph_bytes,
            level_0_files,
            level_1_bytes,
            fan_out,
            segment_bytes,
            cache_bytes,
            compress_records,
            compaction_limits,
        } = options;
        let limits = MemoryLimits { mem_graph_bytes, cache_bytes };
        let columns = columns(&catalog);
        let level_options = LevelOptions {
            level_0_files,
            level_1_bytes,
            fan_out,
            segment_bytes,
            cache_bytes,
            compress_records,
            compaction_limits,
            ..LevelOptions::new(columns)
        };
        let columns = Arc::clone(&level_options.columns);
        let tree = LevelTree::open(files, level_options)?;
        let levels = tree.current();
        let counts = counts_in(&levels, topology, &catalog);
        let active = Arc::new(limits.new_mem_graph(&columns, levels.durable_through()));
        let sources = Arc::new(RowSources { mem_graphs: vec![active], levels });
        let vertices = VertexSet::default();
        let newest = CommitTimestamp(u64::MAX);
        let _: ControlFlow<()> = RowReader::new(&sources, VERTICES, newest, RowContent::Neighbors).scan(
            0..u32::MAX,
            |vertex, row| {
                if !row.neighbors().is_empty() {
                    vertices.insert(vertex);
                }
                Ok(ControlFlow::Continue(()))
            },
        )?;
        let engine = LsmEngine {
            topology,
            catalog: GrowingCatalog::from(&catalog),
            limits,
            columns,
            tree,
            sources: RwLock::new(sources),
            vertices,
            counts,
            flushed: FlushedMemGraphs::default(),
            kept: Arc::new(KeptBytes::new(limits.cache_bytes / 2)),
            sharing: Mutex::default(),
            flushing: Mutex::default(),
            pace: Pace::new(),
        };
        engine.share_memory();
        Ok(engine)
    }

    /// Applies a commit, to the MemGraph that takes it.
    fn apply_to(&self, active: &MemGraph, stamp: &Stamp, LsmChanges { versions, records }: &LsmChanges) {
        let row_of = |version: &NewVersion| (version.adjacency, version.owner);
        let mut place = 0;
        // Effects are in the order of their owners.
        for row in versions.chunk_by(|one, other| row_of(one) == row_of(other)) {
            let (adjacency, owner) = row_of(&row[0]);
            let at_distance = |distance| versions.get(place + distance).map(row_of);
            if let Some((adjacency, owner)) = at_distance(2 * PREFETCH_DISTANCE) {
                active.prefetch_bucket(adjacency, owner);
            }
            if let Some((adjacency, owner)) = at_distance(PREFETCH_DISTANCE) {
                active.prefetch_node(adjacency, owner);
            }
            place += row.len();
            if adjacency == VERTICES {
                match row[row.len() - 1].content {
                    NewContent::Deleted => self.vertices.remove(owner),
                    _ => self.vertices.insert(owner),
                }
            }
            let edges = row.iter().map(|NewVersion { neighbor, content, .. }| {
                let content = match content {
                    NewContent::Deleted => None,
                    NewContent::Value(value) => Some(MemContent::Value(*value)),
                    NewContent::Record(place) => Some(MemContent::Record(&records[place.clone()])),
                };
                (*neighbor, content)
            });
            active.push_row(adjacency, owner, stamp.at(), stamp.editable_from(), edges);
        }
    }
}

impl Engine for LsmEngine {
    type Snapshot = LsmSnapshot;
    type View<'s> = LsmView<'s>;
    type Room = ();
    type Staged<'l> = LsmStaged<'l>;

    fn lock_unit(&self, vertex: VertexId) -> LockUnit {
        LockUnit(vertex.get())
    }

    fn exists(&self, vertex: VertexId) -> bool {
        self.vertices.contains(vertex)
    }

    fn stage<'l>(
        &'l self,
        locks: &HeldLocks<'l>,
        changes: Changes<'l>,
        (): &'l mut (),
        allowance: Allowance,
        _pool: Option<&ThreadPool>,
    ) -> Result<Staged<LsmStaged<'l>>, EngineError> {
        let effects = match changes {
            Changes::Each(edges) => {
                let edges = if allowance.is_limited() { &[] } else { edges };
                return Ok(self.stage_edges(locks, edges).map(LsmStaged::Each));
            }
            Changes::Commit { effects, .. } => effects,
        };
        let newest = self.latest(locks)?;
        let (changes, outcome) = LsmChanges::of(effects, locks, &newest)?;
        if allowance.is_limited() {
            allowance.check(self.memory().total_bytes(), changes.bytes() as isize)?;
        }
        let is_change = !changes.versions.is_empty();
        Ok(Staged::commit(LsmStaged::Commit(changes), outcome, is_change))
    }

    fn apply(&self, _locks: &mut HeldLocks<'_>, stamps: Stamps, staged: LsmStaged<'_>) {
        match staged {
            LsmStaged::Each(edges) => self.apply_edges(stamps, edges),
            LsmStaged::Commit(changes) => {
                let stamp = stamps.first();
                self.with_active(stamp.at(), |active| self.apply_to(active, &stamp, &changes));
            }
        }
    }

    /// O(1) amortized. Waits briefly for a flush or a compaction that replaces the sources.
    fn add_label(&self, label: &LabelSchema) {
        // While this is held, no MemGraph replaces the active one: later ones are made with the
        // label.
        let sources = self.sources.read();
        for column in columns_of(label) {
            self.columns.push(column);
            sources.active().add_adjacency(column);
        }
        // From here on, views find the label, whose adjacencies exist by now.
        self.catalog.push(label.clone());
    }

    fn open_snapshot(&self, _: &Registered) -> Result<LsmSnapshot, EngineError> {
        Ok(LsmSnapshot { sources: self.sources(), kept: KeptRows::default() })
    }

    fn view<'s>(&'s self, snapshot: &'s LsmSnapshot, at: &'s Registered) -> LsmView<'s> {
        let sources = Arc::clone(&snapshot.sources);
        LsmView { engine: self, sources, kept: Some(&snapshot.kept), state: ViewState::Registered(at) }
    }

    fn latest<'l>(&'l self, locks: &'l HeldLocks<'_>) -> Result<LsmView<'l>, ReadError> {
        Ok(LsmView { engine: self, sources: self.sources(), kept: None, state: ViewState::Locked(locks) })
    }

    fn is_maintenance_due(&self) -> bool {
        self.tree.needs_compaction() || self.is_flush_due()
    }

    /// Compacts one level, whatever the budget, and removes files that no view reads any more.
    fn maintain(
        &self,
        live: &LiveTimestamps,
        _units: &UnitLocks<'_>,
        _budget_bytes: usize,
    ) -> Result<MaintenanceProgress, EngineError> {
        let running = self.pace.begin_compaction();
        let worked = self.tree.compact(live)?;
        drop(running);
        if let Some(worked) = worked {
            self.pace.compacted(worked);
            self.renew_levels();
        }
        let removed = self.tree.remove_unread()?;
        let reclaimed = Reclaimed { more: self.tree.needs_compaction(), ..Reclaimed::default() };
        Ok(MaintenanceProgress { reclaimed, advanced: worked.is_some() || removed > 0 })
    }

    fn memory(&self) -> MemoryUse {
        self.memory_use()
    }
}
