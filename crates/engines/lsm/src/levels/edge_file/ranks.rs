//! The owners of an edge file in memory. The rank of an owner, the number of owners before it,
//! takes constant time.
//!
//! [`Bits`] take 64 bytes per 448 ids from the first owner to the last. A file with sparse owners
//! gets an [`OwnerList`], which takes less: at most 5 bytes per owner.

use roaring::RoaringBitmap;
use std::iter::repeat_n;

/// Number of ids of a line.
const LINE_IDS: usize = 64 * LINE_WORDS;
const LINE_WORDS: usize = 7;

/// Ids per owner above which a list takes less memory than bits.
const SPARSE: u64 = 32;

/// Maximum average number of owners of a bucket; the minimum is half of it.
const BUCKET_OWNERS: u64 = 16;

/// The beginning of a part of the owners.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// Number of owners before the part.
    rank: u32,
    /// The block with the row of the first owner from there on.
    block: u32,
}

/// The rank of an owner, and a block that is not after its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rank {
    pub(super) rank: u32,
    pub(super) block: u32,
}

/// A set of owners, in the form that takes less memory.
#[derive(Debug)]
pub(super) enum RankedOwners {
    Bits(Bits),
    List(OwnerList),
}

impl RankedOwners {
    /// Creates the set of these owners. O(owners).
    pub(super) fn new(owners: &RoaringBitmap) -> Self {
        let (first, last) = owners.min().zip(owners.max()).unwrap_or_default();
        let ids = u64::from(last - first) + 1;
        match ids <= SPARSE * owners.len().max(1) {
            true => RankedOwners::Bits(Bits::new(owners, first, ids)),
            false => RankedOwners::List(OwnerList::new(owners, first, ids)),
        }
    }

    /// Notes the blocks of the owners: `lasts` are the ranks of the last owners of all blocks,
    /// ascending, up to the rank of the last owner. O(owners + blocks).
    pub(super) fn set_blocks(&mut self, lasts: impl Iterator<Item = u32>) {
        let mut lasts = lasts.enumerate().peekable();
        let set = |start: &mut Start| {
            while lasts.next_if(|(_, last)| *last < start.rank).is_some() {}
            start.block = lasts.peek().map_or(0, |(block, _)| *block as u32);
        };
        match self {
            RankedOwners::Bits(bits) => bits.lines.iter_mut().map(|line| &mut line.start).for_each(set),
            RankedOwners::List(list) => list.buckets.iter_mut().for_each(set),
        }
    }

    /// Returns the rank of an owner; `None` if it is not in the set. O(1): one access to memory for
    /// [`Bits`], two for an [`OwnerList`] whose owners are spread evenly; O(log owners) for an
    /// uneven list.
    #[inline]
    pub(super) fn rank(&self, owner: u32) -> Option<Rank> {
        match self {
            RankedOwners::Bits(bits) => bits.rank(owner),
            RankedOwners::List(list) => list.rank(owner),
        }
    }

    /// Returns the bytes in memory. O(1).
    pub(super) fn bytes(&self) -> usize {
        match self {
            RankedOwners::Bits(bits) => size_of_val(&*bits.lines),
            RankedOwners::List(list) => size_of_val(&*list.buckets) + size_of_val(&*list.owners),
        }
    }
}

/// A bit per id from the first owner to the last.
#[derive(Debug)]
pub(super) struct Bits {
    first: u32,
    lines: Box<[Line]>,
}

/// The bits of 448 ids, in one cache line with their start.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line {
    start: Start,
    words: [u64; LINE_WORDS],
}

impl Bits {
    /// `ids` is the number of ids from the first owner to the last.
    fn new(owners: &RoaringBitmap, first: u32, ids: u64) -> Self {
        let mut lines: Box<[Line]> = repeat_n(Line::default(), (ids as usize).div_ceil(LINE_IDS)).collect();
        for owner in owners {
            let place = (owner - first) as usize;
            lines[place / LINE_IDS].words[place % LINE_IDS / 64] |= 1 << (place % 64);
        }
        let mut rank = 0;
        for Line { start, words } in &mut lines {
            start.rank = rank;
            rank += words.iter().map(|word| word.count_ones()).sum::<u32>();
        }
        Bits { first, lines }
    }

    #[inline]
    fn rank(&self, owner: u32) -> Option<Rank> {
        let place = owner.checked_sub(self.first)? as usize;
        let Line { start, words } = self.lines.get(place / LINE_IDS)?;
        let (before, from_word) = words.split_at(place % LINE_IDS / 64);
        let (word, bit) = (from_word[0], 1 << (place % 64));
        let before = before.iter().map(|word| word.count_ones()).sum::<u32>();
        let rank = start.rank + before + (word & (bit - 1)).count_ones();
        (word & bit != 0).then_some(Rank { rank, block: start.block })
    }
}

/// All owners, in buckets of ids that have at most 16 owners on average.
#[derive(Debug)]
pub(super) struct OwnerList {
    first: u32,
    /// Binary logarithm of the number of ids of a bucket.
    bucket_bits: u32,
    /// One more start than buckets.
    buckets: Box<[Start]>,
    owners: Box<[u32]>,
}

impl OwnerList {
    /// `ids` is the number of ids from the first owner to the last.
    fn new(owners: &RoaringBitmap, first: u32, ids: u64) -> Self {
        let bucket_bits = (ids * BUCKET_OWNERS / owners.len()).ilog2();
        let mut buckets: Box<[Start]> =
            repeat_n(Start::default(), (ids >> bucket_bits) as usize + 2).collect();
        for owner in owners {
            buckets[(u64::from(owner - first) >> bucket_bits) as usize + 1].rank += 1;
        }
        let mut rank = 0;
        for bucket in &mut buckets {
            rank += bucket.rank;
            bucket.rank = rank;
        }
        OwnerList { first, bucket_bits, buckets, owners: owners.iter().collect() }
    }

    #[inline]
    fn rank(&self, owner: u32) -> Option<Rank> {
        let bucket = (u64::from(owner.checked_sub(self.first)?) >> self.bucket_bits) as usize;
        let [start, end] = self.buckets.get(bucket..bucket + 2)? else { return None };
        let owners = &self.owners[start.rank as usize..end.rank as usize];
        let place = owners.binary_search(&owner).ok()?;
        Some(Rank { rank: start.rank + place as u32, block: start.block })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    /// Dense owners, with or without sparse ones.
    fn owners() -> impl Strategy<Value = Vec<u32>> {
        let dense = btree_set(7000..9000u32, 0..1500);
        let sparse = btree_set(0..u32::MAX, 0..300);
        (dense, sparse, any::<bool>()).prop_map(|(dense, sparse, is_sparse)| match is_sparse {
            true => dense.union(&sparse).copied().collect(),
            false => dense.into_iter().collect(),
        })
    }

    proptest! {
        #[test]
        fn ranks_are_places_among_all(owners in owners(), others in btree_set(0..u32::MAX, 50), blocks in 1..9usize) {
            let mut ranked = RankedOwners::new(&owners.iter().collect());
            // Each block has the same number of owners, except that the last has fewer.
            let size = owners.len().div_ceil(blocks).max(1);
            let lasts = owners.chunks(size).scan(0, |end, block| {
                *end += block.len() as u32;
                Some(*end - 1)
            });
            ranked.set_blocks(lasts);
            for (rank, owner) in owners.iter().enumerate() {
                let found = ranked.rank(*owner).unwrap();
                prop_assert_eq!(found.rank as usize, rank);
                prop_assert!(found.block as usize <= rank / size);
            }
            for other in others.into_iter().chain(6990..9010).filter(|other| owners.binary_search(other).is_err()) {
                prop_assert_eq!(ranked.rank(other), None);
            }
            prop_assert!(ranked.bytes() <= 5 * owners.len() + 128);
        }
    }

    #[test]
    fn the_smaller_form_is_chosen() {
        let spread = |gap: u32| (0..10_000).map(|number| number * gap).collect::<RoaringBitmap>();
        let bytes = |gap| RankedOwners::new(&spread(gap)).bytes() as f64 / 10_000.0;
        assert!(matches!(RankedOwners::new(&spread(32)), RankedOwners::Bits(_)));
        assert!(matches!(RankedOwners::new(&spread(33)), RankedOwners::List(_)));
        assert!(bytes(1) < 0.15 && bytes(32) < 4.6 && bytes(33) < 5.0 && bytes(400_000) < 5.0);
    }
}
