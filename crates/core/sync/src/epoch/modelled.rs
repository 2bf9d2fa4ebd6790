//! Domains under the model checker.

use super::DUE_BYTES;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Mutex;

struct Deferred {
    address: usize,
    waits_for: BTreeSet<u64>,
}

#[derive(Default)]
struct State {
    next: u64,
    /// The domain of each pin.
    pinned: BTreeMap<u64, u64>,
    deferred: Vec<Deferred>,
    dropped: HashSet<usize>,
}

// All tasks of one modelled execution run on one operating system thread.
thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn next_number() -> u64 {
    STATE.with_borrow_mut(|state| {
        state.next += 1;
        state.next
    })
}

/// The readers of a graph.
pub struct Domain(u64);

/// Nothing that was reachable in its domain when the guard was created is freed while the guard
/// lives.
pub struct Guard<'d> {
    domain: &'d Domain,
    pin: u64,
}

/// Unlinked pieces of memory. They stay here, so that an address identifies one object while its
/// owner lives.
pub struct Waiting<T>(Mutex<Pieces<T>>);

struct Pieces<T> {
    pieces: Vec<T>,
    addresses: Vec<usize>,
    /// The bytes and the addresses of each waiting piece.
    waiting: Vec<(usize, Vec<usize>)>,
}

/// Panics if `pointer` was already dropped.
pub fn check_live<T>(pointer: *const T) {
    STATE.with_borrow(|state| {
        assert!(!state.dropped.contains(&(pointer as usize)), "a version was used after it was dropped");
    });
}

impl Default for Domain {
    fn default() -> Self {
        Domain(next_number())
    }
}

impl Domain {
    /// Pins the current task.
    #[must_use]
    pub fn pin(&self) -> Guard<'_> {
        let pin = next_number();
        STATE.with_borrow_mut(|state| state.pinned.insert(pin, self.0));
        Guard { domain: self, pin }
    }

    /// Does nothing: memory is marked as dropped as soon as the contract allows.
    pub fn free_passed(&self) -> usize {
        0
    }

    /// Does nothing.
    pub fn free_if_due(&self) {}

    /// Returns false.
    #[must_use]
    pub fn is_due(&self) -> bool {
        false
    }

    /// Returns 0: nothing waits.
    #[must_use]
    pub fn waiting_bytes(&self) -> usize {
        0
    }

    /// Marks `address` as dropped once every task that pins this domain now has unpinned.
    fn defer(&self, address: usize) {
        STATE.with_borrow_mut(|state| {
            assert!(
                !state.dropped.contains(&address)
                    && state.deferred.iter().all(|other| other.address != address),
                "a version was dropped twice"
            );
            let pins = state.pinned.iter().filter(|(_, domain)| **domain == self.0);
            let waits_for: BTreeSet<u64> = pins.map(|(pin, _)| *pin).collect();
            match waits_for.is_empty() {
                true => drop(state.dropped.insert(address)),
                false => state.deferred.push(Deferred { address, waits_for }),
            }
        });
    }
}

impl Guard<'_> {
    /// Marks the box behind `pointer` as dropped once every task that is pinned now has unpinned.
    ///
    /// The memory is leaked, so that an address identifies one object during the whole execution.
    ///
    /// # Safety
    /// Nothing is required; the signature matches production.
    pub unsafe fn defer_drop<T: Send + 'static>(&self, pointer: *mut T, _bytes: usize) {
        self.domain.defer(pointer as usize);
    }

    /// Marks the memory behind `pointer` as dropped once every task that is pinned now has
    /// unpinned.
    ///
    /// # Safety
    /// Nothing is required; the signature matches production.
    pub unsafe fn defer_free(&self, pointer: *mut u8, _bytes: usize, _free: unsafe fn(*mut u8)) {
        self.domain.defer(pointer as usize);
    }

    /// Unpins the current task and pins it again.
    pub fn repin(&mut self) {
        *self = self.domain.pin();
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        STATE.with_borrow_mut(|state| {
            state.pinned.remove(&self.pin);
            let dropped = &mut state.dropped;
            state.deferred.retain_mut(|deferred| {
                deferred.waits_for.remove(&self.pin);
                if deferred.waits_for.is_empty() {
                    dropped.insert(deferred.address);
                }
                !deferred.waits_for.is_empty()
            });
        });
    }
}

impl<T> Default for Waiting<T> {
    fn default() -> Self {
        Waiting(Mutex::new(Pieces { pieces: Vec::new(), addresses: Vec::new(), waiting: Vec::new() }))
    }
}

impl<T> Waiting<T> {
    /// Size of a queue entry without the piece's own memory.
    pub const NOTE_BYTES: usize = 0;

    fn pieces<R>(&self, look: impl FnOnce(&mut Pieces<T>) -> R) -> R {
        look(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }

    /// Adds a piece of memory. Marks the addresses that `addresses` passes on as dropped once every
    /// task that is pinned now has unpinned.
    pub fn add(
        &self,
        domain: &Domain,
        piece: T,
        bytes: usize,
        addresses: impl FnOnce(&T, &mut dyn FnMut(*const u8)),
    ) {
        let mut found = Vec::new();
        addresses(&piece, &mut |pointer| found.push(pointer as usize));
        found.iter().for_each(|address| domain.defer(*address));
        self.pieces(|pieces| {
            pieces.pieces.push(piece);
            pieces.addresses.extend(&found);
            pieces.waiting.push((bytes, found));
        });
    }

    /// Returns the bytes of the pieces that no longer wait. The pieces themselves stay here.
    pub fn take_passed(&self, _domain: &Domain) -> (usize, Vec<T>) {
        let is_waiting = |addresses: &[usize]| {
            STATE.with_borrow(|state| {
                state.deferred.iter().any(|deferred| addresses.contains(&deferred.address))
            })
        };
        let bytes = self.pieces(|pieces| {
            let passed = pieces.waiting.extract_if(.., |(_, addresses)| !is_waiting(addresses));
            passed.map(|(bytes, _)| bytes).sum()
        });
        (bytes, Vec::new())
    }

    /// Takes out all pieces, for an owner without readers: their addresses may be used again.
    pub fn take_all(&mut self) -> impl Iterator<Item = T> {
        self.forget_addresses();
        self.pieces(|pieces| {
            pieces.waiting.clear();
            std::mem::take(&mut pieces.pieces)
        })
        .into_iter()
    }

    /// True if enough bytes wait for [`Waiting::take_passed`].
    pub fn is_due(&self) -> bool {
        self.bytes() >= DUE_BYTES
    }

    /// Bytes of all waiting pieces.
    pub fn bytes(&self) -> usize {
        self.pieces(|pieces| pieces.waiting.iter().map(|(bytes, _)| bytes).sum())
    }

    fn forget_addresses(&mut self) {
        let addresses = self.pieces(|pieces| std::mem::take(&mut pieces.addresses));
        STATE.with_borrow_mut(|state| {
            state.deferred.retain(|deferred| !addresses.contains(&deferred.address));
            state.dropped.retain(|address| !addresses.contains(address));
        });
    }
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        self.forget_addresses();
    }
}
