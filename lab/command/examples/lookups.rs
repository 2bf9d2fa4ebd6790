//! Measures lookups of rows by four indexes: the ranges of files and blocks alone; with a Bloom
//! filter per file; with the exact set of the owners of each file, and a search in the block; and
//! the index of [`EdgeFile::find`]. The counterpart of figures 16 and 17 of the paper on LSMGraph.
//!
//! All blocks are in memory. Times are processor times, reported by Linux; a block read counts as a
//! read of the disk that a larger graph would need. The last line reads through the cache of
//! blocks, like views.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example lookups`

use fastbloom::BloomFilter;
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_lsm::levels::{
    EdgeFile, FlushPart, FlushPoint, LevelOptions, LevelSet, LevelTree, MergedRow, OpenFile, RowContent,
    Version, VersionBatch, VersionSource,
};
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, ReadError, VertexId};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use roaring::RoaringBitmap;
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of bits of an id.
const SCALE: u32 = 20;

/// Number of edges of a flush.
const BATCH: usize = 1 << 20;

/// Number of flushes; the last three stay on level 0.
const FLUSHES: u64 = 15;

/// Repetitions, of which the median and the best are printed.
const REPETITIONS: usize = 15;

const LOOKUPS: usize = 1 << 16;

/// Step between the owners in the frontier.
const FRONTIER: usize = 8;

const BLOOM_BITS: f64 = 10.0;

const NEWEST: CommitTimestamp = CommitTimestamp(FLUSHES);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("hedgerow-lookups-{}", std::process::id()));
    let files = RealFiles::new(&folder);
    files.create_directory()?;
    compare(&Files::of(&written(Arc::new(files))?.current())?)?;
    Ok(std::fs::remove_dir_all(folder)?)
}

/// Measures the lookups of all methods, in turn, and prints the medians.
fn compare(all: &Files<'_>) -> Result<(), ReadError> {
    all.print();
    all.print_load_time()?;
    let mut random: Vec<VertexId> = all.owners.iter().map(VertexId::new).collect();
    let frontier: Vec<VertexId> = random.iter().copied().step_by(FRONTIER).collect();
    random.shuffle(&mut StdRng::seed_from_u64(2));
    random.truncate(LOOKUPS);
    println!("| index | random, ns | frontier, ns | blocks per look-up | bytes per vertex |");
    println!("|---|---|---|---|---|");
    let mut measured = [(); METHODS.len()].map(|()| (Vec::new(), Vec::new(), 0.0));
    for _ in 0..REPETITIONS {
        for ((_, method), (of_random, of_frontier, blocks)) in METHODS.iter().zip(&mut measured) {
            let (nanoseconds, read) = measure(&random, |owner, row| method.read(all, owner, row))?;
            of_random.push(nanoseconds);
            *blocks = read;
            of_frontier.push(measure(&frontier, |owner, row| method.read(all, owner, row))?.0);
        }
    }
    for ((name, method), (of_random, of_frontier, blocks)) in METHODS.iter().zip(measured) {
        let (random, frontier) = (median(of_random), median(of_frontier));
        let bytes = method.bytes(all) / all.owners.len() as f64;
        println!("| {name} | {random} | {frontier} | {blocks:.2} | {bytes:.2} |");
    }
    Ok(())
}

/// A method to find the blocks of a row.
#[derive(Clone, Copy)]
enum Method {
    Ranges,
    Bloom,
    Owners,
    /// The index of rows.
    Rows,
    /// Like a view, through the cache of blocks.
    View,
}

const METHODS: [(&str, Method); 5] = [
    ("ranges of files and blocks", Method::Ranges),
    ("and a Bloom filter per file", Method::Bloom),
    ("and the set of owners per file", Method::Owners),
    ("the index of rows per file", Method::Rows),
    ("the same, through the cache of blocks", Method::View),
];

impl Method {
    /// Reads a row. Returns the number of blocks read; 0 for a view, where it is unknown.
    fn read(self, files: &Files<'_>, owner: VertexId, row: &mut MergedRow) -> Result<usize, ReadError> {
        if let Method::View = self {
            files.set.read_row(0, owner, NEWEST, row)?;
            return Ok(0);
        }
        let mut read = 0;
        for level in &files.levels {
            for file in level.of_owner(owner) {
                read += self.read_file(file, owner, row)?;
                row.add_read();
            }
        }
        Ok(read)
    }

    fn read_file(
        self,
        file: &FileBlocks<'_>,
        owner: VertexId,
        row: &mut MergedRow,
    ) -> Result<usize, ReadError> {
        if let Method::Rows = self {
            return read_row(file, owner, row);
        }
        let may_have = match self {
            Method::Bloom => file.bloom.contains(&owner.get()),
            Method::Owners => file.owners.contains(owner.get()),
            _ => true,
        };
        if !may_have {
            return Ok(0);
        }
        let numbers = file.edges.blocks_of(owner.get()..owner.get() + 1);
        for number in numbers.clone() {
            let block = file.edges.parse(number, &file.blocks[number])?;
            let damaged = |error| file.edges.damaged(number, error);
            if let Some(found) = block.row(owner).map_err(damaged)? {
                row.read(&found, &[], NEWEST).map_err(damaged)?;
            }
        }
        Ok(numbers.len())
    }

    /// Returns the bytes of the index.
    fn bytes(self, files: &Files<'_>) -> f64 {
        let each = files.levels.iter().flat_map(|level| &level.files);
        let bytes = each.map(|file| match self {
            Method::Ranges => file.range_bytes,
            Method::Bloom => file.range_bytes + file.bloom.num_bits() / 8,
            Method::Owners => file.range_bytes + file.owners.serialized_size(),
            Method::Rows | Method::View => file.edges.index_bytes(),
        });
        bytes.sum::<usize>() as f64
    }
}

/// Reads a row by its place in the index.
fn read_row(file: &FileBlocks<'_>, owner: VertexId, row: &mut MergedRow) -> Result<usize, ReadError> {
    let Some(place) = file.edges.find(owner)? else { return Ok(0) };
    for number in place.blocks.clone() {
        let block = file.edges.parse(number, &file.blocks[number])?;
        let found = file.edges.row(&place, number, &block)?;
        row.read(&found, &[], NEWEST).map_err(|error| file.edges.damaged(number, error))?;
    }
    Ok(place.blocks.len())
}

/// Returns nanoseconds and blocks per lookup.
fn measure(
    owners: &[VertexId],
    mut read: impl FnMut(VertexId, &mut MergedRow) -> Result<usize, ReadError>,
) -> Result<(f64, f64), ReadError> {
    let mut row = MergedRow::new(RowContent::Neighbors);
    let (mut blocks, begin) = (0, processor_time());
    for owner in owners {
        row.clear();
        blocks += read(*owner, &mut row)?;
        assert!(!row.finish().neighbors().is_empty(), "{owner} has edges");
    }
    let per_lookup = |total: f64| total / owners.len() as f64;
    Ok((per_lookup((processor_time() - begin).as_nanos() as f64), per_lookup(blocks as f64)))
}

/// Returns the time that this thread has run.
fn processor_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let nanoseconds = times.split(' ').next().and_then(|time| time.parse().ok());
    Duration::from_nanos(nanoseconds.expect("a time"))
}

/// Returns the median, and the best in brackets.
fn median(mut figures: Vec<f64>) -> String {
    figures.sort_unstable_by(f64::total_cmp);
    format!("{:.0} ({:.0})", figures[figures.len() / 2], figures[0])
}

/// All files, with their blocks and the other indexes.
struct Files<'s> {
    set: &'s LevelSet,
    /// Newest first.
    levels: Vec<Level<'s>>,
    owners: RoaringBitmap,
}

struct Level<'s> {
    files: Vec<FileBlocks<'s>>,
    is_sorted: bool,
    /// One above the last owner of each file.
    ends: Vec<u32>,
}

struct FileBlocks<'s> {
    edges: &'s EdgeFile,
    blocks: Vec<Arc<[u8]>>,
    bloom: BloomFilter,
    owners: RoaringBitmap,
    /// Bytes of the index of blocks.
    range_bytes: usize,
}

impl<'s> Files<'s> {
    fn of(set: &'s LevelSet) -> Result<Self, ReadError> {
        let levels = (0..).zip(set.levels(0)).map(|(level, files)| Level::of(level, files));
        let levels = levels.collect::<Result<Vec<_>, _>>()?;
        let owners = levels.iter().flat_map(|level| &level.files).map(|file| &file.owners);
        let owners = owners.fold(RoaringBitmap::new(), |all, owners| all | owners);
        Ok(Files { set, levels, owners })
    }

    /// Prints the sizes of the graph and of its levels.
    fn print(&self) {
        let versions: u64 =
            self.levels.iter().flat_map(|level| &level.files).map(|file| file.edges.versions()).sum();
        println!("{} vertices with {versions} edges", self.owners.len());
        for (number, level) in self.levels.iter().enumerate().filter(|(_, level)| !level.files.is_empty()) {
            let sum = |count: fn(&FileBlocks<'_>) -> u64| level.files.iter().map(count).sum::<u64>();
            let bytes = sum(|file| file.blocks.iter().map(|block| block.len() as u64).sum());
            let (edges, rows, blocks) = (
                sum(|file| file.edges.versions()),
                sum(|file| file.owners.len()),
                sum(|file| file.blocks.len() as u64),
            );
            println!(
                "level {number}: {} files, {blocks} blocks, {rows} rows, {edges} edges, {:.3} bytes per edge",
                level.files.len(),
                bytes as f64 / edges as f64,
            );
        }
    }

    /// Loads the indexes of rows, and prints the time per row.
    fn print_load_time(&self) -> Result<(), ReadError> {
        let files = || self.levels.iter().flat_map(|level| &level.files);
        let begin = Instant::now();
        for file in files() {
            file.edges.find(VertexId::default())?;
        }
        let rows: u64 = files().map(|file| file.owners.len()).sum();
        println!("indexes of rows loaded: {:.1} ns per row", begin.elapsed().as_nanos() as f64 / rows as f64);
        println!();
        Ok(())
    }
}

impl<'s> Level<'s> {
    fn of(level: u32, files: &'s [Arc<OpenFile>]) -> Result<Self, ReadError> {
        let files = files.iter().map(|file| FileBlocks::of(file)).collect::<Result<Vec<_>, _>>()?;
        let ends = files.iter().map(|file| file.edges.owners().map_or(0, |(_, last)| last.get() + 1));
        Ok(Level { is_sorted: level > 0, ends: ends.collect(), files })
    }

    /// Returns the files whose ranges include an owner.
    fn of_owner(&self, owner: VertexId) -> &[FileBlocks<'s>] {
        match self.is_sorted {
            false => &self.files,
            true => {
                let place = self.ends.partition_point(|end| *end <= owner.get());
                &self.files[place..self.files.len().min(place + 1)]
            }
        }
    }
}

impl<'s> FileBlocks<'s> {
    fn of(file: &'s OpenFile) -> Result<Self, ReadError> {
        let edges = file.edges();
        let range_bytes = edges.index_bytes();
        let blocks =
            (0..edges.blocks()).map(|number| edges.read_block(number)).collect::<Result<Vec<_>, _>>()?;
        let mut owners = RoaringBitmap::new();
        for (number, bytes) in blocks.iter().enumerate() {
            let scanned = edges.parse(number, bytes)?.scan(|owner, _| {
                owners.insert(owner.get());
                ControlFlow::<()>::Continue(())
            });
            scanned.map(drop).map_err(|error| edges.damaged(number, error))?;
        }
        let bits = (owners.len() as f64 * BLOOM_BITS) as usize;
        let mut bloom = BloomFilter::with_num_bits(bits).seed(&1).expected_items(owners.len() as usize);
        owners.iter().for_each(|owner| _ = bloom.insert(&owner));
        Ok(FileBlocks { edges, blocks, bloom, owners, range_bytes })
    }
}

/// Writes a graph in which most vertices have few edges and a few have many, and merges most of it
/// into lower levels.
fn written(files: Arc<dyn FileSystem>) -> Result<LevelTree, Box<dyn Error>> {
    let options = LevelOptions {
        level_1_bytes: 6 << 20,
        segment_bytes: 4 << 20,
        cache_bytes: 1 << 30,
        ..LevelOptions::new(vec![ColumnType::Unit])
    };
    let tree = LevelTree::open(files, options)?;
    let mut random = StdRng::seed_from_u64(1);
    for flush in 1..=FLUSHES {
        // SAFETY: no engine is involved; the value only says which versions are kept.
        let live = unsafe { LiveTimestamps::as_of(Vec::new(), CommitTimestamp(flush)) };
        let mut edges: Vec<_> = (0..BATCH).map(|_| skewed_edge(&mut random)).collect();
        edges.sort_unstable();
        edges.dedup();
        let sources = vec![Changes { edges, at: CommitTimestamp(flush) }];
        tree.flush(
            vec![FlushPart { adjacency: 0, sources }],
            &live,
            FlushPoint { durable_through: CommitTimestamp(flush), ..FlushPoint::default() },
        )?;
        while tree.needs_compaction() {
            tree.compact(&live)?;
        }
    }
    Ok(tree)
}

/// The edges of one commit.
struct Changes {
    edges: Vec<(u32, u32)>,
    at: CommitTimestamp,
}

impl VersionSource for Changes {
    fn read(&mut self, batch: &mut VersionBatch) -> Result<(), ReadError> {
        let version = Version { at: self.at, value: Some(EdgeValue::default()) };
        for (owner, neighbor) in std::mem::take(&mut self.edges) {
            batch.push(VertexId::new(owner), VertexId::new(neighbor), version);
        }
        Ok(())
    }
}

/// Returns an edge of a Kronecker graph, with the probabilities of Graph500 and the ids mixed.
fn skewed_edge(random: &mut StdRng) -> (u32, u32) {
    let (mut from, mut to) = (0, 0);
    for _ in 0..SCALE {
        let (from_bit, to_bit) = match random.random_range(0..100) {
            0..57 => (0, 0),
            57..76 => (0, 1),
            76..95 => (1, 0),
            _ => (1, 1),
        };
        (from, to) = (from << 1 | from_bit, to << 1 | to_bit);
    }
    (mixed(from), mixed(to))
}

/// Permutes the ids.
fn mixed(id: u32) -> u32 {
    id.wrapping_mul(0x9e37_79b1) & ((1 << SCALE) - 1)
}
