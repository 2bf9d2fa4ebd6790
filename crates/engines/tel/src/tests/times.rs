//! The out-of-order bound of logs.

use super::blocks::{Tested, delete, put};
use super::logs::{class, with_log};
use hedgerow_in_memory::records::memory::LONGEST_EMBEDDED;
use hedgerow_model::{
    Adjacency, Cursor, Direction, Engine, GraphView, LabelId, RecordHandle, Topology, VertexId,
};
use hedgerow_testing::records::{content, time};
use std::ops::ControlFlow;

const LABEL: u16 = 3;

/// Numbers of records with ascending times, starting at `from`.
fn numbers(from: u32, are_long: bool) -> impl Iterator<Item = u32> {
    let is_long = |record: &[u8]| record.len() > LONGEST_EMBEDDED;
    (from..).filter(move |number| {
        let record = content(*number);
        time(&record).is_some() && is_long(&record) == are_long
    })
}

fn time_of(number: u32) -> i64 {
    time(&content(number)).expect("it has a time")
}

fn lateness(pipeline: &Tested) -> u64 {
    with_log(pipeline, LABEL, |log| log.lateness()).expect("there is a log")
}

/// Returns the neighbors of vertex 1 in the newest state, the last put first.
fn newest_first(pipeline: &Tested) -> Vec<u32> {
    let locks = pipeline.locks();
    let view = pipeline.engine.latest(&locks).unwrap();
    let adjacency = view.adjacency::<RecordHandle>(LabelId(LABEL), Direction::Out).unwrap();
    let mut newest_first = Vec::new();
    let flow = adjacency.cursor().newest_first(VertexId::new(1), |neighbor, _, _| {
        newest_first.push(neighbor.get());
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.unwrap().unwrap().is_continue());
    newest_first
}

#[test]
fn a_log_put_in_time_order_stays_in_order() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    let (mut classes, mut id) = (Vec::new(), 0);
    for number in numbers(1, false).take(400) {
        // Some are changed and some are ended, with and without snapshots.
        id = if number % 5 == 0 { id } else { id + 1 };
        pipeline.commit(&[put(LABEL, [id], number)], 0).unwrap();
        match number % 9 {
            0 => pipeline.open(),
            1 => pipeline.close(0),
            2 => pipeline.commit(&[delete(LABEL, [id / 2])], 0).unwrap(),
            3 => drop(pipeline.reclaim(usize::MAX, 0)),
            _ => {}
        }
        assert_eq!(lateness(&pipeline), 0);
        classes.extend(class(&pipeline, LABEL));
    }
    classes.dedup();
    assert!(classes.len() > 6, "{classes:?}");
    pipeline.check(&[0, 1, 2, id]);
}

/// The puts of one commit are in time order, whatever their ids and wherever the log grows.
#[test]
fn one_commit_puts_edges_in_time_order() {
    let mut pipeline = Tested::new(Topology::Directed, None);
    let mut first = 1;
    for count in [1, 2, 9, 40, 200_u32] {
        let chosen: Vec<u32> = numbers(first * 4, false).take(count as usize).collect();
        let id = |position: usize| first + (position as u32 * 7 + 3) % count;
        let puts = chosen.iter().enumerate().map(|(position, number)| put(LABEL, [id(position)], *number));
        pipeline.commit(&puts.collect::<Vec<_>>(), 0).unwrap();
        assert_eq!(lateness(&pipeline), 0);
        let newest = newest_first(&pipeline);
        let times: Vec<i64> = newest[..count as usize]
            .iter()
            .map(|end| {
                (0..count as usize)
                    .find(|position| id(*position) == *end)
                    .map(|position| time_of(chosen[position]))
            })
            .map(|time| time.expect("an edge of the last commit"))
            .collect();
        assert!(times.iter().rev().is_sorted(), "{times:?}");
        first += 4 * count;
    }
    pipeline.check(&[0, 1, 2, first]);
}

/// An out-of-order record keeps the bound up while the log moves, until its edge is gone and the
/// log is rewritten. With long records, which the rewrite does not access, the bound stays.
#[test]
fn the_bound_forgets_late_entries_that_are_gone() {
    for has_long in [false, true] {
        let mut pipeline = Tested::new(Topology::Directed, None);
        let early = numbers(1, has_long).next().expect("numbers go on");
        let late: Vec<u32> = numbers(10_000, false).take(300).collect();
        pipeline.commit(&[put(LABEL, [900], early)], 0).unwrap();
        pipeline.commit(&[put(LABEL, [901], late[0])], 0).unwrap();
        assert_eq!(lateness(&pipeline), 0);
        pipeline.abandon(&[put(LABEL, [902], early)]);
        pipeline.commit(&[put(LABEL, [902], numbers(1, false).next().unwrap_or_default())], 0).unwrap();
        let most = time_of(late[0]).abs_diff(0);
        let noted = lateness(&pipeline);
        assert!((most - 10..2 * most).contains(&noted), "{noted}");
        pipeline.open();
        for (id, number) in (0..200).zip(&late[1..]) {
            pipeline.commit(&[put(LABEL, [id], *number)], 0).unwrap();
        }
        assert_eq!(lateness(&pipeline), noted);
        pipeline.commit(&[delete(LABEL, [902])], 0).unwrap();
        assert_eq!(lateness(&pipeline), noted);
        pipeline.close(0);
        while pipeline.reclaim(usize::MAX, 0).more {}
        for (id, number) in (200..299).zip(&late[201..]) {
            pipeline.commit(&[put(LABEL, [id], *number)], 0).unwrap();
        }
        // The late entry is dead, and the log has moved since.
        pipeline.commit(&(300..900).map(|id| put(LABEL, [id], late[299])).collect::<Vec<_>>(), 0).unwrap();
        assert_eq!(lateness(&pipeline), if has_long { noted } else { 0 });
        pipeline.check(&[0, 1, 2, 901, 902]);
    }
}
