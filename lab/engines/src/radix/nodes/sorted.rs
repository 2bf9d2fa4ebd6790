//! Node4 and Node16: sorted keys, and the child of each.

use super::{Children, Layout};
use crate::radix::child::Child;
use crate::radix::leaf::Leaf;
use crate::radix::simd::position_of_16;

/// Up to `N` keys and a pointer for each.
#[derive(Debug)]
pub(in crate::radix) struct Sorted<L: Leaf, const N: usize> {
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
