//! The section of edges: per label the changed edges, owner by owner, neighbors as gaps.
//!
//! Each edge appears once, as its canonical entry: as seen from the source, or in an undirected
//! graph from the smaller id. The entry of the other end is derived on reading.

use super::LoggedCommit;
use super::gaps::Gaps;
use hedgerow_encoding::decode_record;
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{
    AdjacencyEffects, ChangeSlice, Direction, EdgeChange, EdgeChanges, EdgeValue, EffectRecords, Effects,
    LabelId, StoredEdge, Topology, VertexId,
};

/// All values are 0: a label without values.
const NO_VALUES: u8 = 0;
const FOUR_BYTES: u8 = 1;
const EIGHT_BYTES: u8 = 2;
/// Each change has a record.
const RECORDS: u8 = 3;
const WIDTH: u8 = 3;

/// Room for one change: most gaps between neighbors take two or three bytes.
const BYTES_OF_CHANGE: usize = 4;

const ALL_PUT: u8 = 0;
const ALL_DELETED: u8 = 4;
/// One bit per change marks deletions.
const MIXED: u8 = 8;
const DELETIONS: u8 = 12;

pub(super) fn encode(bytes: &mut Vec<u8>, effects: &Effects, topology: Topology, record_labels: &[LabelId]) {
    for adjacency in &effects.adjacencies {
        let AdjacencyEffects { label, direction: Direction::Out, changes } = adjacency else { continue };
        let records = record_labels.binary_search(label).is_ok().then_some(&effects.records);
        encode_label(bytes, *label, changes.as_slice(), topology, records);
    }
    put_varint(bytes, 0);
}

pub(super) fn encode_one(bytes: &mut Vec<u8>, edge: &StoredEdge, topology: Topology) {
    let entries = edge.entries().iter();
    let mut canonical = entries.filter(|(direction, change)| is_canonical(topology, *direction, change));
    if let Some((_, change)) = canonical.next() {
        encode_label(bytes, edge.label, change.into(), topology, None);
    }
    put_varint(bytes, 0);
}

fn is_canonical(topology: Topology, direction: Direction, change: &EdgeChange) -> bool {
    topology.is_canonical_entry(direction, change.owner(), change.neighbor())
}

/// Encodes one label, with the records of its edges if they have any: the label's number plus one,
/// the form, the runs, the deletions, the values.
fn encode_label(
    bytes: &mut Vec<u8>,
    label: LabelId,
    changes: ChangeSlice<'_>,
    topology: Topology,
    records: Option<&EffectRecords>,
) {
    let canonical = || changes.iter().filter(|change| is_canonical(topology, Direction::Out, change));
    let (mut count, mut deletions, mut values) = (0, 0, 0);
    for change in canonical() {
        count += 1;
        deletions += usize::from(change.value.is_none());
        values |= change.value.map_or(0, |value| value.0);
    }
    if count == 0 {
        return;
    }
    let put = canonical().filter_map(|change| change.value);
    let width = match values {
        _ if records.is_some() && deletions < count => RECORDS,
        0 => NO_VALUES,
        1..=0xffff_ffff => FOUR_BYTES,
        _ => EIGHT_BYTES,
    };
    let form = match deletions {
        0 => ALL_PUT,
        all if all == count => ALL_DELETED,
        _ => MIXED,
    };
    bytes.reserve(count * BYTES_OF_CHANGE);
    put_varint(bytes, 1 + u64::from(label.0));
    bytes.push(width | form);
    encode_runs(bytes, changes, topology);
    if form == MIXED {
        encode_bits(bytes, canonical().map(|change| change.value.is_none()));
    }
    for value in put {
        match (width, records) {
            (NO_VALUES, _) => {}
            (RECORDS, Some(records)) => put_bytes(bytes, records.get(value).unwrap_or_default()),
            (FOUR_BYTES, _) => bytes.extend((value.0 as u32).to_le_bytes()),
            _ => bytes.extend(value.0.to_le_bytes()),
        }
    }
}

/// Encodes the number of changes of each owner, the gap from the previous owner, and the gaps of
/// the neighbors; then a 0.
fn encode_runs(bytes: &mut Vec<u8>, changes: ChangeSlice<'_>, topology: Topology) {
    let mut owners = Gaps::default();
    for run in changes.groups(|owner| owner) {
        // The neighbors ascend, so neighbors that are not below the owner are at the end.
        let first = run.iter().position(|change| is_canonical(topology, Direction::Out, &change));
        let Some(first) = first else { continue };
        let run = run.slice(first..run.len());
        put_varint(bytes, run.len() as u64);
        put_varint(bytes, owners.encode(run.first_owner()));
        let mut neighbors = Gaps::default();
        run.iter().for_each(|change| put_varint(bytes, neighbors.encode(change.neighbor())));
    }
    put_varint(bytes, 0);
}

fn encode_bits(bytes: &mut Vec<u8>, bits: impl Iterator<Item = bool>) {
    for (number, bit) in bits.enumerate() {
        if number % 8 == 0 {
            bytes.push(0);
        }
        if let Some(byte) = bytes.last_mut() {
            *byte |= u8::from(bit) << (number % 8);
        }
    }
}

/// Decodes a section that contains only the canonical entry of one edge; `None` for other sections.
#[inline]
pub(super) fn decode_one(reader: &mut Reader<'_>, topology: Topology) -> Option<(LabelId, EdgeChange)> {
    let label = LabelId(u16::try_from(reader.varint().ok()?.checked_sub(1)?).ok()?);
    let form = reader.byte().ok()?;
    let is_run_of_one = reader.byte() == Ok(1);
    let (owner, neighbor) = (decode_id(reader)?, decode_id(reader)?);
    let ends_runs = reader.byte() == Ok(0);
    let value = match (form & WIDTH, form & !WIDTH) {
        (NO_VALUES, ALL_PUT) => Some(EdgeValue(0)),
        (FOUR_BYTES, ALL_PUT) => Some(EdgeValue(u64::from(u32::from_le_bytes(reader.array().ok()?)))),
        (EIGHT_BYTES, ALL_PUT) => Some(EdgeValue(u64::from_le_bytes(reader.array().ok()?))),
        (NO_VALUES, ALL_DELETED) => None,
        _ => return None,
    };
    let ends_labels = reader.byte() == Ok(0);
    let is_canonical = topology.is_canonical_entry(Direction::Out, owner, neighbor);
    let is_one = is_run_of_one && ends_runs && ends_labels && is_canonical;
    is_one.then_some((label, EdgeChange::new(owner, neighbor, value)))
}

/// Decodes the first of ascending ids.
#[inline]
fn decode_id(reader: &mut Reader<'_>) -> Option<VertexId> {
    VertexId::try_from(reader.varint().ok()?).ok()
}

/// Decodes the canonical entries per label, ascending.
pub(super) fn decode(
    reader: &mut Reader<'_>,
    topology: Topology,
    commit: &mut LoggedCommit,
) -> Result<(), DecodeError> {
    loop {
        let label = match reader.varint()? {
            0 => break Ok(()),
            number => u16::try_from(number - 1).map_err(|_| reader.error("beyond the labels"))?,
        };
        if commit.effects.adjacencies.last().is_some_and(|before| before.label.0 >= label) {
            return Err(reader.error("the labels do not ascend"));
        }
        decode_label(reader, topology, LabelId(label), commit)?;
    }
}

fn decode_label(
    reader: &mut Reader<'_>,
    topology: Topology,
    label: LabelId,
    commit: &mut LoggedCommit,
) -> Result<(), DecodeError> {
    let form = reader.byte()?;
    let (width, deletions) = (form & WIDTH, form & DELETIONS);
    if form & !(WIDTH | DELETIONS) != 0 || deletions > MIXED || width == RECORDS && deletions == ALL_DELETED {
        return Err(reader.error("an unknown form of edges"));
    }
    let positions = decode_runs(reader, topology)?;
    if positions.is_empty() {
        return Err(reader.error("a label without edges"));
    }
    let bits = match deletions {
        ALL_PUT => None,
        MIXED => Some(reader.take(positions.len().div_ceil(8))?),
        _ => Some(&[][..]),
    };
    let is_deleted = |number: usize| {
        let marks = |bits: &[u8]| bits.get(number / 8).is_none_or(|byte| byte >> (number % 8) & 1 == 1);
        bits.is_some_and(marks)
    };
    if width == RECORDS {
        commit.record_labels.push(label);
    }
    let changes = match (width, deletions) {
        (NO_VALUES, ALL_PUT) => EdgeChanges::puts(positions),
        _ => {
            let change = |(number, position)| match is_deleted(number) {
                true => Ok(EdgeChange::at(position, None)),
                false => {
                    let value = decode_value(reader, width, &mut commit.effects.records)?;
                    Ok(EdgeChange::at(position, Some(value)))
                }
            };
            positions.into_iter().enumerate().map(change).collect::<Result<_, _>>()?
        }
    };
    commit.effects.adjacencies.push(AdjacencyEffects { label, direction: Direction::Out, changes });
    Ok(())
}

/// Decodes the value of an edge, or its record, which gets a number.
fn decode_value(
    reader: &mut Reader<'_>,
    width: u8,
    records: &mut EffectRecords,
) -> Result<EdgeValue, DecodeError> {
    Ok(match width {
        NO_VALUES => EdgeValue(0),
        FOUR_BYTES => EdgeValue(u64::from(u32::from_le_bytes(reader.array()?))),
        EIGHT_BYTES => EdgeValue(u64::from_le_bytes(reader.array()?)),
        _ => {
            let bytes = reader.bytes()?;
            let begin = reader.position() - bytes.len();
            decode_record(bytes).map_err(|error| DecodeError { offset: begin + error.offset, ..error })?;
            records.push(bytes)
        }
    })
}

fn decode_runs(reader: &mut Reader<'_>, topology: Topology) -> Result<Vec<u64>, DecodeError> {
    let (mut positions, mut owners) = (Vec::new(), Gaps::default());
    loop {
        let length = reader.count()?;
        if length == 0 {
            break Ok(positions);
        }
        let owner = owners.decode(reader)?;
        let mut neighbors = Gaps::default();
        for _ in 0..length {
            let neighbor: VertexId = neighbors.decode(reader)?;
            if !topology.is_canonical_entry(Direction::Out, owner, neighbor) {
                return Err(reader.error("an edge from its larger end"));
            }
            positions.push(EdgeChange::position_of(owner, neighbor));
        }
    }
}
