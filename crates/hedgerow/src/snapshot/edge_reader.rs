//! Repeated look-ups of edges of one label.

use crate::data::hidden::Stored;
use crate::data::{EdgeData, Names, Owner};
use crate::error::{Error, Reason};
use crate::label::HopOf;
use crate::reads::State;
use crate::snapshot::Snapshot;
use hedgerow_model::{AsKey, Key, Record};
use hedgerow_pipeline::LabelReads;

/// Looks up edges of one label in a snapshot: see [`Snapshot::with_edges`].
pub struct EdgeReader<'r, T: EdgeData> {
    pub(crate) reads: EdgeReads<'r, <T as Stored>::Column>,
    pub(crate) names: &'r Names<'r>,
}

/// Reads of edges with a value, or with a record.
pub(crate) enum EdgeReads<'r, W> {
    Values(&'r mut dyn LabelReads<W>),
    Records(&'r mut dyn LabelReads<Record>),
}

impl<T: EdgeData> EdgeReader<'_, T> {
    /// Returns true if there is an edge from one vertex to another; along an incoming hop, from
    /// `neighbor` to `vertex`. O(log degree).
    ///
    /// # Errors
    /// A key is of another kind than the graph's, or the store could not be read.
    #[inline]
    pub fn contains(&mut self, vertex: impl AsKey, neighbor: impl AsKey) -> Result<bool, Error> {
        let (vertex, neighbor) = (vertex.as_key(), neighbor.as_key());
        Ok(match &mut self.reads {
            EdgeReads::Values(reads) => reads.find(vertex, neighbor)?.is_some(),
            EdgeReads::Records(reads) => reads.find(vertex, neighbor)?.is_some(),
        })
    }

    /// Returns the data of the edge from one vertex to another; `None` if it does not exist. Along
    /// an incoming hop, of the edge from `neighbor` to `vertex`. O(log degree).
    ///
    /// # Errors
    /// As [`EdgeReader::contains`]; or the stored properties do not fit `T`.
    #[inline]
    pub fn get(&mut self, vertex: impl AsKey, neighbor: impl AsKey) -> Result<Option<T>, Error> {
        let (vertex, neighbor) = (vertex.as_key(), neighbor.as_key());
        match &mut self.reads {
            EdgeReads::Values(reads) => reads.find(vertex, neighbor)?.map(T::from_value).transpose(),
            EdgeReads::Records(reads) => {
                let record = reads.find(vertex, neighbor)?;
                record.map(|record| T::from_record(record, self.names)).transpose()
            }
        }
    }

    /// Returns the number of neighbors of a vertex; zero if it does not exist. O(1).
    ///
    /// # Errors
    /// As [`EdgeReader::contains`].
    pub fn degree(&mut self, vertex: impl AsKey) -> Result<usize, Error> {
        Ok(match &mut self.reads {
            EdgeReads::Values(reads) => reads.degree(vertex.as_key())?,
            EdgeReads::Records(reads) => reads.degree(vertex.as_key())?,
        })
    }

    /// Visits the neighbors of a vertex with the data of the edges, ascending by vertex id, until
    /// the data of an edge does not fit. O(degree).
    ///
    /// # Errors
    /// As [`EdgeReader::get`].
    pub fn for_each(&mut self, vertex: impl AsKey, mut visit: impl FnMut(Key, T)) -> Result<(), Error> {
        let mut failed = None;
        let mut pass = |neighbor, data: Result<T, Error>| match data {
            Ok(data) if failed.is_none() => visit(neighbor, data),
            Ok(_) => {}
            Err(error) => failed = failed.take().or(Some(error)),
        };
        match &mut self.reads {
            EdgeReads::Values(reads) => {
                reads.visit(vertex.as_key(), &mut |neighbor, value| pass(neighbor, T::from_value(value)))?;
            }
            EdgeReads::Records(reads) => {
                let visit = &mut |neighbor, record| pass(neighbor, T::from_record(record, self.names));
                reads.visit(vertex.as_key(), visit)?;
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

impl<T: EdgeData> std::fmt::Debug for EdgeReader<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EdgeReader").finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Runs `read` with a reader of a label's edges, for repeated look-ups: it is opened once,
    /// where [`contains_edge`](crate::ReadGraph::contains_edge) and
    /// [`get_edge`](crate::ReadGraph::get_edge) open one per call.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let graph = Graph::in_memory(GraphOptions::new().label::<f64>("rates"))?;
    /// let rates = graph.label::<f64>("rates")?;
    /// graph.ingest(rates, &[(1, 10, 4.0), (2, 10, 2.0), (2, 11, 5.0)])?;
    /// let asked = [(1, 10), (1, 11), (2, 11)];
    /// let sum = graph.snapshot()?.with_edges(rates, |edges| {
    ///     let mut sum = 0.0;
    ///     for (user, film) in asked {
    ///         sum += edges.get(user, film)?.unwrap_or_default();
    ///     }
    ///     Ok(sum)
    /// })?;
    /// assert_eq!(sum, 9.0);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of `read`; or there is no such label or direction, the label's edges carry data of
    /// another type, or they may be parallel and `T` is a record.
    pub fn with_edges<T: EdgeData, R>(
        &self,
        hop: impl Into<HopOf<T>>,
        read: impl FnOnce(&mut EdgeReader<'_, T>) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let hop = hop.into().untyped();
        let schema = self.typed()?.label_schema(hop.label)?;
        T::check(schema)?;
        self.typed()?.check_direction(hop.direction)?;
        if T::IS_RECORD && schema.edges.key().is_some() {
            return Err(Reason::NeedsKey(schema.name.clone()).into());
        }
        let catalog = self.typed()?.shared_catalog();
        let names = &Names { catalog: &catalog, owner: Owner::Edge(hop.label) };
        State::of(self).with_edges(hop, names, read)?
    }
}
