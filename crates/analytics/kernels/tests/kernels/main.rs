//! Tests the kernels against plain definitions of their results.

#[cfg(test)]
mod betweenness;
#[cfg(test)]
mod bfs;
#[cfg(test)]
mod clustering;
#[cfg(test)]
mod communities;
#[cfg(test)]
mod cores;
#[cfg(test)]
mod execution;
#[cfg(test)]
mod follow;
#[cfg(test)]
mod graphalytics;
#[cfg(test)]
mod intersect;
#[cfg(test)]
mod neighborhood;
#[cfg(test)]
mod pagerank;
#[cfg(test)]
mod parents;
#[cfg(test)]
mod real_graphs;
#[cfg(test)]
mod sssp;
#[cfg(test)]
mod support;
#[cfg(test)]
mod triangles;
#[cfg(test)]
mod wcc;
#[cfg(test)]
mod weighted_pagerank;
