//! Prefetching for the next changes of a large commit.
//!
//! The partitions of a large commit are spread over memory, and finding a row takes three dependent
//! accesses: the chain, the row's offset, the row. Each is prefetched several groups of changes
//! ahead, so that many cache misses overlap.

use crate::subgraphs::chain::Chain;
use crate::subgraphs::container::Container;
use crate::subgraphs::directory::PartitionDirectory;
use crate::subgraphs::partition::{partition_of, slot_of};
use hedgerow_model::ChangeSlice;
use hedgerow_sync::prefetch;

/// Prefetch distance of each access, in groups.
const CHAIN: usize = 12;
const PLACES: usize = 8;
const ROWS: usize = 4;

/// Prefetches for the groups after group `number`. A group holds the changes of one partition.
///
/// `look` calls its argument with the newest container of a chain, whose lock is held.
#[inline]
pub(crate) fn fetch<C: Container>(
    chains: &PartitionDirectory<Chain<C>>,
    groups: &[ChangeSlice<'_>],
    number: usize,
    look: impl Fn(&Chain<C>, u32, &dyn Fn(&C)),
) {
    let with_chain = |ahead: usize| {
        let changes = *groups.get(number + ahead)?;
        let partition = partition_of(changes.get(0)?.owner());
        Some((chains.get(partition)?, partition, changes))
    };
    if let Some((chain, ..)) = with_chain(CHAIN) {
        prefetch(chain, 1);
    }
    if let Some((chain, _, changes)) = with_chain(PLACES) {
        changes.iter().for_each(|change| C::prefetch_place(chain.hint(), slot_of(change.owner())));
    }
    if let Some((chain, partition, changes)) = with_chain(ROWS) {
        look(chain, partition, &|container| {
            changes.iter().for_each(|change| {
                container.prefetch_change(slot_of(change.owner()), change.neighbor());
            });
        });
    }
}
