//! Making and opening stores: checkpoint, log, then new commits.

use crate::engine_kind::EngineKind;
use crate::engines::{SharedStore, TypedStore};
use crate::error::{Error, ErrorKind, Reason};
use crate::graph::Graph;
use crate::options::{Access, GraphOptions};
use hedgerow_log::checkpoint::{Checkpoint, UNFINISHED, name_of};
use hedgerow_log::files::{EngineFiles, FileSystem};
use hedgerow_log::{Log, Recovered, StoreError};
use hedgerow_model::{CommitTimestamp, Key, VertexId};
use hedgerow_pipeline::{Batches, Error as Cause, Journal, Until, manifest_path};
use hedgerow_sequencer::AsOf;
use hedgerow_sync::Arc;
use std::time::Instant;

/// The maximum number of attempts to open a checkpoint that a writer replaces meanwhile.
pub(crate) const LOOKS: usize = 16;

/// Makes a store of an empty graph.
pub(super) fn create(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Graph, Error> {
    if !matches!(options.access, Access::Write) {
        return Err(Cause::ReadOnly.into());
    }
    let GraphOptions { log, is_simulated, .. } = options;
    let (engine, retries) = (options.engine_or_default(), options.retries_or_default());
    let mut id = [1; 16];
    if !is_simulated {
        getrandom::fill(&mut id).map_err(Reason::Random)?;
    }
    let made_with = options.of_new_store()?;
    let mut typed = empty(&files, &options)?;
    let owns_files = engine.owns_files();
    let store = hedgerow_log::StoreFiles::create(Arc::clone(&files), made_with, id)?;
    let engine_files = owns_files.then(|| EngineFiles::new(files));
    if owns_files {
        typed = TypedStore::new(options, engine_files.clone())?;
    }
    let log = Log::start(store, &Recovered::default(), log)?;
    Ok(attach(typed, Journal::new(log, None, engine_files, is_simulated), engine, retries))
}

/// Makes an empty graph. Fails before anything is made on disk if an option is wrong, or if the
/// directory has files of an engine whose store has lost its manifest.
pub(super) fn empty(files: &Arc<dyn FileSystem>, options: &GraphOptions) -> Result<TypedStore, Error> {
    let owns_files = options.engine_or_default().owns_files();
    let typed = TypedStore::new(options.clone(), owns_files.then(|| looked_at(files)).transpose()?)?;
    match typed.store.in_files_through() > CommitTimestamp::ZERO {
        true => Err(StoreError::Missing { path: manifest_path(&**files) }.into()),
        false => Ok(typed),
    }
}

/// Opens the files of a directory for reading only, without those of a store that was never
/// finished. Creates the directory if it is missing. Fails if it has a store, which another process
/// may be writing.
fn looked_at(files: &Arc<dyn FileSystem>) -> Result<EngineFiles, StoreError> {
    files.create_directory()?;
    hedgerow_log::StoreFiles::remove_unfinished(&**files)?;
    match hedgerow_log::StoreFiles::open_read_only(Arc::clone(files)) {
        Ok(_) => Err(StoreError::Exists { path: files.location() }),
        Err(StoreError::NoStore { .. } | StoreError::Missing { .. }) => {
            Ok(EngineFiles::read_only(Arc::clone(files)))
        }
        Err(error) => Err(error),
    }
}

/// Opens a store with the access that the options select.
pub(super) fn open(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Graph, Error> {
    match options.access {
        Access::Write => open_to_write(files, options),
        Access::Read(as_of) => open_to_read(files, options, as_of),
        Access::Checkpoint => open_checkpoint(files, options),
    }
}

/// Opens a store to read and write.
fn open_to_write(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Graph, Error> {
    let GraphOptions { log, is_simulated, .. } = options;
    let retries = options.retries_or_default();
    let store = hedgerow_log::StoreFiles::open(files)?;
    let options = options.for_store(&store.manifest().options, &manifest_path(&**store.files()))?;
    let (batches, engine) = (Batches::of(&options.settings()), options.engine_or_default());
    let engine_files = engine.owns_files().then(|| EngineFiles::new(Arc::clone(store.files())));
    let typed = TypedStore::new(options, engine_files.clone())?;
    let begin = Instant::now();
    let checkpoint = store.open_checkpoint()?;
    let restored = typed.store.restore(&store, checkpoint.as_ref(), begin, batches, None);
    let (recovered, recovery) = restored?;
    let log = Log::start(store, &recovered, log)?;
    remove_leftovers(&log)?;
    Ok(attach(typed, Journal::new(log, Some(recovery), engine_files, is_simulated), engine, retries))
}

/// Opens the newest checkpoint of a store, which another process may be writing. If the engine has
/// files of its own, they are the checkpoint.
fn open_checkpoint(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Graph, Error> {
    let (store, checkpoint) = newest_checkpoint(&files)?;
    let manifest = store.manifest();
    if options.clone().for_store(&manifest.options, &manifest_path(&*files))?.engine_or_default().owns_files()
    {
        return open_engine_files(&files, &options);
    }
    let checkpoint = checkpoint.ok_or_else(|| Reason::NoCheckpoint(files.location()))?;
    let (manifest, path) = (store.manifest().clone(), manifest_path(&*files));
    let options = options.for_store(&manifest.options, &path)?;
    let (batches, engine) = (Batches::of(&options.settings()), options.engine_or_default());
    let typed = TypedStore::new(options, None)?;
    let recovery = typed.store.restore_checkpoint(&checkpoint, &manifest, &*files, batches)?;
    // The graph is read only: no transaction is retried.
    Ok(attach(typed, Journal::read_only(files, manifest, recovery), engine, 0))
}

/// Opens a store to read its newest state, or a past one: the state of its checkpoint, or a later
/// one. Changes nothing.
fn open_to_read(
    files: Arc<dyn FileSystem>,
    options: GraphOptions,
    as_of: Option<AsOf>,
) -> Result<Graph, Error> {
    let store = hedgerow_log::StoreFiles::open_shared(Arc::clone(&files))?;
    let path = manifest_path(&*files);
    let options = options.for_store(&store.manifest().options, &path)?;
    let (batches, engine) = (Batches::of(&options.settings()), options.engine_or_default());
    let until = as_of.and_then(|as_of| Until::new(as_of, options.clock.wall()));
    let typed = TypedStore::new(options, Some(EngineFiles::read_only(Arc::clone(&files))))?;
    let begin = Instant::now();
    let checkpoint = store.open_checkpoint()?;
    if let (Some(until), Some(checkpoint)) = (until, &checkpoint) {
        let described = checkpoint.description();
        if !until.includes(described.timestamp, described.wall_clock)? {
            let (oldest, wall_clock) = (described.timestamp, described.wall_clock);
            return Err(Cause::NotKept { oldest, wall_clock }.into());
        }
    }
    let restored = typed.store.restore(&store, checkpoint.as_ref(), begin, batches, until);
    // Without a lock file, a writer may have been active.
    store.check_unchanged()?;
    let (recovered, recovery) = restored?;
    if let Some(AsOf::Commit(at)) = as_of
        && at > recovered.last
    {
        return Err(Cause::NotYet { at, newest: recovered.last }.into());
    }
    let manifest = store.manifest().clone();
    // The graph is read only: no transaction is retried.
    Ok(attach(typed, Journal::read_only(files, manifest, recovery), engine, 0))
}

/// Opens the state in the engine's own files of a store, which another process may be writing. Open
/// files remain readable after they are removed.
fn open_engine_files(files: &Arc<dyn FileSystem>, options: &GraphOptions) -> Result<Graph, Error> {
    let open = || -> Result<Graph, Error> {
        // Read before the engine's files, which then reach at least as far as its log begins.
        let store = hedgerow_log::StoreFiles::open_read_only(Arc::clone(files))?;
        let manifest = store.manifest().clone();
        let options = options.clone().for_store(&manifest.options, &manifest_path(&**files))?;
        let (batches, engine) = (Batches::of(&options.settings()), options.engine_or_default());
        let typed = TypedStore::new(options, Some(EngineFiles::read_only(Arc::clone(files))))?;
        let recovery = typed.store.restore_engine_files(&store, batches)?;
        if recovery.last == CommitTimestamp::ZERO {
            return Err(Reason::NoCheckpoint(files.location()).into());
        }
        // The graph is read only: no transaction is retried.
        Ok(attach(typed, Journal::read_only(Arc::clone(files), manifest, recovery), engine, 0))
    };
    let mut looks = 1;
    loop {
        match open() {
            // A flush or a compaction may have replaced files between two looks.
            Err(error) if looks < LOOKS && error.kind() == ErrorKind::Storage => looks += 1,
            opened => return opened,
        }
    }
}

/// Passes the keys of all vertices in the newest checkpoint of a store to `visit`, or in the files
/// of its engine, and returns its commit: zero, without any vertices, if there is none. `options`
/// name the engine if it is none of the library's.
pub(crate) fn keys_of_store(
    files: &Arc<dyn FileSystem>,
    options: &GraphOptions,
    visit: &mut dyn FnMut(VertexId, Key),
) -> Result<CommitTimestamp, Error> {
    let (store, checkpoint) = newest_checkpoint(files)?;
    let options = options.clone().from_checkpoint();
    if options
        .clone()
        .for_store(&store.manifest().options, &manifest_path(&**files))?
        .engine_or_default()
        .owns_files()
    {
        let graph = match open_engine_files(files, &options) {
            Err(error) if error.is_no_checkpoint() => return Ok(CommitTimestamp::ZERO),
            opened => opened?,
        };
        let snapshot = graph.snapshot()?;
        for vertex in snapshot.vertices() {
            let (id, key) = vertex?;
            visit(id, key);
        }
        return Ok(snapshot.timestamp());
    }
    let Some(checkpoint) = checkpoint else { return Ok(CommitTimestamp::ZERO) };
    for chunk in checkpoint.vertex_chunks() {
        checkpoint.read_vertices(chunk, |vertex, key, _| visit(vertex, key.to_key()))?;
    }
    Ok(checkpoint.description().timestamp)
}

/// Returns the newest checkpoint of a store, if it has one. An open checkpoint remains readable
/// after its file is removed.
pub(crate) fn newest_checkpoint(
    files: &Arc<dyn FileSystem>,
) -> Result<(hedgerow_log::StoreFiles, Option<Checkpoint>), Error> {
    let mut looks = 0;
    loop {
        let store = hedgerow_log::StoreFiles::open_read_only(Arc::clone(files))?;
        looks += 1;
        match store.open_checkpoint() {
            Ok(checkpoint) => return Ok((store, checkpoint)),
            // The checkpoint was replaced after the manifest was read.
            Err(StoreError::Missing { .. }) if looks < LOOKS => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn attach(mut typed: TypedStore, journal: Journal, engine: EngineKind, retries: u32) -> Graph {
    typed.store.attach(journal);
    Graph { typed: SharedStore::new(typed, engine, retries) }
}

/// Removes checkpoints left by a crash: unfinished ones, and complete ones that the manifest does
/// not name.
fn remove_leftovers(log: &Log) -> Result<(), StoreError> {
    let listed = log.manifest().checkpoint.map(|checkpoint| name_of(checkpoint.number));
    for name in log.files().list()? {
        let is_listed = listed.as_ref() == Some(&name);
        if is_checkpoint(&name) && !is_listed {
            log.files().remove(&name)?;
        }
    }
    Ok(())
}

/// Returns true if a file has the name of a checkpoint, unfinished or not.
fn is_checkpoint(name: &str) -> bool {
    let complete = name.strip_suffix(UNFINISHED).unwrap_or(name);
    let number = complete.strip_prefix("checkpoint-").and_then(|number| number.parse().ok());
    number.is_some_and(|number| name_of(number) == complete)
}
