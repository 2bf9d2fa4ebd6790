//! A list that grows while it is read.

use crate::OnceLock;
use crate::atomic::{AtomicUsize, Ordering};
use std::ops::Deref;

/// Capacity of the first chunk of appended entries; each further chunk has twice the capacity.
const FIRST_CHUNK: usize = if cfg!(hedgerow_shuttle) { 1 } else { 8 };

/// Chunks in a full list.
const CHUNKS: usize = 15;

/// A list to which entries are appended while other threads read it. Entries never move and never
/// change, so readers take no lock and hold references.
///
/// The initial entries lie in their own `F` and are found by one bounds check. Reading an appended
/// entry costs three more dependent loads. A list without appended entries takes two words in
/// addition to its initial entries.
///
/// All actions of a thread before it appends an entry happen before another thread finds the entry.
///
/// ```
/// use hedgerow_sync::GrowingList;
///
/// let list = GrowingList::new(Box::from(["first"]));
/// let first = list.get(0);
/// assert_eq!(list.push("second"), 1);
/// assert_eq!((first, list.get(1), list.get(2)), (Some(&"first"), Some(&"second"), None));
/// assert_eq!(list.iter().count(), 2);
/// ```
#[derive(Debug)]
pub struct GrowingList<T, F = Box<[T]>> {
    first: F,
    appended: OnceLock<Box<AppendedEntries<T>>>,
}

/// The appended entries.
#[derive(Debug)]
struct AppendedEntries<T> {
    length: AtomicUsize,
    chunks: [OnceLock<Box<[OnceLock<T>]>>; CHUNKS],
}

impl<T, F: Default> Default for GrowingList<T, F> {
    fn default() -> Self {
        GrowingList { first: F::default(), appended: OnceLock::new() }
    }
}

impl<T> GrowingList<T> {
    /// Heap bytes of all entries and their table, without what the entries own. Exact unless
    /// another thread appends. O(1).
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.first) + self.appended_bytes()
    }
}

impl<T, F: Deref<Target = [T]>> GrowingList<T, F> {
    /// The maximum number of appended entries.
    pub const LIMIT: usize = FIRST_CHUNK * ((1 << CHUNKS) - 1);

    /// A list that begins with these entries.
    pub fn new(first: F) -> Self {
        GrowingList { first, appended: OnceLock::new() }
    }

    /// Returns the entry at a position; `None` beyond the end. O(1).
    #[inline]
    pub fn get(&self, position: usize) -> Option<&T> {
        match self.first.get(position) {
            Some(entry) => Some(entry),
            None => self.appended.get()?.get(position - self.first.len()),
        }
    }

    /// Appends an entry. Returns its position. Amortized O(1).
    ///
    /// # Panics
    /// If another thread appends at the same time: callers must hold a lock. If the list is
    /// [full](Self::LIMIT).
    pub fn push(&self, entry: T) -> usize {
        let new =
            || AppendedEntries { length: AtomicUsize::new(0), chunks: [const { OnceLock::new() }; CHUNKS] };
        self.first.len() + self.appended.get_or_init(|| Box::new(new())).push(entry)
    }

    /// Number of entries. O(1).
    #[inline]
    pub fn len(&self) -> usize {
        self.first.len() + self.appended.get().map_or(0, |appended| appended.len())
    }

    /// Heap bytes of the appended entries and their table, without what the entries own. Exact
    /// unless another thread appends. O(1).
    pub fn appended_bytes(&self) -> usize {
        self.appended.get().map_or(0, |appended| size_of_val(&**appended) + appended.chunk_bytes())
    }

    /// True if there are no entries. O(1).
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries at the time of the call, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let appended = self.appended.get().into_iter();
        self.first.iter().chain(appended.flat_map(|appended| appended.iter()))
    }
}

impl<T> AppendedEntries<T> {
    /// Returns the chunk of an appended entry, and its position there.
    #[inline]
    fn place(number: usize) -> (usize, usize) {
        let chunk = (number / FIRST_CHUNK + 1).ilog2() as usize;
        (chunk, number - FIRST_CHUNK * ((1 << chunk) - 1))
    }

    fn get(&self, number: usize) -> Option<&T> {
        let (chunk, position) = Self::place(number);
        self.chunks.get(chunk)?.get()?[position].get()
    }

    fn len(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    fn chunk_bytes(&self) -> usize {
        let last = self.len().checked_sub(1).map(|number| Self::place(number).0);
        last.map_or(0, |last| FIRST_CHUNK * ((2 << last) - 1) * size_of::<OnceLock<T>>())
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    fn push(&self, entry: T) -> usize {
        let number = self.len();
        let (chunk, position) = Self::place(number);
        assert!(chunk < CHUNKS, "a growing list is full");
        let chunk =
            self.chunks[chunk].get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| OnceLock::new()).collect());
        assert!(chunk[position].set(entry).is_ok(), "two threads append to a growing list at once");
        self.length.store(number + 1, Ordering::Release);
        number
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn entries_stay_where_they_are_as_the_list_grows() {
        let list = GrowingList::new(vec![0, 1].into_boxed_slice());
        let (mut found, last) = (Vec::new(), if cfg!(miri) { 100 } else { 1000 });
        for number in 2..last {
            assert_eq!((list.len(), list.get(number)), (number, None));
            assert_eq!(list.push(number), number);
            found.push(list.get(number).unwrap());
        }
        assert!(found.into_iter().copied().eq(2..last));
        assert!(list.iter().copied().eq(0..last) && list.get(usize::MAX).is_none());
    }

    #[test]
    fn chunks_follow_each_other_without_a_gap() {
        let mut next = (0, 0);
        for number in 0..GrowingList::<u8>::LIMIT {
            assert_eq!(AppendedEntries::<u8>::place(number), next, "entry {number}");
            next.1 += 1;
            if next.1 == FIRST_CHUNK << next.0 {
                next = (next.0 + 1, 0);
            }
        }
        assert_eq!(next, (CHUNKS, 0));
    }

    #[test]
    fn a_reader_finds_what_was_done_before_an_entry_was_appended() {
        const LAST: usize = if cfg!(miri) { 50 } else { 20_000 };
        let (list, done) = (GrowingList::<usize>::default(), GrowingList::<usize>::default());
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..LAST {
                    done.push(number);
                    list.push(number);
                }
            });
            while list.len() < LAST {
                let length = list.len();
                assert_eq!(list.iter().take(length).count(), length);
                assert!(done.len() >= length && list.get(length).is_none_or(|_| done.get(length).is_some()));
            }
        });
    }
}
