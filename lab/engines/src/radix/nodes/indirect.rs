//! Node48: a table that maps each key to the number of its child.

use super::{Children, Layout};
use crate::radix::child::Child;
use crate::radix::leaf::Leaf;

/// The most children.
pub(super) const MOST: usize = 48;

/// Marks a key without a child in the table.
const NONE: u8 = u8::MAX;

/// Any number of keys that share at most 48 children.
///
/// In the plain tree each key has its own child. If keys share leaves, this kind also serves nodes
/// with more than 48 keys, with one pointer per leaf instead of one per key.
#[derive(Debug)]
pub(in crate::radix) struct Indirect<L: Leaf> {
    numbers: [u8; 256],
    /// Ascending.
    children: [Option<Child<L>>; MOST],
}

impl<L: Leaf> Children<L> for Indirect<L> {
    fn new(layout: Layout<L>) -> Self {
        let count = layout.children().len();
        assert!(count <= MOST, "{count} children do not fit into {MOST}");
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
        if length == MOST {
            return None;
        }
        let key = usize::from(key);
        let mut numbers = self.numbers;
        let place = numbers[..key].iter().filter(|number| **number != NONE).count();
        numbers[key] = place as u8;
        for number in &mut numbers[key + 1..] {
            *number += u8::from(*number != NONE);
        }
        let mut children = [const { None }; MOST];
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
