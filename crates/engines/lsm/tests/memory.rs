//! A MemGraph counts exactly the memory that it holds.
#![cfg(not(hedgerow_shuttle))]

use hedgerow_lsm::{MemContent, MemGraph};
use hedgerow_model::{ColumnType, CommitTimestamp, EdgeValue, VertexId};
use hedgerow_testing::allocation::{CountingAllocator, most_held};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const COLUMNS: [ColumnType; 3] = [ColumnType::Unit, ColumnType::Record, ColumnType::F64];

/// Pushes edges from a long row, then from short ones far apart. No temporary memory is left to be
/// the peak.
fn fill(mem_graph: &MemGraph, count: u32) {
    let push = |number: u32, owner: u32| {
        let adjacency = number % 3;
        let record = vec![7; number as usize % 100 * 30];
        let content = match COLUMNS[adjacency as usize] {
            ColumnType::Record => MemContent::Record(&record),
            _ => MemContent::Value(EdgeValue(number.into())),
        };
        let (at, neighbor) = (CommitTimestamp(number.into()), VertexId::new(number.wrapping_mul(77) % 1000));
        mem_graph.push(adjacency, VertexId::new(owner), neighbor, at, at, Some(content));
    };
    (1..count).for_each(|number| push(number, 5));
    (count..2 * count).for_each(|number| push(number, number * 1_000_000));
}

#[test]
fn bytes_are_those_that_are_allocated() {
    for (block_words, first) in [(16, 3), (1024, 3), (8192, 3), (16, 1), (1024, 0)] {
        for count in [1, 2, 500] {
            let (mem_graph, most) = most_held(|| {
                let mem_graph = MemGraph::new(&COLUMNS[..first], CommitTimestamp(0), block_words, 64);
                COLUMNS[first..].iter().for_each(|column| mem_graph.add_adjacency(*column));
                fill(&mem_graph, count);
                mem_graph
            });
            // The record of the caller may be held when the last memory is allocated.
            let held = mem_graph.bytes();
            assert!((held..=held + 3000).contains(&most), "{held} bytes counted, {most} held");
            assert!(mem_graph.used_bytes() <= held && mem_graph.used_bytes() > 0);
        }
    }
}

#[test]
fn long_rows_are_read_like_short_ones() {
    let mem_graph = MemGraph::new(&COLUMNS, CommitTimestamp(0), 64, 1);
    for number in 0..1000 {
        let at = CommitTimestamp(u64::from(number) + 1);
        let neighbor = VertexId::new(number * 77 % 500);
        let content = (number % 5 > 0).then_some(MemContent::Value(EdgeValue(number.into())));
        mem_graph.push(2, VertexId::new(1), neighbor, at, at, content);
        if number % 50 == 0 || number < 70 {
            let mut edges = Vec::new();
            mem_graph.read_row(2, VertexId::new(1), at, &mut edges);
            let count = (number + 1).min(500) as usize;
            assert!(edges.len() == count && edges.is_sorted_by(|one, next| one.0 < next.0));
            let value = (number % 5 > 0).then_some(EdgeValue(number.into()));
            assert!(edges.contains(&(neighbor, value)));
            assert_eq!(mem_graph.find(2, VertexId::new(1), neighbor, at), Some(value));
        }
    }
}
