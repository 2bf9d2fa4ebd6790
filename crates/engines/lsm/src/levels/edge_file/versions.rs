//! The versions of edges in a file, in order, for merges.

use super::EdgeFile;
use super::read_ahead::ReadAhead;
use crate::levels::block::{Block, Version};
use crate::levels::merge::{VersionBatch, VersionSource};
use crate::levels::records::DisjointRecords;
use hedgerow_encoding::DecodeError;
use hedgerow_model::{ColumnType, ReadError, VertexId};
use std::ops::{ControlFlow, Range};

/// The versions of edges of a range of owners in a file.
#[derive(Debug)]
pub struct EdgeFileVersions<'f> {
    file: &'f EdgeFile,
    blocks: Range<usize>,
    ahead: ReadAhead,
    owners: Range<u32>,
    /// The last edge of the blocks before.
    last: Option<(VertexId, VertexId)>,
}

impl EdgeFile {
    /// Returns all versions of edges of these owners. Reads one block at a time.
    #[must_use]
    pub fn versions_of(&self, owners: Range<u32>) -> EdgeFileVersions<'_> {
        let blocks = self.blocks_of(owners.clone());
        EdgeFileVersions { file: self, blocks, ahead: ReadAhead::default(), owners, last: None }
    }
}

impl VersionSource for EdgeFileVersions<'_> {
    /// Every block has edges of these owners, except perhaps the last block, so only the end is
    /// empty. Edges ascend within a block whatever its bytes are; edges of different blocks are
    /// compared here.
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        self.ahead.merge(self.file, &self.blocks);
        let Some(number) = self.blocks.next() else { return Ok(()) };
        let bytes = self.file.read_block(number)?;
        let block = self.file.parse(number, &bytes)?;
        let records = self.file.read_records(&block)?;
        let read = match self.file.column() {
            ColumnType::Record => push_records(&block, &records, &self.owners, batch),
            _ => block.push_versions(&self.owners, batch),
        };
        let ends = batch.ends();
        let ascends = ends.is_none_or(|(first, _)| self.last.is_none_or(|last| last < first));
        self.last = ends.map(|(_, last)| last).or(self.last);
        let read =
            if ascends { read } else { Err(DecodeError { offset: 0, what: "edges that do not ascend" }) };
        read.map_err(|error| self.file.damaged(number, error))
    }
}

fn push_records(
    block: &Block<'_>,
    records: &[u8],
    owners: &Range<u32>,
    batch: &mut VersionBatch,
) -> Result<(), DecodeError> {
    let mut records = DisjointRecords::new(records);
    each_version(block, owners, |owner, neighbor, Version { at, value }| {
        let record = value.map(|offset| records.at(offset)).transpose()?;
        batch.push_record(owner, neighbor, at, record);
        Ok(())
    })
}

/// Visits the versions of the edges of these owners, in the order of a [`VersionSource`].
fn each_version(
    block: &Block<'_>,
    owners: &Range<u32>,
    mut visit: impl FnMut(VertexId, VertexId, Version) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let flow = block.scan(|owner, row| {
        if !owners.contains(&owner.get()) {
            return ControlFlow::Continue(());
        }
        let mut visited = Ok(());
        let read = row.for_each_version(|neighbor, version| {
            if visited.is_ok() {
                visited = visit(owner, neighbor, version);
            }
        });
        match read.and(visited) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    })?;
    flow.break_value().map_or(Ok(()), Err)
}
