//! Several shortest paths, by Yen's algorithm: "Finding the k shortest loopless paths in a network"
//! (1971).

use super::edges::FollowedEdges;
use super::search::{Avoided, Route, shortest};
use crate::error::Error;
use hedgerow_model::VertexId;

/// Returns up to `count` shortest paths of at most `longest`, the shortest first; of equally long
/// ones, the ones with the lowest vertices. No path visits a vertex twice.
pub(super) fn shortest_routes(
    edges: &FollowedEdges<'_>,
    (source, destination): (VertexId, VertexId),
    count: usize,
    longest: f64,
) -> Result<Vec<Route>, Error> {
    let mut found: Vec<Route> = Vec::new();
    // The best deviations from the paths found, the shortest first.
    let mut candidates: Vec<Route> = Vec::new();
    let mut next = match count {
        0 => None,
        _ => shortest(edges, (source, 0.0), destination, &Avoided::default(), longest)?,
    };
    while let Some(route) = next {
        found.push(route);
        let wanted = count - found.len();
        if wanted == 0 {
            break;
        }
        add_deviations(edges, &found, destination, longest, &mut candidates)?;
        let order = |one: &Route, other: &Route| {
            one.length().total_cmp(&other.length()).then_with(|| one.vertices.cmp(&other.vertices))
        };
        candidates.sort_by(order);
        candidates.dedup_by(|one, other| one.vertices == other.vertices);
        candidates.truncate(wanted);
        next = (!candidates.is_empty()).then(|| candidates.remove(0));
    }
    Ok(found)
}

/// Adds the shortest paths that leave the path found last at each of its vertices, and go on as no
/// path does that was found before.
fn add_deviations(
    edges: &FollowedEdges<'_>,
    found: &[Route],
    destination: VertexId,
    longest: f64,
    candidates: &mut Vec<Route>,
) -> Result<(), Error> {
    let Some(last) = found.last() else { return Ok(()) };
    for leave in 0..last.vertices.len().saturating_sub(1) {
        let same_root =
            found.iter().filter(|route| route.vertices.get(..=leave) == last.vertices.get(..=leave));
        let avoided = Avoided {
            vertices: last.vertices[..leave].iter().copied().collect(),
            seconds: same_root.filter_map(|route| route.vertices.get(leave + 1).copied()).collect(),
        };
        let start = (last.vertices[leave], last.lengths[leave]);
        let Some(rest) = shortest(edges, start, destination, &avoided, longest)? else { continue };
        let vertices = last.vertices[..leave].iter().copied().chain(rest.vertices).collect();
        let lengths = last.lengths[..leave].iter().copied().chain(rest.lengths).collect();
        candidates.push(Route { vertices, lengths });
    }
    Ok(())
}
