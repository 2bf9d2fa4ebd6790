//! Writing sorted versions of edges into segments.

use super::{LevelTree, Target};
use crate::levels::edge_file::EdgeFileWriter;
use crate::levels::manifest::FileEntry;
use crate::levels::merge::VersionRun;
use hedgerow_model::{ColumnType, EngineError, ReadError, VertexId};

/// Writes an adjacency to new files, cut between vertices.
pub(super) struct SegmentWriter<'t> {
    tree: &'t LevelTree,
    target: Target,
    column: ColumnType,
    open: Option<EdgeFileWriter>,
    /// The owner of the last version.
    last: Option<VertexId>,
    /// All files so far, of which only the last may be open.
    files: Vec<FileEntry>,
    /// Bytes of the files that are full.
    full_bytes: u64,
}

impl<'t> SegmentWriter<'t> {
    pub fn new(tree: &'t LevelTree, target: Target) -> Result<Self, ReadError> {
        let column = tree.column(target.adjacency)?;
        Ok(SegmentWriter { tree, target, column, open: None, last: None, files: Vec::new(), full_bytes: 0 })
    }

    /// Adds versions, which ascend by owner and neighbor. O(versions), amortized.
    pub fn push(&mut self, mut run: VersionRun<'_>) -> Result<(), EngineError> {
        while let [edge, ..] = run.edges() {
            let is_full = self.last != Some(edge.owner())
                && self.open.as_ref().is_some_and(|writer| writer.bytes() >= self.target.segment_bytes);
            if is_full {
                self.end_file()?;
            }
            let writer = match &mut self.open {
                Some(writer) => writer,
                none => none.insert(self.tree.create(self.target, self.column, &mut self.files)?),
            };
            self.last = Some(edge.owner());
            let taken = writer.push_some(run)?;
            run = run.part(taken..run.edges().len());
        }
        Ok(())
    }

    /// The bytes so far, without the block that is not full.
    pub fn bytes(&self) -> u64 {
        self.full_bytes + self.open.as_ref().map_or(0, EdgeFileWriter::bytes)
    }

    /// Ends the last file, and returns all of them.
    pub fn finish(&mut self) -> Result<&[FileEntry], EngineError> {
        self.end_file()?;
        Ok(&self.files)
    }

    fn end_file(&mut self) -> Result<(), EngineError> {
        if let (Some(writer), Some(entry)) = (self.open.take(), self.files.last_mut()) {
            entry.bytes = writer.finish()?;
            self.full_bytes += entry.bytes;
        }
        Ok(())
    }

    /// Removes the files after a failure. One that cannot be removed now is removed when the store
    /// is opened for writing.
    pub fn remove(self) {
        self.files.iter().for_each(|file| drop(file.remove(&*self.tree.files, self.column)));
    }
}
