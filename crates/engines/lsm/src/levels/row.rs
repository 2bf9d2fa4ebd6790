//! The neighbors of one vertex as bytes.
//!
//! A row begins with a byte: the width of the gaps in its first frame in the six lower bits, and
//! its degree in the two upper ones. If the upper bits are 0, the degree minus 4 follows as a
//! variable-length number. Then come [frames](super::frame) of [`FRAME`] ids, the last one shorter;
//! each frame except the first is preceded by a byte with its width.

use crate::levels::frame::{FRAME, Frame, MAX_WIDTH, Next, frame_bytes, put_frame, unpack, width_of};
use hedgerow_encoding::DecodeError;
use hedgerow_encoding::wire::{Reader, put_varint};
use hedgerow_model::VertexId;
use std::ops::ControlFlow;

/// Number of bits of the first byte that hold a width.
const WIDTH_BITS: u32 = 6;

/// Minimum degree that does not fit in the first byte.
const FIRST_LONG: usize = 4;

/// Appends a row. O(degree).
///
/// `neighbors` must ascend, without duplicates, and not be empty.
pub fn put_row(bytes: &mut Vec<u8>, neighbors: &[VertexId]) {
    debug_assert!(!neighbors.is_empty() && neighbors.is_sorted_by(|one, other| one < other));
    let mut next = 0;
    for (number, ids) in neighbors.chunks(FRAME).enumerate() {
        let width = width_of(ids, next);
        match (number, neighbors.len()) {
            (0, degree @ ..FIRST_LONG) => bytes.push(width as u8 | (degree as u8) << WIDTH_BITS),
            (0, degree) => {
                bytes.push(width as u8);
                put_varint(bytes, (degree - FIRST_LONG) as u64);
            }
            _ => bytes.push(width as u8),
        }
        put_frame(bytes, ids, next, width);
        next = ids.last().map_or(next, |last| Next::from(last.get()) + 1);
    }
}

/// Memory for the neighbors that [`PackedRow::visit`] lends. The caller reuses it, since clearing
/// it for each row takes time.
#[derive(Clone, Debug)]
pub struct Unpacked(Frame);

impl Default for Unpacked {
    fn default() -> Self {
        Unpacked([0; FRAME])
    }
}

/// The neighbors of one vertex, packed: ascending, without duplicates, at least one.
#[derive(Clone, Copy, Debug)]
pub struct PackedRow<'b> {
    degree: usize,
    /// The width of the gaps in the first frame.
    width: u32,
    /// The bytes after the degree: the frames, and anything after the row.
    frames: &'b [u8],
}

impl<'b> PackedRow<'b> {
    /// Reads the row at the position of `bytes`, and advances them to its end.
    /// O(degree / [`FRAME`]).
    ///
    /// # Errors
    /// The bytes are no row, or only its beginning.
    pub fn read(bytes: &mut Reader<'b>) -> Result<Self, DecodeError> {
        let first = bytes.byte()?;
        let width = width(first & ((1 << WIDTH_BITS) - 1), bytes)?;
        let degree = match first >> WIDTH_BITS {
            0 => {
                let more = bytes.varint()?;
                let degree = usize::try_from(more).ok().and_then(|more| more.checked_add(FIRST_LONG));
                degree.filter(|degree| *degree <= VertexId::MAX.index() + 1)
            }
            short => Some(usize::from(short)),
        };
        let degree = degree.ok_or_else(|| bytes.error("a row with more neighbors than there are ids"))?;
        let frames = bytes.rest();
        bytes.take(frame_bytes(degree.min(FRAME), width))?;
        let mut left = degree.saturating_sub(FRAME);
        while left > 0 {
            let next = self::width(bytes.byte()?, bytes)?;
            bytes.take(frame_bytes(left.min(FRAME), next))?;
            left = left.saturating_sub(FRAME);
        }
        Ok(PackedRow { degree, width, frames })
    }

    /// Returns the number of neighbors, at least 1. O(1).
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Runs `visit` on the neighbors, at most [`FRAME`] at a time, until it breaks. `unpacked` is
    /// memory for the neighbors. O(degree).
    ///
    /// # Errors
    /// An id is invalid. The ids of the frames before have been visited.
    #[inline]
    pub fn visit<B>(
        &self,
        unpacked: &mut Unpacked,
        mut visit: impl FnMut(&[VertexId]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, DecodeError> {
        let (mut frames, mut left, mut width, mut next) = (self.frames, self.degree, self.width, 0);
        loop {
            let count = left.min(FRAME);
            // `read` has checked that all frames exist.
            next = unpack(frames, count, width, next, &mut unpacked.0)?;
            let flow = visit(bytemuck::cast_slice(&unpacked.0[..count]));
            left -= count;
            if left == 0 || flow.is_break() {
                return Ok(flow);
            }
            let following = &frames[frame_bytes(count, width)..];
            (width, frames) = (u32::from(following[0]), &following[1..]);
        }
    }

    /// Appends the neighbors to `ids`. O(degree).
    ///
    /// # Errors
    /// As for [`PackedRow::visit`].
    pub fn unpack(&self, ids: &mut Vec<VertexId>) -> Result<(), DecodeError> {
        let all = self.visit(&mut Unpacked::default(), |run| {
            ids.extend_from_slice(run);
            ControlFlow::<()>::Continue(())
        });
        all.map(|_| ())
    }

    /// Returns the position of a neighbor in the row; `None` if it is not there. O(position).
    ///
    /// # Errors
    /// As for [`PackedRow::visit`].
    pub fn find(&self, neighbor: VertexId) -> Result<Option<usize>, DecodeError> {
        let mut before = 0;
        let found = self.visit(&mut Unpacked::default(), |run| {
            if run.last().is_some_and(|last| *last < neighbor) {
                before += run.len();
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(run.binary_search(&neighbor).ok().map(|place| before + place))
        })?;
        Ok(found.break_value().flatten())
    }

    /// Like [`PackedRow::find`], in the first frame only. O(1).
    ///
    /// # Errors
    /// As for [`PackedRow::visit`].
    pub(crate) fn find_in_first_frame(&self, neighbor: VertexId) -> Result<Option<usize>, DecodeError> {
        let found = self
            .visit(&mut Unpacked::default(), |run| ControlFlow::Break(run.binary_search(&neighbor).ok()))?;
        Ok(found.break_value().flatten())
    }

    /// Like [`PackedRow::find`], in a frame that the row has, whose first neighbor is known.
    /// Unpacks only this frame. O(frame).
    ///
    /// # Errors
    /// As for [`PackedRow::visit`].
    pub(crate) fn find_in_frame(
        &self,
        frame: usize,
        first: u32,
        neighbor: VertexId,
    ) -> Result<Option<usize>, DecodeError> {
        let (mut frames, mut width) = (self.frames, self.width);
        for _ in 0..frame {
            let following = &frames[frame_bytes(FRAME, width)..];
            (width, frames) = (u32::from(following[0]), &following[1..]);
        }
        let (before, Unpacked(mut ids)) = (frame * FRAME, Unpacked::default());
        let count = (self.degree - before).min(FRAME);
        // Without the frames before, all ids are too small by the same number.
        unpack(frames, count, width, 0, &mut ids)?;
        let Some(sought) = neighbor.get().checked_sub(first) else { return Ok(None) };
        let sought = sought.checked_add(ids[0]);
        Ok(sought.and_then(|sought| ids[..count].binary_search(&sought).ok()).map(|place| before + place))
    }
}

/// Checks a width that was read.
fn width(byte: u8, bytes: &Reader<'_>) -> Result<u32, DecodeError> {
    match u32::from(byte) {
        width @ ..=MAX_WIDTH => Ok(width),
        _ => Err(bytes.error("gaps of more than 32 bits")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    /// Ids that lie close together, or far apart.
    fn neighbors() -> impl Strategy<Value = Vec<VertexId>> {
        let ids = prop_oneof![btree_set(0..600u32, 1..500), btree_set(0..u32::MAX, 1..500)];
        ids.prop_map(|ids| ids.into_iter().map(VertexId::new).collect())
    }

    fn packed(rows: &[Vec<VertexId>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        rows.iter().for_each(|row| put_row(&mut bytes, row));
        bytes
    }

    proptest! {
        #[test]
        fn rows_come_back_one_after_the_other(rows in vec(neighbors(), 1..5)) {
            let bytes = packed(&rows);
            let mut reader = Reader::new(&bytes);
            for row in &rows {
                let packed = PackedRow::read(&mut reader).unwrap();
                let mut ids = Vec::new();
                packed.unpack(&mut ids).unwrap();
                prop_assert_eq!(&ids, row);
                prop_assert_eq!(packed.degree(), row.len());
            }
            prop_assert_eq!(reader.remaining(), 0);
        }

        #[test]
        fn a_neighbor_is_found_at_its_position(row in neighbors(), other in 0..u32::MAX) {
            let bytes = packed(std::slice::from_ref(&row));
            let packed = PackedRow::read(&mut Reader::new(&bytes)).unwrap();
            for neighbor in row.iter().copied().chain([VertexId::new(other)]) {
                let place = row.binary_search(&neighbor);
                prop_assert_eq!(packed.find(neighbor).unwrap(), place.ok());
                for (frame, ids) in row.chunks(FRAME).enumerate() {
                    let found = packed.find_in_frame(frame, ids[0].get(), neighbor).unwrap();
                    prop_assert_eq!(found, place.ok().filter(|place| place / FRAME == frame));
                }
                let in_first = packed.find_in_first_frame(neighbor).unwrap();
                prop_assert_eq!(in_first, place.ok().filter(|place| *place < FRAME));
            }
        }

        #[test]
        fn the_beginning_of_a_row_is_an_error(row in neighbors(), cut in any::<prop::sample::Index>()) {
            let bytes = packed(&[row]);
            let begin = &bytes[..cut.index(bytes.len())];
            prop_assert!(PackedRow::read(&mut Reader::new(begin)).is_err());
        }

        #[test]
        fn any_bytes_are_ascending_ids_or_an_error(bytes in vec(any::<u8>(), 0..300)) {
            let mut reader = Reader::new(&bytes);
            let Ok(row) = PackedRow::read(&mut reader) else { return Ok(()) };
            prop_assert!(row.degree() <= FRAME * bytes.len());
            let mut ids = Vec::new();
            if row.unpack(&mut ids).is_ok() {
                prop_assert_eq!(ids.len(), row.degree());
            }
            prop_assert!(ids.is_sorted_by(|one, other| one < other));
        }
    }

    #[test]
    fn a_row_that_is_visited_in_part_ends_there() {
        let row: Vec<_> = (0..1000).map(|id| VertexId::new(id * 7)).collect();
        let bytes = packed(&[row]);
        let row = PackedRow::read(&mut Reader::new(&bytes)).unwrap();
        let mut runs = 0;
        let flow = row.visit(&mut Unpacked::default(), |run| {
            runs += 1;
            if run.contains(&VertexId::new(7 * 200)) {
                ControlFlow::Break(run.len())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!((flow.unwrap(), runs), (ControlFlow::Break(FRAME), 2));
    }
}
