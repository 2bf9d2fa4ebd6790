//! Values of fixed width, one per neighbor of a vertex.

use std::ops::Range;

/// The type of the value of each neighbor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// No value.
    #[default]
    Unit,
    /// `u32`
    U32,
    /// `u64`
    U64,
    /// `i64`
    I64,
    /// `f32`
    F32,
    /// `f64`
    F64,
    /// A record, lent as bytes by a [`RecordCursor`](crate::RecordCursor).
    Record,
}

impl ColumnType {
    /// Bytes per value: 0, 4 or 8.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            ColumnType::Unit => 0,
            ColumnType::U32 | ColumnType::F32 => 4,
            ColumnType::U64 | ColumnType::I64 | ColumnType::F64 | ColumnType::Record => 8,
        }
    }
}

crate::names!(ColumnType, "type of edge values":
    Unit => "()", U32 => "u32", U64 => "u64", I64 => "i64", F32 => "f32", F64 => "f64", Record => "records");

/// Evaluates an expression with a type alias for a [`ColumnType`] known at run time.
///
/// ```
/// use hedgerow_model::{Column, ColumnType, with_column};
///
/// let column = ColumnType::F32;
/// assert_eq!(with_column!(column, W => size_of::<W>()), column.width());
/// ```
#[macro_export]
macro_rules! with_column {
    ($column:expr, $W:ident => $run:expr) => {
        $crate::with_column!(@ $column, $W => $run,
            Unit (), U32 u32, U64 u64, I64 i64, F32 f32, F64 f64, Record $crate::RecordHandle)
    };
    (@ $column:expr, $W:ident => $run:expr, $($name:ident $type:ty),*) => {
        match $column {
            $($crate::ColumnType::$name => {
                type $W = $type;
                $run
            })*
        }
    };
}

/// Evaluates an expression with a type alias for the values of a [`ColumnType`] known at run time,
/// by their width: [`Raw32`] or [`Raw64`] whatever the type, `()`, or [`RecordHandle`].
///
/// Generic code in the expression is compiled for four types instead of seven.
#[macro_export]
macro_rules! with_width {
    ($column:expr, $W:ident => $run:expr) => {
        match $column {
            $crate::ColumnType::Unit => {
                type $W = ();
                $run
            }
            $crate::ColumnType::U32 | $crate::ColumnType::F32 => {
                type $W = $crate::Raw32;
                $run
            }
            $crate::ColumnType::U64 | $crate::ColumnType::I64 | $crate::ColumnType::F64 => {
                type $W = $crate::Raw64;
                $run
            }
            $crate::ColumnType::Record => {
                type $W = $crate::RecordHandle;
                $run
            }
        }
    };
}

/// The value of one edge, as the bits of its label's [`ColumnType`].
///
/// Four-byte types use the low half. Made by [`Column::to_bits`], read by [`Column::from_bits`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EdgeValue(pub u64);

/// A type of edge values: `()`, `u32`, `u64`, `i64`, `f32`, `f64`, [`RecordHandle`], [`Raw32`],
/// [`Raw64`].
///
/// `()` is topology: it can read every label, whatever that label's column.
pub trait Column: bytemuck::Pod + Default + PartialEq + std::fmt::Debug + Send + Sync {
    /// The column's type at run time.
    const TYPE: ColumnType;

    /// True if this reads the bits of any column of the same width.
    const IS_RAW: bool = false;

    /// Encodes the value as stored bits.
    fn to_bits(self) -> EdgeValue;

    /// Decodes the value from its stored bits.
    fn from_bits(bits: EdgeValue) -> Self;

    /// The values of `column` in `range`.
    ///
    /// For `()` the column is ignored. Panics if the width differs: the caller compared the types
    /// when it made its adjacency.
    fn slice(column: &ValueColumn, range: Range<usize>) -> &[Self];
}

/// `length` units, the values of topology.
#[must_use]
pub fn unit_slice(length: usize) -> &'static [()] {
    // An array of zero-sized elements takes no memory.
    static UNITS: [(); usize::MAX] = [(); usize::MAX];
    &UNITS[..length]
}

impl Column for () {
    const TYPE: ColumnType = ColumnType::Unit;

    fn to_bits(self) -> EdgeValue {
        EdgeValue(0)
    }

    fn from_bits(_bits: EdgeValue) -> Self {}

    #[inline]
    fn slice(_column: &ValueColumn, range: Range<usize>) -> &[Self] {
        unit_slice(range.len())
    }
}

macro_rules! column {
    ($type:ty, $name:ident, $variant:ident, $to:expr, $from:expr) => {
        column!($type, $name, $variant, $to, $from, false);
    };
    ($type:ty, $name:ident, $variant:ident, $to:expr, $from:expr, $is_raw:literal) => {
        impl Column for $type {
            const TYPE: ColumnType = ColumnType::$name;
            const IS_RAW: bool = $is_raw;

            #[inline]
            fn to_bits(self) -> EdgeValue {
                EdgeValue($to(self))
            }

            #[inline]
            fn from_bits(bits: EdgeValue) -> Self {
                $from(bits.0)
            }

            #[inline]
            fn slice(column: &ValueColumn, range: Range<usize>) -> &[Self] {
                match column {
                    ValueColumn::$variant(values) => bytemuck::cast_slice(&values[range]),
                    _ => panic!("a column of another width than {}", Self::TYPE),
                }
            }
        }
    };
}

column!(u32, U32, Four, |value: u32| u64::from(value), |bits: u64| bits as u32);
column!(u64, U64, Eight, |value: u64| value, |bits: u64| bits);
column!(i64, I64, Eight, |value: i64| value as u64, |bits: u64| bits as i64);
column!(f32, F32, Four, |value: f32| u64::from(value.to_bits()), |bits: u64| f32::from_bits(bits as u32));
column!(f64, F64, Eight, f64::to_bits, f64::from_bits);
column!(RecordHandle, Record, Eight, |handle: RecordHandle| handle.0, RecordHandle);
column!(Raw32, U32, Four, |raw: Raw32| u64::from(raw.0), |bits: u64| Raw32(bits as u32), true);
column!(Raw64, U64, Eight, |raw: Raw64| raw.0, Raw64, true);

/// The bits of an edge value of four bytes: reads the columns of `u32` and `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Raw32(u32);

/// The bits of an edge value of eight bytes: reads the columns of `u64`, `i64` and `f64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Raw64(u64);

/// The handle of an edge's record in an engine that uses `hedgerow-in-memory`: an edge value that
/// only the engine can read.
///
/// Other engines have no column of this type, and [refuse](crate::ViewError::NoHandles) to read
/// one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct RecordHandle(u64);

/// A growable column of values whose type is known at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueColumn {
    /// No values.
    Unit,
    /// Values of four bytes.
    Four(Vec<u32>),
    /// Values of eight bytes.
    Eight(Vec<u64>),
}

impl ValueColumn {
    /// An empty column with room for `capacity` values of type `column`.
    #[must_use]
    pub fn with_capacity(column: ColumnType, capacity: usize) -> Self {
        match column.width() {
            0 => ValueColumn::Unit,
            4 => ValueColumn::Four(Vec::with_capacity(capacity)),
            _ => ValueColumn::Eight(Vec::with_capacity(capacity)),
        }
    }

    /// Appends a value.
    #[inline]
    pub fn push(&mut self, value: EdgeValue) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.push(value.0 as u32),
            ValueColumn::Eight(values) => values.push(value.0),
        }
    }

    /// Appends the values of `other`, a column of the same type, in `range`.
    #[inline]
    pub fn extend_from(&mut self, other: &ValueColumn, range: Range<usize>) {
        match (self, other) {
            (ValueColumn::Four(values), ValueColumn::Four(other)) => values.extend_from_slice(&other[range]),
            (ValueColumn::Eight(values), ValueColumn::Eight(other)) => {
                values.extend_from_slice(&other[range]);
            }
            (ValueColumn::Unit, ValueColumn::Unit) => {}
            _ => panic!("columns of different widths"),
        }
    }

    /// The value at `position`; always zero for topology.
    #[inline]
    #[must_use]
    pub fn get(&self, position: usize) -> EdgeValue {
        match self {
            ValueColumn::Unit => EdgeValue(0),
            ValueColumn::Four(values) => EdgeValue(u64::from(values[position])),
            ValueColumn::Eight(values) => EdgeValue(values[position]),
        }
    }

    /// Replaces the value at `position`.
    #[inline]
    pub fn set(&mut self, position: usize, value: EdgeValue) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values[position] = value.0 as u32,
            ValueColumn::Eight(values) => values[position] = value.0,
        }
    }

    /// Inserts a value at `position`, and shifts the later ones by one.
    #[inline]
    pub fn insert(&mut self, position: usize, value: EdgeValue) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.insert(position, value.0 as u32),
            ValueColumn::Eight(values) => values.insert(position, value.0),
        }
    }

    /// Copies the values in `range` to the positions from `to` on; the ranges may overlap.
    #[inline]
    pub fn copy_within(&mut self, range: Range<usize>, to: usize) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.copy_within(range, to),
            ValueColumn::Eight(values) => values.copy_within(range, to),
        }
    }

    /// Truncates the column, or appends zeros, to `length` values.
    pub fn resize(&mut self, length: usize) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.resize(length, 0),
            ValueColumn::Eight(values) => values.resize(length, 0),
        }
    }

    /// Heap bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            ValueColumn::Unit => 0,
            ValueColumn::Four(values) => values.capacity() * 4,
            ValueColumn::Eight(values) => values.capacity() * 8,
        }
    }

    /// Shrinks the capacity to `capacity`, or to the number of values if that is greater.
    pub fn shrink_to(&mut self, capacity: usize) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.shrink_to(capacity),
            ValueColumn::Eight(values) => values.shrink_to(capacity),
        }
    }

    /// Releases unused capacity.
    pub fn shrink_to_fit(&mut self) {
        match self {
            ValueColumn::Unit => {}
            ValueColumn::Four(values) => values.shrink_to_fit(),
            ValueColumn::Eight(values) => values.shrink_to_fit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip<W: Column>(values: &[W]) {
        let mut column = ValueColumn::with_capacity(W::TYPE, 0);
        values.iter().for_each(|value| column.push(value.to_bits()));
        assert_eq!(W::slice(&column, 0..values.len()), values);
        for (position, value) in values.iter().enumerate() {
            assert_eq!(W::from_bits(column.get(position)), *value);
        }
    }

    #[test]
    fn values_come_back_as_they_went_in() {
        round_trip::<()>(&[(), ()]);
        round_trip::<u32>(&[0, 7, u32::MAX]);
        round_trip::<u64>(&[0, 7, u64::MAX]);
        round_trip::<i64>(&[i64::MIN, -1, 0, i64::MAX]);
        round_trip::<f32>(&[0.0, -1.5, f32::INFINITY]);
        round_trip::<f64>(&[0.0, -1.5, f64::MIN_POSITIVE]);
    }

    #[test]
    fn ranges_of_one_column_extend_another() {
        let mut from = ValueColumn::with_capacity(ColumnType::F64, 0);
        [1.0, 2.0, 3.0].into_iter().for_each(|value: f64| from.push(Column::to_bits(value)));
        let mut to = ValueColumn::with_capacity(ColumnType::F64, 0);
        to.extend_from(&from, 1..3);
        assert_eq!(f64::slice(&to, 0..2), [2.0, 3.0]);
    }

    #[test]
    fn values_are_inserted_replaced_and_moved() {
        for column in [ColumnType::U32, ColumnType::U64] {
            let mut values = ValueColumn::with_capacity(column, 0);
            [1, 3].into_iter().for_each(|value| values.push(EdgeValue(value)));
            values.insert(1, EdgeValue(2));
            values.resize(5);
            values.copy_within(1..3, 3);
            values.set(0, EdgeValue(9));
            let read: Vec<u64> = (0..5).map(|position| values.get(position).0).collect();
            assert_eq!(read, [9, 2, 3, 2, 3]);
            values.resize(1);
            assert_eq!(values.get(0), EdgeValue(9));
        }
    }
}
