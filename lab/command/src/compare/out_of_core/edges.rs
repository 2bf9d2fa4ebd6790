//! The edges in files, in the order in which stores put them, made before the measurement.

use super::algorithms::{self, Reader};
use super::deadline::Deadline;
use super::job::{Answers, Counts};
use crate::compare::graph::Edge;
use anyhow::{Context, Result, ensure};
use hedgerow::VertexId;
use hedgerow_formats::Kronecker;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rayon::slice::ParallelSliceMut;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Bytes of an edge in a file: two numbers of 32 bits, little-endian.
pub const EDGE_BYTES: u64 = 8;

/// Percentages of the edges that are loaded first, and then put alone; the rest is put among
/// deletions.
const LOADED: usize = 80;
const ALONE: usize = 15;

/// Edges that are put between two deletions.
pub const PUTS_PER_DELETION: usize = 20;

/// The graph of a comparison: undirected, each edge once.
#[derive(Debug)]
pub struct Prepared {
    /// Its name.
    pub name: String,
    /// The vertex bound.
    pub vertices: u32,
    /// The numbers of edges of each part.
    pub counts: Counts,
    /// The vertex with most neighbors, the source of searches.
    pub source: VertexId,
    /// The folder of the files.
    pub folder: PathBuf,
    /// The correct answers.
    pub expected: Answers,
}

/// The file of all edges, each once, in random order.
pub const SHUFFLED: &str = "edges";

/// The file of edges with ends of the same frequency as in the graph; some of the edges exist.
pub const EXTRA: &str = "extra-edges";

/// The file of the loaded edges, in both directions, ascending.
pub const LOADED_IN_ORDER: &str = "loaded-in-order";

/// The file of the edges that remain after all deletions, in both directions, ascending.
pub const FINAL_IN_ORDER: &str = "final-in-order";

impl Prepared {
    /// Makes the edges of a graph by its name, such as `kron-20` or `sparse-21`, or reads them from
    /// a file.
    pub fn new(graph: &str, seed: u64, folder: &Path, queries: &[u64]) -> Result<Self> {
        let (name, mut edges) = named(graph, seed)?;
        edges.par_sort_unstable();
        edges.dedup();
        let largest = edges.iter().map(|edge| edge.1.get()).max().context("a graph without edges")?;
        let vertices = match name.rsplit_once('-').and_then(|(_, scale)| scale.parse::<u32>().ok()) {
            Some(scale) if name == graph => 1 << scale,
            _ => largest + 1,
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        edges.shuffle(&mut random);
        let loaded = edges.len() * LOADED / 100;
        let alone = edges.len() * ALONE / 100;
        let deleted = (edges.len() - loaded - alone) / PUTS_PER_DELETION;
        ensure!(deleted > 0, "{graph} has too few edges");
        let end = |position: usize| {
            if position.is_multiple_of(2) { edges[position / 2].0 } else { edges[position / 2].1 }
        };
        let mut any = || end(random.random_range(0..2 * edges.len()));
        let extra: Vec<Edge> =
            (0..edges.len() / 2).map(|_| (any(), any())).filter(|edge| edge.0 != edge.1).collect();
        let counts = Counts {
            loaded: loaded as u64,
            alone: alone as u64,
            all: edges.len() as u64,
            deleted: deleted as u64,
            extra: extra.len() as u64,
        };
        write(&folder.join(SHUFFLED), &edges)?;
        write(&folder.join(EXTRA), &extra)?;
        drop(extra);
        write(&folder.join(LOADED_IN_ORDER), &in_order(&edges[..loaded]))?;
        // The first edges, which are random because all are shuffled, are deleted.
        let last = in_order(&edges[deleted..]);
        drop(edges);
        write(&folder.join(FINAL_IN_ORDER), &last)?;
        let mut oracle = Sorted::new(vertices, last);
        let source = oracle.hub();
        let expected = expected(&mut oracle, vertices, source, queries)?;
        Ok(Prepared { name, vertices, counts, source, folder: folder.to_owned(), expected })
    }
}

/// The vertices of the neighbor queries.
pub fn queried(queries: &[u64], vertices: u32) -> Vec<VertexId> {
    queries.iter().map(|random| VertexId::new((random % u64::from(vertices)) as u32)).collect()
}

fn expected(oracle: &mut Sorted, vertices: u32, source: VertexId, queries: &[u64]) -> Result<Answers> {
    let never = &mut Deadline::after(1e9);
    Ok(Answers {
        neighbors: Some(algorithms::scan(oracle, never)?),
        bfs: Some(algorithms::bfs(oracle, vertices, source, never)?),
        components: Some(algorithms::components(oracle, vertices, never)?),
        shortest_paths: Some(algorithms::shortest_paths(oracle, vertices, source, never)?),
        one_hop: Some(algorithms::one_hop(oracle, &queried(queries, vertices), never)?),
    })
}

/// The edges of a graph, smaller end first, without loops, possibly repeated.
fn named(graph: &str, seed: u64) -> Result<(String, Vec<Edge>)> {
    let ordered = |one: u32, other: u32| (VertexId::new(one.min(other)), VertexId::new(one.max(other)));
    let generated = match graph.split_once('-') {
        Some(("kron", scale)) => Some(Kronecker::new(scale.parse()?, 16, seed)?),
        Some(("sparse", scale)) => {
            Some(Kronecker::new(scale.parse()?, 6, seed)?.with_probabilities(0.45, 0.22, 0.22)?)
        }
        _ => None,
    };
    if let Some(generated) = generated {
        let edges = (0..generated.edges()).map(|index| generated.edge(index));
        let edges = edges.filter(|(one, other)| one != other);
        return Ok((graph.to_owned(), edges.map(|(one, other)| ordered(one as u32, other as u32)).collect()));
    }
    let path = Path::new(graph);
    let mut reader = EdgeReader::open(path, 0, u64::MAX)?;
    let (mut edges, mut batch) = (Vec::new(), Vec::new());
    while reader.next(1 << 16, &mut batch)? {
        let distinct = batch.iter().filter(|(one, other)| one != other);
        edges.extend(distinct.map(|(one, other)| ordered(one.get(), other.get())));
    }
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok((name, edges))
}

/// Both directions of edges, ascending.
fn in_order(edges: &[Edge]) -> Vec<Edge> {
    let mut both: Vec<Edge> =
        edges.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).collect();
    both.par_sort_unstable();
    both
}

fn write(path: &Path, edges: &[Edge]) -> Result<()> {
    let write = || {
        let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
        for (one, other) in edges {
            file.write_all(&one.get().to_le_bytes())?;
            file.write_all(&other.get().to_le_bytes())?;
        }
        // Without the sync, the disk would still be writing the edges during the measurement.
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()
    };
    write().with_context(|| path.display().to_string())
}

/// Reads edges of a file in order.
#[derive(Debug)]
pub struct EdgeReader {
    file: BufReader<File>,
    left: u64,
}

impl EdgeReader {
    /// Reads up to `most` edges, after the first `skipped`.
    pub fn open(path: &Path, skipped: u64, most: u64) -> Result<Self> {
        let mut file = File::open(path).with_context(|| path.display().to_string())?;
        let edges = file.metadata()?.len() / EDGE_BYTES;
        file.seek(SeekFrom::Start(skipped * EDGE_BYTES))?;
        Ok(EdgeReader {
            file: BufReader::with_capacity(1 << 16, file),
            left: most.min(edges.saturating_sub(skipped)),
        })
    }

    /// Replaces `batch` by the next edges, at most `most`; returns false if there are none.
    pub fn next(&mut self, most: usize, batch: &mut Vec<Edge>) -> Result<bool> {
        batch.clear();
        for _ in 0..self.left.min(most as u64) {
            let mut ends = [0; EDGE_BYTES as usize];
            self.file.read_exact(&mut ends)?;
            let ends = u64::from_le_bytes(ends);
            batch.push((VertexId::new(ends as u32), VertexId::new((ends >> 32) as u32)));
        }
        self.left -= batch.len() as u64;
        Ok(!batch.is_empty())
    }
}

/// Both directions of edges in memory, ascending: the reference for the answers of all stores.
struct Sorted {
    starts: Vec<usize>,
    edges: Vec<VertexId>,
}

impl Sorted {
    fn new(vertices: u32, edges: Vec<Edge>) -> Self {
        let mut starts = vec![0; vertices as usize + 1];
        edges.iter().for_each(|(source, _)| starts[source.index() + 1] += 1);
        (0..vertices as usize).for_each(|vertex| starts[vertex + 1] += starts[vertex]);
        Sorted { starts, edges: edges.into_iter().map(|(_, destination)| destination).collect() }
    }

    fn of(&self, vertex: u32) -> &[VertexId] {
        &self.edges[self.starts[vertex as usize]..self.starts[vertex as usize + 1]]
    }

    /// The vertex with most neighbors.
    fn hub(&self) -> VertexId {
        let vertices = 0..self.starts.len() as u32 - 1;
        VertexId::new(vertices.max_by_key(|vertex| self.of(*vertex).len()).unwrap_or(0))
    }
}

impl Reader for Sorted {
    fn neighbors(&mut self, vertex: VertexId, visit: &mut dyn FnMut(&[VertexId])) -> Result<()> {
        visit(self.of(vertex.get()));
        Ok(())
    }

    fn scan(&mut self, visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>) -> Result<()> {
        let vertices = 0..self.starts.len() as u32 - 1;
        vertices.into_iter().try_for_each(|vertex| visit(VertexId::new(vertex), self.of(vertex)))
    }
}
