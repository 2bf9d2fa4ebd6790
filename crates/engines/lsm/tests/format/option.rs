//! The option to compress records reaches the files.

use hedgerow_log::files::FileSystem;
use hedgerow_lsm::levels::{
    FileEntry, FlushPart, FlushPoint, LevelOptions, LevelTree, MergedRow, RowContent, VersionBatch,
    VersionSource,
};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CommitTimestamp, ReadError, VertexId};
use hedgerow_testing::simulated::SimulatedFiles;
use std::sync::Arc;

const AT: CommitTimestamp = CommitTimestamp(1);

/// Edges from vertex 1 with similar records.
struct Alike(u32);

fn record(neighbor: u32) -> Vec<u8> {
    format!("edge to vertex {neighbor}").into_bytes()
}

impl VersionSource for Alike {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        for neighbor in 0..std::mem::take(&mut self.0) {
            batch.push_record(VertexId::new(1), VertexId::new(neighbor), AT, Some(&record(neighbor)));
        }
        Ok(())
    }
}

/// Returns the bytes of the files after a flush. Reads the files with the other option.
fn flushed_bytes(compress_records: bool) -> u64 {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let open = |compress_records| {
        let options = LevelOptions { compress_records, ..LevelOptions::new(vec![ColumnType::Record]) };
        LevelTree::open(Arc::new(files.clone()), options).unwrap()
    };
    // SAFETY: no engine is involved; the value only says which versions are kept.
    let live = unsafe { LiveTimestamps::as_of(Vec::new(), AT) };
    let parts = vec![FlushPart { adjacency: 0, sources: vec![Alike(1000)] }];
    open(compress_records)
        .flush(parts, &live, FlushPoint { durable_through: AT, ..FlushPoint::default() })
        .unwrap();
    let set = open(!compress_records).current();
    let mut row = MergedRow::new(RowContent::Records);
    set.read_row(0, VertexId::new(1), AT, &mut row).unwrap();
    let row = row.finish();
    assert_eq!(row.edges().count(), 1000);
    assert!(row.edges().all(|(neighbor, value)| row.record(value) == record(neighbor.get())));
    let FileEntry { bytes, .. } = set.levels(0)[0][0].entry();
    bytes
}

#[test]
fn records_are_compressed_if_the_option_says_so() {
    let (plain, compressed) = (flushed_bytes(false), flushed_bytes(true));
    assert!(compressed < plain / 2, "{compressed} bytes instead of {plain}");
    assert!(LevelOptions::new(Vec::new()).compress_records);
}
