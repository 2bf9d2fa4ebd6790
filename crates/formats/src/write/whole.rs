//! A graph held in memory until it can be written as a whole.

use super::field::{check_weight, unwritable, unwritable_without};
use crate::static_graph::IdPair;
use crate::{Edge, FormatError, Remedy, VertexKey};
use foldhash::fast::FixedState;
use hedgerow_model::VertexId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};

/// The placeholder for a missing weight; no weight is NaN.
const NO_WEIGHT: f64 = f64::NAN;

/// Vertices and edges as they come.
pub(super) struct Whole<K> {
    path: PathBuf,
    /// The first vertex number, if keys are vertex numbers.
    first: Option<u64>,
    /// Keys in order of arrival, unless keys are vertex numbers.
    keys: Vec<K>,
    ids: HashMap<K, u32, FixedState>,
    /// The number of vertices, if keys are vertex numbers.
    bound: u32,
    edges: Vec<IdPair>,
    /// Empty while no edge has a weight.
    weights: Vec<f64>,
}

/// A graph whose vertices are numbered from 0 in the order of their keys.
pub(crate) struct Numbered<K> {
    path: PathBuf,
    keys: Keys<K>,
    edges: Vec<IdPair>,
    weights: Vec<f64>,
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
        let (keys, ids, edges, weights) = (Vec::new(), HashMap::default(), Vec::new(), Vec::new());
        Whole { path: path.into(), first, keys, ids, bound: 0, edges, weights }
    }

    pub fn add_vertex(&mut self, key: &K) -> Result<(), FormatError> {
        self.id(key).map(drop)
    }

    pub fn add_edge(&mut self, edge: &Edge<K>) -> Result<(), FormatError> {
        let ends = (VertexId::new(self.id(&edge.source)?), VertexId::new(self.id(&edge.destination)?));
        if let Some(weight) = edge.weight {
            check_weight(weight, &self.path)?;
            self.weights.resize(self.edges.len(), NO_WEIGHT);
            self.weights.push(weight);
        }
        self.edges.push(ends);
        Ok(())
    }

    fn id(&mut self, key: &K) -> Result<u32, FormatError> {
        if let Some(first) = self.first {
            return self.number(key, first);
        }
        let next = self.keys.len() as u32;
        match self.ids.entry(key.clone()) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_) if next == u32::MAX => Err(too_many(&self.path, key)),
            Entry::Vacant(new) => {
                new.insert(next);
                self.keys.push(key.clone());
                Ok(next)
            }
        }
    }

    fn number(&mut self, key: &K, first: u64) -> Result<u32, FormatError> {
        let id = key.as_number().and_then(|number| number.checked_sub(first));
        let Some(id) = id else {
            let reason =
                "vertices of this format are numbered from 1; without dense keys they are renumbered";
            return Err(unwritable_without(Remedy::MappedKeys, &self.path, &format!("{key:?}"), reason));
        };
        match u32::try_from(id) {
            Ok(id) if id < u32::MAX => {
                self.bound = self.bound.max(id + 1);
                Ok(id)
            }
            _ => Err(too_many(&self.path, key)),
        }
    }

    /// Sorts the vertices by their keys.
    pub fn numbered(mut self) -> Numbered<K> {
        if !self.weights.is_empty() {
            self.weights.resize(self.edges.len(), NO_WEIGHT);
        }
        let Whole { path, first, keys, ids, bound, mut edges, weights } = self;
        drop(ids);
        let keys = match first {
            Some(first) => Keys::Numbers { first, count: bound },
            None => {
                let mut order: Vec<u32> = (0..keys.len() as u32).collect();
                order.sort_unstable_by(|one, other| keys[*one as usize].cmp(&keys[*other as usize]));
                let mut rank = vec![VertexId::default(); keys.len()];
                (0..).zip(&order).for_each(|(new, old)| rank[*old as usize] = VertexId::new(new));
                for (source, destination) in &mut edges {
                    (*source, *destination) = (rank[source.index()], rank[destination.index()]);
                }
                let mut keys = keys;
                keys.sort_unstable();
                Keys::Sorted(keys)
            }
        };
        Numbered { path, keys, edges, weights }
    }
}

impl<K: VertexKey> Numbered<K> {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn vertices(&self) -> u32 {
        match &self.keys {
            Keys::Numbers { count, .. } => *count,
            Keys::Sorted(keys) => keys.len() as u32,
        }
    }

    /// Edges in the order in which they came.
    pub fn edges(&self) -> &[IdPair] {
        &self.edges
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
fn too_many<K: VertexKey>(path: &Path, key: &K) -> FormatError {
    unwritable(path, &format!("{key:?}"), "there can be 4294967295 vertices at most")
}
