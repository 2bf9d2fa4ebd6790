mod rows;

use super::*;
use crate::levels::block::Version;
use crate::levels::merge::{Retention, VersionBatch, VersionRun, VersionSource, merge};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, EdgeValue, ReadError};
use hedgerow_testing::simulated::{Fault, FaultKind, SimulatedFiles};
use proptest::collection::btree_map;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

/// The value of each edge by owner and neighbor; `None` if it is deleted.
type Edges = BTreeMap<(u32, u32), Option<u32>>;

const NAME: &str = "edges";
const COLUMN: ColumnType = ColumnType::U32;

fn edges() -> impl Strategy<Value = Edges> {
    let owner = prop_oneof![Just(7), 0..30u32, 0..5000u32];
    btree_map((owner, 0..3000u32), any::<Option<u32>>(), 0..600)
}

fn write(files: &dyn FileSystem, edges: &Edges) -> Result<u64, hedgerow_model::WriteError> {
    let mut writer = EdgeFileWriter::create(files, NAME, COLUMN)?;
    for ((owner, neighbor), value) in edges {
        let value = value.map(|value| EdgeValue(u64::from(value)));
        let version = Version { at: CommitTimestamp::ZERO, value };
        writer.push(VertexId::new(*owner), VertexId::new(*neighbor), version, &[])?;
    }
    writer.finish()
}

fn written(edges: &Edges) -> SimulatedFiles {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let bytes = write(&files, edges).unwrap();
    assert_eq!(files.open(NAME, OpenMode::Read).unwrap().length().unwrap(), bytes);
    files
}

fn open(files: &dyn FileSystem) -> Result<EdgeFile, ReadError> {
    EdgeFile::open(files, NAME, COLUMN)
}

fn read(file: &EdgeFile, owners: Range<u32>) -> Result<Edges, ReadError> {
    let mut found = Edges::new();
    for number in file.blocks_of(owners.clone()) {
        let bytes = file.read_block(number)?;
        let mut read = Ok(());
        let scanned = file.parse(number, &bytes)?.scan(|owner, row| {
            read = row.for_each_version(|neighbor, version| {
                let value = version.value.map(|value| value.0 as u32);
                found.insert((owner.get(), neighbor.get()), value);
            });
            if read.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        scanned.and(read).map_err(|error| file.damaged(number, error))?;
    }
    found.retain(|(owner, _), _| owners.contains(owner));
    Ok(found)
}

proptest! {
    #[test]
    fn edges_are_read_by_ranges_of_owners(edges in edges(), begin in 0..5000u32, length in 0..300u32) {
        let files = written(&edges);
        let file = open(&files).unwrap();
        prop_assert_eq!(file.versions(), edges.len() as u64);
        let ends = edges.keys().next().zip(edges.keys().next_back());
        let owners = file.owners().map(|(first, last)| (first.get(), last.get()));
        prop_assert_eq!(owners, ends.map(|(first, last)| (first.0, last.0)));
        let all: BTreeSet<_> = edges.keys().map(|(owner, _)| *owner).collect();
        prop_assert_eq!(file.owner_count().unwrap(), all.len() as u64);
        for owner in all.iter().copied().chain(begin..begin + 20) {
            let place = file.find(VertexId::new(owner)).unwrap();
            prop_assert_eq!(place.is_some(), all.contains(&owner));
            let blocks = file.blocks_of(owner..owner + 1);
            prop_assert!(place.is_none_or(|place| place.blocks == blocks));
        }
        for range in [0..u32::MAX, begin..begin + length, 7..8] {
            let expected: Edges =
                edges.range((range.start, 0)..(range.end, 0)).map(|(edge, value)| (*edge, *value)).collect();
            prop_assert_eq!(read(&file, range).unwrap(), expected);
        }
    }

    #[test]
    fn an_edge_is_in_the_block_that_the_index_says(edges in edges(), other in (0..5000u32, 0..3000u32)) {
        let files = written(&edges);
        let file = open(&files).unwrap();
        for (owner, neighbor) in edges.keys().copied().chain([other]) {
            let (owner, neighbor) = (VertexId::new(owner), VertexId::new(neighbor));
            let found = file.find_edge(owner, neighbor).unwrap().and_then(|place| {
                let number = place.blocks.start;
                let bytes = file.read_block(number).unwrap();
                let block = file.parse(number, &bytes).unwrap();
                let row = file.row(&place, number, &block).unwrap();
                let searched = block.row(owner).unwrap().unwrap().find_at(neighbor, CommitTimestamp::ZERO);
                let found = row.find_at(neighbor, CommitTimestamp::ZERO);
                assert_eq!(found, searched);
                found.unwrap()
            });
            let expected = edges.get(&(owner.get(), neighbor.get()));
            prop_assert_eq!(found.map(|version| version.value.map(|value| value.0 as u32)), expected.copied());
        }
    }

    #[test]
    fn damage_is_found(edges in edges(), place in any::<prop::sample::Index>(), change in 1..=255u8) {
        let files = written(&edges);
        let file = files.open(NAME, OpenMode::Write).unwrap();
        let place = place.index(file.length().unwrap() as usize) as u64;
        let byte = file.read_range(place..place + 1).unwrap()[0];
        file.write_all_at(&[byte ^ change], place).unwrap();
        let read_all = |file: EdgeFile| read(&file, 0..u32::MAX).and(file.owner_count());
        let error = open(&files).and_then(read_all).unwrap_err();
        prop_assert!(error.place().contains("edges at byte"), "{}", error);
    }

    #[test]
    fn the_beginning_of_a_file_is_no_file(edges in edges(), length in any::<prop::sample::Index>()) {
        let files = written(&edges);
        let file = files.open(NAME, OpenMode::Write).unwrap();
        file.set_length(length.index(file.length().unwrap() as usize) as u64).unwrap();
        prop_assert!(open(&files).is_err());
    }
}

/// Returns 12 rows of 50 edges, and one row of 500.
fn rows() -> Edges {
    let short =
        (0..12).flat_map(|owner| (0..50).map(move |neighbor| ((owner, neighbor * 3), Some(neighbor))));
    short.chain((0..500).map(|neighbor| ((20, neighbor), Some(1)))).collect()
}

#[test]
fn only_long_rows_are_cut() {
    let files = written(&rows());
    let file = open(&files).unwrap();
    let mut blocks: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    for number in 0..file.blocks() {
        let bytes = file.read_block(number).unwrap();
        let scanned = file.parse(number, &bytes).unwrap().scan(|owner, _| {
            blocks.entry(owner.get()).or_default().insert(number);
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(scanned, Ok(ControlFlow::Continue(())));
    }
    for (owner, blocks) in blocks {
        assert_eq!(blocks.len() > 1, owner == 20, "{owner}");
        assert_eq!(file.blocks_of(owner..owner + 1).collect::<BTreeSet<_>>(), blocks);
    }
}

/// The fourth block is a copy of the third one, with the right checksums.
#[test]
fn blocks_whose_edges_do_not_ascend_are_damage() {
    let files = written(&rows());
    let file = files.open(NAME, OpenMode::Write).unwrap();
    let mut bytes = file.read_from(0).unwrap();
    let footer = bytes.len() - FOOTER_BYTES;
    let index = Reader::new(&bytes[footer..]).array().map(u64::from_le_bytes).unwrap() as usize;
    let mut reader = Reader::new(&bytes[index..]);
    let [_, _, third, fourth] = [(); 4].map(|()| BlockEntry::read(&mut reader).unwrap());
    assert_eq!(third.length, fourth.length);
    let begin = third.offset as usize;
    bytes.copy_within(begin..begin + third.length as usize, fourth.offset as usize);
    let mut entry = Vec::new();
    BlockEntry { checksum: third.checksum, ..fourth }.put(&mut entry);
    bytes[index + 3 * ENTRY_BYTES..index + 4 * ENTRY_BYTES].copy_from_slice(&entry);
    let index_end = index
        + Reader::new(&bytes[footer + 8..]).array().map(u64::from_le_bytes).unwrap() as usize * ENTRY_BYTES;
    let checksum = crc32c::crc32c(&bytes[index..index_end]).to_le_bytes();
    bytes[footer + 32..footer + 36].copy_from_slice(&checksum);
    let checksum = crc32c::crc32c(&bytes[footer..footer + FOOTER_BYTES - 8]).to_le_bytes();
    bytes[footer + FOOTER_BYTES - 8..footer + FOOTER_BYTES - 4].copy_from_slice(&checksum);
    file.write_all_at(&bytes, 0).unwrap();

    let file = open(&files).unwrap();
    let mut source = file.versions_of(0..u32::MAX);
    (0..3).for_each(|_| source.read(&mut VersionBatch::default()).unwrap());
    let error = source.read(&mut VersionBatch::default()).unwrap_err();
    let place = format!("edges at byte {}", fourth.offset);
    assert!(error.place().ends_with(&place) && error.to_string().contains("do not ascend"), "{error}");
}

/// Writes and reads all edges.
fn write_and_read(files: &dyn FileSystem) -> Result<Edges, String> {
    write(files, &rows()).map_err(|error| error.place().to_owned())?;
    let file = open(files).map_err(|error| error.place().to_owned())?;
    read(&file, 0..u32::MAX).map_err(|error| error.place().to_owned())
}

#[test]
fn a_failed_operation_is_an_error_that_names_the_file() {
    let files = || {
        let files = SimulatedFiles::new(1);
        files.create_directory().unwrap();
        files
    };
    let intact = files();
    assert_eq!(write_and_read(&intact), Ok(rows()));
    for kind in FaultKind::ALL {
        for at in 2..=intact.operations() {
            let files = files();
            files.inject(Fault { at, kind, sticky: false });
            match write_and_read(&files) {
                Ok(found) => {
                    assert!(found == rows() && (kind == FaultKind::Short || files.faults_met() == 0));
                }
                Err(place) => assert!(place.contains(NAME) && files.faults_met() == 1, "{place}"),
            }
        }
    }
}

#[test]
fn the_versions_of_an_edge_stay_together() {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let mut writer = EdgeFileWriter::create(&files, NAME, COLUMN).unwrap();
    let (owner, neighbors) = (VertexId::new(3), [1, 2, 4].map(VertexId::new));
    let version = |at| Version { at: CommitTimestamp(at), value: Some(EdgeValue(at)) };
    for neighbor in neighbors {
        (1..=300).rev().for_each(|at| writer.push(owner, neighbor, version(at), &[]).unwrap());
    }
    writer.finish().unwrap();
    let file = open(&files).unwrap();
    assert_eq!((file.blocks(), file.versions()), (3, 900));
    for neighbor in neighbors {
        let place = file.find_edge(owner, neighbor).unwrap().unwrap();
        let number = place.blocks.start;
        let bytes = file.read_block(number).unwrap();
        let row = file.row(&place, number, &file.parse(number, &bytes).unwrap()).unwrap();
        for at in 1..=300 {
            assert_eq!(row.find_at(neighbor, CommitTimestamp(at)), Ok(Some(version(at))));
        }
        assert_eq!(row.find_at(neighbor, CommitTimestamp::ZERO), Ok(None));
    }
    let mut versions = 0;
    // SAFETY: no engine is involved; the value only says which versions a merge keeps.
    let live = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(0)) };
    let retention = Retention { live: &live, is_lowest: true };
    let take = |run: VersionRun<'_>| {
        versions += run.iter().count();
        Ok::<(), ReadError>(())
    };
    merge(vec![file.versions_of(3..4), file.versions_of(4..9)], retention, take).unwrap();
    assert_eq!(versions, 900);
}

type NeighborRecord = (u32, Option<Vec<u8>>);

/// Returns the versions of a file with records, as a merge reads them.
fn merged_records(files: &dyn FileSystem) -> Result<Vec<NeighborRecord>, ReadError> {
    let file = EdgeFile::open(files, NAME, ColumnType::Record)?;
    let mut found = Vec::new();
    // SAFETY: no engine is involved; the value only says which versions a merge keeps.
    let live = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(0)) };
    merge(vec![file.versions_of(0..9)], Retention { live: &live, is_lowest: false }, |run| {
        let record = |offset| crate::levels::records::record_at(run.records(), offset).unwrap().to_vec();
        found.extend(run.iter().map(|(_, to, version)| (to.get(), version.value.map(record))));
        Ok::<(), ReadError>(())
    })?;
    Ok(found)
}

#[test]
fn records_come_back_or_are_damaged() {
    let lengths = [false, true].map(records_come_back_or_are_damaged_as);
    assert!(lengths[1] < lengths[0], "compressed records take less: {lengths:?}");
}

/// Returns the bytes of the records.
fn records_come_back_or_are_damaged_as(is_compressed: bool) -> u64 {
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let writer = EdgeFileWriter::create(&files, NAME, ColumnType::Record).unwrap();
    let mut writer = writer.compress_records(is_compressed);
    // The first record takes more bytes than end a block.
    let record = |neighbor: u32| {
        (!neighbor.is_multiple_of(7)).then(|| vec![neighbor as u8; 500 / (neighbor as usize + 1)])
    };
    for neighbor in 1..60 {
        let mut records = Vec::new();
        let value = record(neighbor).map(|record| crate::levels::records::put_record(&mut records, &record));
        let version = Version { at: CommitTimestamp(1), value };
        writer.push(VertexId::new(3), VertexId::new(neighbor), version, &records).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let length = |name: &str| files.open(name, OpenMode::Read).unwrap().length().unwrap();
    let of_records = length("edges.records");
    assert_eq!(bytes, length(NAME) + of_records);
    let expected: Vec<_> = (1..60).map(|neighbor| (neighbor, record(neighbor))).collect();
    assert_eq!(merged_records(&files), Ok(expected));
    for (place, bit) in (0..of_records).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
        let file = files.open("edges.records", OpenMode::Write).unwrap();
        let byte = file.read_range(place..place + 1).unwrap()[0];
        file.write_all_at(&[byte ^ 1 << bit], place).unwrap();
        let error = merged_records(&files).unwrap_err();
        assert!(error.place().contains("edges.records"), "{error}");
        file.write_all_at(&[byte], place).unwrap();
    }
    files.open("edges.records", OpenMode::Write).unwrap().set_length(of_records / 2).unwrap();
    assert!(merged_records(&files).is_err());
    files.remove("edges.records").unwrap();
    assert!(merged_records(&files).is_err());
    of_records
}

#[test]
fn reads_that_go_forward_are_ahead_of_themselves() {
    let files = written(&(0..4000).map(|edge| ((edge / 10, edge % 10 * 7), Some(edge))).collect());
    let file = open(&files).unwrap();
    let sizes: Vec<u64> = file.block_sizes().map(|(_, bytes)| bytes).collect();
    let (forward, others) = (ForwardReads::default(), ForwardReads::default());
    for number in (0..sizes.len()).rev().chain((0..sizes.len()).step_by(20)) {
        others.read(&file, number);
    }
    assert_eq!(files.prefetched_bytes(), 0, "these do not go forward, or far");
    [5, 6].into_iter().for_each(|number| forward.read(&file, number));
    assert_eq!(files.prefetched_bytes(), 0, "two in a row may be by chance");
    (7..sizes.len()).step_by(3).for_each(|number| forward.read(&file, number));
    assert_eq!(files.prefetched_bytes(), sizes[7..].iter().sum());
    let mut versions = file.versions_of(0..u32::MAX);
    let mut batch = VersionBatch::default();
    versions.read(&mut batch).unwrap();
    let all: u64 = sizes.iter().sum();
    assert_eq!(files.prefetched_bytes(), sizes[7..].iter().sum::<u64>() + all, "all is less than a step");
}
