//! The handle of an open store, and its background threads.

use super::TypedStore;
use crate::engine_kind::EngineKind;
use crate::error::{Error, Reason};
use hedgerow_pipeline::BackgroundThread;
use hedgerow_sync::fork::Process;
use hedgerow_sync::{Arc, Mutex, OnceLock};
use std::collections::HashSet;
use std::ops::Deref;

/// A handle to the store of a graph, shared by graph handles, snapshots and transactions.
#[derive(Clone)]
pub(crate) struct SharedStore(Arc<OpenStore>);

/// An open store, kept alive by its handles.
pub(crate) struct OpenStore {
    // Declared before the store, so that the threads end before it is dropped.
    _threads: [Option<BackgroundThread>; 2],
    typed: Arc<TypedStore>,
    /// The process that opened the graph.
    process: Process,
    pub(crate) engine: EngineKind,
    /// Retries of a transaction in conflict.
    pub(crate) retries: u32,
    /// The id of a graph in memory, once it was asked for.
    id: OnceLock<[u8; 16]>,
    /// The names of subscriptions that are in use.
    names: Mutex<HashSet<String>>,
}

impl SharedStore {
    pub(crate) fn new(typed: TypedStore, engine: EngineKind, retries: u32) -> Self {
        let typed = Arc::new(typed);
        let compact = typed.store.wakeup().cloned().and_then(|wakeup| {
            let typed = Arc::clone(&typed);
            BackgroundThread::start("hedgerow-compact", wakeup, move || typed.store.reclaim_step())
        });
        let flush = typed.store.flush_wakeup().cloned().and_then(|wakeup| {
            let typed = Arc::clone(&typed);
            BackgroundThread::start("hedgerow-flush", wakeup, move || typed.store.flush_step())
        });
        let (threads, process) = ([compact, flush], Process::current());
        SharedStore(Arc::new(OpenStore {
            _threads: threads,
            typed,
            process,
            engine,
            retries,
            id: OnceLock::new(),
            names: Mutex::default(),
        }))
    }

    /// Returns the store, for every use that can fail.
    ///
    /// # Errors
    /// This is a child that was forked while the graph was open.
    #[inline]
    pub(crate) fn get(&self) -> Result<&TypedStore, Error> {
        match self.process.is_current() {
            true => Ok(&self.typed),
            false => Err(Reason::Forked.into()),
        }
    }

    /// Returns true if this is a handle to the same open store.
    #[cfg(feature = "kernels")]
    pub(crate) fn is(&self, other: &SharedStore) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the id of the graph, which no other graph has.
    pub(crate) fn id(&self) -> Result<[u8; 16], Error> {
        if let Some(journal) = self.get()?.store.journal() {
            return Ok(journal.manifest().store);
        }
        if let Some(id) = self.id.get() {
            return Ok(*id);
        }
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(Reason::Random)?;
        Ok(*self.id.get_or_init(|| id))
    }

    /// Takes the name of a subscription. Returns false if it is in use.
    pub(crate) fn take_name(&self, name: &str) -> bool {
        self.0.names.lock().insert(name.to_owned())
    }

    pub(crate) fn give_name_back(&self, name: &str) {
        self.0.names.lock().remove(name);
    }

    /// Returns the store, even in a forked child: for lock-free reads of memory only, and for the
    /// rest of a call that already checked [`SharedStore::get`].
    #[inline]
    pub(crate) fn even_in_child(&self) -> &TypedStore {
        &self.typed
    }
}

impl Deref for SharedStore {
    type Target = OpenStore;

    #[inline]
    fn deref(&self) -> &OpenStore {
        &self.0
    }
}

impl Drop for SharedStore {
    /// Leaks the store in a forked child: its threads and locks are the parent's, so that
    /// dropping the store would wait for them, or write.
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(Arc::clone(&self.0));
        }
    }
}
