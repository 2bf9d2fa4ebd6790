//! The commits of a store that another process may be writing.

use super::kept_keys::KeptKeys;
use super::{Keys, KeysAtCommit, Visit, former_keys};
use crate::error::Error;
use hedgerow_log::files::FileSystem;
use hedgerow_log::{CommitReader, Follower, Manifest, StoreError, StoreFiles};
use hedgerow_model::{CommitTimestamp, GrowingCatalog, Key, KeyKind, Topology, VertexId};
use hedgerow_sync::Arc;
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

/// The first pause between two looks at a log, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(5)];

/// A place among the commits in the log of a store, from which the next ones are read. Takes no
/// lock and changes nothing; needs no open graph, only the keys of its vertices.
#[derive(Debug)]
pub struct StoreFeed {
    files: Arc<dyn FileSystem>,
    id: [u8; 16],
    kind: KeyKind,
    topology: Topology,
    catalog: Arc<GrowingCatalog>,
    next: CommitReader,
    /// The keys at the commit before `next`.
    keys: KeptKeys,
    /// Finds the end of a log whose commits are read before they are durable.
    undurable: Option<Follower>,
}

impl StoreFeed {
    /// The commits of a store after `after`, or after the newest one, and the wall-clock time of
    /// that one, as [`CommitFeed::new`](super::CommitFeed::new) returns it. `base` passes the keys
    /// of all vertices in some state of the store and returns its commit; it is not called if keys
    /// are ids. O(vertices), and O(bytes of the log) from that state to the position.
    ///
    /// # Errors
    /// As [`CommitFeed::new`](super::CommitFeed::new); errors of `base`.
    pub fn new<E: From<Error>>(
        files: Arc<dyn FileSystem>,
        after: Option<CommitTimestamp>,
        undurable: bool,
        base: impl FnOnce(&mut dyn FnMut(VertexId, Key)) -> Result<CommitTimestamp, E>,
    ) -> Result<(Self, u64), E> {
        let store = StoreFiles::open_read_only(Arc::clone(&files)).map_err(Error::from)?;
        let Manifest { store: id, options, .. } = store.manifest();
        let mut feed = StoreFeed {
            id: *id,
            kind: options.keys,
            topology: options.topology,
            catalog: Arc::new(GrowingCatalog::from(&options.catalog)),
            next: CommitReader::after(Arc::clone(&files), CommitTimestamp::ZERO),
            keys: KeptKeys::new(options.keys),
            undurable: undurable.then(|| Follower::new(Arc::clone(&files))),
            files,
        };
        let (next, wall_clock) = feed.find(after)?;
        if feed.kind != KeyKind::Dense {
            let known = base(&mut |vertex, key| feed.keys.set(vertex, key))?;
            feed.move_keys(known, &next)?;
        }
        feed.next = next;
        Ok((feed, wall_clock))
    }

    /// A reader of the commits after `after`, or after the newest one, and its wall-clock time.
    fn find(&mut self, after: Option<CommitTimestamp>) -> Result<(CommitReader, u64), Error> {
        let newest = self.newest()?;
        let after = after.unwrap_or(newest);
        if after > newest {
            return Err(Error::NotYet { at: after, newest });
        }
        let manifest = || manifest_of(&self.files);
        Ok(CommitReader::from_commit(Arc::clone(&self.files), after, manifest)?)
    }

    /// Turns the keys at `known` into those before the commits of `to`.
    fn move_keys(&mut self, known: CommitTimestamp, to: &CommitReader) -> Result<(), Error> {
        let after = CommitTimestamp(to.next().0 - 1);
        if known < after {
            self.next = CommitReader::after(Arc::clone(&self.files), known);
            return self.read(after, &mut |_, _| Ok(ControlFlow::Continue(())));
        }
        let (files, keys, mut deleted) = (&self.files, &mut self.keys, HashSet::new());
        to.clone().read(known, || manifest_of(files), &mut |record| {
            for (vertex, key) in former_keys(record, self.topology, || files.location())? {
                // Only the first deletion is of the vertex that had the id at the beginning.
                if deleted.insert(vertex) {
                    keys.set(vertex, key);
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The id of the store.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        self.id
    }

    /// The kind of the keys.
    #[must_use]
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    /// The direction of edges.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.topology
    }

    /// The labels, as far as they are known; more of them come as their edges do.
    #[must_use]
    pub fn catalog(&self) -> &Arc<GrowingCatalog> {
        &self.catalog
    }

    /// The last commit before those to be read.
    #[must_use]
    pub fn position(&self) -> CommitTimestamp {
        CommitTimestamp(self.next.next().0 - 1)
    }

    /// The newest commit that can be read: durable, unless undurable ones were asked for, which
    /// takes O(bytes of the commits since the last call).
    ///
    /// # Errors
    /// The store is not there any more, or its manifest is damaged.
    pub fn newest(&mut self) -> Result<CommitTimestamp, Error> {
        Ok(match &mut self.undurable {
            Some(follower) => follower.look()?.newest,
            None => self.durable()?,
        })
    }

    /// The newest commit that survives a loss of power. Reads a few bytes.
    ///
    /// # Errors
    /// As [`StoreFeed::newest`].
    pub fn durable(&self) -> Result<CommitTimestamp, Error> {
        Ok(StoreFiles::open_read_only(Arc::clone(&self.files))?.durable()?)
    }

    /// Passes the next commits up to `through`, one that can be read, to `visit`, until it breaks
    /// or fails. A commit with which it fails is passed again next time. O(bytes of these commits).
    ///
    /// # Errors
    /// The commits are not there any more, or damaged; errors of `visit`.
    pub fn read(&mut self, through: CommitTimestamp, visit: &mut Visit<'_>) -> Result<(), Error> {
        let StoreFeed { files, id, topology, catalog, next, keys, .. } = self;
        let manifest = || {
            let manifest = manifest_of(files)?;
            if manifest.store != *id {
                return Err(StoreError::Foreign { path: files.location(), what: OTHER_STORE });
            }
            let labels = manifest.options.catalog.labels();
            labels[catalog.label_count().min(labels.len())..].iter().for_each(|label| {
                catalog.push(label.clone());
            });
            Ok(manifest)
        };
        next.read(through, manifest, &mut |record| {
            let location = &|| files.location();
            record.keys(*topology, location)?.into_iter().for_each(|(vertex, key)| keys.set(vertex, key));
            visit(record, KeysAtCommit { keys: Keys::Kept(keys), topology: *topology, location })
        })
    }

    /// Waits until there is a commit to be read, at most for `time`.
    ///
    /// # Errors
    /// As [`StoreFeed::newest`].
    pub fn wait(&mut self, time: Duration) -> Result<(), Error> {
        let (begun, [mut pause, longest]) = (Instant::now(), PAUSES);
        while self.newest()? < self.next.next() {
            let left = time.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            thread::sleep(pause.min(left));
            pause = longest.min(2 * pause);
        }
        Ok(())
    }
}

const OTHER_STORE: &str = "another store has taken its place";

fn manifest_of(files: &Arc<dyn FileSystem>) -> Result<Manifest, StoreError> {
    Ok(StoreFiles::open_read_only(Arc::clone(files))?.manifest().clone())
}
