//! The index of rows.

use super::*;
use crate::levels::check::check_files;
use crate::levels::manifest::{Edit, FileEntry, Manifest};
use hedgerow_sync::Arc;
use roaring::RoaringBitmap;

/// Returns 100 rows of 5 edges, of every second vertex.
fn short_rows() -> Edges {
    (0..500).map(|edge| ((edge / 5 * 2, edge % 5), Some(edge))).collect()
}

/// Returns the number in the eight bytes at an offset of the footer.
fn in_footer(bytes: &[u8], offset: usize) -> usize {
    let bytes = &bytes[bytes.len() - FOOTER_BYTES + offset..];
    Reader::new(bytes).array().map(u64::from_le_bytes).unwrap() as usize
}

/// Returns files with [`short_rows`] and another set of owners, with the right checksums.
fn with_owners(set: &[u8]) -> SimulatedFiles {
    let files = written(&short_rows());
    let file = files.open(NAME, OpenMode::Write).unwrap();
    let bytes = file.read_from(0).unwrap();
    let begin = in_footer(&bytes, 0) + in_footer(&bytes, 8) * ENTRY_BYTES;
    let mut footer = bytes[bytes.len() - FOOTER_BYTES..bytes.len() - 8].to_vec();
    footer[24..32].copy_from_slice(&(set.len() as u64).to_le_bytes());
    footer[36..40].copy_from_slice(&crc32c::crc32c(set).to_le_bytes());
    let changed = [&bytes[..begin], set, &with_checksum(footer), &END].concat();
    files.open(NAME, OpenMode::Create).unwrap().write_all_at(&changed, 0).unwrap();
    files
}

fn set_of(owners: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    row_index::put_owners(&owners.into_iter().collect(), &mut bytes);
    bytes
}

/// Returns the problems that a check of everything finds in the file.
fn problems(files: &SimulatedFiles) -> Vec<String> {
    let bytes = files.open(NAME, OpenMode::Read).unwrap().read_from(0).unwrap();
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let files: Arc<dyn FileSystem> = Arc::new(files);
    let entry = FileEntry { number: 1, adjacency: 0, level: 1, bytes: bytes.len() as u64 };
    let name = FileEntry::name_of(entry.number);
    let mut manifest = Manifest::open(Arc::clone(&files)).unwrap();
    manifest.begin_edits().unwrap();
    manifest.apply(&Edit { added: vec![entry], ..Edit::default() }).unwrap();
    files.open(&name, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    let found = check_files(&files, &[COLUMN], &mut |_| {}).unwrap();
    found.problems.into_iter().map(|problem| problem.what).collect()
}

/// Returns the number of entries in the row of an owner, or the error; `None` if it has no row.
fn row_entries(file: &EdgeFile, owner: u32) -> Result<Option<usize>, String> {
    let Some(place) = file.find(VertexId::new(owner)).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let number = place.blocks.start;
    let bytes = file.read_block(number).unwrap();
    let block = file.parse(number, &bytes).unwrap();
    let row = file.row(&place, number, &block).map_err(|error| error.to_string())?;
    Ok(Some(row.entries()))
}

#[test]
fn the_index_of_rows_is_loaded_by_the_first_look_up() {
    let files = written(&short_rows());
    let file = open(&files).unwrap();
    let of_blocks = file.index_bytes();
    assert_eq!(row_entries(&file, 8), Ok(Some(5)));
    assert_eq!(row_entries(&file, 9), Ok(None));
    let of_rows = file.index_bytes() - of_blocks;
    assert!((64 + 12 * file.blocks()..64 + 16 * file.blocks()).contains(&of_rows), "{of_rows}");
    assert!(problems(&files).is_empty());
}

/// Sets with another owner than a block has, with one too many, and with one too few: a lookup in
/// the block with the difference finds it, and so does a check of everything.
#[test]
fn owners_that_a_block_does_not_have_are_damage() {
    let owners = || (0..200).step_by(2);
    let sets = [
        set_of(owners().map(|owner| if owner == 6 { 7 } else { owner })),
        set_of(owners().chain([7])),
        set_of(owners().filter(|owner| *owner != 6)),
    ];
    for set in sets {
        let files = with_owners(&set);
        let file = open(&files).unwrap();
        for owner in [0, 4, 7].into_iter().filter(|owner| file.find(VertexId::new(*owner)).unwrap().is_some())
        {
            let error = row_entries(&file, owner).unwrap_err();
            assert!(error.contains("its owners are others"), "{error}");
        }
        assert_eq!(row_entries(&file, 100), Ok(Some(5)), "the other blocks are intact");
        let problems = problems(&files);
        assert!(problems.len() == 1 && problems[0].contains("its owners are others"), "{problems:?}");
    }
}

#[test]
fn sets_of_owners_that_the_index_of_blocks_excludes_are_damage() {
    let owners = || (0..200).step_by(2);
    let mut runs = Vec::new();
    let mut all: RoaringBitmap = owners().collect();
    all.insert_range(50..150);
    all.optimize();
    all.serialize_into(&mut runs).unwrap();
    let sets = [
        set_of([]),
        set_of(owners().skip(1)),
        set_of(owners().chain([4_000_000_000])),
        [set_of(owners()), vec![0]].concat(),
        set_of(owners())[..50].to_vec(),
        runs,
    ];
    for set in sets {
        let files = with_owners(&set);
        let error = row_entries(&open(&files).unwrap(), 8).unwrap_err();
        assert!(error.contains("edges at byte"), "{error}");
        let problems = problems(&files);
        assert!(problems.len() == 1 && problems[0].contains("owners"), "{problems:?}");
    }
}

/// Rows that take many blocks each, between rows that share a block, with dense and with sparse
/// owners.
#[test]
fn rows_are_found_beside_rows_of_many_blocks() {
    let long = |owner: u32| (0..900).map(move |neighbor| ((owner, neighbor), Some(1)));
    let dense: Edges = short_rows().into_iter().chain((20..25).flat_map(long)).chain(long(150)).collect();
    for gap in [1, 1000] {
        let edges: Edges =
            dense.iter().map(|((owner, neighbor), value)| ((owner * gap, *neighbor), *value)).collect();
        let files = written(&edges);
        let file = open(&files).unwrap();
        for owner in (0..210 * gap).filter(|owner| owner % gap < 2) {
            let expected = edges.range((owner, 0)..(owner + 1, 0)).count();
            let Some(place) = file.find(VertexId::new(owner)).unwrap() else {
                assert_eq!(expected, 0);
                continue;
            };
            let entries = place.blocks.clone().map(|number| {
                let bytes = file.read_block(number).unwrap();
                file.row(&place, number, &file.parse(number, &bytes).unwrap()).unwrap().entries()
            });
            assert_eq!(entries.sum::<usize>(), expected);
        }
    }
}
