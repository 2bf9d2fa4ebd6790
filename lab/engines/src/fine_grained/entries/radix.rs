//! A row as an adaptive radix tree.

use super::{Entries, Head, NewEntry, SMALLEST, SPARSE};
use crate::fine_grained::version::Begin;
use crate::radix::Art;
use hedgerow_model::{
    Column, ColumnType, CommitTimestamp, Direction, EdgeChange, EdgeChanges, EdgeValue, Topology,
    ValueColumn, VertexId,
};
use hedgerow_rapid::subgraphs::Tally;
use std::ops::ControlFlow;

/// A plain adaptive radix tree from neighbors to slots, which contain versions and values.
///
/// Inserting or removing an entry copies the path to its leaf, as everywhere in this crate; slots
/// do not move.
#[derive(Debug)]
pub struct ArtEntries {
    /// The slot of each neighbor; `None` if there are no neighbors.
    tree: Option<Art>,
    slots: Slots,
}

#[derive(Debug)]
struct Slots {
    heads: Vec<Head>,
    values: ValueColumn,
    /// Unused slots. Has capacity for all slots, so removing an entry allocates nothing.
    free: Vec<u32>,
}

/// A tree that includes the new entries, and the number of slots needed.
pub struct Grown {
    tree: Option<Art>,
    tree_bytes_before: usize,
    /// The capacity of larger arrays, if needed, and of the current ones.
    capacity: Option<usize>,
    capacity_before: usize,
}

/// The tree, and larger arrays if necessary.
pub struct Room {
    tree: Option<Art>,
    slots: Option<Slots>,
}

impl Default for ArtEntries {
    /// Creates a row without capacity. The column gets its type with its first capacity.
    fn default() -> Self {
        ArtEntries { tree: None, slots: Slots::with_capacity(ColumnType::Unit, 0) }
    }
}

impl Slots {
    fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        Slots::around(ValueColumn::with_capacity(column, capacity), capacity)
    }

    /// Creates empty arrays with room for `capacity` entries around a column with that room.
    fn around(values: ValueColumn, capacity: usize) -> Self {
        Slots { heads: Vec::with_capacity(capacity), values, free: Vec::with_capacity(capacity) }
    }

    /// Creates empty arrays for values of the same type.
    fn alike(&self, capacity: usize) -> Self {
        let values = match &self.values {
            ValueColumn::Unit => ValueColumn::Unit,
            ValueColumn::Four(_) => ValueColumn::Four(Vec::with_capacity(capacity)),
            ValueColumn::Eight(_) => ValueColumn::Eight(Vec::with_capacity(capacity)),
        };
        Slots::around(values, capacity)
    }

    /// Returns the bytes per slot with a value of this type.
    const fn slot_bytes(column: ColumnType) -> usize {
        size_of::<Head>() + column.width() + size_of::<u32>()
    }

    fn used(&self) -> usize {
        self.heads.len() - self.free.len()
    }

    /// Returns the slots of the next entries, in this order.
    fn next(&self) -> impl Iterator<Item = u32> {
        self.free.iter().rev().copied().chain(self.heads.len() as u32..)
    }

    fn put(&mut self, head: Head, value: EdgeValue) {
        if let Some(slot) = self.free.pop() {
            self.heads[slot as usize] = head;
            self.values.set(slot as usize, value);
        } else {
            self.heads.push(head);
            self.values.push(value);
        }
    }

    /// Moves all entries into empty arrays that are large enough.
    fn move_into(&mut self, mut room: Slots) {
        if !self.heads.is_empty() {
            room.values.extend_from(&self.values, 0..self.heads.len());
            room.heads.append(&mut self.heads);
            room.free.append(&mut self.free);
        }
        *self = room;
    }

    fn heap_bytes(&self) -> usize {
        let free = self.free.capacity() * size_of::<u32>();
        self.heads.capacity() * size_of::<Head>() + self.values.heap_bytes() + free
    }
}

/// Returns a tree after neighbors were given slots, or (`None`) removed.
fn changed(tree: Option<&Art>, slots: impl Iterator<Item = (VertexId, Option<u32>)>) -> Option<Art> {
    let change = |(neighbor, slot): (VertexId, Option<u32>)| {
        EdgeChange::new(VertexId::default(), neighbor, slot.map(|slot| EdgeValue(slot.into())))
    };
    let changes: EdgeChanges = slots.map(change).collect();
    let mut uncounted = Tally::new(Topology::Directed, Direction::Out);
    Art::merged(tree, ColumnType::U64, changes.as_slice(), &mut uncounted)
}

fn tree_bytes(tree: Option<&Art>) -> usize {
    tree.map_or(0, Art::heap_bytes)
}

impl ArtEntries {
    /// Visits the neighbors, ascending, and their slots.
    #[inline]
    fn visit(&self, mut visit: impl FnMut(VertexId, usize)) {
        let Some(tree) = &self.tree else { return };
        let flow = tree.runs::<u64, ()>(|neighbors, slots| {
            neighbors.iter().zip(slots).for_each(|(neighbor, slot)| visit(*neighbor, *slot as usize));
            ControlFlow::Continue(())
        });
        debug_assert!(flow.is_continue());
    }
}

impl Entries for ArtEntries {
    type Growth = Grown;
    type Room = Room;

    /// O(bytes of an id). The place of an absent neighbor has no meaning.
    #[inline]
    fn locate(&self, neighbor: VertexId) -> Result<usize, usize> {
        let slot = self.tree.as_ref().and_then(|tree| tree.find(neighbor));
        slot.map(|slot| slot.0 as usize).ok_or(0)
    }

    fn head(&self, place: usize) -> &Head {
        &self.slots.heads[place]
    }

    fn head_mut(&mut self, place: usize) -> &mut Head {
        &mut self.slots.heads[place]
    }

    fn value(&self, place: usize) -> EdgeValue {
        self.slots.values.get(place)
    }

    fn set_value(&mut self, place: usize, value: EdgeValue) {
        self.slots.values.set(place, value);
    }

    fn count(&self) -> usize {
        self.slots.used()
    }

    fn degree(&self, at: CommitTimestamp) -> usize {
        // An unused slot is visible at no timestamp.
        self.slots.heads.iter().filter(|head| head.shows_at(at)).count()
    }

    fn copy_visible<W: Column>(
        &self,
        at: CommitTimestamp,
        neighbors: &mut Vec<VertexId>,
        values: &mut Vec<W>,
    ) {
        let column =
            if self.tree.is_some() { W::slice(&self.slots.values, 0..self.slots.heads.len()) } else { &[] };
        self.visit(|neighbor, slot| {
            if let Some(value) = self.slots.heads[slot].value_at(at, column[slot]) {
                neighbors.push(neighbor);
                values.push(value);
            }
        });
    }

    /// Builds the new tree, because its size is not known before.
    fn growth(&self, _column: ColumnType, new: &[VertexId]) -> Option<Grown> {
        if new.is_empty() {
            return None;
        }
        let slots = self.slots.next().map(Some);
        let (capacity_before, needed) = (self.slots.heads.capacity(), self.slots.used() + new.len());
        Some(Grown {
            tree: changed(self.tree.as_ref(), new.iter().copied().zip(slots)),
            tree_bytes_before: tree_bytes(self.tree.as_ref()),
            capacity: (needed > capacity_before).then(|| needed.max(2 * capacity_before).max(SMALLEST)),
            capacity_before,
        })
    }

    fn growth_bytes(growth: &Grown, column: ColumnType) -> usize {
        let slots = growth.capacity.map_or(0, |capacity| capacity - growth.capacity_before);
        // An insertion may shrink a tree, if the new kind of node takes less memory.
        tree_bytes(growth.tree.as_ref()).saturating_sub(growth.tree_bytes_before)
            + slots * Slots::slot_bytes(column)
    }

    fn room(growth: Grown, column: ColumnType) -> Room {
        let slots = growth.capacity.map(|capacity| Slots::with_capacity(column, capacity));
        Room { tree: growth.tree, slots }
    }

    fn insert(&mut self, new: &[NewEntry], begin: Begin, room: Option<Room>) {
        let Some(Room { tree, slots }) = room else {
            debug_assert!(new.is_empty(), "every insertion needs a tree");
            return;
        };
        if let Some(slots) = slots {
            self.slots.move_into(slots);
        }
        new.iter().for_each(|entry| self.slots.put(Head::new(begin), entry.value));
        self.tree = tree;
    }

    fn drop_absent(&mut self, neighbors: impl Iterator<Item = VertexId>) {
        let mut absent = Vec::new();
        for neighbor in neighbors {
            if let Ok(slot) = self.locate(neighbor)
                && self.slots.heads[slot].is_absent()
            {
                absent.push(neighbor);
                self.slots.free.push(slot as u32);
            }
        }
        if !absent.is_empty() {
            self.tree = changed(self.tree.as_ref(), absent.into_iter().map(|neighbor| (neighbor, None)));
        }
    }

    /// Builds another tree with the slots in neighbor order.
    fn shrink_if_sparse(&mut self) {
        let (used, capacity) = (self.slots.used(), self.slots.heads.capacity());
        if capacity <= SMALLEST || used * SPARSE >= capacity {
            return;
        }
        let capacity = if used == 0 { 0 } else { (2 * used).max(SMALLEST) };
        let mut slots = self.slots.alike(capacity);
        let mut neighbors = Vec::with_capacity(used);
        let mut old = Vec::with_capacity(used);
        self.visit(|neighbor, slot| {
            neighbors.push(neighbor);
            old.push(slot);
        });
        for slot in old {
            let head = std::mem::replace(&mut self.slots.heads[slot], Head::new(Begin::NEVER));
            slots.put(head, self.slots.values.get(slot));
        }
        self.tree = changed(None, neighbors.into_iter().zip((0..).map(Some)));
        self.slots = slots;
    }

    fn heap_bytes(&self) -> usize {
        tree_bytes(self.tree.as_ref()) + self.slots.heap_bytes()
    }

    fn heads(&self) -> Vec<(VertexId, &Head)> {
        let mut heads = Vec::new();
        self.visit(|neighbor, slot| heads.push((neighbor, &self.slots.heads[slot])));
        debug_assert_eq!(heads.len(), self.slots.used(), "each slot in use has a neighbor");
        debug_assert!(self.slots.free.iter().all(|slot| self.slots.heads[*slot as usize].is_absent()));
        heads
    }
}
