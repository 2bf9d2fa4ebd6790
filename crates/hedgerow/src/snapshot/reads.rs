//! Point reads of a snapshot.

use super::{Snapshot, with_reads, with_view};
use crate::engines::TypedStore;
use crate::error::Error;
use crate::label::Hop;
use crate::reads::{EdgeOfVertex, Reads};
use hedgerow_model::{
    Adjacency, Column, Cursor, Direction, GraphView, Key, KeyRef, LabelId, Record, VertexId,
};
use hedgerow_pipeline::{Error as Cause, KeyReads, Newest, NewestEdge, ViewReads, decoded, read_failed};
use std::ops::{ControlFlow, Range, RangeInclusive};

impl Reads for Snapshot {
    #[inline]
    fn typed(&self) -> Result<&TypedStore, Error> {
        Snapshot::typed(self)
    }

    fn vertex_exists(&self, key: KeyRef<'_>) -> Result<bool, Error> {
        Ok(self.read(|state| state.vertex(key))?.is_some())
    }

    fn vertex_record(&self, key: KeyRef<'_>) -> Result<Option<Record>, Error> {
        let record = self.read(|state| {
            let vertex = state.owner(key)?;
            vertex.map_or(Ok(None), |vertex| state.record(vertex))
        })?;
        let nulls = || self.shared().even_in_child().catalog().vertices().nulls();
        Ok(record.map(|record| if record.is_empty() { nulls() } else { record }))
    }

    #[inline(always)]
    fn value<W: Column>(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<W>, Error> {
        Ok(with_reads!(self, reads => reads.edge_value(label, source, destination))?)
    }

    fn record(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
    ) -> Result<Option<Record>, Error> {
        self.read(|state| match (state.owner(source)?, state.owner(destination)?) {
            (Some(source), Some(destination)) => state.edge_record(label, source, destination),
            _ => Ok::<_, Cause>(None),
        })
    }

    #[inline]
    fn degree_of(&self, hop: Hop, key: KeyRef<'_>) -> Result<usize, Error> {
        Ok(with_reads!(self, reads => reads.degree_of(hop.label, hop.direction, key))?)
    }

    fn values<W: Column>(
        &self,
        hop: Hop,
        key: KeyRef<'_>,
        mut visit: impl FnMut(Key, W),
    ) -> Result<(), Error> {
        let visited = self.visit_values(hop, key, |neighbor, value| {
            visit(neighbor, value);
            ControlFlow::<()>::Continue(())
        });
        visited.map(drop)
    }

    fn neighbor_keys(&self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<Key>, Error> {
        let mut neighbors = Vec::new();
        self.values::<()>(hop, key, |neighbor, ()| neighbors.push(neighbor))?;
        Ok(neighbors)
    }

    fn records(&self, hop: Hop, key: KeyRef<'_>) -> Result<Vec<(Key, Record)>, Error> {
        let (mut neighbors, mut failed) = (Vec::new(), None);
        self.read(|state| match state.owner(key)? {
            Some(vertex) => state.neighbor_records(
                hop.label,
                hop.direction,
                vertex,
                &mut |neighbor, record| match decoded(record) {
                    Ok(record) => neighbors.push((state.key(neighbor), record)),
                    Err(error) => failed = Some(error),
                },
            ),
            None => Ok(()),
        })?;
        failed.map_or(Ok(neighbors), |error| Err(error.into()))
    }

    fn parallel(
        &self,
        label: LabelId,
        source: KeyRef<'_>,
        destination: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<(u64, Record)>, Error> {
        let mut edges = Vec::new();
        self.read(|state| match (state.owner(source)?, state.owner(destination)?) {
            (Some(source), Some(destination)) => {
                state.parallel_edges(label, source, destination, keys, &mut |key, record| {
                    edges.push((key, decoded(record)?));
                    Ok(())
                })
            }
            _ => Ok::<_, Cause>(()),
        })?;
        Ok(edges)
    }

    fn parallel_of(
        &self,
        hop: Hop,
        key: KeyRef<'_>,
        keys: RangeInclusive<u64>,
    ) -> Result<Vec<EdgeOfVertex>, Error> {
        let mut edges = Vec::new();
        self.read(|state| match state.owner(key)? {
            Some(vertex) => state.parallel_neighbors(
                hop.label,
                hop.direction,
                vertex,
                keys,
                &mut |neighbor, number, record| {
                    let record = decoded(record)?;
                    edges.push(EdgeOfVertex { number, record, ..EdgeOfVertex::to(state.key(neighbor)) });
                    Ok(())
                },
            ),
            None => Ok(()),
        })?;
        Ok(edges)
    }

    fn newest_edges(&self, hop: Hop, key: KeyRef<'_>, newest: &Newest) -> Result<Vec<EdgeOfVertex>, Error> {
        let has_records = self.typed()?.has_records(hop.label)?;
        let mut edges = Vec::new();
        self.visit_newest(hop, key, newest, &mut |state, edge| {
            let record = if has_records { decoded(edge.record)? } else { Record::EMPTY };
            let NewestEdge { neighbor, key, value, .. } = edge;
            edges.push(EdgeOfVertex { neighbor: state.key(neighbor), number: key, value, record });
            Ok(())
        })?;
        Ok(edges)
    }
}

impl Snapshot {
    /// Visits the neighbors of a vertex and the values of the edges until `visit` breaks.
    pub(super) fn visit_values<W: Column, B>(
        &self,
        hop: Hop,
        key: KeyRef<'_>,
        mut visit: impl FnMut(Key, W) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, Error> {
        Ok(
            with_reads!(self, reads => reads.visit_neighbors(hop.label, hop.direction, key, |neighbor, value| {
                visit(reads.store.dictionary.key(neighbor), value)
            }))?,
        )
    }

    /// Visits the edges of vertices in a range of ids: both ends with their keys, and the value.
    pub(super) fn scan_values<W: Column>(
        &self,
        label: LabelId,
        range: Range<u32>,
        mut visit: impl FnMut((VertexId, &Key), (VertexId, Key), W) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let view = self.erased_view()?;
        let adjacency = view.adjacency::<W>(label, Direction::Out)?;
        let scanned = adjacency.cursor().scan(range, |vertex, neighbors, values| {
            let key = self.key_of(vertex);
            for (neighbor, value) in neighbors.iter().zip(values) {
                let other = self.key_of(*neighbor);
                if let Err(error) = visit((vertex, &key), (*neighbor, other), *value) {
                    return ControlFlow::Break(error);
                }
            }
            ControlFlow::Continue(())
        });
        scanned.map_err(read_failed)?.break_value().map_or(Ok(()), Err)
    }

    /// Visits the edges of one vertex with their records, parallel edges one by one. `visit` first
    /// takes the key of that vertex.
    pub(super) fn scan_records(
        &self,
        label: LabelId,
        vertex: VertexId,
        mut visit: impl FnMut(Key, (VertexId, Key), Record) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut failed = None;
        self.read(|state| {
            state.neighbor_records(label, Direction::Out, vertex, &mut |neighbor, record| {
                let visited = decoded(record)
                    .map_err(Error::from)
                    .and_then(|record| visit(state.key(vertex), (neighbor, state.key(neighbor)), record));
                failed = failed.take().or(visited.err());
            })
        })?;
        failed.map_or(Ok(()), Err)
    }
}
