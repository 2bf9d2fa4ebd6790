//! Copies of columns with a value inserted, removed, or replaced.

use super::edit::{with_inserted, with_removed};
use hedgerow_model::{EdgeValue, ValueColumn};
use std::ops::Range;

/// Copies the values in a range.
pub(super) fn copied(values: &ValueColumn, range: Range<usize>) -> ValueColumn {
    match values {
        ValueColumn::Unit => ValueColumn::Unit,
        ValueColumn::Four(values) => ValueColumn::Four(values[range].to_vec()),
        ValueColumn::Eight(values) => ValueColumn::Eight(values[range].to_vec()),
    }
}

pub(super) fn inserted(values: &ValueColumn, position: usize, value: EdgeValue) -> ValueColumn {
    match values {
        ValueColumn::Unit => ValueColumn::Unit,
        ValueColumn::Four(values) => ValueColumn::Four(with_inserted(values, position, value.0 as u32)),
        ValueColumn::Eight(values) => ValueColumn::Eight(with_inserted(values, position, value.0)),
    }
}

pub(super) fn removed(values: &ValueColumn, position: usize) -> ValueColumn {
    match values {
        ValueColumn::Unit => ValueColumn::Unit,
        ValueColumn::Four(values) => ValueColumn::Four(with_removed(values, position)),
        ValueColumn::Eight(values) => ValueColumn::Eight(with_removed(values, position)),
    }
}

pub(super) fn replaced(values: &ValueColumn, position: usize, value: EdgeValue) -> ValueColumn {
    let mut values = values.clone();
    match &mut values {
        ValueColumn::Unit => {}
        ValueColumn::Four(values) => values[position] = value.0 as u32,
        ValueColumn::Eight(values) => values[position] = value.0,
    }
    values
}
