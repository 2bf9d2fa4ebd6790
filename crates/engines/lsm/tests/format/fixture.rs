//! Files in the first formats that are still read: version 2 of manifests and edge files, version 1
//! of record files.

use crate::decoder::{self, Content, Version};
use hedgerow_encoding::wire::{Reader, put_bytes};
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_lsm::levels::{
    Block, EdgeFile, EdgeFileWriter, Edit, FileEntry, FlushPoint, LevelState, Manifest,
};
use hedgerow_model::{
    ColumnType, CommitTimestamp, Counts, DeferredOutcome, EdgeOutcome, EdgeValue, LabelId, ParallelOutcome,
    VertexId,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A kind of edge file, with its name in the folder.
struct Kind {
    name: &'static str,
    column: ColumnType,
    is_compressed: bool,
}

const KINDS: [Kind; 8] = {
    const fn kind(name: &'static str, column: ColumnType) -> Kind {
        Kind { name, column, is_compressed: false }
    }
    [
        kind("none.edges", ColumnType::Unit),
        kind("u32.edges", ColumnType::U32),
        kind("u64.edges", ColumnType::U64),
        kind("i64.edges", ColumnType::I64),
        kind("f32.edges", ColumnType::F32),
        kind("f64.edges", ColumnType::F64),
        kind("records.edges", ColumnType::Record),
        Kind { name: "compressed.edges", column: ColumnType::Record, is_compressed: true },
    ]
};

const MANIFEST: &str = "engine-manifest-00000001";

/// Returns the folder of the frozen files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/frozen")
}

fn frozen(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn directory() -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    files
}

fn content_of(files: &SimulatedFiles, name: &str) -> Vec<u8> {
    files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap()
}

/// Returns the next number of a sequence that looks random (SplitMix64).
fn random(seed: u64) -> u64 {
    let bits = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

/// Returns the content of a file: a row across blocks, a row of two frames, more than 256 rows in a
/// block, the largest ids, settled and dated versions, several versions of one entry, deletions.
fn versions(column: ColumnType) -> Vec<Version> {
    let mut versions = Vec::new();
    if column == ColumnType::Unit {
        // Three blocks: consecutive neighbors take no bytes.
        let long = (0..9000).map(|neighbor| (0, neighbor)).chain((5..3400).map(|neighbor| (1, neighbor)));
        versions.extend(long.map(|(owner, neighbor)| put(column, owner, neighbor, 0)));
    }
    if column == ColumnType::Record {
        // Two blocks. The first has one record, which can be compressed.
        let content = Content::Record(b"the same again and ".repeat(20));
        versions.push(Version { owner: 0, neighbor: 0, at: 0, content });
        versions.extend((1..8200).map(|neighbor| deletion(0, neighbor, 0)));
    }
    // Timestamps so far apart that they are stored unchanged.
    let latest = if column == ColumnType::F32 { 1 << 60 } else { 1 << 40 };
    versions.extend((0..140).map(|number| put(column, 3, number * 7 + number % 3, 0)));
    for owner in (4..40).chain([70_000, u32::MAX - 1]) {
        if owner == 70_000 && column == ColumnType::U32 {
            // Owners in more than two frames.
            versions.extend((0..300).map(|number| put(column, 1000 + 3 * number, number, 0)));
        }
        let mut ids = vec![owner / 2, owner, owner.saturating_add(1000).min(u32::MAX - 1), u32::MAX - 1];
        ids.dedup();
        for (number, neighbor) in (0..owner % 4 + 1).zip(ids) {
            let at = u64::from(owner) % 3 * 1_000_000 + u64::from(number);
            match (owner % 5, number) {
                (0, 0) => versions.push(deletion(owner, neighbor, at)),
                (1, 0) => versions.extend([
                    deletion(owner, neighbor, latest),
                    put(column, owner, neighbor, 77),
                    deletion(owner, neighbor, 5),
                    put(column, owner, neighbor, 0),
                ]),
                (2, 1) => versions.extend([at + 1, at].map(|at| put(column, owner, neighbor, at))),
                _ => versions.push(put(column, owner, neighbor, at)),
            }
        }
    }
    versions
}

fn deletion(owner: u32, neighbor: u32, at: u64) -> Version {
    Version { owner, neighbor, at, content: Content::Deleted }
}

fn put(column: ColumnType, owner: u32, neighbor: u32, at: u64) -> Version {
    let bits = random(u64::from(owner) << 32 ^ u64::from(neighbor) ^ at << 20);
    let content = match column {
        ColumnType::Record => Content::Record(bits.to_le_bytes()[..bits as usize % 9].to_vec()),
        _ => Content::Bits(bits.checked_shr(64 - 8 * column.width() as u32).unwrap_or(0)),
    };
    Version { owner, neighbor, at, content }
}

/// Writes an edge file, and its record file.
fn written(Kind { name, column, is_compressed }: &Kind) -> SimulatedFiles {
    let files = directory();
    let writer = EdgeFileWriter::create(&files, name, *column).unwrap();
    let mut writer = writer.compress_records(*is_compressed);
    for Version { owner, neighbor, at, content } in versions(*column) {
        let mut records = Vec::new();
        let value = match content {
            Content::Deleted => None,
            Content::Bits(bits) => Some(EdgeValue(bits)),
            Content::Record(record) => {
                put_bytes(&mut records, &record);
                Some(EdgeValue(0))
            }
        };
        let version = hedgerow_lsm::levels::Version { at: CommitTimestamp(at), value };
        writer.push(VertexId::new(owner), VertexId::new(neighbor), version, &records).unwrap();
    }
    writer.finish().unwrap();
    files
}

/// Returns the versions that the crate reads in a block.
fn read(block: &Block<'_>, column: ColumnType, records: &[u8]) -> Vec<Version> {
    let mut found = Vec::new();
    let flow = block.scan(|owner, row| {
        let read = row.for_each_version(|neighbor, version| {
            let content = match (version.value, column) {
                (None, _) => Content::Deleted,
                (Some(offset), ColumnType::Record) => {
                    Content::Record(Reader::new(&records[offset.0 as usize..]).bytes().unwrap().to_vec())
                }
                (Some(value), _) => Content::Bits(value.0),
            };
            let (owner, neighbor) = (owner.get(), neighbor.get());
            found.push(Version { owner, neighbor, at: version.at.0, content });
        });
        assert_eq!(read, Ok(()));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(flow, Ok(ControlFlow::Continue(())));
    found
}

fn records_of(kind: &Kind) -> Option<Vec<u8>> {
    (kind.column == ColumnType::Record).then(|| frozen(&EdgeFile::records_name(kind.name)))
}

#[test]
fn edge_files_of_version_2_are_read() {
    let files = RealFiles::read_only(folder());
    for kind in &KINDS {
        let file = EdgeFile::open(&files, kind.name, kind.column).unwrap();
        let expected = versions(kind.column);
        assert_eq!(file.versions(), expected.len() as u64);
        let blocks = (0..file.blocks()).map(|number| {
            let bytes = file.read_block(number).unwrap();
            let block = file.parse(number, &bytes).unwrap();
            read(&block, kind.column, &file.read_records(&block).unwrap())
        });
        assert_eq!(blocks.collect::<Vec<_>>().concat(), expected, "{}", kind.name);
        // The index leads to each entry.
        for newest in expected.chunk_by(|one, other| one.neighbor == other.neighbor).map(|all| &all[0]) {
            let (owner, neighbor) = (VertexId::new(newest.owner), VertexId::new(newest.neighbor));
            let place = file.find_edge(owner, neighbor).unwrap().unwrap();
            let number = place.blocks.start;
            let bytes = file.read_block(number).unwrap();
            let row = file.row(&place, number, &file.parse(number, &bytes).unwrap()).unwrap();
            let found = row.find_at(neighbor, CommitTimestamp(u64::MAX)).unwrap().unwrap();
            assert_eq!(found.at.0, newest.at);
            if newest.owner == 0 && newest.neighbor > 10 {
                break;
            }
        }
    }
}

/// The document suffices to read the files.
#[test]
fn a_reader_that_was_written_from_the_document_reads_edge_files() {
    for (code, kind) in [0, 1, 2, 3, 4, 5, 6, 6].into_iter().zip(&KINDS) {
        let found = decoder::edge_file(&frozen(kind.name), records_of(kind).as_deref());
        assert_eq!(found.column, code);
        assert_eq!(found.blocks.concat(), versions(kind.column), "{}", kind.name);
        let (blocks, compressed) = match kind.column {
            ColumnType::Unit => (3, vec![]),
            ColumnType::Record => (2, vec![kind.is_compressed, false]),
            _ => (1, vec![]),
        };
        assert_eq!((found.blocks.len(), found.compressed), (blocks, compressed), "{}", kind.name);
        for (one, other) in found.blocks.iter().zip(&found.blocks[1..]).take(1) {
            assert_eq!(one.last().unwrap().owner, other[0].owner, "the first row is in two blocks");
        }
    }
}

/// A change of the bytes is a change of the format. Compressed bytes depend on the library, so only
/// their content is compared.
#[test]
fn edge_files_are_written_as_in_version_2() {
    for kind in &KINDS {
        let files = written(kind);
        let bytes = content_of(&files, kind.name);
        let records = records_of(kind).map(|_| content_of(&files, &EdgeFile::records_name(kind.name)));
        if kind.is_compressed {
            let found = decoder::edge_file(&bytes, records.as_deref());
            assert_eq!(found.blocks.concat(), versions(kind.column));
            assert_eq!(found.compressed, [true, false]);
        } else {
            assert!(bytes == frozen(kind.name), "{} has other bytes", kind.name);
            assert!(records == records_of(kind), "the records of {} have other bytes", kind.name);
        }
    }
}

fn edits() -> Vec<Edit> {
    let file = |number, adjacency, level, bytes| FileEntry { number, adjacency, level, bytes };
    let mut counts = Counts { vertex_bound: 300, vertices: 200, ..Counts::default() };
    let mut after = |added: Vec<FileEntry>, removed: &[u64], durable_through| {
        counts.add(&[EdgeOutcome { label: LabelId(0), added: 1000, removed: 3 }]);
        let edit = Edit {
            added,
            removed: removed.to_vec(),
            flushed: FlushPoint {
                durable_through: CommitTimestamp(durable_through),
                counts: counts.clone(),
                note: format!("of commit {durable_through}").into_bytes(),
            },
        };
        counts.add_deferred(&[DeferredOutcome { label: LabelId(2), puts: 70, deletions: 8 }]);
        counts.add_parallel(&[ParallelOutcome { label: LabelId(2), net: 130 }]);
        counts.vertex_bound = u32::MAX;
        edit
    };
    vec![
        // Flushes, one of which wrote nothing.
        after(vec![file(1, 0, 0, 100), file(2, 1, 0, 200)], &[], 10),
        after(vec![file(3, 1, 0, 1 << 40)], &[], 20),
        after(vec![], &[], 30),
        // Compactions: into the next level, into two files, into none.
        after(vec![file(4, 1, 1, 300)], &[2, 3], 30),
        after(vec![file(123_456_789_012, 1, 2, 150), file(123_456_789_013, 1, 2, 151)], &[4], 30),
        after(vec![], &[1], 30),
        // The largest numbers.
        after(vec![file(u64::MAX - 1, u32::MAX, 63, u64::MAX)], &[], u64::MAX),
    ]
}

fn state() -> LevelState {
    let edits = edits();
    let last = edits.last().unwrap();
    let mut state = LevelState { flushed: last.flushed.clone(), ..LevelState::default() };
    for edit in &edits {
        edit.removed.iter().for_each(|number| _ = state.files.remove(number));
        state.files.extend(edit.added.iter().map(|file| (file.number, *file)));
    }
    state
}

fn written_manifest() -> Vec<u8> {
    let files = directory();
    let mut manifest = Manifest::open(Arc::new(files.clone())).unwrap();
    manifest.begin_edits().unwrap();
    edits().iter().for_each(|edit| manifest.apply(edit).unwrap());
    content_of(&files, MANIFEST)
}

#[test]
fn a_frozen_manifest_is_read_and_written() {
    assert_eq!(*Manifest::open(Arc::new(RealFiles::read_only(folder()))).unwrap().state(), state());
    assert!(written_manifest() == frozen(MANIFEST), "the manifest has other bytes");
}

#[test]
fn a_reader_that_was_written_from_the_document_reads_a_manifest() {
    let found = decoder::manifest(&frozen(MANIFEST));
    let LevelState { files, flushed: FlushPoint { durable_through, counts, note } } = state();
    let labels = (0..3).map(|label| {
        let beside = counts.beside_of(LabelId(label));
        [counts.edges.get(usize::from(label)).copied().unwrap_or(0), beside.uncertain, beside.parallel]
    });
    let files = files
        .into_iter()
        .map(|(number, file)| (number, [u64::from(file.adjacency), u64::from(file.level), file.bytes]));
    let expected = decoder::Manifest {
        durable: durable_through.0,
        vertex_bound: u64::from(counts.vertex_bound),
        vertices: counts.vertices,
        labels: labels.collect(),
        note,
        files: files.collect(),
        // The first record has the state before the edits.
        records: 1 + edits().len() as u64,
    };
    assert_eq!(found, expected);
    assert!(found.labels.concat().iter().filter(|count| **count > 0).count() > 3, "{found:?}");
}

/// Files of another version are refused as such, not as damage.
#[test]
fn other_versions_are_named() {
    let files = directory();
    let write = |name: &str, bytes: &[u8]| {
        files.open(name, OpenMode::Create).unwrap().write_all_at(bytes, 0).unwrap();
    };
    let (mut edges, mut records, mut manifest) =
        (frozen("records.edges"), frozen("records.records"), frozen(MANIFEST));
    records[8] = 2;
    write("records.edges", &edges);
    write("records.records", &records);
    let refused = || EdgeFile::open(&files, "records.edges", ColumnType::Record).unwrap_err().to_string();
    assert!(refused().contains("records.records") && refused().contains("version"), "{}", refused());
    for version in [1, 3] {
        edges[8] = version;
        let checksum = crc32c::crc32c(&edges[..16]).to_le_bytes();
        edges[16..20].copy_from_slice(&checksum);
        write("records.edges", &edges);
        assert!(refused().contains("records.edges") && refused().contains("version"), "{}", refused());
    }
    for version in [1, 3] {
        manifest[8] = version;
        let checksum = crc32c::crc32c(&manifest[..12]).to_le_bytes();
        manifest[12..16].copy_from_slice(&checksum);
        write(MANIFEST, &manifest);
        let refused = Manifest::open(Arc::new(files.clone())).unwrap_err().to_string();
        assert!(refused.contains(MANIFEST) && refused.contains("version"), "{refused}");
    }
}

/// Writes the fixtures and the seeds of the fuzz targets. Only for a new version of the format:
/// existing files stay.
#[test]
#[ignore = "writes files of the project"]
fn write_fixtures_and_seeds() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/seeds");
    let write = |path: PathBuf, bytes: &[u8]| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    write(folder().join(MANIFEST), &written_manifest());
    write(seeds.join("level_manifest/edits"), &written_manifest());
    for (code, kind) in (0..).zip(&KINDS) {
        let files = written(kind);
        let bytes = content_of(&files, kind.name);
        write(folder().join(kind.name), &bytes);
        let mut both = (bytes.len() as u32).to_le_bytes().to_vec();
        both.extend_from_slice(&bytes);
        if kind.column == ColumnType::Record {
            let records_name = EdgeFile::records_name(kind.name);
            let records = content_of(&files, &records_name);
            write(folder().join(&records_name), &records);
            both.extend_from_slice(&records);
        }
        if [ColumnType::I64, ColumnType::F64].contains(&kind.column) {
            // These files differ from others in a single byte.
            continue;
        }
        let name = kind.name.strip_suffix(".edges").unwrap();
        let file = EdgeFile::open(&files, kind.name, kind.column).unwrap();
        let last = [vec![code.min(6)], file.read_block(file.blocks() - 1).unwrap().to_vec()].concat();
        write(seeds.join("edge_block").join(name), &last);
        write(seeds.join("edge_file").join(name), &both);
    }
    let mut records = Vec::new();
    for length in 0..20 {
        put_bytes(&mut records, &vec![length; usize::from(length)]);
    }
    let (mut plain, mut compressed) = (Vec::new(), Vec::new());
    hedgerow_log::stretch::put_plain_stretch(&mut plain, &records);
    hedgerow_log::stretch::put_stretch(&mut compressed, &records);
    write(seeds.join("record_chunk/plain"), &plain);
    write(seeds.join("record_chunk/compressed"), &compressed);
}
