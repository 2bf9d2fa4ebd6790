//! What reads of snapshots and of transactions have in common.

use crate::error::Error;
use crate::stores::{Stores, with_store};
use hedgerow_model::{Catalog, Column, ColumnType, Direction, LabelId, ViewError};

/// Whether the neighbors of a label can be read in a direction, with values of type `W`.
pub(crate) fn check_adjacency<W: Column>(
    stores: &Stores,
    label: LabelId,
    direction: Direction,
) -> Result<(), Error> {
    check_column::<W>(stores.catalog(), label)?;
    let topology = with_store!(stores, store => store.topology);
    topology.stored(direction).map(drop).ok_or(ViewError::NoReverse.into())
}

/// Whether the edges of a label can be read as `W`.
pub(crate) fn check_column<W: Column>(catalog: &Catalog, label: LabelId) -> Result<(), Error> {
    let schema = catalog.label(label).ok_or(ViewError::UnknownLabel(label))?;
    let declared = schema.edges.column();
    if W::TYPE == ColumnType::Unit || W::TYPE == declared {
        return Ok(());
    }
    Err(ViewError::WrongColumn { label, declared, asked: W::TYPE }.into())
}
