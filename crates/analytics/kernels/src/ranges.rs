//! Cuts the vertices and the arrays over them into the same ranges.

use crate::KernelError;
use hedgerow_model::Adjacency;
use std::ops::Range;

/// At most `parts` ranges of about equal work that cover every id below `vertex_bound`, including
/// ids without neighbors.
pub(crate) fn covering_ranges(
    adjacency: &impl Adjacency,
    parts: usize,
    vertex_bound: u32,
) -> Result<Vec<Range<u32>>, KernelError> {
    let cuts = adjacency.cuts(parts)?;
    let starts = cuts.iter().skip(1).map(|cut| cut.start);
    let ends = starts.chain([vertex_bound]);
    let mut start = 0;
    let ranges = ends.map(|end| std::mem::replace(&mut start, end)..end);
    Ok(ranges.filter(|range| !range.is_empty()).collect())
}

/// Splits `array`, which has an element per id, by ranges that cover all ids.
pub(crate) fn split_mut<'a, T>(
    mut array: &'a mut [T],
    ranges: &'a [Range<u32>],
) -> impl Iterator<Item = &'a mut [T]> {
    ranges.iter().map(move |range| {
        array.split_off_mut(..range.len()).expect("the ranges are as long as the array together")
    })
}
