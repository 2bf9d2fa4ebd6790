//! The children of a node, by key: a byte of an id.
//!
//! There are three kinds, each as small as its keys and children allow (The Adaptive Radix Tree,
//! ICDE 2013, section III): [`Sorted`] with 4 or 16 keys, [`Indirect`], [`Direct`]. Several
//! consecutive keys may share one leaf (RapidStore, section 6.2), which is then counted, visited
//! and shared once.

use super::leaf::Leaf;
use super::simd::position_of_16;
use super::subtree::{Child, Layout};

/// The mapping from keys to children of a kind of node.
pub(super) trait Children<L: Leaf>: Sized {
    /// Creates a node of a layout that fits into this kind.
    fn new(layout: Layout<L>) -> Self;

    /// Returns the child of a key.
    fn get(&self, key: u8) -> Option<&Child<L>>;

    /// Returns a copy with another child in place of the child of `key`, for all its keys.
    fn replaced(&self, key: u8, child: &Child<L>) -> Self;

    /// Returns a copy with a child added for a key without one, if there is room. No two keys share
    /// a child.
    fn inserted(&self, key: u8, child: Child<L>) -> Option<Self>;

    /// Returns the first child at or after a place, and the place after it. Places start at 0.
    fn next(&self, place: usize) -> Option<(&Child<L>, usize)>;

    /// Returns the first key at or after `key`, which may be 256, and its child.
    fn next_key(&self, key: usize) -> Option<(u8, &Child<L>)>;
}

/// Node4 and Node16: up to `N` sorted keys, and a pointer for each.
#[derive(Debug)]
pub(super) struct Sorted<L: Leaf, const N: usize> {
    /// Unused keys are copies of the last one, so that a search never finds a place without a
    /// child.
    keys: [u8; N],
    length: u8,
    children: [Option<Child<L>>; N],
}

impl<L: Leaf, const N: usize> Children<L> for Sorted<L, N> {
    fn new(layout: Layout<L>) -> Self {
        let length = layout.keys().len();
        assert!((1..=N).contains(&length), "{length} keys do not fit into {N}");
        let last = layout.keys()[length - 1].key;
        let (mut keys, mut children) = ([last; N], [const { None }; N]);
        for (place, (key, child)) in layout.into_pairs().enumerate() {
            keys[place] = key;
            children[place] = Some(child);
        }
        Sorted { keys, length: length as u8, children }
    }

    #[inline]
    fn get(&self, key: u8) -> Option<&Child<L>> {
        let place = match self.keys.first_chunk::<16>() {
            Some(keys) => position_of_16(keys, key),
            None => self.keys.iter().position(|other| *other == key),
        };
        self.children[place?].as_ref()
    }

    fn replaced(&self, key: u8, child: &Child<L>) -> Self {
        let old = self.get(key);
        let children = std::array::from_fn(|place| {
            let other = self.children[place].as_ref()?;
            let is_old = self.keys[place] == key || old.is_some_and(|old| old.is_same(other));
            Some(if is_old { child.clone() } else { other.clone() })
        });
        Sorted { keys: self.keys, length: self.length, children }
    }

    fn inserted(&self, key: u8, child: Child<L>) -> Option<Self> {
        let length = usize::from(self.length);
        if length == N {
            return None;
        }
        let place = self.keys[..length].partition_point(|other| *other < key);
        let mut keys = [self.keys[length - 1].max(key); N];
        keys[..place].copy_from_slice(&self.keys[..place]);
        keys[place] = key;
        keys[place + 1..=length].copy_from_slice(&self.keys[place..length]);
        let mut children = [const { None }; N];
        children[..place].clone_from_slice(&self.children[..place]);
        children[place] = Some(child);
        children[place + 1..=length].clone_from_slice(&self.children[place..length]);
        Some(Sorted { keys, length: self.length + 1, children })
    }

    #[inline]
    fn next(&self, place: usize) -> Option<(&Child<L>, usize)> {
        let child = self.children.get(place)?.as_ref()?;
        let mut after = place + 1;
        while after < usize::from(self.length)
            && self.children[after].as_ref().is_some_and(|next| next.is_same(child))
        {
            after += 1;
        }
        Some((child, after))
    }

    fn next_key(&self, key: usize) -> Option<(u8, &Child<L>)> {
        let place = self.keys[..usize::from(self.length)].partition_point(|other| usize::from(*other) < key);
        Some((*self.keys.get(place)?, self.children.get(place)?.as_ref()?))
    }
}

/// The most children of [`Indirect`].
pub(super) const MOST_INDIRECT: usize = 48;

/// Marks a key without a child in the table of [`Indirect`].
const NONE: u8 = u8::MAX;

/// Node48: any number of keys that share at most 48 children, and a table that maps each key to the
/// number of its child.
///
/// In the plain tree each key has its own child. If keys share leaves, this kind also serves nodes
/// with more than 48 keys, with one pointer per leaf instead of one per key.
#[derive(Debug)]
pub(super) struct Indirect<L: Leaf> {
    numbers: [u8; 256],
    /// Ascending.
    children: [Option<Child<L>>; MOST_INDIRECT],
}

impl<L: Leaf> Children<L> for Indirect<L> {
    fn new(layout: Layout<L>) -> Self {
        let count = layout.children().len();
        assert!(count <= MOST_INDIRECT, "{count} children do not fit into {MOST_INDIRECT}");
        let mut numbers = [NONE; 256];
        layout.keys().iter().for_each(|entry| numbers[usize::from(entry.key)] = entry.child);
        let mut children = layout.into_children();
        Indirect { numbers, children: std::array::from_fn(|_| children.next()) }
    }

    #[inline]
    fn get(&self, key: u8) -> Option<&Child<L>> {
        self.children.get(usize::from(self.numbers[usize::from(key)]))?.as_ref()
    }

    fn replaced(&self, key: u8, child: &Child<L>) -> Self {
        let replaced = usize::from(self.numbers[usize::from(key)]);
        let children = std::array::from_fn(|number| {
            let other = self.children[number].as_ref()?;
            Some(if number == replaced { child.clone() } else { other.clone() })
        });
        Indirect { numbers: self.numbers, children }
    }

    fn inserted(&self, key: u8, child: Child<L>) -> Option<Self> {
        let length = self.children.iter().take_while(|child| child.is_some()).count();
        if length == MOST_INDIRECT {
            return None;
        }
        let key = usize::from(key);
        let mut numbers = self.numbers;
        let place = numbers[..key].iter().filter(|number| **number != NONE).count();
        numbers[key] = place as u8;
        for number in &mut numbers[key + 1..] {
            *number += u8::from(*number != NONE);
        }
        let mut children = [const { None }; MOST_INDIRECT];
        children[..place].clone_from_slice(&self.children[..place]);
        children[place] = Some(child);
        children[place + 1..=length].clone_from_slice(&self.children[place..length]);
        Some(Indirect { numbers, children })
    }

    #[inline]
    fn next(&self, place: usize) -> Option<(&Child<L>, usize)> {
        Some((self.children.get(place)?.as_ref()?, place + 1))
    }

    fn next_key(&self, key: usize) -> Option<(u8, &Child<L>)> {
        let ahead = self.numbers[key..].iter().position(|number| *number != NONE)?;
        let key = (key + ahead) as u8;
        Some((key, self.get(key)?))
    }
}

/// Node256: a pointer per key, and a bitmap of the keys that have one.
#[derive(Debug)]
pub(super) struct Direct<L: Leaf> {
    /// One bit per key, set if it has a child, so that readers skip the others (section 6.2,
    /// "Optimization").
    present: [u64; 4],
    /// One bit per key, set if it has a child of its own, not shared with the previous key.
    starts: [u64; 4],
    children: [Option<Child<L>>; 256],
}

impl<L: Leaf> Children<L> for Direct<L> {
    fn new(layout: Layout<L>) -> Self {
        let (mut present, mut starts) = ([0; 4], [0; 4]);
        let mut before = None;
        for entry in layout.keys() {
            let (word, bit) = (usize::from(entry.key / 64), 1 << (entry.key % 64));
            present[word] |= bit;
            starts[word] |= if before == Some(entry.child) { 0 } else { bit };
            before = Some(entry.child);
        }
        let mut children = [const { None }; 256];
        layout.into_pairs().for_each(|(key, child)| children[usize::from(key)] = Some(child));
        Direct { present, starts, children }
    }

    #[inline]
    fn get(&self, key: u8) -> Option<&Child<L>> {
        self.children[usize::from(key)].as_ref()
    }

    fn replaced(&self, key: u8, child: &Child<L>) -> Self {
        let key = usize::from(key);
        let old = self.children[key].as_ref();
        let children = std::array::from_fn(|place| {
            let other = self.children[place].as_ref()?;
            let is_old = place == key || old.is_some_and(|old| old.is_same(other));
            Some(if is_old { child.clone() } else { other.clone() })
        });
        Direct { present: self.present, starts: self.starts, children }
    }

    fn inserted(&self, key: u8, child: Child<L>) -> Option<Self> {
        let (word, bit) = (usize::from(key / 64), 1 << (key % 64));
        let (mut present, mut starts) = (self.present, self.starts);
        present[word] |= bit;
        starts[word] |= bit;
        let mut children = self.children.clone();
        children[usize::from(key)] = Some(child);
        Some(Direct { present, starts, children })
    }

    #[inline]
    fn next(&self, place: usize) -> Option<(&Child<L>, usize)> {
        let key = next_bit(&self.starts, place)?;
        Some((self.children[key].as_ref()?, key + 1))
    }

    fn next_key(&self, key: usize) -> Option<(u8, &Child<L>)> {
        let key = next_bit(&self.present, key)?;
        Some((key as u8, self.children[key].as_ref()?))
    }
}

/// Returns the first set bit at or after `from`.
#[inline]
fn next_bit(words: &[u64; 4], from: usize) -> Option<usize> {
    let mut word = from / 64;
    let mut bits = words.get(word)? & (u64::MAX << (from % 64));
    while bits == 0 {
        word += 1;
        bits = *words.get(word)?;
    }
    Some(word * 64 + bits.trailing_zeros() as usize)
}
