//! Measures the size of a checkpoint of a Kronecker graph, and the speed of writing and reading it
//! on one core.
//!
//! `cargo run --release --manifest-path lab/Cargo.toml --example checkpoint -- 20`

use hedgerow_formats::Kronecker;
use hedgerow_kernels::csr::{BuildOptions, Csr};
use hedgerow_log::checkpoint::{Checkpoint, Description, ViewSource, WriteOptions, write};
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_model::{
    Catalog, Column, CommitTimestamp, Counts, EdgeSchema, GraphView, Key, KeyKind, LabelId, LabelSchema,
    RecordSchema, Topology, VertexId,
};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let scale = std::env::args().nth(1).map_or(Ok(18), |scale| scale.parse())?;
    let generator = Kronecker::new(scale, 16, 1)?;
    let mut ends = Vec::new();
    generator.fill(0..generator.edges(), &mut ends);
    println!("| graph | values | bytes | per entry | write, M edges/s | read, M edges/s |");
    println!("|---|---|---|---|---|---|");
    for topology in [Topology::Undirected, Topology::Directed] {
        measure(scale, topology, &ends, |_, _| ())?;
        measure(scale, topology, &ends, |from, to| ((from ^ to) % 256) as f64)?;
        measure(scale, topology, &ends, |from, to| ((from * 31) ^ (to * 17)) as f64 / 1e6)?;
    }
    Ok(())
}

fn measure<W: Column>(
    scale: u32,
    topology: Topology,
    ends: &[(u64, u64)],
    value: impl Fn(u64, u64) -> W,
) -> Result<(), Box<dyn Error>> {
    let edge = |(from, to): &(u64, u64)| {
        Ok((VertexId::try_from(*from)?, VertexId::try_from(*to)?, value(*from.min(to), *from.max(to))))
    };
    let edges: Vec<_> = ends.iter().map(edge).collect::<Result<_, Box<dyn Error>>>()?;
    let csr = Csr::from_valued_edges(1 << scale, topology, &edges, BuildOptions::default())?;
    drop(edges);
    let count = csr.edge_count(LabelId::DEFAULT).at_most();
    let schema = if W::TYPE.width() == 0 { EdgeSchema::Topology } else { EdgeSchema::Value(W::TYPE) };
    let labels = vec![LabelSchema { name: "edge".to_owned(), edges: schema }];
    let description = Description {
        store: [0; 16],
        timestamp: CommitTimestamp(1),
        wall_clock: 0,
        topology,
        keys: KeyKind::Dense,
        catalog: Catalog::new(labels, RecordSchema::default())?,
        counts: Counts {
            vertex_bound: csr.vertex_bound(),
            vertices: csr.vertex_count(),
            edges: [count].into_iter().collect(),
            beside: None,
        },
        input: None,
    };
    let folder = tempfile::tempdir()?;
    let files = RealFiles::new(folder.path());
    let source = ViewSource::new(&csr, |vertex| Key::Number(vertex.get().into()));
    let options = WriteOptions::default();
    let rate = |begin: Instant| count as f64 / begin.elapsed().as_secs_f64() / 1e6;
    let (mut written, mut write_rate, mut read_rate) = (Default::default(), 0.0, 0.0_f64);
    for _ in 0..3 {
        let begin = Instant::now();
        written = write(&files, "checkpoint", &description, &source, &options)?;
        write_rate = rate(begin).max(write_rate);
        let begin = Instant::now();
        let checkpoint = Checkpoint::open(&files, "checkpoint")?;
        let mut sum = 0;
        for chunk in checkpoint.edge_chunks(LabelId::DEFAULT) {
            checkpoint.read_edges::<W>(chunk, |source, run, values| {
                sum += run.iter().map(|to| u64::from(to.get())).sum::<u64>() + u64::from(source.get());
                black_box(values);
            })?;
        }
        black_box(sum);
        read_rate = rate(begin).max(read_rate);
    }
    files.remove("checkpoint")?;
    println!(
        "| {topology:?} | {} | {} | {:.3} | {write_rate:.1} | {read_rate:.1} |",
        W::TYPE,
        written.bytes,
        written.edge_bytes[0] as f64 / csr.neighbors().len() as f64,
    );
    Ok(())
}
