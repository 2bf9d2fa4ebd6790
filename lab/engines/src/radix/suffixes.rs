//! The ids of a leaf without their common bytes (section 6.2, "Optimization").

use super::edit::{with_inserted, with_removed};
use super::keys::{common_bytes, prefix};
use hedgerow_model::VertexId;
use std::ops::ControlFlow;

/// The number of ids that are decoded at a time, on the stack.
const DECODED: usize = 64;

/// The ids of a leaf without their common prefix, in the bytes that differ.
#[derive(Clone, Debug)]
pub(super) enum Suffixes {
    /// No common byte: the ids themselves.
    Four(Box<[VertexId]>),
    /// Three bytes, the least significant first.
    Three(Box<[[u8; 3]]>),
    /// Two bytes.
    Two(Box<[u16]>),
    /// Only the last byte differs: one bit per value, set if present.
    Bitmap([u64; 4]),
}

/// Sorted ids, at least one, compressed.
#[derive(Clone, Debug)]
pub(super) struct CompressedIds {
    /// The common bytes in place; the others are zero.
    prefix: u32,
    length: u16,
    suffixes: Suffixes,
}

impl CompressedIds {
    /// Compresses ids, which ascend, at least one and at most 65,535.
    pub(super) fn new(ids: &[VertexId]) -> Self {
        let (first, last) = (ids[0], ids[ids.len() - 1]);
        let common = common_bytes(first, last);
        let suffixes = match common {
            0 => Suffixes::Four(ids.into()),
            1 => Suffixes::Three(ids.iter().map(|id| low_bytes(*id)).collect()),
            2 => Suffixes::Two(ids.iter().map(|id| id.get() as u16).collect()),
            _ => Suffixes::Bitmap(bitmap_of(ids)),
        };
        CompressedIds { prefix: prefix(first, common.min(3)), length: ids.len() as u16, suffixes }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    pub(super) fn bounds(&self) -> (VertexId, VertexId) {
        (self.id_at(0), self.id_at(self.len() - 1))
    }

    /// Returns the position of an id, by binary search; in a bitmap, by counting the bits before
    /// it.
    #[inline]
    pub(super) fn position(&self, id: VertexId) -> Option<usize> {
        let suffix = id.get() ^ self.prefix;
        match &self.suffixes {
            Suffixes::Four(ids) => ids.binary_search(&id).ok(),
            Suffixes::Three(suffixes) => {
                let found = suffixes.binary_search_by_key(&suffix, |bytes| widen(*bytes));
                found.ok()
            }
            Suffixes::Two(suffixes) => suffixes.binary_search(&u16::try_from(suffix).ok()?).ok(),
            Suffixes::Bitmap(words) => rank(words, u8::try_from(suffix).ok()?),
        }
    }

    /// Returns the place to insert an absent id; `None` if it does not have the common bytes.
    pub(super) fn place_of(&self, id: VertexId) -> Option<usize> {
        let suffix = id.get() ^ self.prefix;
        match &self.suffixes {
            Suffixes::Four(ids) => Some(ids.partition_point(|other| *other < id)),
            Suffixes::Three(suffixes) => {
                (suffix < 1 << 24).then(|| suffixes.partition_point(|bytes| widen(*bytes) < suffix))
            }
            Suffixes::Two(suffixes) => {
                let suffix = u16::try_from(suffix).ok()?;
                Some(suffixes.partition_point(|other| *other < suffix))
            }
            Suffixes::Bitmap(words) => Some(bits_before(words, u8::try_from(suffix).ok()?)),
        }
    }

    /// Returns a copy with an id inserted at the place that [`place_of`](Self::place_of) returned.
    pub(super) fn inserted(&self, place: usize, id: VertexId) -> Self {
        let suffixes = match &self.suffixes {
            Suffixes::Four(ids) => Suffixes::Four(with_inserted(ids, place, id).into()),
            Suffixes::Three(suffixes) => {
                Suffixes::Three(with_inserted(suffixes, place, low_bytes(id)).into())
            }
            Suffixes::Two(suffixes) => Suffixes::Two(with_inserted(suffixes, place, id.get() as u16).into()),
            Suffixes::Bitmap(words) => Suffixes::Bitmap(with_flipped(words, id)),
        };
        CompressedIds { prefix: self.prefix, length: self.length + 1, suffixes }
    }

    /// Returns a copy without one id, which is neither the first nor the last, so the common bytes
    /// do not change.
    pub(super) fn removed(&self, position: usize) -> Self {
        debug_assert!((1..self.len() - 1).contains(&position));
        let suffixes = match &self.suffixes {
            Suffixes::Four(ids) => Suffixes::Four(with_removed(ids, position).into()),
            Suffixes::Three(suffixes) => Suffixes::Three(with_removed(suffixes, position).into()),
            Suffixes::Two(suffixes) => Suffixes::Two(with_removed(suffixes, position).into()),
            Suffixes::Bitmap(words) => Suffixes::Bitmap(with_flipped(words, self.id_at(position))),
        };
        CompressedIds { prefix: self.prefix, length: self.length - 1, suffixes }
    }

    /// Returns the id at a position.
    pub(super) fn id_at(&self, position: usize) -> VertexId {
        let suffix = match &self.suffixes {
            Suffixes::Four(ids) => return ids[position],
            Suffixes::Three(suffixes) => widen(suffixes[position]),
            Suffixes::Two(suffixes) => u32::from(suffixes[position]),
            Suffixes::Bitmap(words) => nth_bit(words, position),
        };
        VertexId::new(self.prefix | suffix)
    }

    /// Visits the ids in ascending runs, each with the position of its first id.
    #[inline]
    pub(super) fn stretches<B>(
        &self,
        mut stretch: impl FnMut(usize, &[VertexId]) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let prefix = self.prefix;
        match &self.suffixes {
            Suffixes::Four(ids) => stretch(0, ids),
            Suffixes::Three(suffixes) => decode(suffixes, |bytes| prefix | widen(bytes), stretch),
            Suffixes::Two(suffixes) => decode(suffixes, |low| prefix | u32::from(low), stretch),
            Suffixes::Bitmap(words) => decode_bitmap(words, prefix, &mut stretch),
        }
    }

    /// Returns the heap bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.suffixes {
            Suffixes::Four(ids) => size_of_val::<[VertexId]>(ids),
            Suffixes::Three(suffixes) => size_of_val::<[[u8; 3]]>(suffixes),
            Suffixes::Two(suffixes) => size_of_val::<[u16]>(suffixes),
            Suffixes::Bitmap(_) => 0,
        }
    }
}

fn low_bytes(id: VertexId) -> [u8; 3] {
    let [low, middle, high, _] = id.get().to_le_bytes();
    [low, middle, high]
}

#[inline]
fn widen([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}

fn bitmap_of(ids: &[VertexId]) -> [u64; 4] {
    let mut words = [0; 4];
    for id in ids {
        let low = id.get() as u8;
        words[usize::from(low / 64)] |= 1 << (low % 64);
    }
    words
}

/// Returns the bitmap with the bit of one id flipped.
fn with_flipped(words: &[u64; 4], id: VertexId) -> [u64; 4] {
    let (mut words, low) = (*words, id.get() as u8);
    words[usize::from(low / 64)] ^= 1 << (low % 64);
    words
}

/// Returns the number of set bits before `bit`, if it is set itself.
#[inline]
fn rank(words: &[u64; 4], bit: u8) -> Option<usize> {
    let is_set = words[usize::from(bit / 64)] >> (bit % 64) & 1 == 1;
    is_set.then(|| bits_before(words, bit))
}

/// Returns the number of set bits before `bit`.
#[inline]
fn bits_before(words: &[u64; 4], bit: u8) -> usize {
    let (word, bit) = (usize::from(bit / 64), bit % 64);
    let before: u32 = words[..word].iter().map(|word| word.count_ones()).sum();
    (before + (words[word] & ((1 << bit) - 1)).count_ones()) as usize
}

/// Returns the position of the set bit that has `before` set bits before it.
fn nth_bit(words: &[u64; 4], mut before: usize) -> u32 {
    for (word, mut bits) in (0..).zip(words.iter().copied()) {
        let here = bits.count_ones() as usize;
        if before < here {
            for _ in 0..before {
                bits &= bits - 1;
            }
            return 64 * word + bits.trailing_zeros();
        }
        before -= here;
    }
    unreachable!("the position of an id is below their number");
}

#[inline]
fn decode<T: Copy, B>(
    suffixes: &[T],
    id: impl Fn(T) -> u32,
    mut stretch: impl FnMut(usize, &[VertexId]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut ids = [VertexId::default(); DECODED];
    for (chunk, suffixes) in suffixes.chunks(DECODED).enumerate() {
        for (place, suffix) in ids.iter_mut().zip(suffixes) {
            *place = VertexId::new(id(*suffix));
        }
        stretch(chunk * DECODED, &ids[..suffixes.len()])?;
    }
    ControlFlow::Continue(())
}

fn decode_bitmap<B>(
    words: &[u64; 4],
    prefix: u32,
    stretch: &mut impl FnMut(usize, &[VertexId]) -> ControlFlow<B>,
) -> ControlFlow<B> {
    let mut ids = [VertexId::default(); DECODED];
    let mut done = 0;
    for (word, mut bits) in (0..).zip(words.iter().copied()) {
        let mut length = 0;
        while bits != 0 {
            ids[length] = VertexId::new(prefix | (word * 64 + bits.trailing_zeros()));
            length += 1;
            bits &= bits - 1;
        }
        if length > 0 {
            stretch(done, &ids[..length])?;
            done += length;
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn check(ids: &BTreeSet<u32>, others: &[u32]) {
        let sorted: Vec<VertexId> = ids.iter().map(|id| VertexId::new(*id)).collect();
        let compressed = CompressedIds::new(&sorted);
        assert_eq!(compressed.len(), ids.len());
        assert_eq!(compressed.bounds(), (sorted[0], sorted[sorted.len() - 1]));
        let mut decoded = Vec::new();
        let flow = compressed.stretches(|position, stretch| {
            assert_eq!(position, decoded.len());
            assert!(!stretch.is_empty());
            decoded.extend_from_slice(stretch);
            ControlFlow::<()>::Continue(())
        });
        assert!(flow.is_continue());
        assert_eq!(decoded, sorted);
        for (position, id) in sorted.iter().enumerate() {
            assert_eq!(compressed.position(*id), Some(position));
            assert_eq!(compressed.id_at(position), *id);
        }
        for other in others {
            let expected = ids.iter().position(|id| id == other);
            assert_eq!(compressed.position(VertexId::new(*other)), expected, "{other}");
            if expected.is_none() {
                check_insertion(&compressed, ids, VertexId::new(*other));
            }
        }
        for position in (1..sorted.len().saturating_sub(1)).step_by(7) {
            let rest: Vec<VertexId> = sorted.iter().copied().filter(|id| *id != sorted[position]).collect();
            assert_same(&compressed.removed(position), &CompressedIds::new(&rest));
        }
    }

    /// Checks that inserting an id with the common bytes gives the same result as building with it.
    fn check_insertion(compressed: &CompressedIds, ids: &BTreeSet<u32>, id: VertexId) {
        let with: Vec<VertexId> = ids
            .iter()
            .copied()
            .chain([id.get()])
            .collect::<BTreeSet<u32>>()
            .into_iter()
            .map(VertexId::new)
            .collect();
        let whole = CompressedIds::new(&with);
        let is_alike =
            std::mem::discriminant(&whole.suffixes) == std::mem::discriminant(&compressed.suffixes);
        match compressed.place_of(id) {
            Some(place) => assert_same(&compressed.inserted(place, id), &whole),
            None => assert!(!is_alike),
        }
    }

    fn assert_same(one: &CompressedIds, other: &CompressedIds) {
        assert_eq!(format!("{one:?}"), format!("{other:?}"));
    }

    proptest! {
        #[test]
        fn ids_come_back_whatever_they_have_in_common(
            base in 0..u32::MAX - 1,
            common in 0..=4_u32,
            lows in prop::collection::btree_set(any::<u32>(), 1..400),
            others in prop::collection::vec(0..u32::MAX - 1, 0..20),
        ) {
            let low = (u64::MAX >> (32 + 8 * common).min(63)) as u32;
            let low = if common == 4 { 0 } else { low };
            let ids = lows.iter().map(|id| (base & !low | id & low).min(u32::MAX - 1)).collect();
            let close: Vec<u32> = others.iter().map(|id| (base & !low | id & low).min(u32::MAX - 1)).collect();
            check(&ids, &others);
            check(&ids, &close);
        }
    }

    #[test]
    fn as_many_bytes_are_kept_as_differ() {
        let kept = |ids: &[u32]| {
            let ids: Vec<VertexId> = ids.iter().map(|id| VertexId::new(*id)).collect();
            CompressedIds::new(&ids).heap_bytes()
        };
        assert_eq!(kept(&[0, u32::MAX - 1]), 8);
        assert_eq!(kept(&[0x0100_0000, 0x01FF_FFFF]), 6);
        assert_eq!(kept(&[0x0102_0000, 0x0102_FFFF]), 4);
        assert_eq!(kept(&[0x0102_0300, 0x0102_03FF]), 0);
        assert_eq!(kept(&[7]), 0);
    }

    #[test]
    fn a_full_bitmap_holds_all_bytes() {
        check(&(0xFFFF_FE00..=0xFFFF_FEFF).collect(), &[0, 0xFFFF_FDFF, 0xFFFF_FF00]);
        check(&(0xFFFF_FF00..=0xFFFF_FFFE).collect(), &[0xFFFF_FEFF]);
    }

    #[test]
    fn a_reader_may_stop_anywhere() {
        for ids in [(0..300).collect::<Vec<u32>>(), (0..90_000).step_by(300).collect(), (0..200).collect()] {
            let ids: Vec<VertexId> = ids.into_iter().map(VertexId::new).collect();
            let mut seen = 0;
            let flow = CompressedIds::new(&ids).stretches(|position, _| {
                seen += 1;
                if position >= 64 { ControlFlow::Break(position) } else { ControlFlow::Continue(()) }
            });
            assert_eq!((flow, seen), (ControlFlow::Break(64), 2));
        }
    }
}
