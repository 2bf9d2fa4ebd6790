//! Domains in production.

use super::{DUE_BYTES, Entered, Readers};
use crate::Mutex;
use crate::atomic::{AtomicUsize, Ordering};
use std::collections::VecDeque;

/// The readers of a graph, and the memory that was unlinked from it.
#[derive(Default)]
pub struct Domain {
    readers: Readers,
    unlinked: Waiting<Unlinked>,
}

/// Nothing that was reachable in its domain when the guard was created is freed while the guard
/// lives.
pub struct Guard<'d> {
    domain: &'d Domain,
    entered: Entered<'d>,
}

/// Unlinked pieces of memory that wait until no reader can reach them.
pub struct Waiting<T> {
    /// In ascending order of epochs.
    pieces: Mutex<VecDeque<Tagged<T>>>,
    bytes: AtomicUsize,
    /// Bytes that were added since the last [`Waiting::take_passed`].
    new_bytes: AtomicUsize,
}

struct Tagged<T> {
    epoch: u64,
    bytes: usize,
    piece: T,
}

/// A piece of memory that is freed when this is dropped.
struct Unlinked {
    pointer: *mut u8,
    free: unsafe fn(*mut u8),
}

// SAFETY: `Guard::defer_free` requires that any thread may free it.
unsafe impl Send for Unlinked {}

impl Drop for Unlinked {
    fn drop(&mut self) {
        // SAFETY: by the promise of the caller of `Guard::defer_free`; no reader can reach the
        // memory, and this is dropped once.
        unsafe { (self.free)(self.pointer) }
    }
}

/// Panics under the model checker if `pointer` was already dropped. Otherwise does nothing.
#[inline]
pub fn check_live<T>(_pointer: *const T) {}

impl Domain {
    /// Pins the current thread. Takes a few nanoseconds; may be nested.
    #[inline]
    #[must_use]
    pub fn pin(&self) -> Guard<'_> {
        Guard { domain: self, entered: self.readers.enter() }
    }

    /// Frees the memory passed to [`Guard::defer_drop`] and [`Guard::defer_free`] that no reader
    /// can reach any more. Returns its bytes.
    pub fn free_passed(&self) -> usize {
        self.unlinked.take_passed(self).0
    }

    /// Calls [`Domain::free_passed`] if [due](Domain::is_due). O(1) otherwise.
    #[inline]
    pub fn free_if_due(&self) {
        if self.is_due() {
            self.free_passed();
        }
    }

    /// True if enough memory was unlinked since the last [`Domain::free_passed`]. O(1).
    #[inline]
    pub fn is_due(&self) -> bool {
        self.unlinked.is_due()
    }

    /// Bytes that wait to be freed. O(1).
    pub fn waiting_bytes(&self) -> usize {
        self.unlinked.bytes()
    }
}

impl Guard<'_> {
    /// Drops the box behind `pointer`, which takes `bytes` bytes, once no reader can reach it.
    ///
    /// # Safety
    /// `pointer` came from `Box::into_raw`, is unlinked (no thread that pins the domain from now on
    /// can reach it), and is passed here once.
    pub unsafe fn defer_drop<T: Send + 'static>(&self, pointer: *mut T, bytes: usize) {
        unsafe fn drop_box<T>(pointer: *mut u8) {
            // SAFETY: from `Box::into_raw`.
            drop(unsafe { Box::from_raw(pointer.cast::<T>()) });
        }
        // SAFETY: the caller's promise.
        unsafe { self.defer_free(pointer.cast(), bytes, drop_box::<T>) }
    }

    /// Calls `free` with `pointer`, whose memory takes `bytes` bytes, once no reader can reach it.
    ///
    /// # Safety
    /// The memory is unlinked (no thread that pins the domain from now on can reach it), `free` may
    /// be called on any thread at any later time, and the memory is passed here once.
    pub unsafe fn defer_free(&self, pointer: *mut u8, bytes: usize, free: unsafe fn(*mut u8)) {
        self.domain.unlinked.add(self.domain, Unlinked { pointer, free }, bytes, |_, _| ());
    }

    /// Unpins and pins again, so that memory unlinked in the meantime can be freed. Cheaper than a
    /// new guard.
    #[inline]
    pub fn repin(&mut self) {
        self.entered.refresh();
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting { pieces: Mutex::default(), bytes: AtomicUsize::new(0), new_bytes: AtomicUsize::new(0) }
    }
}

impl<T> Waiting<T> {
    /// Size of a queue entry.
    pub const NOTE_BYTES: usize = size_of::<Tagged<T>>();

    /// Adds an unlinked piece of memory: no thread that pins the domain from now on can reach it.
    /// `addresses`, which only the model checker calls, passes on the addresses in the piece.
    pub fn add(
        &self,
        domain: &Domain,
        piece: T,
        bytes: usize,
        _addresses: impl FnOnce(&T, &mut dyn FnMut(*const u8)),
    ) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.new_bytes.fetch_add(bytes, Ordering::Relaxed);
        let mut pieces = self.pieces.lock();
        let epoch = domain.readers.now();
        pieces.push_back(Tagged { epoch, bytes, piece });
    }

    /// Takes out the pieces that no reader of the domain can reach, and their bytes. O(pieces
    /// taken + most readers that were in the domain at a time).
    pub fn take_passed(&self, domain: &Domain) -> (usize, Vec<T>) {
        self.new_bytes.store(0, Ordering::Relaxed);
        let mut pieces = self.pieces.lock();
        if pieces.is_empty() {
            return (0, Vec::new());
        }
        let oldest = domain.readers.oldest();
        let passed = pieces.partition_point(|tagged| tagged.epoch < oldest);
        let passed: Vec<Tagged<T>> = pieces.drain(..passed).collect();
        drop(pieces);
        let bytes = passed.iter().map(|tagged| tagged.bytes).sum();
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        (bytes, passed.into_iter().map(|tagged| tagged.piece).collect())
    }

    /// Takes out all pieces, for an owner without readers.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> {
        *self.bytes.get_mut() = 0;
        self.pieces.get_mut().drain(..).map(|tagged| tagged.piece)
    }

    /// True if enough bytes were added since the last [`Waiting::take_passed`]. O(1).
    #[inline]
    pub fn is_due(&self) -> bool {
        self.new_bytes.load(Ordering::Relaxed) >= DUE_BYTES
    }

    /// Bytes of all pieces. O(1).
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
}
