//! Partitions the vertices of a graph into ranges of about equal work.

use std::ops::Range;

/// Partitions the ids below `bound` into at most `parts` ranges of about equal work.
///
/// `blocks` are ranges of ids that are not split, ascending: the id after each block, and its work.
/// Ids between two blocks cost nothing. O(blocks).
#[must_use]
pub fn cuts_by_work(bound: u32, parts: usize, blocks: &[(u32, u64)]) -> Vec<Range<u32>> {
    let work = |block: &(u32, u64)| u128::from(block.1);
    let (parts, total) = (parts.max(1) as u128, blocks.iter().map(work).sum::<u128>());
    let (mut cuts, mut start, mut passed) = (Vec::new(), 0, 0);
    for block in blocks {
        passed += work(block);
        let (end, full) = (block.0.min(bound), cuts.len() as u128 + 1);
        if full < parts && passed * parts >= total * full && end < bound {
            cuts.push(start..end);
            start = end;
        }
    }
    if start < bound {
        cuts.push(start..bound);
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cuts_are_few_cover_all_ids_and_share_the_work(
            steps in prop::collection::vec((1..100_u32, 0..1000_u64), 0..60),
            beyond in 0..100_u32,
            parts in 0..20_usize,
        ) {
            let mut end = 0;
            let blocks: Vec<_> = steps.into_iter().map(|(ids, work)| { end += ids; (end, work) }).collect();
            let bound = end + beyond;
            let cuts = cuts_by_work(bound, parts, &blocks);
            prop_assert!(cuts.len() <= parts.max(1));
            prop_assert_eq!(cuts.iter().map(|cut| cut.start).collect::<Vec<_>>(),
                cuts.iter().scan(0, |start, cut| Some(std::mem::replace(start, cut.end))).collect::<Vec<_>>());
            prop_assert_eq!(cuts.last().map_or(0, |cut| cut.end), bound);
            // A range has at most its share plus one block, which is never split.
            let total: u64 = blocks.iter().map(|(_, work)| work).sum();
            let largest = blocks.iter().map(|(_, work)| *work).max().unwrap_or(0);
            for cut in &cuts {
                let work: u64 = blocks.iter().filter(|(end, _)| *end > cut.start && *end <= cut.end).map(|(_, work)| work).sum();
                prop_assert!(work <= total.div_ceil(parts.max(1) as u64) + largest);
            }
        }
    }
}
