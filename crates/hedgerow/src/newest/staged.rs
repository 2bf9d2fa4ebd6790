//! Newest-first reads in transactions, which see what they staged.

use crate::error::{Error, Reason};
use crate::parallel_edge::ParallelEdge;
use crate::reads::check_adjacency;
use crate::transaction::WriteTxn;
use hedgerow_model::{
    AsKey, Column, Direction, EdgeSchema, EdgeValue, Key, LabelId, Record, ViewError, with_column,
};
use hedgerow_pipeline::{Newest, NewestBy, time_of};

impl WriteTxn {
    /// The neighbors of a vertex and the values beside them, newest first, for this transaction: see [`Newest`]. Not by commit, which
    /// what is staged has none of. Of equal times those that only this transaction put come last. O(degree log degree).
    ///
    /// # Errors
    /// As [`Snapshot::newest_neighbors`](crate::Snapshot::newest_neighbors).
    pub fn newest_neighbors<W: Column>(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, W)>, Error> {
        check_adjacency::<W>(self.stores(), label, direction)?;
        let (clock, edges) = self.clock(label, newest)?;
        if edges.record().is_some() {
            let found = self.newest_records(label, direction, key, newest)?;
            return Ok(found
                .into_iter()
                .map(|(neighbor, _)| (neighbor, W::from_bits(EdgeValue(0))))
                .collect());
        }
        debug_assert_eq!(clock, NewestBy::Value);
        let column = edges.column();
        let all: Vec<(Key, EdgeValue)> = with_column!(column, C => {
            let all = self.neighbors_of::<C>(label, direction, key)?;
            all.into_iter().map(|(neighbor, value)| (neighbor, Column::to_bits(value))).collect()
        });
        let dated = all
            .into_iter()
            .map(|(neighbor, value)| (Some(time_of(column, value)), (neighbor, W::from_bits(value))));
        Ok(newest.chosen(dated))
    }

    /// The neighbors of a vertex over a label that has records, with their records, newest first, for this transaction: one that parallel
    /// edges lead to with each of them. As [`WriteTxn::newest_neighbors`].
    ///
    /// # Errors
    /// As [`Snapshot::newest_records`](crate::Snapshot::newest_records).
    pub fn newest_records(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<(Key, Record)>, Error> {
        self.stores().any_record_schema(label)?;
        if self.stores().are_parallel(label) {
            let found = self.newest_parallel_edges(label, direction, key, newest)?;
            return Ok(found.into_iter().map(|edge| (edge.neighbor, edge.record)).collect());
        }
        let (clock, _) = self.clock(label, newest)?;
        let all = self.neighbor_records(label, direction, key)?;
        Ok(newest
            .chosen(all.into_iter().map(|(neighbor, record)| (clock.time(0, &record), (neighbor, record)))))
    }

    /// The edges of a vertex over a label whose edges may be parallel, newest first, for this transaction. As
    /// [`WriteTxn::newest_neighbors`].
    ///
    /// # Errors
    /// As [`Snapshot::newest_parallel_edges`](crate::Snapshot::newest_parallel_edges).
    pub fn newest_parallel_edges(
        &mut self,
        label: LabelId,
        direction: Direction,
        key: impl AsKey,
        newest: &Newest,
    ) -> Result<Vec<ParallelEdge>, Error> {
        self.stores().parallel_schema(label)?;
        let (clock, _) = self.clock(label, newest)?;
        let all = self.parallel_neighbors(label, direction, key, ..)?;
        Ok(newest.chosen(all.into_iter().map(|edge| (clock.time(edge.key, &edge.record), edge))))
    }

    /// What says the time, and what lies on the edges of a label.
    fn clock(&self, label: LabelId, newest: &Newest) -> Result<(NewestBy, EdgeSchema), Error> {
        let schema = self.stores().catalog().label(label).ok_or(ViewError::UnknownLabel(label))?;
        match newest.clock(schema)? {
            NewestBy::Commit => Err(Reason::NoCommitOrderOfStaged.into()),
            clock => Ok((clock, schema.edges.clone())),
        }
    }
}
