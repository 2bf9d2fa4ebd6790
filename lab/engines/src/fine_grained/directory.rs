//! Maps a vertex to its cell: a table that grows without moving its entries.

use hedgerow_in_memory::reclamation::Memory;
use hedgerow_model::VertexId;
use hedgerow_sync::OnceLock;
use std::ops::Range;

/// Bits of a vertex id that select a slot of the root, of a branch, of a leaf. The model checker's
/// locks are large and its graphs small.
const ROOT_BITS: u32 = if cfg!(hedgerow_shuttle) { 5 } else { 11 };
const BRANCH_BITS: u32 = if cfg!(hedgerow_shuttle) { 2 } else { 11 };
const LEAF_BITS: u32 = if cfg!(hedgerow_shuttle) { 2 } else { 10 };

/// The vertex index of the study, a dynamic array ("Revisiting the Design of In-Memory Dynamic
/// Graph Storage", section 4.2), in pieces allocated on first use: one vertex at the end of the id
/// space costs three pieces, and readers hold references while writers add more.
pub(super) struct Directory<C>(Level<Level<Level<C>>>);

/// Slots that are allocated together, on first use.
struct Level<T>(OnceLock<Box<[T]>>);

impl<T> Default for Level<T> {
    fn default() -> Self {
        Level(OnceLock::new())
    }
}

impl<T> Level<T> {
    fn slots(&self) -> &[T] {
        self.0.get().map_or(&[], |slots| slots)
    }
}

impl<T: Default> Level<T> {
    fn slots_or_create(&self, bits: u32, allocated: &mut usize) -> &[T] {
        self.0.get_or_init(|| {
            *allocated += bytes_of::<T>(bits);
            (0..1 << bits).map(|_| T::default()).collect()
        })
    }
}

const fn bytes_of<T>(bits: u32) -> usize {
    size_of::<T>() << bits
}

impl<C> Default for Directory<C> {
    fn default() -> Self {
        Directory(Level::default())
    }
}

impl<C: Default> Directory<C> {
    /// Returns the cell of a vertex, if its leaf is allocated. O(1).
    #[inline]
    pub(super) fn get(&self, vertex: VertexId) -> Option<&C> {
        let [root, branch, leaf] = place(vertex.get());
        self.0.slots().get(root)?.slots().get(branch)?.slots().get(leaf)
    }

    /// Returns the cell of a vertex; allocates the path to it on first use. O(1) otherwise.
    pub(super) fn get_or_create(&self, vertex: VertexId, memory: &Memory) -> &C {
        let [root, branch, leaf] = place(vertex.get());
        let mut allocated = 0;
        let branches = &self.0.slots_or_create(ROOT_BITS, &mut allocated)[root];
        let leaves = &branches.slots_or_create(BRANCH_BITS, &mut allocated)[branch];
        let cell = &leaves.slots_or_create(LEAF_BITS, &mut allocated)[leaf];
        if allocated > 0 {
            memory.add_index(allocated);
        }
        cell
    }

    /// Returns the bytes that [`Directory::get_or_create`] would allocate for these vertices, which
    /// ascend.
    pub(super) fn missing_bytes(&self, vertices: impl Iterator<Item = VertexId>) -> usize {
        let (mut bytes, mut last) = (0, None);
        for [root, branch, _] in vertices.map(|vertex| place(vertex.get())) {
            if last == Some((root, branch)) {
                continue;
            }
            let branches = self.0.slots().get(root);
            let leaves = branches.and_then(|branches| branches.slots().get(branch));
            if last.is_none() && self.0.slots().is_empty() {
                bytes += bytes_of::<Level<Level<C>>>(ROOT_BITS);
            }
            if last.is_none_or(|(last, _)| last != root) && leaves.is_none() {
                bytes += bytes_of::<Level<C>>(BRANCH_BITS);
            }
            if leaves.is_none_or(|leaves| leaves.slots().is_empty()) {
                bytes += bytes_of::<C>(LEAF_BITS);
            }
            last = Some((root, branch));
        }
        bytes
    }

    /// Returns the cells of a range of vertices, ascending; skips leaves that were never used.
    pub(super) fn populated(&self, vertices: Range<u32>) -> impl Iterator<Item = (VertexId, &C)> {
        let Range { start, end } = vertices;
        let within = move |first: u64, bits: u32, slots: usize| {
            let slot = |vertex: u32| (u64::from(vertex).saturating_sub(first) >> bits) as usize;
            let last = end.checked_sub(1).filter(|last| start <= *last && u64::from(*last) >= first);
            slot(start).min(slots)..last.map_or(0, |last| slot(last) + 1).min(slots)
        };
        let branches = numbered(self.0.slots(), 0, BRANCH_BITS + LEAF_BITS, within);
        let leaves =
            branches.flat_map(move |(first, level)| numbered(level.slots(), first, LEAF_BITS, within));
        let cells = leaves.flat_map(move |(first, level)| numbered(level.slots(), first, 0, within));
        cells.map(|(vertex, cell)| (VertexId::new(vertex as u32), cell))
    }
}

/// Returns the slots selected by `within`, each with the number of its first vertex.
fn numbered<T>(
    slots: &[T],
    first: u64,
    bits: u32,
    within: impl Fn(u64, u32, usize) -> Range<usize>,
) -> impl Iterator<Item = (u64, &T)> {
    let range = within(first, bits, slots.len());
    let chosen = slots.get(range.clone()).unwrap_or_default();
    range.zip(chosen).map(move |(slot, level)| (first + ((slot as u64) << bits), level))
}

/// Returns the slots of a vertex in the root, in its branch, in its leaf.
#[inline]
const fn place(vertex: u32) -> [usize; 3] {
    let branch = (vertex >> LEAF_BITS) & ((1 << BRANCH_BITS) - 1);
    let leaf = vertex & ((1 << LEAF_BITS) - 1);
    [(vertex >> (BRANCH_BITS + LEAF_BITS)) as usize, branch as usize, leaf as usize]
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;

    const LAST: u32 = VertexId::MAX.get();

    fn numbers(directory: &Directory<u64>, vertices: Range<u32>) -> Vec<u32> {
        directory.populated(vertices).map(|(vertex, _)| vertex.get()).collect()
    }

    #[test]
    fn leaves_are_allocated_on_use_and_cells_do_not_move() {
        let (directory, memory) = (Directory::<u64>::default(), Memory::default());
        let ids = [0, 1, 1024, LAST - 1024, LAST].map(VertexId::new);
        assert!(directory.get(ids[4]).is_none());
        let missing = directory.missing_bytes(ids.into_iter());
        let first: *const u64 = directory.get_or_create(ids[0], &memory);
        ids.iter().for_each(|id| assert_eq!(*directory.get_or_create(*id, &memory), 0));
        assert_eq!(memory.used().index_bytes, missing);
        assert_eq!(directory.missing_bytes(ids.into_iter()), 0);
        assert_eq!(directory.missing_bytes([VertexId::new(5000)].into_iter()), 8 * 1024);
        assert!(std::ptr::eq(directory.get(ids[0]).unwrap(), first));
        assert!(directory.get(VertexId::new(5000)).is_none());
    }

    #[test]
    fn a_scan_skips_absent_leaves_and_keeps_to_its_range() {
        let (directory, memory) = (Directory::<u64>::default(), Memory::default());
        assert_eq!(numbers(&directory, 0..u32::MAX), []);
        for vertex in [5000, 3_000_000_000, LAST] {
            directory.get_or_create(VertexId::new(vertex), &memory);
        }
        assert_eq!(numbers(&directory, 0..4096), []);
        assert_eq!(numbers(&directory, 4000..4098), [4096, 4097]);
        assert_eq!(numbers(&directory, 5119..6000), [5119]);
        assert_eq!(numbers(&directory, LAST - 1..u32::MAX), [LAST - 1, LAST]);
        let all = numbers(&directory, 0..u32::MAX);
        assert!(all.is_sorted());
        // The slot after the last vertex's exists, too, but is never read.
        assert_eq!(all.len(), 3 * 1024 - 1);
        assert_eq!(numbers(&directory, 4100..4100), []);
    }
}
