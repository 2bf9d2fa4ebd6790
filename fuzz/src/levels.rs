//! Targets of the engine on disk: arbitrary bytes as a block of edges, as an edge file with its
//! records, as a chunk of records, as a manifest.

use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::stretch::{put_stretch, read_stretch};
use hedgerow_lsm::levels::{
    Block, BlockBuilder, EdgeFile, EdgeFileWriter, Edit, FileEntry, FlushPoint, LevelOptions, LevelTree,
    Manifest, MergedRow, Retention, RowContent, Version, VersionBatch, VersionSource, merge,
};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, EngineError, ReadError, VertexId};
use hedgerow_testing::simulated::SimulatedFiles;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The types of columns, by their numbers in files.
const COLUMNS: [ColumnType; 7] = [
    ColumnType::Unit,
    ColumnType::U32,
    ColumnType::U64,
    ColumnType::I64,
    ColumnType::F32,
    ColumnType::F64,
    ColumnType::Record,
];

/// The timestamp that sees everything.
const NEWEST: CommitTimestamp = CommitTimestamp(u64::MAX);

const ALL: std::ops::Range<u32> = 0..u32::MAX;

fn directory() -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().expect("a directory in memory");
    files
}

fn write(files: &SimulatedFiles, name: &str, bytes: &[u8]) {
    let file = files.open(name, OpenMode::Create).expect("a file in memory");
    file.write_all_at(bytes, 0).expect("a file in memory");
}

fn put(bytes: &mut [u8], offset: usize, number: u32) {
    if let Some(place) = bytes.get_mut(offset..offset.saturating_add(4)) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}

/// The number in `count` bytes at an offset, if the bytes exist.
fn number(bytes: &[u8], offset: usize, count: usize) -> Option<usize> {
    let bytes = bytes.get(offset..offset.checked_add(count)?)?;
    usize::try_from(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))).ok()
}

/// Reads a block of edges. The first byte selects the type of the values. Returns true if all of it
/// can be read.
pub fn read_edge_block(bytes: &[u8]) -> bool {
    let Some((column, bytes)) = bytes.split_first() else { return false };
    let column = COLUMNS[usize::from(*column) % COLUMNS.len()];
    let Ok(block) = Block::parse(bytes, column) else { return false };
    let Some(versions) = versions_in(&block) else { return false };
    for (owner, _, _) in &versions[..versions.len().min(40)] {
        if let Ok(Some(row)) = block.row(*owner) {
            let _ = row.find_at(VertexId::new(owner.get() / 2), CommitTimestamp(7));
            let _ = row.for_each_version(|_, _| ());
        }
    }
    if column != ColumnType::Record {
        let (mut builder, mut again) = (BlockBuilder::new(column), Vec::new());
        versions.iter().for_each(|(owner, neighbor, version)| builder.push(*owner, *neighbor, *version));
        builder.finish(&mut again);
        let block = Block::parse(&again, column).expect("what was written is a block");
        assert_eq!(versions_in(&block), Some(versions));
    }
    true
}

type EdgeVersion = (VertexId, VertexId, Version);

/// All versions in a block, after checking that edges ascend and are found; `None` if the block is
/// damaged.
fn versions_in(block: &Block<'_>) -> Option<Vec<EdgeVersion>> {
    let mut versions: Vec<EdgeVersion> = Vec::new();
    let flow = block.scan(|owner, row| {
        let mut before = None;
        let read = row.for_each_version(|neighbor, version| {
            assert!(before <= Some(neighbor) && neighbor <= VertexId::MAX);
            if before < Some(neighbor) && neighbor.get() % 16 == 0 {
                assert_eq!(row.find_at(neighbor, NEWEST), Ok(Some(version)));
            }
            before = Some(neighbor);
            versions.push((owner, neighbor, version));
        });
        if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert!(versions.is_sorted_by_key(|(owner, neighbor, _)| (*owner, *neighbor)));
    (flow == Ok(ControlFlow::Continue(()))).then_some(versions)
}

/// Reads an edge file with repaired checksums, so that decoders see the content, and its record
/// file. The first four bytes are the length of the edge file. Returns true if all of it can be
/// read.
pub fn read_edge_file(bytes: &[u8]) -> bool {
    let Some(length) = number(bytes, 0, 4) else { return false };
    let (edges, records) = bytes[4..].split_at(length.min(bytes.len() - 4));
    let mut edges = edges.to_vec();
    repair(&mut edges);
    let column = COLUMNS[usize::from(edges.get(12).copied().unwrap_or(0)) % COLUMNS.len()];
    let files = directory();
    let mut manifest = Manifest::open(Arc::new(files.clone())).expect("there is none");
    manifest.begin_edits().expect("memory can be written");
    let entry = FileEntry { number: 1, adjacency: 0, level: 1, bytes: bytes.len() as u64 };
    let edit = Edit { added: vec![entry], ..Edit::default() };
    manifest.apply(&edit).expect("memory can be written");
    let name = FileEntry::name_of(1);
    write(&files, &name, &edges);
    write(&files, &EdgeFile::records_name(&name), records);
    let Ok(file) = EdgeFile::open(&files, &name, column) else { return false };
    let scanned = (0..file.blocks()).map(|number| {
        let bytes = file.read_block(number).ok()?;
        Some(versions_in(&file.parse(number, &bytes).ok()?)?.len())
    });
    let scanned = scanned.collect::<Option<Vec<_>>>().map(|versions| versions.iter().sum::<usize>());
    read_rows(&files, column);
    let merged = merged_versions(&file);
    if let Ok(merged) = merged {
        assert_eq!(Some(merged), scanned, "a merge reads what is there");
    }
    merged.is_ok() && scanned.is_some()
}

/// Reads the rows of the levels in these files.
fn read_rows(files: &SimulatedFiles, column: ColumnType) {
    let options = LevelOptions { cache_bytes: 1 << 20, ..LevelOptions::new(vec![column]) };
    let Ok(tree) = LevelTree::open(Arc::new(files.clone()), options) else { return };
    let set = tree.current();
    let all = if column == ColumnType::Record { RowContent::Records } else { RowContent::Values };
    for content in [RowContent::Neighbors, all] {
        let mut row = MergedRow::new(content);
        let Ok(mut rows) = set.rows(0, ALL, NEWEST, content) else { continue };
        let mut read = 0;
        while let Some(owner) = rows.next_owner() {
            row.clear();
            if rows.read(owner, &mut row).is_err() {
                break;
            }
            let seen = row.finish();
            assert!(seen.neighbors().is_sorted_by(|one, other| one < other));
            let is_record = |_: &_| content == RowContent::Records;
            seen.edges().filter(is_record).for_each(|(_, value)| _ = seen.record(value).len());
            read += 1;
            // Each of these searches all blocks with the owner.
            if read <= 40 {
                row.clear();
                let _ = set.read_row(0, owner, CommitTimestamp(7), &mut row);
                row.clear();
                let _ = set.read_edge(0, (owner, VertexId::new(9)), NEWEST, &mut row);
            }
        }
    }
}

/// The number of versions that a merge reads.
fn merged_versions(file: &EdgeFile) -> Result<usize, ReadError> {
    let (mut source, mut versions) = (file.versions_of(ALL), 0);
    loop {
        let mut batch = VersionBatch::default();
        source.read(&mut batch)?;
        match batch.len() {
            0 => break,
            more => versions += more,
        }
    }
    // SAFETY: no engine is involved; the value only says which versions a merge keeps.
    let live = unsafe { LiveTimestamps::as_of(vec![CommitTimestamp(7)], CommitTimestamp(1000)) };
    let mut kept = 0;
    let sources = vec![file.versions_of(ALL)];
    merge(sources, Retention { live: &live, is_lowest: true }, |run| {
        kept += run.iter().count();
        Ok::<(), ReadError>(())
    })?;
    assert!(kept <= versions);
    Ok(versions)
}

/// Repairs the checksums of an edge file, except checksums of missing parts.
fn repair(file: &mut [u8]) {
    if file.len() < 20 + 80 {
        return;
    }
    let header = crc32c::crc32c(&file[..16]);
    put(file, 16, header);
    let footer = file.len() - 80;
    let index = number(file, footer, 8).filter(|index| (20..=footer).contains(index)).unwrap_or(footer);
    let owners = number(file, footer + 24, 8).and_then(|bytes| footer.checked_sub(bytes));
    let owners = owners.filter(|owners| *owners >= index).unwrap_or(footer);
    for entry in (index..owners).step_by(28) {
        let (offset, length) = (number(file, entry + 16, 8), number(file, entry + 12, 4));
        let block =
            offset.zip(length).and_then(|(offset, length)| file.get(offset..offset.checked_add(length)?));
        if let Some(checksum) = block.map(crc32c::crc32c).filter(|_| entry + 28 <= owners) {
            put(file, entry + 24, checksum);
        }
    }
    let parts = [(32, index..owners), (36, owners..footer), (72, footer..footer + 72)];
    for (place, part) in parts {
        let checksum = crc32c::crc32c(&file[part]);
        put(file, footer + place, checksum);
    }
}

/// Reads a chunk of records, with a repaired checksum, through a block of 64 edges. Returns true if
/// the chunk contains their records.
pub fn read_record_chunk(chunk: &[u8]) -> bool {
    const NAME: &str = "chunk.edges";
    let files = directory();
    let mut writer = EdgeFileWriter::create(&files, NAME, ColumnType::Record).expect("memory can be written");
    for neighbor in 0..64 {
        let version = Version { at: CommitTimestamp(0), value: Some(EdgeValue(0)) };
        // Records of one byte: their offsets in the chunk are small and distinct.
        writer.push(VertexId::new(1), VertexId::new(neighbor), version, &[0]).expect("memory can be written");
    }
    writer.finish().expect("memory can be written");
    let read = |name: &str| {
        let file = files.open(name, OpenMode::Read).expect("a file in memory");
        file.read_from(0).expect("a file in memory")
    };
    let (mut edges, records) = (read(NAME), read(&EdgeFile::records_name(NAME)));
    let place = |chunk: &[u8]| {
        let offset = 12_u64.to_le_bytes();
        let [length, checksum] = [chunk.len() as u32, crc32c::crc32c(chunk)].map(u32::to_le_bytes);
        [&offset[..], &length, &checksum].concat()
    };
    let before = place(&records[12..]);
    let at = edges.windows(before.len()).position(|bytes| bytes == before).expect("the place of the chunk");
    edges[at..at + before.len()].copy_from_slice(&place(chunk));
    repair(&mut edges);
    write(&files, NAME, &edges);
    write(&files, &EdgeFile::records_name(NAME), &[&records[..12], chunk].concat());

    let file = EdgeFile::open(&files, NAME, ColumnType::Record).expect("an edge file");
    let block = file.read_block(0).expect("a block");
    let found = file.read_records(&file.parse(0, &block).expect("a block"));
    let _ = merged_versions(&file);
    let Ok(found) = found else { return false };
    assert!(found.len() <= (1 << 20).max(8 * chunk.len()));
    let mut again = Vec::new();
    put_stretch(&mut again, &found);
    let again = read_stretch(&mut hedgerow_encoding::wire::Reader::new(&again)).map(Vec::from);
    assert_eq!(again.as_ref(), Ok(&found), "what was written is read");
    true
}

/// Reads a manifest as it is, and with repaired numbers, lengths and checksums of its records.
/// Returns true if one of the two is a manifest.
pub fn read_level_manifest(bytes: &[u8]) -> bool {
    let mut mended = bytes.to_vec();
    if let Some(header) = bytes.get(..12) {
        put(&mut mended, 12, crc32c::crc32c(header));
    }
    let (mut at, mut record) = (16, 0_u64);
    while let Some(length) = number(&mended, at + 8, 4).filter(|_| at + 16 <= mended.len()) {
        let length = length.min(mended.len() - at - 16);
        mended[at..at + 8].copy_from_slice(&record.to_le_bytes());
        put(&mut mended, at + 8, length as u32);
        let checksum =
            crc32c::crc32c_append(crc32c::crc32c(&mended[at..at + 12]), &mended[at + 16..][..length]);
        put(&mut mended, at + 12, checksum);
        at += 16 + length;
        record += 1;
    }
    let read = [bytes, &mended].map(|bytes| edit_manifest(bytes).is_ok());
    read[0] || read[1]
}

/// Reads a manifest and appends an edit to it.
fn edit_manifest(bytes: &[u8]) -> Result<(), EngineError> {
    let files = directory();
    write(&files, "engine-manifest-00000001", bytes);
    let open = || Manifest::open(Arc::new(files.clone()));
    let mut manifest = open()?;
    let found = manifest.state().clone();
    manifest.begin_edits()?;
    assert_eq!(manifest.state(), &found);
    let number = manifest.next_file()?;
    let added = vec![FileEntry { number, adjacency: 1, level: 2, bytes: 3 }];
    let removed = found.files.keys().take(1).copied().collect();
    let flushed = FlushPoint { durable_through: NEWEST, ..found.flushed };
    let edit = Edit { added, removed, flushed };
    manifest.apply(&edit)?;
    assert_eq!(open().expect("what was written is a manifest").state(), manifest.state());
    Ok(())
}
