//! Reads arbitrary bytes as a checkpoint.

use hedgerow_log::StoreError;
use hedgerow_log::checkpoint::{Checkpoint, CheckpointChunk, ChunkContent, repair_checksums};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::with_column;
use hedgerow_testing::simulated::SimulatedFiles;

/// Reads the bytes, with repaired checksums, and checks the content of the readable chunks. Returns
/// true if all of it can be read.
pub fn read(bytes: &[u8]) -> bool {
    let mut bytes = bytes.to_vec();
    repair_checksums(&mut bytes);
    let files = SimulatedFiles::new(1);
    files.create_directory().expect("a directory in memory");
    let file = files.open("checkpoint", OpenMode::Create).expect("a file in memory");
    file.write_all_at(&bytes, 0).expect("a file in memory");
    let Ok(checkpoint) = Checkpoint::open(&files, "checkpoint") else { return false };
    // Damage of one chunk does not touch the others.
    let damaged = checkpoint.chunks().iter().filter(|chunk| read_chunk(&checkpoint, chunk).is_err()).count();
    assert_eq!(damaged, checkpoint.check(None).len());
    damaged == 0
}

/// Checks that the content of a chunk ascends, and is within the range of the chunk and below the
/// bound.
fn read_chunk(checkpoint: &Checkpoint, chunk: &CheckpointChunk) -> Result<(), StoreError> {
    let bound = checkpoint.description().counts.vertex_bound;
    let mut before = None;
    let mut check = |position: u64| {
        assert!(before < Some(position) && (chunk.first..=chunk.last).contains(&position));
        before = Some(position);
    };
    match chunk.content {
        ChunkContent::Description => Ok(()),
        ChunkContent::Vertices => checkpoint.read_vertices(chunk, |vertex, _, _| check(vertex.get().into())),
        ChunkContent::Edges(label) => {
            let label = checkpoint.description().catalog.label(label).expect("a label that was checked");
            with_column!(label.edges.column(), W => checkpoint.read_edges::<W>(chunk, |source, run, values| {
                assert_eq!(run.len(), values.len());
                for destination in run {
                    assert!(source.get().max(destination.get()) < bound);
                    check(u64::from(source.get()) << 32 | u64::from(destination.get()));
                }
            }))
        }
    }
}
