//! The workloads on stores, on tiny graphs: their figures, and that their folder is empty
//! afterwards.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hedgerow_driver::{
    BenchError, DataSet, ENGINES, Engine, Report, Row, Settings, WORKLOADS, Watch, Workload,
};
use std::collections::HashSet;
use std::fs;

fn named(name: &str) -> &'static Workload {
    Workload::named(name, WORKLOADS).unwrap()
}

/// A brief run of workloads in a folder that is empty afterwards.
fn run(data_set: &str, workloads: &[&str], change: impl FnOnce(&mut Settings)) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings {
        engines: vec![Engine::named("csr", ENGINES).unwrap(), Engine::named("rapid", ENGINES).unwrap()],
        workloads: workloads.iter().map(|name| named(name)).collect(),
        store: Some(folder.path().to_owned()),
        ..Settings::quick()
    };
    change(&mut settings);
    let data = DataSet::named(data_set, 1, &Watch::default()).unwrap();
    let report = hedgerow_driver::run(&data, &settings, &Watch::default()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "all stores are removed");
    assert_eq!(report.store.as_ref().unwrap().directory, folder.path().display().to_string());
    check_all(&report);
    report
}

/// Checks that hold for every row.
fn check_all(report: &Report) {
    let keys: HashSet<_> =
        report.results.iter().map(|row| (row.workload, row.engine, row.threads, &row.metric)).collect();
    assert_eq!(keys.len(), report.results.len(), "no row comes twice");
    for row in &report.results {
        assert!(0.0 <= row.min && row.min <= row.median && row.median <= row.max, "{row:?}");
        // Only what is loaded without a store can be compared with the static graph.
        assert!(row.workload == "load" || row.ratio_to_csr.is_none(), "{row:?}");
        assert_eq!(row.ratio.is_some(), row.baseline.is_some(), "{row:?}");
    }
}

/// The row of an engine's metric, whatever the workload.
fn row<'r>(report: &'r Report, engine: &str, metric: &str, threads: usize) -> &'r Row {
    let is_it = |row: &&Row| (row.engine, &*row.metric, row.threads) == (engine, metric, threads);
    let mut rows = report.results.iter().filter(is_it);
    let found = rows.next().unwrap_or_else(|| panic!("no {metric} of {engine} with {threads}"));
    assert!(rows.next().is_none());
    found
}

/// The metrics of an engine with this number of threads.
fn metrics<'r>(report: &'r Report, engine: &str, threads: usize) -> Vec<&'r str> {
    let rows = report.results.iter().filter(|row| (row.engine, row.threads) == (engine, threads));
    rows.map(|row| &*row.metric).collect()
}

fn close_to(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-9 * expected.abs()
}

#[test]
fn synced_commits_are_set_against_the_disk_and_one_client() {
    let report = run("kron-6", &["synced-commits"], |_| ());
    let waits = ["throughput", "latency-p50", "latency-p99", "latency-p99.9", "latency-max"];
    assert_eq!(metrics(&report, "disk", 1), waits);
    assert_eq!(metrics(&report, "rapid", 1), waits);
    let disk = row(&report, "disk", "throughput", 1);
    assert_eq!((disk.unit, disk.ratio), ("syncs/s", None));
    let alone = row(&report, "rapid", "throughput", 1);
    assert!(alone.contract && alone.unit == "commits/s" && alone.median > 0.0);
    for clients in [1, 2, 16, 64] {
        let rate = row(&report, "rapid", "throughput", clients);
        assert!(close_to(rate.ratio.unwrap(), rate.median / disk.median), "{rate:?}");
        let plain = row(&report, "disk", "latency-p50", 1).median;
        let slow = row(&report, "rapid", "latency-p99", clients);
        assert!(close_to(slow.ratio.unwrap(), slow.median / plain), "{slow:?}");
        if clients > 1 {
            let speed_up = row(&report, "rapid", "speed-up", clients);
            assert!(close_to(speed_up.median, rate.median / alone.median), "{speed_up:?}");
        }
    }
}

#[test]
fn a_graph_with_fewer_edges_than_clients_is_committed_all_the_same() {
    let report = run("uniform-4x1", &["synced-commits"], |settings| settings.repetitions = 1);
    assert!(row(&report, "rapid", "throughput", 64).median > 0.0);
}

#[test]
fn buffered_inserts_are_compared_with_memory() {
    let report = run("kron-8", &["buffered-insert"], |settings| settings.threads = vec![1, 2]);
    for threads in [1, 2] {
        for way in ["", "-by-call"] {
            let in_memory = row(&report, "rapid", &format!("throughput-in-memory{way}"), threads);
            assert!(in_memory.median > 0.0);
            for kind in ["throughput", "throughput-unsynced"] {
                let rate = row(&report, "rapid", &format!("{kind}{way}"), threads);
                assert!(close_to(rate.ratio.unwrap(), rate.median / in_memory.median), "{rate:?}");
                assert_eq!(rate.contract, rate.metric == "throughput");
            }
        }
    }
    let speed_up = row(&report, "rapid", "speed-up", 2).median;
    let rate = |threads| row(&report, "rapid", "throughput", threads).median;
    assert!(close_to(speed_up, rate(2) / rate(1)));
}

#[test]
fn ingest_is_set_against_memory_and_the_bandwidth_of_the_disk() {
    let report = run("kron-8", &["durable-ingest"], |_| ());
    for size in ["1024", "65536", "bulk"] {
        let rate = row(&report, "rapid", &format!("throughput-{size}"), 1);
        let in_memory = row(&report, "rapid", &format!("throughput-{size}-in-memory"), 1).median;
        assert!(close_to(rate.ratio.unwrap(), rate.median / in_memory), "{rate:?}");
        assert_eq!(rate.contract, size == "bulk");
    }
    // A source, a number and gaps: more than nothing, less than two ids of four bytes, and the
    // header of a segment.
    let bytes = row(&report, "rapid", "log-bytes-per-edge", 1);
    assert!((0.5..8.0).contains(&bytes.median), "{bytes:?}");
    assert!(close_to(bytes.min, bytes.max) || bytes.max - bytes.min < 0.01, "{bytes:?}");
    let (disk, used) = (row(&report, "disk", "bandwidth", 1), row(&report, "rapid", "bandwidth-bulk", 1));
    assert_eq!((disk.unit, used.unit), ("bytes/s", "bytes/s"));
    assert!(close_to(used.ratio.unwrap(), used.median / disk.median), "{used:?}");
}

#[test]
fn loading_is_set_against_the_static_graph() {
    let report = run("kron-8", &["load"], |settings| settings.threads = vec![1, 2]);
    for threads in [1, 2] {
        let text = row(&report, "csr", "throughput", threads).median;
        let store = row(&report, "rapid", "throughput", threads);
        assert!(store.contract && close_to(store.ratio_to_csr.unwrap(), store.median / text), "{store:?}");
        assert!(row(&report, "csr", "throughput-serialized", threads).median > 0.0);
        assert!(row(&report, "rapid", "throughput-open", threads).median > 0.0);
        for metric in ["throughput-bulk", "throughput-bulk-numbers"] {
            let build = row(&report, "csr", metric, 1).median;
            let bulk = row(&report, "rapid", metric, threads);
            assert!(close_to(bulk.ratio_to_csr.unwrap(), bulk.median / build), "{bulk:?}");
        }
    }
}

#[test]
fn opening_is_set_against_bulk_ingest() {
    let report = run("kron-8", &["recovery"], |settings| settings.threads = vec![1, 2]);
    for threads in [1, 2] {
        let bulk = row(&report, "rapid", "throughput-bulk-in-memory", threads).median;
        for kept in ["", "-log-65536", "-log-1"] {
            let rate = row(&report, "rapid", &format!("throughput{kept}"), threads);
            assert!(close_to(rate.ratio.unwrap(), rate.median / bulk), "{rate:?}");
            // The whole opening takes longer than restoring the graph.
            let time = row(&report, "rapid", &format!("time{kept}"), threads);
            let edges = report.dataset.edges as f64;
            assert!(time.min >= edges / rate.max, "{time:?} {rate:?}");
        }
    }
}

#[test]
fn a_checkpoint_reports_its_size_and_the_rate_of_the_writer() {
    let report = run("kron-8", &["checkpoint"], |_| ());
    let bytes = row(&report, "rapid", "bytes-per-edge", 1);
    // Its size depends only on the graph.
    assert!((0.5..8.0).contains(&bytes.median) && bytes.min == bytes.max, "{bytes:?}");
    let alone = row(&report, "rapid", "time", 1);
    for share in ["", "-1", "-0.25"] {
        let beside = row(&report, "rapid", &format!("time-beside{share}"), 1);
        assert!(close_to(beside.ratio.unwrap(), beside.median / alone.median), "{beside:?}");
        let writer = row(&report, "rapid", &format!("writer-throughput{share}"), 1);
        assert_eq!((writer.unit, writer.contract), ("edges/s", share.is_empty()));
        assert_eq!(writer.baseline, Some("the writer without a checkpoint"));
    }
}

#[test]
fn subscriptions_are_compared_with_the_writer_in_memory_and_in_stores() {
    let report = run("kron-8", &["streams"], |settings| settings.repetitions = 1);
    for place in ["", "-stored"] {
        let row = |metric: &str| row(&report, "rapid", &format!("{metric}{place}"), 1);
        for (metric, baseline) in [
            ("throughput", "writer-throughput-unpulled"),
            ("throughput-components", "writer-throughput-unpulled"),
            ("writer-throughput", "writer-throughput-alone"),
        ] {
            let rate = row(metric);
            let expected = rate.median / row(baseline).median;
            assert!(close_to(rate.ratio.unwrap(), expected), "{rate:?} {expected}");
            assert_eq!(rate.contract, rate.metric == "throughput");
        }
        assert!(row("writer-throughput-by-call").ratio.is_some());
        for latency in ["latency-p50", "latency-p99-with-pauses"] {
            assert!(row(latency).median > 0.0);
        }
    }
}

#[test]
fn components_are_followed_on_every_engine() {
    let engines: Vec<_> = ENGINES.iter().filter(|engine| engine.kind.is_some()).copied().collect();
    let report = run("kron-8", &["follow"], |settings| settings.engines.clone_from(&engines));
    for engine in engines {
        let time = row(&report, engine.name, "time-1000", 1);
        assert!(time.contract && time.baseline == Some("the kernel on a new snapshot"), "{time:?}");
        assert!(row(&report, engine.name, "latency-p99.9", 1).median > 0.0);
    }
}

#[test]
fn stores_are_only_made_where_that_is_asked_for() {
    let data = DataSet::named("kron-5", 1, &Watch::default()).unwrap();
    let settings = Settings { workloads: vec![named("scan-ordered")], ..Settings::quick() };
    assert_eq!(hedgerow_driver::run(&data, &settings, &Watch::default()).unwrap().store, None);
    assert!(Settings::new().workloads.iter().all(|workload| !workload.is_on_store));
    assert!(Settings::full().workloads.contains(&named("synced-commits")));

    let nowhere = Settings { store: Some("/nowhere/at/all".into()), ..settings };
    assert!(matches!(nowhere.check_store(), Err(BenchError::StoreFolder { .. })));
    let refused = hedgerow_driver::run(&data, &nowhere, &Watch::default());
    assert!(matches!(refused, Err(BenchError::StoreFolder { .. })));
}

#[test]
fn a_run_that_is_stopped_keeps_its_figures_and_leaves_no_store_behind() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings {
        engines: vec![Engine::named("rapid", ENGINES).unwrap()],
        workloads: vec![named("synced-commits"), named("checkpoint")],
        store: Some(folder.path().to_owned()),
        ..Settings::quick()
    };
    let data = DataSet::named("kron-6", 1, &Watch::default()).unwrap();
    let cancel = hedgerow::kernels::CancelToken::new();
    let stop_at_the_checkpoint = |step: &hedgerow_driver::Step| {
        if step.what.contains("beside a writer") {
            cancel.cancel();
        }
    };
    let watch = Watch { cancel: cancel.clone(), progress: Some(&stop_at_the_checkpoint) };
    let stopped = hedgerow_driver::run(&data, &settings, &watch).unwrap();
    assert!(!stopped.complete);
    assert!(stopped.results.iter().any(|row| row.workload == "synced-commits"), "{stopped:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_run_without_figures_says_so() {
    let data = DataSet::named("kron-5", 1, &Watch::default()).unwrap();
    let settings = Settings { workloads: vec![named("snapshot")], ..Settings::quick() };
    let error = hedgerow_driver::run(&data, &settings, &Watch::default()).unwrap_err().to_string();
    assert!(error.contains("for snapshot on csr"), "{error}");
}

#[test]
fn a_run_that_is_stopped_at_once_has_no_figures() {
    let data = DataSet::named("kron-6", 1, &Watch::default()).unwrap();
    let watch = Watch::default();
    watch.cancel.cancel();
    let stopped = hedgerow_driver::run(&data, &Settings::quick(), &watch);
    assert!(matches!(stopped, Err(BenchError::Cancelled)), "{stopped:?}");
}
