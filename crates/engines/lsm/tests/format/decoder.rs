//! A reader of the engine's files, written from docs/format.md alone: it shares no code with the
//! crate.
//!
//! It expects whole files, and panics if something deviates from the document.

use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// A version of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub owner: u32,
    pub neighbor: u32,
    pub at: u64,
    pub content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Deleted,
    Bits(u64),
    Record(Vec<u8>),
}

/// The content of an edge file and its record file.
#[derive(Debug)]
pub struct EdgeFile {
    /// Code of the type of the values.
    pub column: u32,
    /// The versions of each block.
    pub blocks: Vec<Vec<Version>>,
    /// For each block, true if its records are compressed.
    pub compressed: Vec<bool>,
}

/// The content of a manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub durable: u64,
    pub vertex_bound: u64,
    pub vertices: u64,
    /// By label: edges, the possible excess of that number, parallel edges.
    pub labels: Vec<[u64; 3]>,
    pub note: Vec<u8>,
    /// By number: adjacency, level, bytes.
    pub files: BTreeMap<u64, [u64; 3]>,
    pub records: u64,
}

struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> &'b [u8] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    /// Reads a number of `count` bytes, little endian.
    fn number(&mut self, count: usize) -> u64 {
        self.take(count).iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn varint(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.number(1);
            number |= (byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return number;
            }
        }
    }

    fn bytes(&mut self) -> Bytes<'b> {
        let length = self.varint() as usize;
        Bytes(self.take(length))
    }

    /// Reads `count` numbers of `width` bits each, in whole bytes.
    fn packed(&mut self, count: usize, width: usize) -> Vec<u64> {
        let bytes = self.take((count * width).div_ceil(8));
        let bit = |place: usize| u64::from(bytes[place / 8] >> (place % 8) & 1);
        let number = |place| (0..width).map(|low| bit(place * width + low) << low).sum();
        (0..count).map(number).collect()
    }

    /// Reads `count` pairs of numbers of these widths, in whole bytes.
    fn packed_pairs(&mut self, count: usize, [one, other]: [usize; 2]) -> Vec<[u64; 2]> {
        assert!(one + other <= 56, "a width of places");
        let pairs = self.packed(count, one + other);
        pairs.into_iter().map(|pair| [pair & ((1 << one) - 1), pair >> one]).collect()
    }

    fn packed_row(&mut self) -> Vec<u32> {
        let first = self.number(1) as usize;
        let mut width = first & 0x3f;
        let count = if first >> 6 == 0 { self.varint() as usize + 4 } else { first >> 6 };
        let mut ids: Vec<u32> = Vec::new();
        while ids.len() < count {
            if !ids.is_empty() {
                width = self.number(1) as usize;
            }
            assert!(width <= 32, "a gap has at most 32 bits");
            for gap in self.packed((count - ids.len()).min(128), width) {
                let next = ids.last().map_or(0, |last| u64::from(*last) + 1);
                ids.push(u32::try_from(next + gap).expect("an id has 32 bits"));
            }
        }
        ids
    }

    fn numbers(&mut self, count: usize) -> Vec<u64> {
        let (base, width) = (self.number(8), self.number(1) as usize);
        assert!(width <= 56 || width == 64, "a width of numbers");
        let numbers = self.packed(count, width);
        let add_base = |number: u64| if number == 0 { 0 } else { base + number - 1 };
        if width == 64 { numbers } else { numbers.into_iter().map(add_base).collect() }
    }

    /// Reads the content of a stretch; true if it is compressed.
    fn stretch(&mut self) -> (Vec<u8>, bool) {
        let form = self.number(1);
        match form {
            0 => (self.bytes().0.to_vec(), false),
            1 => {
                let length = self.varint() as usize;
                let compressed = self.bytes().0;
                assert!(length <= (1 << 20).max(8 * compressed.len()), "a compressed stretch has a limit");
                let content = zstd::bulk::decompress(compressed, length).expect("a Zstandard frame");
                assert_eq!(content.len(), length);
                (content, true)
            }
            _ => panic!("a stretch of form {form}"),
        }
    }

    fn end(&self) {
        assert!(self.0.is_empty(), "something follows the end");
    }
}

fn checked(bytes: &[u8], checksum: u64) -> Bytes<'_> {
    assert_eq!(u64::from(crc32c::crc32c(bytes)), checksum, "a checksum");
    Bytes(bytes)
}

/// Returns the bytes of a value in a column with this code.
fn width_of(column: u32) -> usize {
    match column {
        0 => 0,
        1 | 4 => 4,
        2 | 3 | 5 => 8,
        _ => panic!("column {column} has no width"),
    }
}

const RECORDS: u32 = 6;

/// Reads an edge file, and its record file if the edges have records.
pub fn edge_file(file: &[u8], record_file: Option<&[u8]>) -> EdgeFile {
    let mut header = checked(&file[..16], Bytes(&file[16..20]).number(4));
    assert_eq!(header.take(8), b"HEDGEEDG");
    assert_eq!(header.number(4), 2);
    let column = header.number(4) as u32;
    if let Some(record_file) = record_file {
        assert_eq!(&record_file[..8], b"HEDGEREC");
        assert_eq!(Bytes(&record_file[8..12]).number(4), 1);
    }

    let (rest, footer) = file.split_at(file.len() - 80);
    assert_eq!(&footer[76..], b"HGED");
    let mut footer = checked(&footer[..72], Bytes(&footer[72..76]).number(4));
    let (index, blocks, versions) = (footer.number(8) as usize, footer.number(8), footer.number(8));
    let (rest, mut owner_bytes) = rest.split_at(rest.len() - footer.number(8) as usize);
    let mut index_bytes = checked(&rest[index..], footer.number(4));
    checked(owner_bytes, footer.number(4));
    let counts = [0; 4].map(|_| footer.number(8));
    assert_eq!(Bytes(owner_bytes).number(4), 12346, "no runs");
    let owners = RoaringBitmap::deserialize_from(&mut owner_bytes).unwrap();
    assert_eq!(owner_bytes.len(), 0, "something follows the owners");
    let mut found = EdgeFile { column, blocks: Vec::new(), compressed: Vec::new() };
    let mut end = 20;
    for _ in 0..blocks {
        let [first_owner, first_neighbor, last_owner] = [0; 3].map(|_| index_bytes.number(4) as u32);
        let length = index_bytes.number(4) as usize;
        let offset = index_bytes.number(8) as usize;
        assert_eq!(offset, end, "blocks adjoin");
        end += length;
        let mut block = checked(&file[offset..end], index_bytes.number(4));
        let (versions, is_compressed) = read_block(&mut block, column, record_file);
        block.end();
        assert_eq!((versions[0].owner, versions[0].neighbor), (first_owner, first_neighbor));
        assert_eq!(versions.last().map(|last| last.owner), Some(last_owner));
        let rows = versions.chunk_by(|one, other| one.owner == other.owner);
        let rank = |owner: u32| owners.rank(owner) as usize;
        assert!(rows.enumerate().all(|(row, of_row)| rank(of_row[0].owner) - rank(first_owner) == row));
        found.blocks.push(versions);
        found.compressed.extend(is_compressed);
    }
    index_bytes.end();
    let of_blocks: RoaringBitmap = found.blocks.iter().flatten().map(|version| version.owner).collect();
    assert_eq!(owners, of_blocks);
    assert_eq!(end, index, "the index follows the last block");
    assert_eq!(found.blocks.iter().map(Vec::len).sum::<usize>() as u64, versions);
    let of_blocks = found.blocks.iter().map(|versions| {
        // The newest version of an entry is the first.
        let entries =
            versions.chunk_by(|one, other| (one.owner, one.neighbor) == (other.owner, other.neighbor));
        let of = |is_deleted: bool, all: bool| {
            let counts = |entry: &&[Version]| {
                matches!(entry[0].content, Content::Deleted) == is_deleted
                    && (all || entry[0].neighbor >= entry[0].owner)
            };
            entries.clone().filter(counts).count() as u64
        };
        [of(false, true), of(true, true), of(false, false), of(true, false)]
    });
    let of_blocks = of_blocks.fold([0; 4], |sum, of| std::array::from_fn(|number| sum[number] + of[number]));
    assert_eq!(counts, of_blocks);
    found
}

/// Reads the versions in a block; true if its records are compressed.
fn read_block(block: &mut Bytes<'_>, column: u32, records: Option<&[u8]>) -> (Vec<Version>, Option<bool>) {
    let flags = block.number(1);
    let [rows, entries, owner_bytes, row_bytes] = [(); 4].map(|()| block.varint() as usize);
    let widths =
        [row_bytes, entries].map(|number| number.checked_ilog2().map_or(0, |bits| bits as usize + 1));
    let places = block.packed_pairs((rows - 1) / 4, widths);
    let mut owners = Bytes(block.take(owner_bytes));
    let ids = owners.packed_row();
    owners.end();
    assert_eq!(ids.len(), rows);
    let frame_owners: Vec<_> = (0..(rows - 1) / 128).map(|_| block.number(4)).collect();
    assert!(ids.iter().step_by(128).skip(1).map(|owner| u64::from(*owner)).eq(frame_owners));
    let mut packed = Bytes(block.take(row_bytes));
    let mut edges = Vec::new();
    for (number, owner) in ids.into_iter().enumerate() {
        if number > 0 && number % 4 == 0 {
            let place = [row_bytes - packed.0.len(), edges.len()].map(|number| number as u64);
            assert_eq!(places[number / 4 - 1], place);
        }
        edges.extend(packed.packed_row().into_iter().map(|neighbor| (owner, neighbor)));
    }
    packed.end();
    assert_eq!(edges.len(), entries);

    let timestamps = if flags & 1 != 0 { block.numbers(entries) } else { vec![0; entries] };
    let deleted = if flags & 2 != 0 { block.packed(entries, 1) } else { vec![0; entries] };
    let (values, older_width, chunk) = match column {
        RECORDS => {
            let (offset, length) = (block.number(8) as usize, block.number(4) as usize);
            let stored = &records.expect("edges with records have a record file")[offset..offset + length];
            let mut stored = checked(stored, block.number(4));
            let chunk = stored.stretch();
            stored.end();
            let offsets = block.numbers(entries).into_iter().map(|offset| offset.wrapping_sub(1)).collect();
            (offsets, 4, Some(chunk))
        }
        _ => {
            let width = width_of(column);
            ((0..entries).map(|_| block.number(width)).collect::<Vec<_>>(), width, None)
        }
    };
    let content = |is_deleted: bool, value: u64| match &chunk {
        _ if is_deleted => Content::Deleted,
        Some((chunk, _)) => Content::Record(Bytes(&chunk[value as usize..]).bytes().0.to_vec()),
        None => Content::Bits(value),
    };
    let mut older: BTreeMap<usize, Vec<(u64, Content)>> = BTreeMap::new();
    if flags & 4 != 0 {
        for _ in 0..block.varint() {
            let (entry, at, is_deleted) = (block.number(4) as usize, block.number(8), block.number(1) == 1);
            let value = block.number(older_width);
            older.entry(entry).or_default().push((at, content(is_deleted, value)));
        }
    }
    let mut versions = Vec::new();
    for (entry, (owner, neighbor)) in edges.into_iter().enumerate() {
        let newest = (timestamps[entry], content(deleted[entry] == 1, values[entry]));
        let all = std::iter::once(newest).chain(older.remove(&entry).unwrap_or_default());
        versions.extend(all.map(|(at, content)| Version { owner, neighbor, at, content }));
    }
    assert!(older.is_empty(), "older versions belong to entries");
    (versions, chunk.map(|(_, is_compressed)| is_compressed))
}

/// Reads a manifest with nothing torn.
pub fn manifest(bytes: &[u8]) -> Manifest {
    let mut header = checked(&bytes[..12], Bytes(&bytes[12..16]).number(4));
    assert_eq!(header.take(8), b"HEDGELEV");
    assert_eq!(header.number(4), 2);
    let (mut found, mut rest) = (Manifest::default(), Bytes(&bytes[16..]));
    while !rest.0.is_empty() {
        let covered = rest.0;
        let (number, length, checksum) = (rest.number(8), rest.number(4) as usize, rest.number(4));
        assert_eq!(number, found.records);
        let mut edit = Bytes(rest.take(length));
        checked(&[&covered[..12], edit.0].concat(), checksum);
        found.records += 1;
        (found.durable, found.vertex_bound, found.vertices) = (edit.varint(), edit.varint(), edit.varint());
        found.labels = (0..edit.varint()).map(|_| [0; 3].map(|_| edit.varint())).collect();
        let note_length = edit.varint() as usize;
        found.note = edit.take(note_length).to_vec();
        let added: Vec<_> =
            (0..edit.varint()).map(|_| (edit.varint(), [0; 3].map(|_| edit.varint()))).collect();
        (0..edit.varint()).for_each(|_| _ = found.files.remove(&edit.varint()));
        found.files.extend(added);
        edit.end();
    }
    found
}
