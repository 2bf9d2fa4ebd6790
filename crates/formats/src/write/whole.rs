//! A graph held in memory until it can be written as a whole.

use super::field::{check_weight, unwritable_without};
use super::{Direction, Rows};
use crate::static_graph::{IdPair, Numbering};
use crate::{Batch, FormatError, Remedy, VertexKey};
use hedgerow_model::VertexId;
use rayon::ThreadPool;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The placeholder for a missing weight; no weight is NaN.
const NO_WEIGHT: f64 = f64::NAN;

/// Vertices and edges as they come.
pub(super) struct Whole<K> {
    path: PathBuf,
    ids: Ids,
    edges: Vec<IdPair>,
    /// Empty while no edge has a weight.
    weights: Vec<f64>,
    keys: PhantomData<fn(K)>,
}

/// The ids of the vertices.
enum Ids {
    /// In order of arrival.
    Arrival(Numbering),
    /// Keys are numbers from `first` on, and below `first + bound`.
    Numbers { first: u64, bound: u32 },
}

/// A graph whose vertices are numbered from 0 in the order of their keys.
pub(crate) struct Numbered<'p, K> {
    path: PathBuf,
    keys: Keys<K>,
    edges: Vec<IdPair>,
    weights: Vec<f64>,
    pool: Option<&'p ThreadPool>,
}

enum Keys<K> {
    /// Numbers from `first` on.
    Numbers { first: u64, count: u32 },
    /// In ascending order.
    Sorted(Vec<K>),
}

impl<K: VertexKey> Whole<K> {
    /// Accepts any keys, or vertex numbers from `first` on.
    pub fn new(path: &Path, first: Option<u64>) -> Self {
        let ids = match first {
            Some(first) => Ids::Numbers { first, bound: 0 },
            None => Ids::Arrival(Numbering::new(K::KIND)),
        };
        Whole { path: path.into(), ids, edges: Vec::new(), weights: Vec::new(), keys: PhantomData }
    }

    /// Adds vertices and edges, with their weights if `with_weights`.
    pub fn add(&mut self, batch: &Batch<K>, with_weights: bool) -> Result<(), FormatError> {
        let before = self.edges.len();
        match &mut self.ids {
            Ids::Arrival(numbering) => {
                let assigned = K::assign_ids(batch, numbering, &mut self.edges);
                assigned.map_err(|_| too_many(&self.path, format!("{} vertices", numbering.count() + 1)))?;
            }
            Ids::Numbers { first, bound } => {
                let mut id_of = |key: &K| number(&self.path, key, *first, bound);
                batch.vertices.iter().try_for_each(|vertex| id_of(vertex).map(drop))?;
                for edge in &batch.edges {
                    self.edges.push((id_of(&edge.source)?, id_of(&edge.destination)?));
                }
            }
        }
        if !with_weights {
            return Ok(());
        }
        for (place, edge) in (before..).zip(&batch.edges) {
            if let Some(weight) = edge.weight {
                check_weight(weight, &self.path)?;
                self.weights.resize(place, NO_WEIGHT);
                self.weights.push(weight);
            }
        }
        Ok(())
    }

    /// Sorts the vertices by their keys. The rows of the graph will be built on the pool.
    pub fn numbered(mut self, pool: Option<&ThreadPool>) -> Numbered<'_, K> {
        if !self.weights.is_empty() {
            self.weights.resize(self.edges.len(), NO_WEIGHT);
        }
        let Whole { path, ids, mut edges, weights, .. } = self;
        let keys = match ids {
            Ids::Numbers { first, bound } => Keys::Numbers { first, count: bound },
            Ids::Arrival(numbering) => {
                let ids = (0..numbering.bound()).map(VertexId::new);
                let mut keys: Vec<(K, VertexId)> = ids.map(|id| (K::of_key(numbering.key(id)), id)).collect();
                drop(numbering);
                keys.sort_unstable();
                let mut rank = vec![VertexId::default(); keys.len()];
                (0..).zip(&keys).for_each(|(new, (_, old))| rank[old.index()] = VertexId::new(new));
                for (source, destination) in &mut edges {
                    (*source, *destination) = (rank[source.index()], rank[destination.index()]);
                }
                Keys::Sorted(keys.into_iter().map(|(key, _)| key).collect())
            }
        };
        Numbered { path, keys, edges, weights, pool }
    }
}

/// The vertex of a key that is its number, counted from `first`.
fn number<K: VertexKey>(path: &Path, key: &K, first: u64, bound: &mut u32) -> Result<VertexId, FormatError> {
    let Some(id) = key.as_number().and_then(|number| number.checked_sub(first)) else {
        let reason = "vertices of this format are numbered from 1; without dense keys they are renumbered";
        return Err(unwritable_without(Remedy::MappedKeys, path, &format!("{key:?}"), reason));
    };
    let id = VertexId::try_from(id).map_err(|_| too_many(path, format!("vertex {key:?}")))?;
    *bound = (*bound).max(id.get() + 1);
    Ok(id)
}

impl<K: VertexKey> Numbered<'_, K> {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn vertices(&self) -> u32 {
        match &self.keys {
            Keys::Numbers { count, .. } => *count,
            Keys::Sorted(keys) => keys.len() as u32,
        }
    }

    /// Returns true if there are edges.
    pub fn has_edges(&self) -> bool {
        !self.edges.is_empty()
    }

    /// Sorts the edges into rows, with these weights if given.
    pub fn rows(&self, weights: Option<&[f64]>, direction: Direction) -> Rows {
        Rows::new(self.vertices(), &self.edges, weights, direction, self.pool)
    }

    /// The weight of every edge, which must all have one; `None` if no edge has one.
    pub fn weights(&self) -> Result<Option<&[f64]>, FormatError> {
        if self.weights.iter().any(|weight| weight.is_nan()) {
            let reason = "some edges have a weight, so that all must have one; leave weights out or add them";
            return Err(unwritable_without(Remedy::NoWeights, &self.path, "no weight", reason));
        }
        Ok((!self.weights.is_empty()).then_some(&self.weights))
    }

    /// The key of a vertex.
    pub fn key(&self, vertex: VertexId) -> K {
        match &self.keys {
            Keys::Numbers { first, .. } => K::of_number(first + u64::from(vertex.get())),
            Keys::Sorted(keys) => keys[vertex.index()].clone(),
        }
    }

    /// The keys, if they are not the numbers from `first` on.
    pub fn into_changed_keys(self, first: u64) -> Option<Vec<K>> {
        match self.keys {
            Keys::Numbers { .. } => None,
            Keys::Sorted(keys) => {
                let is_kept = keys.iter().zip(first..).all(|(key, number)| key.as_number() == Some(number));
                (!is_kept).then_some(keys)
            }
        }
    }
}

#[cold]
fn too_many(path: &Path, value: String) -> FormatError {
    let reason = "there can be 4294967295 vertices at most";
    FormatError::Unwritable { path: path.into(), value, reason, remedy: None }
}
