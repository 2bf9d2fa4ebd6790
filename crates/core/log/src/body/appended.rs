//! The section of appended edges, in the order of arrival: for engines that need them neither
//! sorted nor deduplicated, so that bulk writes need not sort them for the log alone.

use hedgerow_encoding::wire::{DecodeError, Reader, put_varint};
use hedgerow_model::{
    AdjacencyEffects, AppendedEdges, Direction, EdgeChange, EdgeChanges, EdgeValue, LabelId, Topology,
    VertexId,
};
use std::iter;

/// All values are 0: a label without values.
const NO_VALUES: u8 = 0;
const FOUR_BYTES: u8 = 1;
const EIGHT_BYTES: u8 = 2;

/// Bytes of an edge: its position.
const EDGE_BYTES: usize = size_of::<u64>();

/// Edges of a label that are put in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedEdges {
    /// The label.
    pub label: LabelId,
    /// Source and destination of each edge, as a [position](EdgeChange::position_of).
    edges: Vec<u64>,
    /// The value of each edge, unless all are 0.
    values: Vec<u64>,
}

impl LoggedEdges {
    /// The number of edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Returns true if there are no edges, which never occurs in a log.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// The edges, to be appended again; with all values if their label has values.
    #[must_use]
    pub fn to_append(&mut self, has_values: bool) -> AppendedEdges<'_> {
        if has_values {
            self.values.resize(self.edges.len(), 0);
        }
        AppendedEdges { label: self.label, edges: &self.edges, values: &self.values }
    }

    /// The edges, each owned by its source.
    pub fn changes(&self) -> impl Iterator<Item = EdgeChange> {
        let values = self.values.iter().copied().chain(iter::repeat(0));
        self.edges.iter().zip(values).map(|(edge, value)| EdgeChange::at(*edge, Some(EdgeValue(value))))
    }

    /// Canonical entries, ascending; of equal entries, only the last.
    pub(super) fn sorted(&self, topology: Topology) -> AdjacencyEffects {
        let canonical = |change: EdgeChange| {
            let (owner, neighbor) = topology.canonical(change.owner(), change.neighbor());
            EdgeChange::new(owner, neighbor, change.value)
        };
        let mut changes: EdgeChanges = self.changes().map(canonical).collect();
        changes.sort_keeping_last();
        AdjacencyEffects { label: self.label, direction: Direction::Out, changes }
    }
}

/// Encodes the number of the label, the form, the number of edges, their positions, and their
/// values.
pub(super) fn encode(bytes: &mut Vec<u8>, appended: &AppendedEdges<'_>) {
    let AppendedEdges { label, edges, values } = *appended;
    debug_assert!(values.is_empty() || values.len() == edges.len());
    let width = match values.iter().fold(0, |all, value| all | value) {
        0 => NO_VALUES,
        1..=0xffff_ffff => FOUR_BYTES,
        _ => EIGHT_BYTES,
    };
    put_varint(bytes, u64::from(label.0));
    bytes.push(width);
    put_varint(bytes, edges.len() as u64);
    put_numbers(bytes, edges, u64::to_le_bytes);
    match width {
        NO_VALUES => {}
        FOUR_BYTES => put_numbers(bytes, values, |value| (value as u32).to_le_bytes()),
        _ => put_numbers(bytes, values, u64::to_le_bytes),
    }
}

fn put_numbers<const WIDTH: usize>(
    bytes: &mut Vec<u8>,
    numbers: &[u64],
    encode: impl Fn(u64) -> [u8; WIDTH],
) {
    let begin = bytes.len();
    bytes.resize(begin + WIDTH * numbers.len(), 0);
    let (places, _) = bytes[begin..].as_chunks_mut();
    places.iter_mut().zip(numbers).for_each(|(place, number)| *place = encode(*number));
}

pub(super) fn decode(reader: &mut Reader<'_>) -> Result<LoggedEdges, DecodeError> {
    let label = LabelId(u16::try_from(reader.varint()?).map_err(|_| reader.error("beyond the labels"))?);
    let width = reader.byte()?;
    let count = reader.count()?;
    if count == 0 {
        return Err(reader.error("a label without edges"));
    }
    let first = reader.position();
    let edges = take_numbers(reader, count, u64::from_le_bytes)?;
    if let Some(number) = edges.iter().position(|edge| !is_edge(*edge)) {
        return Err(DecodeError { offset: first + number * EDGE_BYTES, what: "beyond the vertex ids" });
    }
    let values = match width {
        NO_VALUES => Vec::new(),
        FOUR_BYTES => take_numbers(reader, count, |bytes| u64::from(u32::from_le_bytes(bytes)))?,
        EIGHT_BYTES => take_numbers(reader, count, u64::from_le_bytes)?,
        _ => return Err(reader.error("an unknown form of edges")),
    };
    Ok(LoggedEdges { label, edges, values })
}

fn take_numbers<const WIDTH: usize>(
    reader: &mut Reader<'_>,
    count: usize,
    decode: impl Fn([u8; WIDTH]) -> u64,
) -> Result<Vec<u64>, DecodeError> {
    let bytes = count.checked_mul(WIDTH).ok_or_else(|| reader.error("the end comes too early"))?;
    let (numbers, _) = reader.take(bytes)?.as_chunks();
    Ok(numbers.iter().map(|number| decode(*number)).collect())
}

/// Returns true if both halves of a position are vertex ids.
fn is_edge(position: u64) -> bool {
    [position >> 32, position & 0xffff_ffff].into_iter().all(|id| VertexId::try_from(id).is_ok())
}
