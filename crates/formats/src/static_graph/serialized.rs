//! Serialized graphs, whose rows are used as they lie in the file.

use super::numbering::Numbering;
use super::{StaticGraph, StaticGraphError};
use bytemuck::allocation::{cast_vec, try_zeroed_vec};
use hedgerow_kernels::csr::{BuildOptions, Csr, CsrError, SortedRows};
use hedgerow_model::{Column, ColumnType, Topology, ValueColumn, VertexId};
use hedgerow_sync::{CancelToken, map_chunks};
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
    /// if it `takes_weights`; the rows are checked, and used as they are.
    ///
    /// `None` if the graph has another topology, or the rows cannot be used, for any reason: a
    /// [`GraphReader`](crate::GraphReader) reads the file, or tells what is wrong with it. O(size
    /// of the file), on the threads of the pool.
    ///
    /// # Errors
    /// The graph does not fit into memory, or the build was canceled.
    pub fn of_serialized(
        path: &Path,
        (has_weights, takes_weights): (bool, bool),
        topology: Topology,
        options: BuildOptions<'_>,
    ) -> Result<Option<StaticGraph>, StaticGraphError> {
        let opened = SerializedFile::open(path, has_weights).ok().flatten();
        let Some(file) = opened.filter(|file| file.is_directed != topology.is_undirected()) else {
            return Ok(None);
        };
        options.memory.check(file.size, file.vertices, file.vertices.into()).map_err(CsrError::from)?;
        let rows = |at| match file.rows(at, takes_weights && has_weights, options) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(CsrError::Cancelled),
            rows => Ok(rows.ok().flatten()),
        };
        let Some(out) = rows(HEADER as u64)? else { return Ok(None) };
        let reverse = match file.is_directed {
            true => match rows(HEADER as u64 + file.rows_bytes())? {
                Some(reverse) => Some(reverse),
                None => return Ok(None),
            },
            false => None,
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
    size: u64,
    has_weights: bool,
    is_directed: bool,
    vertices: u32,
    neighbors: usize,
}

impl<'a> SerializedFile<'a> {
    /// Reads the header; `None` if it is wrong.
    fn open(path: &'a Path, has_weights: bool) -> io::Result<Option<Self>> {
        // A pipe is read only once.
        if !path.metadata()?.is_file() {
            return Ok(None);
        }
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut header = [0; HEADER];
        file.read_exact(&mut header)?;
        let number = |at: usize| u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|byte| header[at + byte]));
        let (neighbors, vertices) = (usize::try_from(number(1)), u32::try_from(number(9)));
        let (Ok(neighbors), Ok(vertices), 0 | 1) = (neighbors, vertices, header[0]) else { return Ok(None) };
        let is_directed = header[0] == 1;
        let file = SerializedFile { path, size, has_weights, is_directed, vertices, neighbors };
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
    /// `None` if the offsets are wrong, a weight is negative, or there is no memory.
    fn rows(
        &self,
        at: u64,
        takes_weights: bool,
        options: BuildOptions<'_>,
    ) -> io::Result<Option<SortedRows>> {
        let Ok(mut offsets) = try_zeroed_vec::<u64>(self.vertices as usize + 1) else { return Ok(None) };
        self.read(at, bytemuck::cast_slice_mut(&mut offsets), options)?;
        offsets.iter_mut().for_each(|offset| *offset = u64::from_le(*offset));
        // Before memory is taken for as many neighbors as the header says.
        if !offsets.is_sorted() || offsets.last() != Some(&(self.neighbors as u64)) {
            return Ok(None);
        }
        let at = at + 8 * offsets.len() as u64;
        if !self.has_weights {
            let Ok(mut neighbors) = try_zeroed_vec::<u32>(self.neighbors) else { return Ok(None) };
            self.read(at, bytemuck::cast_slice_mut(&mut neighbors), options)?;
            neighbors.iter_mut().for_each(|neighbor| *neighbor = u32::from_le(*neighbor));
            return Ok(Some(SortedRows {
                offsets,
                neighbors: cast_vec(neighbors),
                values: ValueColumn::Unit,
            }));
        }
        let Ok(mut entries) = try_zeroed_vec::<[i32; 2]>(self.neighbors) else { return Ok(None) };
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

    /// Fills `bytes` from the position `at`, in chunks, each through a handle of its own;
    /// [`Interrupted`](io::ErrorKind::Interrupted) if the build is canceled.
    fn read(&self, at: u64, bytes: &mut [u8], options: BuildOptions<'_>) -> io::Result<()> {
        let chunks = (0..).map(|chunk| at + chunk * CHUNK as u64).zip(bytes.chunks_mut(CHUNK)).collect();
        map_chunks(options.pool, chunks, |(at, chunk)| {
            if options.cancel.is_some_and(CancelToken::is_cancelled) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let mut file = File::open(self.path)?;
            file.seek(SeekFrom::Start(at))?;
            file.read_exact(chunk)
        })?;
        Ok(())
    }
}
