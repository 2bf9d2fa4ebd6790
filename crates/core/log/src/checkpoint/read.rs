//! Reads a checkpoint chunk by chunk, in any order, on any number of threads.

use super::codec::rows::{RowsShape, read_record_rows, read_rows};
use super::codec::vertices::{VerticesShape, read_vertices};
use super::layout::{
    CHUNK_HEADER_BYTES, CheckpointHeader, ChunkIndex, HEADER_BYTES, INDEX_ENTRY_BYTES, NoCheckpointHeader,
    TRAILER_BYTES, Trailer,
};
use super::{CheckpointChunk, ChunkContent, Description};
use crate::error::StoreError;
use crate::files::{File, FileSystem, OpenMode, pieces};
use crate::planted::{self, PlantedBug};
use crate::stretch::NOT_COMPILED;
use hedgerow_encoding::wire::DecodeError;
use hedgerow_model::{Column, ColumnType, KeyRef, LabelId, Record, VertexId, ViewError, with_column};
use rayon::ThreadPool;
use rayon::prelude::*;

/// An open checkpoint, whose description and index of chunks are verified.
///
/// Chunks are read and checked one by one, in any order, on any thread. A loader restores vertices
/// first, then edges:
///
/// ```
/// # use hedgerow_log::StoreError;
/// # use hedgerow_log::checkpoint::Checkpoint;
/// # use hedgerow_log::files::FileSystem;
/// # fn load(files: &dyn FileSystem, name: &str) -> Result<(), StoreError> {
/// let checkpoint = Checkpoint::open(files, name)?;
/// for chunk in checkpoint.vertex_chunks() {
///     checkpoint.read_vertices(chunk, |vertex, key, record| { /* … */ })?;
/// }
/// for (label, _) in checkpoint.description().labels() {
///     for chunk in checkpoint.edge_chunks(label) {
///         checkpoint.read_edges::<f64>(chunk, |source, destinations, values| { /* … */ })?;
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Checkpoint {
    file: Box<dyn File>,
    identity: u32,
    description: Description,
    chunks: Vec<CheckpointChunk>,
}

impl Checkpoint {
    /// Opens the checkpoint in the file `name`. O(chunks).
    ///
    /// # Errors
    /// The file system's error; [`StoreError::Foreign`] if the file is not a checkpoint,
    /// [`StoreError::NewerFormat`], [`StoreError::Damaged`].
    pub fn open(files: &dyn FileSystem, name: &str) -> Result<Self, StoreError> {
        let file = files.open(name, OpenMode::Read)?;
        let header = read_header(&*file)?;
        let identity = header.identity();
        let chunks = read_chunks(&*file, identity)?;
        let description = read_description(&*file, header, &chunks)?;
        check_counts(&*file, &description, &chunks)?;
        Ok(Checkpoint { file, identity, description, chunks })
    }

    /// The description of the whole graph.
    #[must_use]
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// All chunks, in the order of the file: the description, the vertices, the edges by label. The
    /// ranges of the vertex chunks, and of the chunks of each label, ascend.
    #[must_use]
    pub fn chunks(&self) -> &[CheckpointChunk] {
        &self.chunks
    }

    /// The chunks of vertices, ascending. Ids below the bound that no chunk contains are free.
    #[must_use]
    pub fn vertex_chunks(&self) -> &[CheckpointChunk] {
        self.chunks_of(ChunkContent::Vertices)
    }

    /// The chunks of a label's edges, ascending.
    #[must_use]
    pub fn edge_chunks(&self, label: LabelId) -> &[CheckpointChunk] {
        self.chunks_of(ChunkContent::Edges(label))
    }

    fn chunks_of(&self, content: ChunkContent) -> &[CheckpointChunk] {
        let begin = self.chunks.partition_point(|chunk| chunk.content < content);
        let end = self.chunks.partition_point(|chunk| chunk.content <= content);
        &self.chunks[begin..end]
    }

    /// Reads the vertices of a chunk, ascending, each with its key and its record; ids in between
    /// are free. O(chunk).
    ///
    /// # Errors
    /// The file system's error; [`StoreError::Damaged`]. If the checksum of the chunk does not
    /// match, nothing is visited.
    ///
    /// # Panics
    /// If the chunk is not a chunk of vertices of this checkpoint.
    pub fn read_vertices(
        &self,
        chunk: &CheckpointChunk,
        visit: impl FnMut(VertexId, KeyRef<'_>, Record),
    ) -> Result<(), StoreError> {
        assert_eq!(chunk.content, ChunkContent::Vertices, "not a chunk of vertices");
        let body = self.read_body(chunk)?;
        let shape = VerticesShape {
            keys: self.description.keys,
            fields: self.description.catalog.vertices().fields.len(),
            vertex_bound: self.description.counts.vertex_bound,
            entries: chunk.entries as usize,
            first: chunk.first,
            last: chunk.last,
        };
        read_vertices(&body, &shape, visit).map_err(|error| self.damaged(chunk, error))
    }

    /// Reads the edges of a chunk in runs of destinations of one source, ascending. A source may
    /// have several runs, which are valid during the call. In an undirected graph each edge comes
    /// once, from its smaller end. `W` is the type of the values, or raw values of its width;
    /// `()` skips them. O(chunk).
    ///
    /// # Errors
    /// The file system's error; [`StoreError::Damaged`]. If the checksum of the chunk does not
    /// match, nothing is visited.
    ///
    /// # Panics
    /// If the chunk is not a chunk of edges of this checkpoint, or their values are not of type
    /// `W`.
    pub fn read_edges<W: Column>(
        &self,
        chunk: &CheckpointChunk,
        visit: impl FnMut(VertexId, &[VertexId], &[W]),
    ) -> Result<(), StoreError> {
        let shape = self.rows_shape(chunk);
        let is_declared = ViewError::check_column::<W>(LabelId::DEFAULT, shape.column).is_ok();
        assert!(is_declared, "values of another type");
        let body = self.read_body(chunk)?;
        read_rows(&body, &shape, visit).map_err(|error| self.damaged(chunk, error))
    }

    /// Reads the edges of a chunk of a label with records one by one, each with its
    /// [record](hedgerow_encoding::decode_record).
    ///
    /// # Errors
    /// The file system's error; [`StoreError::Damaged`]. If the checksum of the chunk does not
    /// match, nothing is visited.
    ///
    /// # Panics
    /// If the chunk is not a chunk of edges with records of this checkpoint.
    pub fn read_record_edges(
        &self,
        chunk: &CheckpointChunk,
        visit: impl FnMut(VertexId, VertexId, &[u8]),
    ) -> Result<(), StoreError> {
        let shape = self.rows_shape(chunk);
        assert!(shape.column == ColumnType::Record, "values of another type");
        let body = self.read_body(chunk)?;
        read_record_rows(&body, &shape, visit).map_err(|error| self.damaged(chunk, error))
    }

    fn rows_shape(&self, chunk: &CheckpointChunk) -> RowsShape {
        let ChunkContent::Edges(label) = chunk.content else { panic!("not a chunk of edges") };
        RowsShape {
            is_undirected: self.description.topology.is_undirected(),
            column: self.description.column(label),
            vertex_bound: self.description.counts.vertex_bound,
            entries: chunk.entries as usize,
            first: chunk.first,
            last: chunk.last,
        }
    }

    /// Reads all chunks, on the threads of `pool` or on this thread. Returns all damage that it
    /// finds, in the order of the file.
    #[must_use]
    pub fn check(&self, pool: Option<&ThreadPool>) -> Vec<StoreError> {
        let check = |chunk: &CheckpointChunk| match chunk.content {
            ChunkContent::Description => None,
            ChunkContent::Vertices => self.read_vertices(chunk, |_, _, _| {}).err(),
            ChunkContent::Edges(label) => {
                let column = self.description.column(label);
                with_column!(column, W => self.read_edges::<W>(chunk, |_, _, _| {})).err()
            }
        };
        match pool {
            Some(pool) => pool.install(|| self.chunks.par_iter().filter_map(check).collect()),
            None => self.chunks.iter().filter_map(check).collect(),
        }
    }

    /// Passes all bytes of the file, chunk by chunk, to `visit`, each with its offset. O(file),
    /// with a chunk in memory; decodes nothing.
    ///
    /// # Errors
    /// The file system's error; [`StoreError::Damaged`] if the checksum of a chunk does not match,
    /// before it is visited; errors of `visit`.
    pub(crate) fn read_all(
        &self,
        mut visit: impl FnMut(&[u8], u64) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let (file, last) =
            (&*self.file, self.chunks.last().map_or(HEADER_BYTES as u64, CheckpointChunk::end));
        visit(&file.read_range(0..HEADER_BYTES as u64)?, 0)?;
        for chunk in &self.chunks {
            visit(&read_chunk(file, self.identity, chunk)?, chunk.offset)?;
        }
        pieces(last..file.length()?)
            .try_for_each(|piece| visit(&file.read_range(piece.clone())?, piece.start))
    }

    /// Compares all chunks with their checksums.
    ///
    /// # Errors
    /// As [`Checkpoint::read_all`].
    pub(crate) fn check_checksums(&self) -> Result<(), StoreError> {
        self.read_all(|_, _| Ok(()))
    }

    /// Returns true if two checkpoints have the same header and the same checksums. O(chunks).
    pub(crate) fn is_same(&self, other: &Checkpoint) -> bool {
        self.identity == other.identity && self.chunks == other.chunks
    }

    fn read_body(&self, chunk: &CheckpointChunk) -> Result<Vec<u8>, StoreError> {
        read_body(&*self.file, self.identity, chunk)
    }

    fn damaged(&self, chunk: &CheckpointChunk, error: DecodeError) -> StoreError {
        damaged_at(&*self.file, chunk.offset + CHUNK_HEADER_BYTES as u64, error)
    }
}

fn read_header(file: &dyn File) -> Result<CheckpointHeader, StoreError> {
    let length = file.length()?.min(HEADER_BYTES as u64);
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, 0)?;
    let path = file.path().to_owned();
    CheckpointHeader::decode(&bytes).map_err(|error| match error {
        NoCheckpointHeader::Foreign => StoreError::Foreign { path, what: "it is no checkpoint" },
        NoCheckpointHeader::Version(version) => StoreError::NewerFormat { path, version },
        NoCheckpointHeader::Damaged(error) => damaged_at(file, 0, error),
    })
}

/// The error of damage in an item that begins `begin` bytes into the file.
fn damaged_at(file: &dyn File, begin: u64, error: DecodeError) -> StoreError {
    if error.what == NOT_COMPILED {
        return StoreError::Compressed { path: file.path().to_owned() };
    }
    StoreError::undecodable(file.path(), begin as usize, error)
}

/// Reads the index at the end of the file.
fn read_chunks(file: &dyn File, identity: u32) -> Result<Vec<CheckpointChunk>, StoreError> {
    let length = file.length()?;
    let trailer_offset = length.saturating_sub(TRAILER_BYTES as u64).max(HEADER_BYTES as u64);
    let damaged = |begin, error| damaged_at(file, begin, error);
    // If the file was cut shorter than a trailer, decoding the trailer fails.
    let mut trailer = vec![0; length.saturating_sub(trailer_offset) as usize];
    file.read_exact_at(&mut trailer, trailer_offset)?;
    let trailer =
        Trailer::decode(&trailer, identity, length).map_err(|error| damaged(trailer_offset, error))?;
    // The trailer has checked that index and trailer fit in the file.
    let (begin, end) = (trailer.index_offset, trailer_offset);
    let (mut index, mut checksum) = (ChunkIndex::default(), identity);
    for offset in (begin..end).step_by(INDEX_PIECE_BYTES) {
        let piece = file.read_range(offset..end.min(offset + INDEX_PIECE_BYTES as u64))?;
        checksum = crc32c::crc32c_append(checksum, &piece);
        index.add(&piece).map_err(|error| damaged(offset, error))?;
    }
    if checksum != trailer.index_checksum {
        return Err(damaged(begin, WRONG_CHECKSUM));
    }
    index.finish(begin).map_err(|error| damaged(begin, error))
}

/// Bytes of the index that are read at a time: a multiple of an entry.
const INDEX_PIECE_BYTES: usize = INDEX_ENTRY_BYTES << 14;

/// Size above which the body of a chunk is checked before it is read into memory. Most chunks have
/// about 1 MiB.
const LARGE_BODY: u64 = 8 << 20;

const WRONG_CHECKSUM: DecodeError = DecodeError { offset: 0, what: "the checksum does not match" };

fn read_description(
    file: &dyn File,
    header: CheckpointHeader,
    chunks: &[CheckpointChunk],
) -> Result<Description, StoreError> {
    // An index begins with the description.
    let chunk = &chunks[0];
    let body = read_body(file, header.identity(), chunk)?;
    let description = Description::decode(&body, &header);
    description.map_err(|error| damaged_at(file, chunk.offset + CHUNK_HEADER_BYTES as u64, error))
}

/// Reads the body of a chunk and checks it.
fn read_body(file: &dyn File, identity: u32, chunk: &CheckpointChunk) -> Result<Vec<u8>, StoreError> {
    let mut bytes = read_chunk(file, identity, chunk)?;
    bytes.drain(..CHUNK_HEADER_BYTES);
    Ok(bytes)
}

/// Reads a chunk with its header and checks it.
fn read_chunk(file: &dyn File, identity: u32, chunk: &CheckpointChunk) -> Result<Vec<u8>, StoreError> {
    // The index follows the chunk, so the chunk fits in the file.
    let body = chunk.offset + CHUNK_HEADER_BYTES as u64..chunk.end();
    if u64::from(chunk.length) > LARGE_BODY
        && file.checksum_of(body, chunk.checksum_before_body(identity))? != chunk.checksum
    {
        return Err(damaged_at(file, chunk.offset, WRONG_CHECKSUM));
    }
    let bytes = file.read_range(chunk.offset..chunk.end())?;
    let (header, body) = bytes.split_at(CHUNK_HEADER_BYTES);
    let is_right = header == chunk.header() && chunk.checksum_of(identity, body) == chunk.checksum;
    if !(is_right || planted::is(PlantedBug::IgnoreChecksum)) {
        return Err(damaged_at(file, chunk.offset, WRONG_CHECKSUM));
    }
    Ok(bytes)
}

/// Checks that the numbers of entries in the chunks match the description, and that all labels are
/// known.
fn check_counts(
    file: &dyn File,
    description: &Description,
    chunks: &[CheckpointChunk],
) -> Result<(), StoreError> {
    let damaged =
        |chunk: &CheckpointChunk, what| Err(damaged_at(file, chunk.offset, DecodeError { offset: 0, what }));
    let mut vertices = 0;
    let mut edges = vec![0; description.catalog.labels().len()];
    for chunk in chunks {
        let count = match chunk.content {
            ChunkContent::Description => continue,
            ChunkContent::Vertices => &mut vertices,
            ChunkContent::Edges(label) => match edges.get_mut(label.index()) {
                Some(count) => count,
                None => return damaged(chunk, "edges of an unknown label"),
            },
        };
        *count += u64::from(chunk.entries);
    }
    let expected = description.labels().map(|(label, _)| description.counts.edges_of(label).at_most());
    if vertices != description.counts.vertices || !expected.eq(edges) {
        return damaged(&chunks[0], "counts of vertices or edges that its chunks don't have");
    }
    Ok(())
}
