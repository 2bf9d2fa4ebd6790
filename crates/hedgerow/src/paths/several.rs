//! Several shortest paths, by Yen's algorithm: "Finding the k shortest loopless paths in a network"
//! (1971).

use super::edges::FollowedEdges;
use super::search::{Avoided, Route, shortest};
use crate::error::Error;
use hedgerow_model::VertexId;

/// Returns up to `count` shortest paths of at most `longest`, the shortest first. No path visits a
/// vertex twice.
pub(super) fn shortest_routes(
    edges: &FollowedEdges<'_>,
    ends: (VertexId, VertexId),
    count: usize,
    longest: f64,
) -> Result<Vec<Route>, Error> {
    let mut found: Vec<Route> = Vec::new();
    let mut candidates: Vec<Route> = Vec::new();
    if count > 0 {
        candidates.extend(shortest(edges, ends, &Avoided::default(), longest)?);
    }
    while let Some(next) = take_shortest(&mut candidates) {
        found.push(next);
        if found.len() == count {
            break;
        }
        add_deviations(edges, &found, ends.1, longest, &mut candidates)?;
    }
    Ok(found)
}

/// Removes the shortest; of equally long ones, the one with the lowest vertices.
fn take_shortest(candidates: &mut Vec<Route>) -> Option<Route> {
    let order = |one: &(usize, &Route), other: &(usize, &Route)| {
        one.1.length().total_cmp(&other.1.length()).then_with(|| one.1.vertices.cmp(&other.1.vertices))
    };
    let (position, _) = candidates.iter().enumerate().min_by(order)?;
    Some(candidates.swap_remove(position))
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
        let (root, so_far) = (&last.vertices[..leave], last.lengths[leave]);
        let same_root =
            found.iter().filter(|route| route.vertices.get(..=leave) == last.vertices.get(..=leave));
        let avoided = Avoided {
            vertices: root.iter().copied().collect(),
            seconds: same_root.filter_map(|route| route.vertices.get(leave + 1).copied()).collect(),
        };
        let ends = (last.vertices[leave], destination);
        let Some(rest) = shortest(edges, ends, &avoided, longest - so_far)? else { continue };
        let vertices: Vec<_> = root.iter().copied().chain(rest.vertices).collect();
        if candidates.iter().all(|candidate| candidate.vertices != vertices) {
            let lengths = last.lengths[..leave].iter().copied();
            let lengths = lengths.chain(rest.lengths.into_iter().map(|length| so_far + length)).collect();
            candidates.push(Route { vertices, lengths });
        }
    }
    Ok(())
}
