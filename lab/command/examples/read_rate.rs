//! Reads a graph file and prints the rate: edges per second, on one thread or several.
//!
//!     cargo run --release --manifest-path lab/Cargo.toml --example read_rate -- graph.el 2

use hedgerow_formats::{Batch, GraphReader};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("the path of a graph file is missing")?;
    let threads = arguments.next().map_or(Ok(1), |threads| threads.parse())?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;

    let started = Instant::now();
    let mut reader = GraphReader::<u64>::open(&path)?;
    let (mut batch, mut edges) = (Batch::new(), 0);
    while reader.read_batch_on(Some(&pool), &mut batch)? {
        edges += batch.edges.len();
    }
    let seconds = started.elapsed().as_secs_f64();
    let rate = edges as f64 / seconds / 1e6;
    println!("{edges} edges in {seconds:.3} s: {rate:.1} M edges/s on {threads} thread(s)");
    Ok(())
}
