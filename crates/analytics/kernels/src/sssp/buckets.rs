//! Vertices grouped by ranges of distance.

use hedgerow_model::VertexId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The number of buckets, from the lowest on, that are lists; farther vertices wait in a heap.
const NEAR: u64 = 1 << 12;

/// One thread's vertices, in buckets numbered from 0. A vertex may be in several buckets: only the
/// lowest counts, and the caller that takes a vertex checks that it is still current.
#[derive(Default)]
pub(super) struct Buckets {
    /// The number of the first of `near`.
    base: u64,
    near: Vec<Vec<VertexId>>,
    far: BinaryHeap<(Reverse<u64>, VertexId)>,
}

impl Buckets {
    /// Adds `vertex` to a bucket, which is not below the buckets taken so far.
    #[inline]
    pub(super) fn push(&mut self, bucket: u64, vertex: VertexId) {
        let position = bucket.wrapping_sub(self.base);
        if position >= NEAR {
            self.far.push((Reverse(bucket), vertex));
            return;
        }
        let position = position as usize;
        if position >= self.near.len() {
            self.near.resize_with(position + 1, Vec::new);
        }
        self.near[position].push(vertex);
    }

    /// The lowest bucket that is not empty, from `least` on.
    pub(super) fn lowest(&self, least: u64) -> Option<u64> {
        let skipped = least.saturating_sub(self.base).min(self.near.len() as u64) as usize;
        let near = self.near[skipped..].iter().position(|bucket| !bucket.is_empty());
        let near = near.map(|position| self.base + (skipped + position) as u64);
        near.or_else(|| self.far.peek().map(|(Reverse(bucket), _)| *bucket))
    }

    /// Moves the vertices of `bucket` to `into`; no thread adds any to a lower bucket from now on.
    pub(super) fn take(&mut self, bucket: u64, into: &mut Vec<VertexId>) {
        if bucket - self.base >= NEAR / 2 {
            self.move_to(bucket);
        }
        if let Some(vertices) = self.near.get_mut((bucket - self.base) as usize) {
            if into.is_empty() {
                std::mem::swap(into, vertices);
            } else {
                into.append(vertices);
            }
        }
    }

    /// Makes `base` the first bucket. The buckets before it are empty.
    fn move_to(&mut self, base: u64) {
        let gone = (base - self.base).min(self.near.len() as u64) as usize;
        self.near.drain(..gone);
        self.base = base;
        while let Some((Reverse(bucket), _)) = self.far.peek() {
            if bucket - base >= NEAR {
                break;
            }
            let (Reverse(bucket), vertex) = self.far.pop().expect("it was just looked at");
            self.push(bucket, vertex);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_come_out_in_order_however_far_apart() {
        let numbers = [0, 3, 3, NEAR - 1, NEAR, 5 * NEAR, 5 * NEAR + 1, u64::MAX - 1, u64::MAX];
        let mut buckets = Buckets::default();
        for (vertex, bucket) in (0..9).map(VertexId::new).zip(numbers).rev() {
            buckets.push(bucket, vertex);
        }
        let (mut found, mut least) = (Vec::new(), 0);
        while let Some(bucket) = buckets.lowest(least) {
            let mut taken = Vec::new();
            buckets.take(bucket, &mut taken);
            assert!(!taken.is_empty(), "bucket {bucket}");
            taken.sort();
            found.extend(taken.into_iter().map(|vertex| (bucket, vertex.get())));
            least = bucket;
        }
        assert!(found.into_iter().eq(numbers.into_iter().zip(0..)));
    }

    #[test]
    fn what_is_put_back_comes_out_again() {
        let mut buckets = Buckets::default();
        buckets.push(2, VertexId::new(1));
        buckets.take(2, &mut Vec::new());
        assert_eq!(buckets.lowest(2), None);
        buckets.push(2, VertexId::new(4));
        assert_eq!(buckets.lowest(2), Some(2));
    }
}
