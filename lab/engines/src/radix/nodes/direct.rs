//! Node256: a pointer per key, and a bitmap of the keys that have one.

use super::{Children, Layout};
use crate::radix::child::Child;
use crate::radix::leaf::Leaf;

/// Any number of keys and children.
#[derive(Debug)]
pub(in crate::radix) struct Direct<L: Leaf> {
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
