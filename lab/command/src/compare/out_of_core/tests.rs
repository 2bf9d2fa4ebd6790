//! All stores are measured on a small graph, in this process and without a limit, and answer alike.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use clap::Parser;
use hedgerow_sync::Mutex;
use std::collections::BTreeSet;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    arguments: Arguments,
}

fn arguments(extra: &[&str]) -> Arguments {
    let line = ["out-of-core", "--graph", "kron-8", "--queries", "200"];
    let mut arguments = CommandLine::parse_from(line.iter().chain(extra)).arguments;
    if arguments.stores.is_empty() {
        arguments.stores = stores::KINDS.iter().collect();
    }
    arguments
}

/// Does a job in this process.
fn here(job: &Job) -> Result<(Vec<Line>, Option<String>)> {
    let mut lines = Vec::new();
    let mut tell = |line| {
        lines.push(line);
        Ok(())
    };
    let done = work(job, &mut tell);
    Ok((lines, done.err().map(|error| format!("{error:#}"))))
}

fn json(report: &Report) -> serde_json::Value {
    serde_json::from_str(&report.to_json().unwrap()).unwrap()
}

#[test]
fn all_stores_are_measured_and_answer_right() {
    let folder = tempfile::tempdir().unwrap();
    let report = measure(&arguments(&["--share", "4"]), folder.path(), &here).unwrap();
    assert_eq!(report.wrong(), Vec::<&str>::new(), "{}", report.to_table());
    let json = json(&report);
    let rows = json["results"].as_array().unwrap();
    let of = |store: &str| {
        let rows = rows.iter().filter(|row| row["store"] == store);
        rows.map(|row| row["workload"].as_str().unwrap()).collect::<BTreeSet<_>>()
    };
    let mut all = BTreeSet::from([
        "load",
        "insert",
        "mixed",
        "settle",
        "disk",
        "open",
        "scan",
        "bfs-plain",
        "bfs",
        "wcc-plain",
        "wcc",
        "sssp-plain",
        "sssp",
        "one-hop",
        "beside",
    ]);
    for kind in stores::KINDS.iter().filter(|kind| !kind.has_analytics) {
        assert_eq!(of(kind.name), all, "{}", report.to_table());
    }
    all.insert("pagerank");
    for kind in stores::KINDS.iter().filter(|kind| kind.has_analytics) {
        assert_eq!(of(kind.name), all, "{}", report.to_table());
    }
    let table = report.to_table();
    assert!(table.contains("kron-8: 256 vertices") && table.contains("kept-of-insert"), "{table}");
    let left =
        std::fs::read_dir(folder.path()).unwrap().filter(|entry| entry.as_ref().unwrap().path().is_dir());
    assert_eq!(left.count(), 0, "all stores are removed");
}

#[test]
fn a_store_whose_writes_are_cut_is_made_anew_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let tasks = Mutex::new(Vec::new());
    let start = |job: &Job| {
        tasks.lock().push(job.task);
        // The writes are cut after their first call.
        let most_seconds = if job.task == Task::Write { 0.0 } else { job.most_seconds };
        here(&Job { most_seconds, ..job.clone() })
    };
    let report = measure(&arguments(&["--stores", "lsm"]), folder.path(), &start).unwrap();
    assert_eq!(*tasks.lock(), [Task::Write, Task::Rebuild, Task::Read]);
    assert_eq!(report.wrong(), Vec::<&str>::new());
    assert!(report.to_table().contains("lsm: load: cut"), "{}", report.to_table());
    assert!(json(&report)["results"].as_array().unwrap().iter().any(|row| row["workload"] == "scan"));
}

#[test]
fn wrong_answers_and_failed_processes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let start = |job: &Job| {
        let wrong = job::Answers { components: Some(1 << 40), ..job::Answers::default() };
        let failure = (job.task == Task::Read).then(|| "the process ended with signal 9".to_owned());
        Ok((vec![Line::Answers(wrong)], failure))
    };
    let report = measure(&arguments(&["--stores", "lsm"]), folder.path(), &start).unwrap();
    assert_eq!(report.wrong(), ["lsm", "lsm"]);
    assert!(
        report.to_table().contains("lsm: Read: the process ended with signal 9"),
        "{}",
        report.to_table()
    );
}

#[test]
fn a_file_of_edges_is_a_graph_without_loops_and_repeated_edges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("some-edges");
    let ends = (0..1000_u32).flat_map(|number| [number % 100, number * 7 % 90]);
    std::fs::write(&path, ends.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let graph = Prepared::new(path.to_str().unwrap(), 1, folder.path(), &[3, 250]).unwrap();
    let distinct: BTreeSet<(u32, u32)> = (0..1000_u32)
        .map(|number| (number % 100, number * 7 % 90))
        .filter(|(one, other)| one != other)
        .map(|(one, other)| (one.min(other), one.max(other)))
        .collect();
    assert_eq!((graph.vertices, graph.counts.all), (100, distinct.len() as u64));
    assert_eq!(graph.expected.neighbors.unwrap().0, graph.counts.left() * 2);
}

#[test]
fn a_group_limits_a_process_where_groups_can_be_made() {
    match Group::create(&format!("hedgerow-compare-test-{}", std::process::id())) {
        Ok(group) => {
            let limited = group.set_limit(64 << 20).and_then(|()| group.peak());
            group.remove();
            assert!(limited.is_ok() && !group.folder().exists(), "{limited:?}");
        }
        Err(error) => hedgerow_testing::skipped::skip(error),
    }
}
