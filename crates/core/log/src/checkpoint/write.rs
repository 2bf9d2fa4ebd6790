//! Writes a checkpoint: writes and syncs a temporary file, renames it, and syncs the directory.

use super::codec::rows::MAX_ENTRIES;
use super::codec::vertices::MAX_VERTICES;
use super::encode::{CheckpointPart, Encoded, encode};
use super::layout::{CheckpointHeader, HEADER_BYTES, Trailer};
use super::{CheckpointChunk, CheckpointError, CheckpointSource, ChunkContent, Description};
use crate::error::StoreError;
use crate::files::{File, FileSystem, OpenMode};
use crate::planted::{self, PlantedBug};
use hedgerow_model::LabelId;
use rayon::ThreadPool;
use rayon::prelude::*;
use std::fmt;
use std::ops::{ControlFlow, Range};
use std::thread;
use std::time::Instant;

/// The suffix of a checkpoint's name until it is complete. Such files may be removed when the store
/// is opened.
pub const UNFINISHED: &str = ".unfinished";

/// Bytes between syncs while writing. These syncs keep the final sync short, and so the time for
/// which syncs of the log wait for it.
const SYNC_BYTES: u64 = 64 << 20;

/// Options for writing a checkpoint. By default, writes on the calling thread, without pauses.
#[derive(Clone, Copy, Default)]
pub struct WriteOptions<'a> {
    /// The threads that encode; `None` means the calling thread only.
    pub pool: Option<&'a ThreadPool>,
    /// The fraction of the time in which a thread works, between 0 and 1; it sleeps for the rest.
    /// Called at every pause; `None` means 1.
    pub share: Option<&'a (dyn Fn() -> f64 + Sync)>,
    /// Called after every chunk. Returns true to stop with [`CheckpointError::Cancelled`].
    pub is_cancelled: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Called after every written part: of a checkpoint on the calling thread, of the files of an
    /// engine on the threads that write them.
    pub progress: Option<&'a (dyn Fn(WriteProgress) + Sync)>,
    /// Called before the file gets its name and replaces another file: checks that the store still
    /// belongs to the caller.
    pub check_owner: Option<&'a (dyn Fn() -> Result<(), StoreError> + Sync)>,
}

/// The progress of writing a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteProgress {
    /// Vertices and edges written.
    pub entries: u64,
    /// Total number of vertices and edges.
    pub of: u64,
    /// Bytes written.
    pub bytes: u64,
}

/// The sizes of a written checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenCheckpoint {
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of vertices with their keys and records.
    pub vertex_bytes: u64,
    /// Bytes of each label's edges with their values.
    pub edge_bytes: Vec<u64>,
    /// Number of chunks.
    pub chunks: u64,
}

impl fmt::Debug for WriteOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteOptions").field("threads", &self.threads()).finish_non_exhaustive()
    }
}

impl WriteOptions<'_> {
    fn threads(&self) -> usize {
        self.pool.map_or(1, ThreadPool::current_num_threads)
    }

    fn check_cancelled(&self) -> Result<(), CheckpointError> {
        match self.is_cancelled {
            Some(is_cancelled) if is_cancelled() => Err(CheckpointError::Cancelled),
            _ => Ok(()),
        }
    }

    /// Sleeps so that the thread works for at most its share of the time since `begin`.
    fn rest(&self, begin: Instant) {
        if let Some(share) = self.share {
            let rest_per_work = 1.0 / share().clamp(0.001, 1.0) - 1.0;
            thread::sleep(begin.elapsed().mul_f64(rest_per_work));
        }
    }

    /// Encodes the chunks of a part, with pauses.
    fn encode<S: CheckpointSource>(
        &self,
        source: &S,
        description: &Description,
        part: CheckpointPart,
    ) -> Result<Vec<Encoded>, CheckpointError> {
        self.check_cancelled()?;
        let mut begin = Instant::now();
        let mut cancelled = Ok(());
        let mut pause = || {
            self.rest(begin);
            begin = Instant::now();
            cancelled = self.check_cancelled();
            if cancelled.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let chunks = encode(source, description, part, &mut pause)?;
        cancelled?;
        self.rest(begin);
        Ok(chunks)
    }
}

/// Writes the state of `source` to the file `name`, durably. Replaces an existing file of that name
/// atomically.
///
/// Until the last step the file has the suffix [`UNFINISHED`]; if writing fails, the file is
/// removed, if the file system permits. Costs O(vertices + edges), and memory for a few chunks per
/// thread.
///
/// # Errors
/// The file system or the source failed, the source differs from the counts of `description`, or
/// writing was cancelled. Then the file `name` is unchanged; only after an error in the last step,
/// the sync of the directory, may it be either the old or the new file.
pub fn write<S: CheckpointSource>(
    files: &dyn FileSystem,
    name: &str,
    description: &Description,
    source: &S,
    options: &WriteOptions<'_>,
) -> Result<WrittenCheckpoint, CheckpointError> {
    let overwrite = planted::is(PlantedBug::OverwriteCheckpoint);
    let unfinished = if overwrite { name.to_owned() } else { format!("{name}{UNFINISHED}") };
    let written = write_unfinished(files, &unfinished, description, source, options);
    let written = written.and_then(|written| {
        options.check_owner.map_or(Ok(()), |check| check()).map_err(Box::new)?;
        files.rename(&unfinished, name)?;
        Ok(written)
    });
    if written.is_err() {
        // The file is harmless; the earlier error matters.
        let _ = files.remove(&unfinished);
    }
    let written = written?;
    if !planted::is(PlantedBug::SkipDirectorySync) {
        files.sync_directory()?;
    }
    Ok(written)
}

fn write_unfinished<S: CheckpointSource>(
    files: &dyn FileSystem,
    name: &str,
    description: &Description,
    source: &S,
    options: &WriteOptions<'_>,
) -> Result<WrittenCheckpoint, CheckpointError> {
    let file = files.open(name, OpenMode::Create)?;
    let parts = parts(description, source)?;
    let mut writer = ChunkWriter::begin(&*file, description)?;
    // Encoded in parallel, written in order: the same state gives the same file on any number of
    // threads.
    for batch in parts.chunks(2 * options.threads()) {
        let encode = |part: &CheckpointPart| options.encode(source, description, part.clone());
        let encoded: Result<Vec<_>, CheckpointError> = match options.pool {
            Some(pool) => pool.install(|| batch.par_iter().with_max_len(1).map(encode).collect()),
            None => batch.iter().map(encode).collect(),
        };
        for chunk in encoded?.into_iter().flatten() {
            writer.write_chunk(&chunk)?;
        }
        if let Some(progress) = options.progress {
            progress(writer.progress(description));
        }
    }
    writer.finish(description)
}

/// All parts of the work, in the order of the file, independent of the number of threads.
fn parts<S: CheckpointSource>(
    description: &Description,
    source: &S,
) -> Result<Vec<CheckpointPart>, CheckpointError> {
    let mut parts = vec![CheckpointPart { content: ChunkContent::Description, vertices: 0..0 }];
    let counts = &description.counts;
    let ranges = counts.vertices.div_ceil(MAX_VERTICES as u64).max(1);
    let length = u64::from(counts.vertex_bound).div_ceil(ranges).max(1);
    let ranges = (0..u64::from(counts.vertex_bound)).step_by(length as usize);
    // Both ends are at most the bound.
    let range =
        |begin: u64| begin as u32..(begin.saturating_add(length)).min(counts.vertex_bound.into()) as u32;
    parts.extend(
        ranges.map(|begin| CheckpointPart { content: ChunkContent::Vertices, vertices: range(begin) }),
    );
    for label in (0..description.catalog.labels().len() as u16).map(LabelId) {
        let edges = counts.edges_of(label).at_most();
        if edges > 0 {
            // One part per chunk, if edges are spread evenly over vertices.
            let cuts = source.cuts(label, edges.div_ceil(MAX_ENTRIES as u64) as usize)?;
            let part =
                |vertices: Range<u32>| CheckpointPart { content: ChunkContent::Edges(label), vertices };
            parts.extend(cuts.into_iter().map(part));
        }
    }
    Ok(parts)
}

/// Appends chunks to the file.
struct ChunkWriter<'f> {
    file: &'f dyn File,
    identity: u32,
    offset: u64,
    synced: u64,
    chunks: Vec<CheckpointChunk>,
    written: WrittenCheckpoint,
    vertices: u64,
    edges: Vec<u64>,
}

impl<'f> ChunkWriter<'f> {
    fn begin(file: &'f dyn File, description: &Description) -> Result<Self, CheckpointError> {
        let Description { store, timestamp, wall_clock, .. } = *description;
        let header = CheckpointHeader { store, timestamp, wall_clock };
        file.write_all_at(&header.encode(), 0)?;
        let labels = description.catalog.labels().len();
        Ok(ChunkWriter {
            file,
            identity: header.identity(),
            offset: HEADER_BYTES as u64,
            synced: 0,
            chunks: Vec::new(),
            written: WrittenCheckpoint { edge_bytes: vec![0; labels], ..WrittenCheckpoint::default() },
            vertices: 0,
            edges: vec![0; labels],
        })
    }

    fn write_chunk(&mut self, encoded: &Encoded) -> Result<(), CheckpointError> {
        let Encoded { content, entries, first, last, ref body } = *encoded;
        if self.chunks.last().is_some_and(|before| (before.content, before.last) >= (content, first)) {
            return Err(CheckpointError::Contradiction("its parts overlap"));
        }
        let length = u32::try_from(body.len()).map_err(|_| CheckpointError::TooLarge(body.len()))?;
        let mut chunk =
            CheckpointChunk { content, entries, first, last, offset: self.offset, length, checksum: 0 };
        chunk.checksum = chunk.checksum_of(self.identity, body);
        self.append(&chunk.header())?;
        self.append(body)?;
        let bytes = chunk.end() - chunk.offset;
        match content {
            ChunkContent::Description => {}
            ChunkContent::Vertices => {
                self.vertices += u64::from(entries);
                self.written.vertex_bytes += bytes;
            }
            ChunkContent::Edges(label) => {
                self.edges[label.index()] += u64::from(entries);
                self.written.edge_bytes[label.index()] += bytes;
            }
        }
        self.chunks.push(chunk);
        if self.offset - self.synced >= SYNC_BYTES {
            self.file.sync()?;
            self.synced = self.offset;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    fn progress(&self, description: &Description) -> WriteProgress {
        let entries = self.vertices + self.edges.iter().sum::<u64>();
        let of = description.counts.vertices + description.counts.total_edges().at_most();
        WriteProgress { entries, of, bytes: self.offset }
    }

    fn finish(mut self, description: &Description) -> Result<WrittenCheckpoint, CheckpointError> {
        self.check_counts(description)?;
        let index_offset = self.offset;
        let mut index = Vec::new();
        self.chunks.iter().for_each(|chunk| chunk.put_index_entry(&mut index));
        let chunks = self.chunks.len() as u64;
        let index_checksum = crc32c::crc32c_append(self.identity, &index);
        self.append(&index)?;
        self.append(&Trailer { index_offset, chunks, index_checksum }.encode(self.identity))?;
        if !planted::is(PlantedBug::SkipCheckpointSync) {
            self.file.sync()?;
        }
        Ok(WrittenCheckpoint { bytes: self.offset, chunks, ..self.written })
    }

    fn check_counts(&self, description: &Description) -> Result<(), CheckpointError> {
        let check = |what, expected, found| match expected == found {
            true => Ok(()),
            false => Err(CheckpointError::WrongCount { what, expected, found }),
        };
        check("vertices", description.counts.vertices, self.vertices)?;
        let edges = (0..).map(LabelId).zip(&self.edges);
        for (label, found) in edges {
            check("edges of a label", description.counts.edges_of(label).at_most(), *found)?;
        }
        Ok(())
    }
}
