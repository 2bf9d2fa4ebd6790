//! Cursors over rows that are read by copying.
//!
//! An engine on files cannot lend its contents: it decodes blocks, merges files and logs, and drops
//! the results when it reads on. It can only [visit the entries](ReadRows) in a range of keys. This
//! module builds an adjacency, its cursor, and the cursor over its records from such visits.
//!
//! The content of an entry is bytes in this crate's encodings, so the adapters are here and not in
//! the crate of the traits:
//!
//! | the label has | content |
//! |---|---|
//! | topology | ignored |
//! | values | the bits of the value, least significant byte first; trailing zeros are optional |
//! | records | the [record](crate::encode_record) |
//! | parallel edges | their [list as a record](crate::list_as_record) |

use crate::ParallelList;
use hedgerow_model::{
    Adjacency, Column, ColumnType, Cursor, EdgeValue, LabelId, Neighbors, ReadError, RecordCursor, VertexId,
    ViewError, cuts_by_work,
};
use std::marker::PhantomData;
use std::ops::{ControlFlow, Range};

/// The key of an adjacency entry, or a bound of a range of keys. Keys ascend in the order in which
/// adjacencies are scanned.
///
/// A bound may be above every vertex id, so the fields are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryKey {
    /// The vertex that the entry belongs to.
    pub owner: u32,
    /// The neighbor.
    pub neighbor: u32,
}

impl EntryKey {
    /// The key of a neighbor's entry.
    #[must_use]
    pub fn new(owner: VertexId, neighbor: VertexId) -> Self {
        EntryKey { owner: owner.get(), neighbor: neighbor.get() }
    }

    /// The range that contains only this entry.
    #[must_use]
    pub fn alone(self) -> Range<EntryKey> {
        // The largest vertex id is below the largest number.
        self..EntryKey { neighbor: self.neighbor + 1, ..self }
    }

    /// The range of all entries of a vertex.
    #[must_use]
    pub fn row(owner: VertexId) -> Range<EntryKey> {
        EntryKey::rows(owner.get()..owner.get() + 1)
    }

    /// The range of all entries of the vertices in `owners`.
    #[must_use]
    pub fn rows(owners: Range<u32>) -> Range<EntryKey> {
        let first = |owner| EntryKey { owner, neighbor: 0 };
        first(owners.start)..first(owners.end.max(owners.start))
    }
}

/// Reads one label in one direction, in one state of the graph, for an engine that copies entries.
/// A cheap handle: every cursor has its own clone.
pub trait ReadRows: Clone + Sync {
    /// Visits the existing entries in `keys`, ascending, each with its content, until `visit`
    /// breaks or fails.
    ///
    /// Ranges from [`EntryKey::alone`] and [`EntryKey::row`] read one edge and one vertex. In a
    /// view of the newest state, reading a vertex that is not locked panics, even if the vertex has
    /// no entries.
    ///
    /// # Errors
    /// The store could not be read, or `visit` failed.
    fn visit<B>(
        &self,
        keys: Range<EntryKey>,
        visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
    ) -> Result<ControlFlow<B>, ReadError>;

    /// Partitions the vertices into ranges of about equal work; see [`Adjacency::cuts`]. By default
    /// visits everything, and counts the entries of each vertex.
    ///
    /// # Errors
    /// The store could not be read.
    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        let mut rows: Vec<(u32, u64)> = Vec::new();
        let _: ControlFlow<()> = self.visit(EntryKey::rows(0..u32::MAX), |key, _| {
            match rows.last_mut() {
                Some((end, entries)) if *end == key.owner + 1 => *entries += 1,
                _ => rows.push((key.owner + 1, 1)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        let bound = rows.last().map_or(0, |(end, _)| *end);
        Ok(cuts_by_work(bound, parts, &rows))
    }
}

/// The adjacency of rows, with values of type `W`.
pub struct RowAdjacency<R, W> {
    rows: R,
    values: PhantomData<fn() -> W>,
}

impl<R: ReadRows, W: Column> RowAdjacency<R, W> {
    /// The adjacency of a label whose column is `declared`.
    ///
    /// # Errors
    /// If `W` is neither the label's type nor topology, or requests handles of records, which rows
    /// do not have.
    pub fn new(rows: R, label: LabelId, declared: ColumnType) -> Result<Self, ViewError> {
        ViewError::check_column::<W>(label, declared)?;
        if W::TYPE == ColumnType::Record {
            return Err(ViewError::NoHandles(label));
        }
        Ok(RowAdjacency { rows, values: PhantomData })
    }
}

impl<R: ReadRows, W: Column> Adjacency for RowAdjacency<R, W> {
    type Value = W;
    type Cursor<'a>
        = RowCursor<R, W>
    where
        Self: 'a;

    const SORTED: bool = true;
    const DEGREE_IS_O1: bool = false;

    fn cursor(&self) -> RowCursor<R, W> {
        RowCursor { rows: self.rows.clone(), neighbors: Vec::new(), values: Vec::new() }
    }

    fn cuts(&self, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
        self.rows.cuts(parts)
    }
}

/// Reads neighbors, one row at a time.
pub struct RowCursor<R, W> {
    rows: R,
    /// A copy of the last row read.
    neighbors: Vec<VertexId>,
    values: Vec<W>,
}

/// Decodes the value in an entry's content.
fn value_of<W: Column>(content: &[u8]) -> Result<W, ReadError> {
    if W::TYPE == ColumnType::Unit {
        return Ok(W::default());
    }
    let mut bits = [0; 8];
    let given = bits.get_mut(..content.len());
    given.ok_or_else(|| ReadError::new("a value", "it has more than eight bytes"))?.copy_from_slice(content);
    Ok(W::from_bits(EdgeValue(u64::from_le_bytes(bits))))
}

impl<R: ReadRows, W: Column> Cursor for RowCursor<R, W> {
    type Value = W;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<W>, ReadError> {
        let keys = EntryKey::new(vertex, neighbor).alone();
        let found = self.rows.visit(keys, |_, content| Ok(ControlFlow::Break(value_of(content)?)))?;
        Ok(found.break_value())
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut run: impl FnMut(VertexId, &[VertexId], &[W]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        let RowCursor { rows, neighbors, values } = self;
        neighbors.clear();
        values.clear();
        let mut owner = range.start;
        let flow = rows.visit(EntryKey::rows(range), |key, content| {
            if key.owner != owner && !neighbors.is_empty() {
                let flow = run(VertexId::new(owner), neighbors, values);
                neighbors.clear();
                values.clear();
                if flow.is_break() {
                    return Ok(flow);
                }
            }
            owner = key.owner;
            neighbors.push(VertexId::new(key.neighbor));
            values.push(value_of(content)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(match neighbors.is_empty() {
            true => flow,
            false => run(VertexId::new(owner), neighbors, values),
        })
    }

    fn gather(&mut self, vertex: VertexId) -> Result<Neighbors<'_, W>, ReadError> {
        let RowCursor { rows, neighbors, values } = self;
        neighbors.clear();
        values.clear();
        let _: ControlFlow<()> = rows.visit(EntryKey::row(vertex), |key, content| {
            neighbors.push(VertexId::new(key.neighbor));
            values.push(value_of(content)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((neighbors, values))
    }
}

/// Reads the records of edges, or lists of parallel edges.
pub struct RowRecords<R> {
    rows: R,
    /// The neighbors of the last row read, each with the end of its record.
    neighbors: Vec<(VertexId, usize)>,
    records: Vec<u8>,
}

impl<R: ReadRows> RowRecords<R> {
    /// The records of a label whose column is `declared`.
    ///
    /// # Errors
    /// If the label has no records.
    pub fn new(rows: R, label: LabelId, declared: ColumnType) -> Result<Self, ViewError> {
        match declared {
            ColumnType::Record => Ok(RowRecords { rows, neighbors: Vec::new(), records: Vec::new() }),
            _ => Err(ViewError::NoRecords(label)),
        }
    }

    /// Copies the existing entries with these keys, and lends them.
    fn copied(
        &mut self,
        keys: Range<EntryKey>,
    ) -> Result<impl Iterator<Item = (VertexId, &[u8])>, ReadError> {
        let RowRecords { rows, neighbors, records } = self;
        neighbors.clear();
        records.clear();
        let _: ControlFlow<()> = rows.visit(keys, |key, record| {
            records.extend_from_slice(record);
            neighbors.push((VertexId::new(key.neighbor), records.len()));
            Ok(ControlFlow::Continue(()))
        })?;
        let mut rest = &records[..];
        let mut before = 0;
        Ok(neighbors.iter().map(move |(neighbor, end)| {
            let (record, others) = rest.split_at(end - before);
            (rest, before) = (others, *end);
            (*neighbor, record)
        }))
    }
}

impl<R: ReadRows> RecordCursor for RowRecords<R> {
    type Parallel<'c>
        = ParallelList<'c>
    where
        Self: 'c;

    const SORTED: bool = true;

    fn find(&mut self, vertex: VertexId, neighbor: VertexId) -> Result<Option<&[u8]>, ReadError> {
        Ok(self.copied(EntryKey::new(vertex, neighbor).alone())?.next().map(|(_, record)| record))
    }

    fn neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, &'c [u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        Ok(self.copied(EntryKey::row(vertex))?.try_for_each(|(neighbor, record)| visit(neighbor, record)))
    }

    fn scan<B>(
        &mut self,
        range: Range<u32>,
        mut visit: impl FnMut(VertexId, VertexId, &[u8]) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        self.rows.visit(EntryKey::rows(range), |key, record| {
            Ok(visit(VertexId::new(key.owner), VertexId::new(key.neighbor), record))
        })
    }

    fn find_parallel(
        &mut self,
        vertex: VertexId,
        neighbor: VertexId,
    ) -> Result<Option<ParallelList<'_>>, ReadError> {
        self.find(vertex, neighbor)?.map(ParallelList::of_record).transpose()
    }

    fn parallel_neighbors<'c, B>(
        &'c mut self,
        vertex: VertexId,
        mut visit: impl FnMut(VertexId, ParallelList<'c>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, ReadError> {
        for (neighbor, record) in self.copied(EntryKey::row(vertex))? {
            let flow = visit(neighbor, ParallelList::of_record(record)?);
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EdgeListWriter, list_as_record};
    use hedgerow_model::{ParallelEdges, RecordHandle};
    use std::collections::BTreeMap;

    /// Entries in memory, one of which cannot be read.
    #[derive(Clone, Default)]
    struct Entries {
        content: BTreeMap<EntryKey, Vec<u8>>,
        unreadable: Option<EntryKey>,
    }

    impl ReadRows for Entries {
        fn visit<B>(
            &self,
            keys: Range<EntryKey>,
            mut visit: impl FnMut(EntryKey, &[u8]) -> Result<ControlFlow<B>, ReadError>,
        ) -> Result<ControlFlow<B>, ReadError> {
            for (key, content) in self.content.range(keys) {
                if self.unreadable == Some(*key) {
                    return Err(ReadError::new("an entry", "it is lost"));
                }
                let flow = visit(*key, content)?;
                if flow.is_break() {
                    return Ok(flow);
                }
            }
            Ok(ControlFlow::Continue(()))
        }

        fn cuts(&self, _: usize) -> Result<Vec<Range<u32>>, ReadError> {
            Ok(Vec::from_iter([0..5, 5..10]))
        }
    }

    const LABEL: LabelId = LabelId(0);

    fn id(number: u32) -> VertexId {
        VertexId::new(number)
    }

    fn entries(content: impl IntoIterator<Item = (u32, u32, Vec<u8>)>) -> Entries {
        let keyed =
            content.into_iter().map(|(owner, neighbor, content)| (EntryKey { owner, neighbor }, content));
        Entries { content: keyed.collect(), unreadable: None }
    }

    fn cursor<W: Column>(rows: &Entries) -> RowCursor<Entries, W> {
        let declared = if W::TYPE == ColumnType::Unit { ColumnType::U32 } else { W::TYPE };
        RowAdjacency::<_, W>::new(rows.clone(), LABEL, declared).unwrap().cursor()
    }

    #[test]
    fn rows_are_found_gathered_and_scanned_in_whole_runs() {
        let rows = entries([(1, 2, vec![7]), (1, 5, vec![0, 1]), (3, 0, vec![]), (8, 1, vec![9, 0, 0, 0])]);
        let mut values = cursor::<u32>(&rows);
        assert_eq!(values.gather(id(1)).unwrap(), (&[id(2), id(5)][..], &[7, 256][..]));
        assert_eq!([values.degree(id(1)), values.degree(id(2))], [Ok(2), Ok(0)]);
        assert_eq!([values.find(id(3), id(0)), values.find(id(3), id(1))], [Ok(Some(0)), Ok(None)]);
        let mut runs = Vec::new();
        let scanned = values.scan(1..8, |owner, neighbors, values| {
            runs.push((owner, neighbors.to_vec(), values.to_vec()));
            ControlFlow::<()>::Continue(())
        });
        assert!(scanned.unwrap().is_continue());
        assert_eq!(runs, [(id(1), vec![id(2), id(5)], vec![7, 256]), (id(3), vec![id(0)], vec![0])]);
        for last in [1, 3, 8] {
            let stop = |owner, _: &[VertexId], _: &[()]| match owner == id(last) {
                true => ControlFlow::Break(owner),
                false => ControlFlow::Continue(()),
            };
            assert_eq!(cursor::<()>(&rows).scan(0..9, stop), Ok(ControlFlow::Break(id(last))));
        }
    }

    #[test]
    fn unreadable_content_fails_every_method_that_needs_it() {
        let mut rows = entries([(1, 2, vec![7]), (1, 5, vec![0; 9])]);
        assert_eq!(cursor::<()>(&rows).degree(id(1)), Ok(2), "topology ignores content");
        assert_eq!(cursor::<u64>(&rows).gather(id(1)).unwrap_err().place(), "a value");
        rows.unreadable = Some(EntryKey { owner: 1, neighbor: 5 });
        let mut ends = cursor::<()>(&rows);
        assert!(
            ends.gather(id(1)).is_err() && ends.degree(id(1)).is_err() && ends.find(id(1), id(5)).is_err()
        );
        assert!(ends.find(id(1), id(2)).is_ok());
        assert!(ends.scan(0..9, |_, _, _| ControlFlow::<()>::Continue(())).is_err());
        let mut records = RowRecords::new(rows, LABEL, ColumnType::Record).unwrap();
        assert!(records.neighbors(id(1), |_, _| ControlFlow::<()>::Continue(())).is_err());
    }

    #[test]
    fn records_are_lent_until_the_next_call() {
        let rows = entries([
            (1, 2, b"one".to_vec()),
            (1, 4, vec![]),
            (1, 5, b"two".to_vec()),
            (6, 1, b"x".to_vec()),
        ]);
        let mut records = RowRecords::new(rows, LABEL, ColumnType::Record).unwrap();
        assert_eq!(records.find(id(1), id(5)), Ok(Some(&b"two"[..])));
        assert_eq!(records.find(id(1), id(3)), Ok(None));
        let mut lent = Vec::new();
        let visited = records.neighbors(id(1), |neighbor, record| {
            lent.push((neighbor, record));
            ControlFlow::<()>::Continue(())
        });
        assert!(visited.unwrap().is_continue());
        assert_eq!(lent, [(id(2), &b"one"[..]), (id(4), b""), (id(5), b"two")]);
        let last = records.scan(0..9, |owner, neighbor, record| match owner == id(6) {
            true => ControlFlow::Break((neighbor, record.to_vec())),
            false => ControlFlow::Continue(()),
        });
        assert_eq!(last, Ok(ControlFlow::Break((id(1), b"x".to_vec()))));
        assert_eq!(records.find_parallel(id(1), id(2)).unwrap_err().place(), "a list of parallel edges");
    }

    #[test]
    fn parallel_edges_are_lists() {
        let mut list = EdgeListWriter::default();
        list.push(3, Some(b"three"));
        let rows = entries([(1, 2, list_as_record(&list.into_bytes()))]);
        let mut records = RowRecords::new(rows, LABEL, ColumnType::Record).unwrap();
        let found = records.find_parallel(id(1), id(2)).unwrap().unwrap();
        assert_eq!(found.find(3), Ok(Some(&b"three"[..])));
        let counted = records.parallel_neighbors(id(1), |_, edges| ControlFlow::Break(edges.count()));
        assert_eq!(counted, Ok(ControlFlow::Break(Ok(1))));
    }

    #[test]
    fn other_columns_and_handles_are_refused() {
        let rows = entries([]);
        let wrong = RowAdjacency::<_, f64>::new(rows.clone(), LABEL, ColumnType::U32).err();
        let (declared, asked) = (ColumnType::U32, ColumnType::F64);
        assert_eq!(wrong, Some(ViewError::WrongColumn { label: LABEL, declared, asked }));
        let handles = RowAdjacency::<_, RecordHandle>::new(rows.clone(), LABEL, ColumnType::Record).err();
        assert_eq!(handles, Some(ViewError::NoHandles(LABEL)));
        assert!(RowAdjacency::<_, ()>::new(rows.clone(), LABEL, ColumnType::Record).is_ok());
        assert_eq!(RowRecords::new(rows, LABEL, declared).err(), Some(ViewError::NoRecords(LABEL)));
    }
}
