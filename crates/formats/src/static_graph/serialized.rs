//! Serialized graphs, whose rows are used as they lie in the file.

use super::numbering::Numbering;
use super::{StaticGraph, StaticGraphError};
use bytemuck::allocation::{cast_vec, zeroed_vec};
use hedgerow_kernels::csr::{BuildOptions, Csr, SortedRows};
use hedgerow_model::{Column, ColumnType, Topology, ValueColumn, VertexId};
use hedgerow_sync::map_chunks;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// Bytes that are read at a time.
const CHUNK: usize = 4 << 20;

/// The beginning of a file. `serialized.rs` of this crate describes the layout.
const HEADER: usize = 17;

impl StaticGraph {
    /// Reads a plain file in the format `.sg`, or `.wsg` if it `has_weights`, which the graph has
    /// if it `takes_weights`; the rows are checked, and used as they are. The graph is undirected
    /// if the file says so, else it has the in-neighbors of the file if it `takes_reverse`.
    ///
    /// `None` if the rows cannot be used, for any reason: a [`GraphReader`](crate::GraphReader)
    /// reads the file, or tells what is wrong with it. O(size of the file), on the threads of the
    /// pool.
    ///
    /// # Errors
    /// The build was canceled.
    pub fn of_serialized(
        path: &Path,
        (has_weights, takes_weights): (bool, bool),
        takes_reverse: bool,
        options: BuildOptions<'_>,
    ) -> Result<Option<StaticGraph>, StaticGraphError> {
        let opened = SerializedFile::open(path, has_weights);
        let Some(file) = opened.ok().flatten() else { return Ok(None) };
        let rows = |at| file.rows(at, takes_weights && has_weights, options).ok().flatten();
        let Some(out) = rows(HEADER as u64) else { return Ok(None) };
        let (topology, reverse) = match (file.is_directed, takes_reverse) {
            (false, _) => (Topology::Undirected, None),
            (true, takes_reverse) => match rows(HEADER as u64 + file.rows_bytes()) {
                Some(reverse) if takes_reverse => (Topology::DirectedWithReverse, Some(reverse)),
                // Checked, and then forgotten.
                Some(reverse) => (Topology::Directed, Some(reverse)),
                None => return Ok(None),
            },
        };
        let column = if takes_weights && has_weights { f64::TYPE } else { ColumnType::Unit };
        let csr = Csr::from_sorted_rows(topology, column, out, reverse, options)?;
        let numbering = Numbering::Ids(file.vertices);
        Ok(csr.map(|csr| StaticGraph { csr: Arc::new(csr), numbering }))
    }
}

/// A file whose size is that of its header.
struct SerializedFile<'a> {
    path: &'a Path,
    has_weights: bool,
    is_directed: bool,
    vertices: u32,
    neighbors: usize,
}

impl<'a> SerializedFile<'a> {
    /// Reads the header; `None` if it is wrong.
    fn open(path: &'a Path, has_weights: bool) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut header = [0; HEADER];
        file.read_exact(&mut header)?;
        let number = |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| header[at + byte]));
        let (neighbors, vertices) = (usize::try_from(number(1)), u32::try_from(number(9)));
        let (Ok(neighbors), Ok(vertices), 0 | 1) = (neighbors, vertices, header[0]) else { return Ok(None) };
        let file = SerializedFile { path, has_weights, is_directed: header[0] == 1, vertices, neighbors };
        let directions = if file.is_directed { 2 } else { 1 };
        let expected = u128::from(file.rows_bytes()) * directions + HEADER as u128;
        Ok((u128::from(size) == expected).then_some(file))
    }

    /// Bytes of offsets and neighbors of one direction; saturates beyond the size of any file.
    fn rows_bytes(&self) -> u64 {
        let neighbors = (self.neighbors as u64).saturating_mul(if self.has_weights { 8 } else { 4 });
        neighbors.saturating_add(8 * (u64::from(self.vertices) + 1))
    }

    /// Reads the offsets and neighbors of one direction, which begin `at`, with weights if wanted;
    /// `None` if a weight is negative.
    fn rows(
        &self,
        at: u64,
        takes_weights: bool,
        options: BuildOptions<'_>,
    ) -> io::Result<Option<SortedRows>> {
        let mut offsets: Vec<u64> = zeroed_vec(self.vertices as usize + 1);
        self.read(at, bytemuck::cast_slice_mut(&mut offsets), options)?;
        offsets.iter_mut().for_each(|offset| *offset = u64::from_le(*offset));
        let at = at + 8 * offsets.len() as u64;
        if !self.has_weights {
            let mut neighbors: Vec<u32> = zeroed_vec(self.neighbors);
            self.read(at, bytemuck::cast_slice_mut(&mut neighbors), options)?;
            neighbors.iter_mut().for_each(|neighbor| *neighbor = u32::from_le(*neighbor));
            return Ok(Some(SortedRows {
                offsets,
                neighbors: cast_vec(neighbors),
                values: ValueColumn::Unit,
            }));
        }
        let mut entries: Vec<[i32; 2]> = zeroed_vec(self.neighbors);
        self.read(at, bytemuck::cast_slice_mut(&mut entries), options)?;
        let neighbor = |[neighbor, _]: &[i32; 2]| VertexId::new(i32::from_le(*neighbor).cast_unsigned());
        let neighbors = entries.iter().map(neighbor).collect();
        let weights = entries.iter().map(|[_, weight]| i32::from_le(*weight));
        if takes_weights && weights.clone().any(i32::is_negative) {
            return Ok(None);
        }
        let values = match takes_weights {
            true => ValueColumn::Eight(weights.map(|weight| f64::from(weight).to_bits()).collect()),
            false => ValueColumn::Unit,
        };
        Ok(Some(SortedRows { offsets, neighbors, values }))
    }

    /// Fills `bytes` from the position `at`, in chunks, each through a handle of its own.
    fn read(&self, at: u64, bytes: &mut [u8], options: BuildOptions<'_>) -> io::Result<()> {
        let chunks = (0..).map(|chunk| at + chunk * CHUNK as u64).zip(bytes.chunks_mut(CHUNK)).collect();
        map_chunks(options.pool, chunks, |(at, chunk)| {
            let mut file = File::open(self.path)?;
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(chunk)
        })?;
        Ok(())
    }
}
