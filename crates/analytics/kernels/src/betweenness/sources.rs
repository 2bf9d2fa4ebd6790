//! The vertices where paths start.

use crate::KernelError;
use crate::kernel::check_exists;
use hedgerow_model::{GraphView, ReadError, VertexId};
use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;

/// The vertices where paths start.
#[derive(Clone, Copy, Debug)]
pub enum Sources<'a> {
    /// Every vertex: exact scores.
    All,
    /// These vertices; a vertex that is listed twice counts twice.
    Given(&'a [VertexId]),
    /// `count` distinct vertices, chosen at random.
    Sampled {
        /// The number of sources; all vertices if the view has no more.
        count: u32,
        /// The seed; equal seeds choose equal vertices.
        seed: u64,
    },
}

impl Sources<'_> {
    pub(super) fn vertices(&self, view: &impl GraphView) -> Result<Vec<VertexId>, KernelError> {
        let vertices = view.vertex_count();
        match *self {
            Sources::Given(sources) => {
                sources.iter().try_for_each(|source| check_exists(view, *source))?;
                Ok(sources.to_vec())
            }
            Sources::Sampled { count, seed } if u64::from(count) < vertices => {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                let chosen = rand::seq::index::sample(&mut random, vertices as usize, count as usize);
                let mut ranks = chosen.into_vec();
                ranks.sort_unstable();
                Ok(at_ranks(view, &ranks)?)
            }
            Sources::All | Sources::Sampled { .. } => {
                let mut all = Vec::with_capacity(vertices as usize);
                let visited = view.each_vertex(0..view.vertex_bound(), |vertex| all.push(vertex));
                visited?;
                Ok(all)
            }
        }
    }
}

/// The vertices at the given ascending positions among the existing vertices.
fn at_ranks<V: GraphView>(view: &V, ranks: &[usize]) -> Result<Vec<VertexId>, ReadError> {
    let (mut rank, mut found) = (0, Vec::with_capacity(ranks.len()));
    view.each_vertex(0..view.vertex_bound(), |vertex| {
        if ranks.get(found.len()) == Some(&rank) {
            found.push(vertex);
        }
        rank += 1;
    })?;
    Ok(found)
}
