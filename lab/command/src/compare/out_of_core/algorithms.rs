//! The plain algorithms, the same for all stores. Each reads a vertex's neighbors once, in
//! ascending order of vertices as far as possible.

use super::deadline::Deadline;
use anyhow::Result;
use hedgerow::VertexId;
use hedgerow::kernels::Bfs;

/// Reads one state of a store.
pub trait Reader {
    /// Passes on the neighbors of a vertex, in one or more runs.
    fn neighbors(&mut self, vertex: VertexId, visit: &mut dyn FnMut(&[VertexId])) -> Result<()>;

    /// Passes on all neighbors of all vertices, ascending by vertex, until `visit` fails.
    fn scan(&mut self, visit: &mut dyn FnMut(VertexId, &[VertexId]) -> Result<()>) -> Result<()>;

    /// Computes analytics by the store's own code, if it has any.
    fn analyze(&mut self, analytics: Analytics) -> Result<Option<(u64, u64)>> {
        let _ = analytics;
        Ok(None)
    }
}

/// Analytics that a store may implement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Analytics {
    /// Breadth-first search: vertices reached, sum of depths.
    Bfs(VertexId),
    /// Connected components: their number, and 0.
    Components,
    /// Shortest paths with the weights of [`shortest_paths`]: vertices reached, sum of lengths.
    ShortestPaths(VertexId),
    /// Ten iterations of PageRank: no numbers.
    PageRank,
}

/// The maximum weight of an edge; the minimum is 1.
const MAX_WEIGHT: u32 = 255;

/// The total number of neighbors and the sum of their ids.
pub fn scan(reader: &mut dyn Reader, deadline: &mut Deadline) -> Result<(u64, u64)> {
    let (mut count, mut sum) = (0, 0);
    reader.scan(&mut |_, neighbors| {
        count += neighbors.len() as u64;
        sum += total(neighbors);
        deadline.check()
    })?;
    Ok((count, sum))
}

/// The sum of the neighbors of some vertices.
pub fn one_hop(reader: &mut dyn Reader, vertices: &[VertexId], deadline: &mut Deadline) -> Result<u64> {
    let mut sum = 0;
    for vertex in vertices {
        reader.neighbors(*vertex, &mut |neighbors| sum += total(neighbors))?;
        deadline.check()?;
    }
    Ok(sum)
}

fn total(neighbors: &[VertexId]) -> u64 {
    neighbors.iter().map(|neighbor| u64::from(neighbor.get())).sum()
}

/// The number of vertices that a breadth-first search reaches, and the sum of their depths. Each
/// level is read in the order of ids.
pub fn bfs(
    reader: &mut dyn Reader,
    vertices: u32,
    source: VertexId,
    deadline: &mut Deadline,
) -> Result<(u64, u64)> {
    let mut depths = vec![Bfs::UNREACHED; vertices as usize];
    depths[source.index()] = 0;
    let (mut depth, mut is_done) = (0, false);
    while !is_done {
        is_done = true;
        for vertex in 0..vertices {
            if depths[vertex as usize] != depth {
                continue;
            }
            reader.neighbors(VertexId::new(vertex), &mut |neighbors| {
                for neighbor in neighbors {
                    let found = &mut depths[neighbor.index()];
                    if *found == Bfs::UNREACHED {
                        *found = depth + 1;
                        is_done = false;
                    }
                }
            })?;
            deadline.check()?;
        }
        depth += 1;
    }
    Ok(reached(&depths))
}

/// The number of reached vertices, and the sum of their depths.
pub fn reached(depths: &[u32]) -> (u64, u64) {
    let reached = depths.iter().filter(|depth| **depth != Bfs::UNREACHED);
    reached.fold((0, 0), |(count, sum), depth| (count + 1, sum + u64::from(*depth)))
}

/// The number of connected components, by union-find over one scan.
pub fn components(reader: &mut dyn Reader, vertices: u32, deadline: &mut Deadline) -> Result<u64> {
    let mut parents: Vec<u32> = (0..vertices).collect();
    let mut count = u64::from(vertices);
    reader.scan(&mut |vertex, neighbors| {
        for neighbor in neighbors.iter().filter(|neighbor| **neighbor > vertex) {
            let (one, other) = (root(&mut parents, vertex.get()), root(&mut parents, neighbor.get()));
            if one != other {
                parents[one.max(other) as usize] = one.min(other);
                count -= 1;
            }
        }
        deadline.check()
    })?;
    Ok(count)
}

/// The root of a vertex; halves the path to it.
fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        let above = parents[parents[vertex as usize] as usize];
        parents[vertex as usize] = above;
        vertex = above;
    }
    vertex
}

/// The weight of an edge, from its ends: 1 to [`MAX_WEIGHT`], the same in both directions.
pub fn weight(one: VertexId, other: VertexId) -> u32 {
    let mut bits = u64::from(one.min(other).get()) << 32 | u64::from(one.max(other).get());
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits >> 32) as u32 % MAX_WEIGHT + 1
}

/// The number of vertices reached from a source, and the sum of their distances, by Dijkstra's
/// algorithm over a ring of buckets, one per distance (Dial, CACM 12(11), 1969).
pub fn shortest_paths(
    reader: &mut dyn Reader,
    vertices: u32,
    source: VertexId,
    deadline: &mut Deadline,
) -> Result<(u64, u64)> {
    let mut distances = vec![u32::MAX; vertices as usize];
    let mut ring: Vec<Vec<VertexId>> = vec![Vec::new(); MAX_WEIGHT as usize + 1];
    let slots = ring.len() as u64;
    distances[source.index()] = 0;
    ring[0].push(source);
    let (mut waiting, mut distance) = (1_u64, 0_u64);
    while waiting > 0 {
        let mut bucket = std::mem::take(&mut ring[(distance % slots) as usize]);
        waiting -= bucket.len() as u64;
        bucket.sort_unstable();
        for vertex in &bucket {
            if u64::from(distances[vertex.index()]) != distance {
                // A shorter path was found after this entry was queued.
                continue;
            }
            reader.neighbors(*vertex, &mut |neighbors| {
                for neighbor in neighbors {
                    let longer = distance + u64::from(weight(*vertex, *neighbor));
                    let found = &mut distances[neighbor.index()];
                    if longer < u64::from(*found) {
                        *found = longer as u32;
                        ring[(longer % slots) as usize].push(*neighbor);
                        waiting += 1;
                    }
                }
            })?;
            deadline.check()?;
        }
        distance += 1;
    }
    Ok(reached(&distances))
}
