//! Tracks the readers that may still reach unlinked memory.
//!
//! A reader enters: it stores the epoch in a slot, and then follows links. Memory is tagged with
//! the epoch after it was unlinked. A thread that frees memory advances the epoch, reads the slots,
//! and frees the memory whose tag is before the epochs of all readers.
//!
//! Three sequentially consistent fences make that correct: a reader's between its slot and the
//! first link (R), one between the unlinking and the tag (U), and one before the slots are read
//! (L).
//!
//! 1. A reader whose slot is found free enters after L, or has left. In the first case L precedes
//!    R, and the memory was unlinked before L, so the reader does not find it. In the second case
//!    its reads happened before the slot was found free (Release, Acquire).
//! 2. A reader whose epoch is after the tag loaded its epoch from an advance that followed the load
//!    of the tag. So U precedes R, and the reader does not find the memory. The reads of earlier
//!    readers in the same slot happened before its epoch was found there: each reader takes the
//!    slot by a compare-and-exchange, which continues the release sequence.

use crate::OnceLock;
use crate::atomic::{AtomicU64, Ordering, ProcessUsize, fence};
use std::cell::Cell;

/// The content of a slot without a reader. Epochs are greater.
const FREE: u64 = 0;

/// Adjacent slots for nested readers of one thread.
const SLOTS_PER_THREAD: usize = if cfg!(hedgerow_shuttle) { 1 } else { 2 };

/// Slots in the first chunk; each further chunk has twice the slots of the previous chunk.
const FIRST_CHUNK: usize = if cfg!(hedgerow_shuttle) { 1 } else { 128 };

/// Maximum number of chunks: more slots than fit in any memory.
const CHUNKS: usize = 24;

/// A slot, in its own cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct ReaderSlot(AtomicU64);

/// The readers of a domain. Its slots are allocated when the first reader enters.
#[derive(Debug)]
pub struct Readers {
    epoch: AtomicU64,
    chunks: [OnceLock<Box<[ReaderSlot]>>; CHUNKS],
}

/// A reader that has entered. It leaves when this is dropped, on any thread.
#[derive(Debug)]
pub struct Entered<'r> {
    readers: &'r Readers,
    slot: &'r ReaderSlot,
    epoch: u64,
}

static NEXT_THREAD: ProcessUsize = ProcessUsize::new(0);

std::thread_local! {
    static THREAD: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The index of the first slot that this thread tries.
#[inline]
fn first_slot() -> usize {
    THREAD.with(|thread| match thread.get() {
        Some(first) => first,
        None => {
            let first = NEXT_THREAD.fetch_add(SLOTS_PER_THREAD, Ordering::Relaxed);
            thread.set(Some(first));
            first
        }
    })
}

impl ReaderSlot {
    /// Takes the slot for a reader of this epoch, if it is free.
    #[inline]
    fn take(&self, epoch: u64) -> bool {
        let is_taken = self.0.compare_exchange(FREE, epoch, Ordering::SeqCst, Ordering::Relaxed).is_ok();
        if is_taken {
            fence_after_exchange();
        }
        is_taken
    }
}

/// A sequentially consistent fence after an exchange.
#[inline]
fn fence_after_exchange() {
    if cfg!(all(target_arch = "x86_64", not(miri), not(hedgerow_shuttle))) {
        // The exchange is a fence of the processor already.
        std::sync::atomic::compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

impl Default for Readers {
    fn default() -> Self {
        Readers { epoch: AtomicU64::new(FREE + 1), chunks: [const { OnceLock::new() }; CHUNKS] }
    }
}

impl Readers {
    #[inline]
    fn chunk(&self, number: usize) -> &[ReaderSlot] {
        self.chunks[number]
            .get_or_init(|| (0..FIRST_CHUNK << number).map(|_| ReaderSlot::default()).collect())
    }

    /// Enters a reader. O(1), unless hundreds of readers have entered.
    #[inline]
    pub fn enter(&self) -> Entered<'_> {
        let (slots, epoch) = (self.chunk(0), self.epoch.load(Ordering::Relaxed));
        let slot = &slots[first_slot() % FIRST_CHUNK];
        match slot.take(epoch) {
            true => Entered { readers: self, slot, epoch },
            false => self.enter_elsewhere(epoch),
        }
    }

    #[cold]
    fn enter_elsewhere(&self, epoch: u64) -> Entered<'_> {
        let slots = (0..CHUNKS).flat_map(|number| {
            let (slots, first) = (self.chunk(number), first_slot());
            (0..slots.len()).map(move |step| &slots[(first + step) % slots.len()])
        });
        let mut free = slots.filter(|slot| slot.0.load(Ordering::Relaxed) == FREE && slot.take(epoch));
        let slot = free.next().expect("there is memory for fewer readers than slots");
        Entered { readers: self, slot, epoch }
    }

    /// The epoch with which to tag memory that this thread has unlinked.
    pub fn now(&self) -> u64 {
        fence(Ordering::SeqCst);
        self.epoch.load(Ordering::Relaxed)
    }

    /// Advances the epoch. Returns the earliest epoch that a reader may be in: no reader can reach
    /// memory that was unlinked before the call and is tagged with an earlier epoch. O(most readers
    /// at a time).
    pub fn oldest(&self) -> u64 {
        let next = self.epoch.fetch_add(1, Ordering::SeqCst) + 1;
        fence(Ordering::SeqCst);
        let slots = self.chunks.iter().map_while(OnceLock::get).flatten();
        let entered = slots.map(|slot| slot.0.load(Ordering::Acquire)).filter(|epoch| *epoch != FREE);
        entered.min().unwrap_or(next)
    }
}

impl Entered<'_> {
    /// Leaves and enters again. Two loads, unless the epoch has advanced.
    #[inline]
    pub fn refresh(&mut self) {
        let epoch = self.readers.epoch.load(Ordering::Relaxed);
        if epoch != self.epoch {
            self.slot.0.swap(epoch, Ordering::SeqCst);
            fence_after_exchange();
            self.epoch = epoch;
        }
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        self.slot.0.store(FREE, Ordering::Release);
    }
}
