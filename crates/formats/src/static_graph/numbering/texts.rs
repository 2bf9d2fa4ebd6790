//! Texts as keys.

use super::{IdPair, hash_of, new_ids, next_id};
use crate::{Batch, Edge};
use hashbrown::HashTable;
use hedgerow_model::{CapacityError, VertexId};

/// Texts, one after the other.
#[derive(Debug, Default)]
pub struct Texts {
    text: String,
    /// The end of each text.
    ends: Vec<usize>,
    ids: HashTable<Hashed>,
}

/// An id with half of the hash of its text, which tells nearly all other texts apart.
#[derive(Debug, Clone, Copy)]
struct Hashed {
    hash: u32,
    id: u32,
}

/// A text that is looked up: what is known of its id so far.
#[derive(Debug, Clone, Copy, Default)]
struct Candidate {
    hash: u32,
    /// The id of a text with this hash, and the place of that text.
    id: Option<u32>,
    place: (usize, usize),
}

/// Edges whose ends are looked up side by side, so that memory answers for many at once.
const EDGES_SIDE_BY_SIDE: usize = 32;

impl Texts {
    pub fn assign(&mut self, batch: &Batch<Box<str>>, ends: &mut Vec<IdPair>) -> Result<(), CapacityError> {
        for vertex in &batch.vertices {
            self.id_of(vertex, half_hash_of(vertex))?;
        }
        ends.reserve(batch.edges.len());
        batch.edges.chunks(EDGES_SIDE_BY_SIDE).try_for_each(|edges| self.assign_side_by_side(edges, ends))
    }

    /// Assigns ids to the ends of a few edges. Each step takes all texts as far as the next place
    /// in memory, so that the steps of one text do not wait for each other.
    #[inline]
    fn assign_side_by_side(
        &mut self,
        edges: &[Edge<Box<str>>],
        ends: &mut Vec<IdPair>,
    ) -> Result<(), CapacityError> {
        let mut candidates = [Candidate::default(); 2 * EDGES_SIDE_BY_SIDE];
        let candidates = &mut candidates[..2 * edges.len()];
        let texts = edges.iter().flat_map(|edge| [&edge.source, &edge.destination]);
        candidates.iter_mut().zip(texts).for_each(|(candidate, text)| candidate.hash = half_hash_of(text));
        for Candidate { hash, id, .. } in &mut *candidates {
            *id = self.ids.find(spread(*hash), |hashed| hashed.hash == *hash).map(|hashed| hashed.id);
        }
        for Candidate { id, place, .. } in &mut *candidates {
            *place = id.map_or((0, 0), |id| self.place(id));
        }
        for (edge, [source, destination]) in edges.iter().zip(candidates.as_chunks().0) {
            let source = self.confirmed(&edge.source, source)?;
            ends.push((source, self.confirmed(&edge.destination, destination)?));
        }
        Ok(())
    }

    /// The id of the candidate if it is that of this text.
    #[inline]
    fn confirmed(&mut self, text: &str, candidate: &Candidate) -> Result<VertexId, CapacityError> {
        let Candidate { hash, id, place: (start, end) } = *candidate;
        match id {
            Some(id) if self.text.as_bytes()[start..end] == *text.as_bytes() => Ok(VertexId::new(id)),
            _ => self.id_of(text, hash),
        }
    }

    #[inline(never)]
    fn id_of(&mut self, text: &str, hash: u32) -> Result<VertexId, CapacityError> {
        if let Some(id) = self.find_hashed(text, hash) {
            return Ok(VertexId::new(id));
        }
        let id = next_id(self.ends.len())?;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.ids.insert_unique(spread(hash), Hashed { hash, id: id.get() }, |hashed| spread(hashed.hash));
        Ok(id)
    }

    pub fn sort(&mut self) -> Option<Vec<VertexId>> {
        let mut sorted: Vec<u32> = (0..self.ends.len() as u32).collect();
        if sorted.is_sorted_by_key(|id| self.get(*id)) {
            return None;
        }
        sorted.sort_unstable_by_key(|id| self.get(*id));
        let (mut text, mut ends) =
            (String::with_capacity(self.text.len()), Vec::with_capacity(self.ends.len()));
        for id in &sorted {
            text.push_str(self.get(*id));
            ends.push(text.len());
        }
        let new = new_ids(sorted.into_iter());
        self.ids.iter_mut().for_each(|hashed| hashed.id = new[hashed.id as usize].get());
        (self.text, self.ends) = (text, ends);
        Some(new)
    }

    pub fn find(&self, text: &str) -> Option<u32> {
        self.find_hashed(text, half_hash_of(text))
    }

    fn find_hashed(&self, text: &str, hash: u32) -> Option<u32> {
        let is_it = |hashed: &Hashed| hashed.hash == hash && self.get(hashed.id) == text;
        self.ids.find(spread(hash), is_it).map(|hashed| hashed.id)
    }

    pub fn get(&self, id: u32) -> &str {
        let (start, end) = self.place(id);
        &self.text[start..end]
    }

    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.text.len() + size_of_val(&*self.ends) + self.ids.allocation_size()
    }

    /// The start and the end of a text.
    #[inline]
    fn place(&self, id: u32) -> (usize, usize) {
        let id = id as usize;
        (if id == 0 { 0 } else { self.ends[id - 1] }, self.ends[id])
    }
}

fn half_hash_of(text: &str) -> u32 {
    // In tests, different texts often have the same hash.
    hash_of(text) as u32 & if cfg!(test) { 0xff } else { u32::MAX }
}

/// The hash that a table takes from a half: tables use the bits of both ends.
fn spread(half: u32) -> u64 {
    u64::from(half) << u32::BITS | u64::from(half)
}
