//! Making a store, and opening one: checkpoint, log, then new commits.

use crate::durable::replay::Replay;
use crate::durable::restored::Batches;
use crate::durable::{Journal, Recovery};
use crate::error::{Error, Reason};
use crate::graph::Graph;
use crate::options::GraphOptions;
use crate::storage::Store;
use crate::stores::{OpenStores, Stores, with_store};
use hedgerow_log::checkpoint::{Checkpoint, UNFINISHED, name_of};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{Log, Manifest, Recovered, StoreError};
use hedgerow_model::{Engine, Timestamp};
use hedgerow_sequencer::{AsOf, LockGuard};
use hedgerow_sync::Arc;
use std::time::{Duration, Instant};

/// How often a reader looks for the checkpoint of a store whose writer replaces it meanwhile.
const LOOKS: usize = 16;

/// Makes a store of an empty graph.
pub(super) fn create(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Graph, Error> {
    let GraphOptions { log, is_simulated, .. } = options;
    let mut id = [1; 16];
    if !is_simulated {
        getrandom::fill(&mut id).map_err(Reason::Random)?;
    }
    let made_with = options.of_new_store()?;
    let (stores, store) = match options.engine.owns_files() {
        true => {
            let store = hedgerow_log::Store::create(Arc::clone(&files), made_with, id)?;
            let stores = Stores::new(options, Some(&files))?;
            (stores, store)
        }
        false => {
            // Nothing is made on disk if an option is wrong.
            let stores = Stores::new(options, None)?;
            (stores, hedgerow_log::Store::create(files, made_with, id)?)
        }
    };
    if with_store!(&stores, graph => graph.in_files_through()) > Timestamp::ZERO {
        // The engine's files belong to a store that has lost its manifest.
        return Err(StoreError::Missing { path: manifest_path(&**store.files()) }.into());
    }
    let log = Log::start(store, &Recovered::default(), log)?;
    Ok(attach(stores, Journal::new(log, None, is_simulated)))
}

/// Opens a store to read and write.
pub(super) fn open(files: Arc<dyn FileSystem>, options: GraphOptions) -> Result<Graph, Error> {
    let GraphOptions { log, is_simulated, .. } = options;
    let store = hedgerow_log::Store::open(files)?;
    let options = options.into_opening(&store.manifest().options, &manifest_path(&**store.files()))?;
    let batches = Batches::of(&options);
    let stores = Stores::new(options, Some(store.files()))?;
    let begin = Instant::now();
    let checkpoint = store.open_checkpoint()?;
    let restored =
        with_store!(&stores, graph => graph.restore(&store, checkpoint.as_ref(), begin, batches, None));
    let (recovered, recovery) = restored?;
    let log = Log::start(store, &recovered, log)?;
    remove_leftovers(&log)?;
    Ok(attach(stores, Journal::new(log, Some(recovery), is_simulated)))
}

/// Opens the newest checkpoint of a store, which somebody may be writing to; with the options that the graph was made with, if none
/// are given.
pub(super) fn open_checkpoint(
    files: Arc<dyn FileSystem>,
    options: Option<GraphOptions>,
) -> Result<Graph, Error> {
    let (store, checkpoint) = newest_checkpoint(&files)?;
    let checkpoint = checkpoint.ok_or_else(|| Reason::NoCheckpoint(files.location()))?;
    let (manifest, path) = (store.manifest().clone(), manifest_path(&*files));
    let options = match options {
        Some(options) => options.into_opening(&manifest.options, &path)?,
        None => GraphOptions::of_manifest(&manifest, &path)?,
    };
    let batches = Batches::of(&options);
    let stores = Stores::new(options, None)?;
    let recovery =
        with_store!(&stores, graph => graph.restore_checkpoint(&checkpoint, &manifest, &*files, batches))?;
    Ok(attach(stores, Journal::read_only(files, manifest, recovery)))
}

/// The last state to read from a store.
#[derive(Clone, Copy)]
pub(super) struct Until {
    as_of: AsOf,
    /// The wall clock when the store was opened.
    now: u64,
}

impl Until {
    /// `None` is the newest state, which it is at or after the present time: no commit was made after now.
    fn new(as_of: AsOf, now: u64) -> Option<Self> {
        match as_of {
            AsOf::Time(time) if time >= now => None,
            _ => Some(Until { as_of, now }),
        }
    }

    /// Whether a commit belongs to the state. Fails if it carries a time in the future, which does not tell when it was made.
    fn includes(self, at: Timestamp, wall_clock: u64) -> Result<bool, Reason> {
        match self.as_of {
            AsOf::Time(_) if wall_clock > self.now => {
                Err(Reason::LogAhead { ahead: Duration::from_micros(wall_clock - self.now) })
            }
            as_of => Ok(as_of.includes(at, wall_clock)),
        }
    }
}

/// Opens a store to read its newest state, or a past one: that of its checkpoint, or a later one. With the options that the graph was made
/// with, if none are given. Changes nothing.
pub(super) fn open_to_read(
    files: Arc<dyn FileSystem>,
    options: Option<GraphOptions>,
    as_of: Option<AsOf>,
) -> Result<Graph, Error> {
    let store = hedgerow_log::Store::open_shared(Arc::clone(&files))?;
    let path = manifest_path(&*files);
    let options = match options {
        Some(options) => options.into_opening(&store.manifest().options, &path)?,
        None => GraphOptions::of_manifest(store.manifest(), &path)?,
    };
    let batches = Batches::of(&options);
    let until = as_of.and_then(|as_of| Until::new(as_of, options.clock.wall()));
    let stores = Stores::new(options, Some(&files))?;
    let in_files = with_store!(&stores, graph => graph.in_files_through());
    if let Some(AsOf::Commit(at)) = as_of
        && at < in_files
    {
        return Err(Reason::NotKept { oldest: in_files }.into());
    }
    let begin = Instant::now();
    let checkpoint = store.open_checkpoint()?;
    if let (Some(until), Some(checkpoint)) = (until, &checkpoint) {
        let described = checkpoint.description();
        if !until.includes(described.timestamp, described.wall_clock)? {
            return Err(Reason::NotKept { oldest: described.timestamp }.into());
        }
    }
    let restored =
        with_store!(&stores, graph => graph.restore(&store, checkpoint.as_ref(), begin, batches, until));
    // Where there is no lock file, nothing kept a writer away.
    store.check_unchanged()?;
    let (recovered, recovery) = restored?;
    if let Some(AsOf::Commit(at)) = as_of
        && at > recovered.last
    {
        return Err(Reason::NotYet { at, newest: recovered.last }.into());
    }
    let manifest = store.manifest().clone();
    Ok(attach(stores, Journal::read_only(files, manifest, recovery)))
}

/// The newest checkpoint of a store, if it has one. A checkpoint that is open is read on when its file is removed.
pub(crate) fn newest_checkpoint(
    files: &Arc<dyn FileSystem>,
) -> Result<(hedgerow_log::Store, Option<Checkpoint>), Error> {
    let mut looks = 0;
    loop {
        let store = hedgerow_log::Store::open_read_only(Arc::clone(files))?;
        looks += 1;
        match store.open_checkpoint() {
            Ok(checkpoint) => return Ok((store, checkpoint)),
            // It was replaced between the two looks.
            Err(StoreError::Missing { .. }) if looks < LOOKS => {}
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn manifest_path(files: &dyn FileSystem) -> std::path::PathBuf {
    files.location().join(Manifest::FILE)
}

fn attach(mut stores: Stores, journal: Journal) -> Graph {
    with_store!(mut &mut stores, store => store.attach(journal));
    Graph { stores: OpenStores::new(stores) }
}

/// Removes checkpoints that a crash left behind: unfinished ones, and complete ones that the manifest does not name.
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

/// Whether a file has the name of a checkpoint, unfinished or not.
fn is_checkpoint(name: &str) -> bool {
    let complete = name.strip_suffix(UNFINISHED).unwrap_or(name);
    let number = complete.strip_prefix("checkpoint-").and_then(|number| number.parse().ok());
    number.is_some_and(|number| name_of(number) == complete)
}

impl<E: Engine> Store<E> {
    /// Commits are logged from now on.
    fn attach(&mut self, journal: Journal) {
        let sequencer = Arc::get_mut(&mut self.sequencer);
        let sequencer = sequencer.expect("nobody else sees a graph that is being made");
        sequencer.attach(journal.commit_log().ok().cloned());
        self.journal = Some(journal);
    }

    /// Becomes the graph of a store, from its checkpoint and its log; up to a past state, if one is asked for.
    pub(super) fn restore(
        &self,
        store: &hedgerow_log::Store,
        checkpoint: Option<&Checkpoint>,
        begin: Instant,
        batches: Batches,
        until: Option<Until>,
    ) -> Result<(Recovered, Recovery), Error> {
        let guard = LockGuard::lock(&self.units, self.units.all());
        // Nobody reads the graph yet.
        let held = guard.held(&self.sequencer).with_editable_now(Timestamp::ZERO);
        let (mut after, mut wall_clock, mut input) = (Timestamp::ZERO, 0, None);
        if let Some(durable) = self.engine.durable() {
            self.sequencer.restore_counts(durable.durable_through(), durable.counts().map_err(Reason::from)?);
        }
        if let Some(checkpoint) = checkpoint {
            let path = checkpoint_path(store.manifest(), &**store.files());
            match self.engine.durable() {
                Some(_) => self.load_keys(&held, checkpoint, &path, batches.loaded)?,
                None => self.load(&held, checkpoint, &path, batches.loaded)?,
            }
            let described = checkpoint.description();
            (after, wall_clock) = (described.timestamp, described.wall_clock);
            input = described.input.as_deref().map(Arc::from);
        }
        let loading = begin.elapsed();
        let begin = Instant::now();
        let mut replay = Replay::new(self, &held, batches.replayed)?;
        let (mut commits, mut is_over) = (0, false);
        let recovered = store.replay(after, |record, place| {
            is_over |= match until {
                Some(until) if !is_over => !until.includes(record.at, record.wall_clock)?,
                _ => false,
            };
            if is_over {
                return Ok(());
            }
            (after, wall_clock, commits) = (record.at, wall_clock.max(record.wall_clock), commits + 1);
            if let Some(noted) = replay.commit(&record, place)? {
                input = Some(noted.into());
            }
            Ok::<_, Error>(())
        })?;
        replay.finish()?;
        let in_files = self.in_files_through();
        if after.max(recovered.last) < in_files {
            let what = format!(
                "the files of the engine have commits up to {in_files}, but the log ends with commit {}",
                recovered.last
            );
            let path = manifest_path(&**store.files());
            return Err(StoreError::Damaged { path, offset: 0, what }.into());
        }
        self.finish_restoring(&held)?;
        if until.is_none() {
            // The manifest may know of later commits, which a checkpoint has.
            (after, wall_clock) = (recovered.last, wall_clock.max(recovered.wall_clock));
        }
        self.sequencer.restore(after, wall_clock, input);
        let recovery = Recovery {
            checkpoint: checkpoint.map(|checkpoint| checkpoint.description().timestamp),
            commits,
            last: after,
            torn: recovered.torn.clone(),
            ahead_of_clock: self.sequencer.ahead_of_clock(wall_clock.max(recovered.wall_clock)),
            loading,
            replaying: begin.elapsed(),
        };
        Ok((recovered, recovery))
    }

    /// Becomes the graph of a checkpoint.
    fn restore_checkpoint(
        &self,
        checkpoint: &Checkpoint,
        manifest: &Manifest,
        files: &dyn FileSystem,
        batches: Batches,
    ) -> Result<Recovery, Error> {
        let begin = Instant::now();
        let guard = LockGuard::lock(&self.units, self.units.all());
        // Nobody reads the graph yet.
        let held = guard.held(&self.sequencer).with_editable_now(Timestamp::ZERO);
        self.load(&held, checkpoint, &checkpoint_path(manifest, files), batches.loaded)?;
        self.finish_restoring(&held)?;
        let described = checkpoint.description();
        let input = described.input.as_deref().map(Arc::from);
        self.sequencer.restore(described.timestamp, described.wall_clock, input);
        Ok(Recovery {
            checkpoint: Some(described.timestamp),
            last: described.timestamp,
            ahead_of_clock: self.sequencer.ahead_of_clock(described.wall_clock),
            loading: begin.elapsed(),
            ..Recovery::default()
        })
    }
}

/// Where the checkpoint of a manifest is.
pub(super) fn checkpoint_path(manifest: &Manifest, files: &dyn FileSystem) -> std::path::PathBuf {
    let number = manifest.checkpoint.map_or(0, |checkpoint| checkpoint.number);
    files.location().join(name_of(number))
}
