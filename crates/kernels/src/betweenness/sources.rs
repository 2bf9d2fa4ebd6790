//! From which vertices paths start.

use crate::KernelError;
use hedgerow_model::{GraphView, VertexId};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// From which vertices paths start.
#[derive(Clone, Copy, Debug)]
pub enum Sources<'a> {
    /// From every vertex: exact scores.
    All,
    /// From these; one that is listed twice counts twice.
    Given(&'a [VertexId]),
    /// From so many different vertices, chosen at random.
    Sampled {
        /// How many; all if there are no more.
        count: u32,
        /// The same seed chooses the same vertices.
        seed: u64,
    },
}

impl Sources<'_> {
    pub(super) fn vertices(&self, view: &impl GraphView) -> Result<Vec<VertexId>, KernelError> {
        let vertices = view.vertex_count();
        match *self {
            Sources::Given(sources) => match sources.iter().find(|source| !view.contains_vertex(**source)) {
                Some(absent) => Err(KernelError::NoSuchVertex(*absent)),
                None => Ok(sources.to_vec()),
            },
            Sources::Sampled { count, seed } if u64::from(count) < vertices => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                let chosen = rand::seq::index::sample(&mut random, vertices as usize, count as usize);
                let mut ranks = chosen.into_vec();
                ranks.sort_unstable();
                Ok(at_ranks(view, &ranks))
            }
            Sources::All | Sources::Sampled { .. } => {
                let mut all = Vec::with_capacity(vertices as usize);
                view.scan_vertices(0..view.vertex_bound(), |vertex| all.push(vertex));
                Ok(all)
            }
        }
    }
}

/// The vertices at some positions, which ascend, among those that exist.
fn at_ranks(view: &impl GraphView, ranks: &[usize]) -> Vec<VertexId> {
    let (mut rank, mut found) = (0, Vec::with_capacity(ranks.len()));
    view.scan_vertices(0..view.vertex_bound(), |vertex| {
        if ranks.get(found.len()) == Some(&rank) {
            found.push(vertex);
        }
        rank += 1;
    });
    found
}
