//! Measures the savings and the cost of compressed records: bytes, and the times to write a file,
//! to read all of it, and to read the records of one block. The file lies in the page cache, so the
//! times are processor times.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example records`

use hedgerow_encoding::encode_record;
use hedgerow_encoding::wire::put_bytes;
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_lsm::levels::{EdgeFile, EdgeFileWriter, Version, VersionBatch, VersionSource};
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, Record, Value, VertexId};
use std::error::Error;
use std::time::{Duration, Instant};

const EDGES: u64 = 1 << 20;

/// Repetitions, of which the median counts.
const REPETITIONS: usize = 7;

const NAME: &str = "measured.edges";

const WORDS: [&str; 16] = [
    "Amsterdam",
    "engineer",
    "knows",
    "Ljubljana",
    "follows",
    "Reykjavik",
    "purchase",
    "Montevideo",
    "colleague",
    "reviewed",
    "Nairobi",
    "member",
    "Gothenburg",
    "likes",
    "manager",
    "Valparaiso",
];

type Kind = (&'static str, fn(u64) -> Vec<Value>);

/// A time and a weight; a time and two words; a time and a text of several words; 120 random bytes.
const KINDS: [Kind; 4] = [
    ("time, weight", |edge| vec![time(edge), Value::F64((random(edge) % 1000) as f64 / 10.0)]),
    ("time, two words", |edge| vec![time(edge), word(edge, 1), word(edge, 2)]),
    ("time, sentence", |edge| {
        let text: Vec<_> = (0..8).map(|place| WORDS[(random(edge + (place << 40)) % 16) as usize]).collect();
        vec![time(edge), Value::String(text.join(" ").into())]
    }),
    ("120 random bytes", |edge| {
        let bytes: Vec<u8> = (0..15).flat_map(|place| random(edge + (place << 40)).to_le_bytes()).collect();
        vec![Value::Bytes(bytes.into())]
    }),
];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("hedgerow-records-{}", std::process::id()));
    let files = RealFiles::new(&folder);
    files.create_directory()?;
    println!("| records | compressed | bytes per record | write, M/s | read all, M/s | read a block, µs |");
    println!("|---|---|---|---|---|---|");
    for (name, values) in KINDS {
        let records: Vec<_> = (0..EDGES).map(|edge| encode_record(&Record::new(values(edge)))).collect();
        for is_compressed in [false, true] {
            let measured = (0..REPETITIONS).map(|_| measure(&files, &records, is_compressed));
            let measured = measured.collect::<Result<Vec<_>, _>>()?;
            let median = |time: fn(&Measured) -> Duration| {
                let mut times: Vec<_> = measured.iter().map(time).collect();
                times.sort_unstable();
                times[REPETITIONS / 2].as_secs_f64()
            };
            let bytes = measured[0].record_bytes as f64 / EDGES as f64;
            let per_second = |seconds: f64| EDGES as f64 / 1e6 / seconds;
            let (write, read) = (per_second(median(|one| one.write)), per_second(median(|one| one.read)));
            let block = median(|one| one.block) * 1e6;
            println!("| {name} | {is_compressed} | {bytes:.1} | {write:.1} | {read:.1} | {block:.0} |");
        }
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

struct Measured {
    record_bytes: u64,
    write: Duration,
    read: Duration,
    block: Duration,
}

fn measure(files: &RealFiles, records: &[Vec<u8>], is_compressed: bool) -> Result<Measured, Box<dyn Error>> {
    let begin = Instant::now();
    let writer = EdgeFileWriter::create(files, NAME, ColumnType::Record)?;
    let mut writer = writer.compress_records(is_compressed);
    let mut one = Vec::new();
    for (edge, record) in (0..).zip(records) {
        one.clear();
        put_bytes(&mut one, record);
        let version = Version { at: CommitTimestamp::ZERO, value: Some(EdgeValue(0)) };
        // 16 edges per vertex.
        writer.push(VertexId::new(edge / 16), VertexId::new(edge % 16 * 1009), version, &one)?;
    }
    writer.finish()?;
    let write = begin.elapsed();
    let file = EdgeFile::open(files, NAME, ColumnType::Record)?;
    let begin = Instant::now();
    let (mut source, mut found) = (file.versions_of(0..u32::MAX), 0);
    loop {
        let mut batch = VersionBatch::default();
        source.read(&mut batch)?;
        match batch.len() {
            0 => break,
            more => found += more,
        }
    }
    assert_eq!(found, records.len());
    let read = begin.elapsed();
    let begin = Instant::now();
    for number in 0..file.blocks() {
        let bytes = file.read_block(number)?;
        std::hint::black_box(file.read_records(&file.parse(number, &bytes)?)?);
    }
    let block = begin.elapsed() / file.blocks() as u32;
    let record_bytes =
        files.open(&EdgeFile::records_name(NAME), hedgerow_log::files::OpenMode::Read)?.length()?;
    Ok(Measured { record_bytes, write, read, block })
}

/// Returns a random time in microseconds: neighbors of a vertex are added at any time.
fn time(edge: u64) -> Value {
    Value::Timestamp(1_764_000_000_000_000 + (random(edge) % 10_000_000_000) as i64)
}

fn word(edge: u64, place: u64) -> Value {
    Value::String(WORDS[(random(edge + (place << 40)) % 16) as usize].into())
}

/// SplitMix64.
fn random(number: u64) -> u64 {
    let bits = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
