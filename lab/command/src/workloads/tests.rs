//! Tiny runs of the laboratory's workloads.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use hedgerow_driver::{BenchError, DataSet, ENGINES, Engine, Report, Row, Settings, Watch, Workload};
use std::collections::HashSet;
use std::fs;

fn named(name: &str) -> &'static Workload {
    Workload::named(name, &super::all()).unwrap()
}

/// Settings of a brief run of these workloads on these engines.
fn settings(engines: &[&str], workloads: &[&str]) -> Settings {
    Settings {
        engines: engines.iter().map(|name| Engine::named(name, ENGINES).unwrap()).collect(),
        workloads: workloads.iter().map(|name| named(name)).collect(),
        ..Settings::quick()
    }
}

/// A brief run of workloads in a folder that is empty afterwards.
fn run(data_set: &str, settings: Settings) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { store: Some(folder.path().to_owned()), ..settings };
    let data = DataSet::named(data_set, 1, &Watch::default()).unwrap();
    let report = hedgerow_driver::run(&data, &settings, &Watch::default()).unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "all stores are removed");
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

fn close_to(value: f64, expected: f64) -> bool {
    (value - expected).abs() <= 1e-9 * expected.abs()
}

/// The contract rows of a workload.
fn contract<'r>(report: &'r Report, workload: &str) -> Vec<&'r Row> {
    report.results.iter().filter(|row| row.workload == workload && row.contract).collect()
}

#[test]
fn workloads_have_names_of_their_own() {
    let all = super::all();
    for (position, workload) in all.iter().enumerate() {
        assert!(!all[..position].contains(workload), "{}", workload.name);
    }
    let position = |name| all.iter().position(|workload| workload.name == name).unwrap();
    assert!(position("hops") < position("update"));
}

#[test]
fn every_workload_gives_its_contract_row_for_every_engine() {
    let workloads = ["hops", "mixed-writer", "mixed-reader", "interleaved", "hub"];
    let report = run("kron-6", settings(&["rapid", "tel", "hybrid"], &workloads));
    for workload in workloads {
        let rows = contract(&report, workload);
        for engine in ["rapid", "tel", "hybrid"] {
            assert_eq!(rows.iter().filter(|row| row.engine == engine).count(), 1, "{workload} of {engine}");
        }
        match workload {
            "mixed-writer" | "mixed-reader" => assert!(rows.iter().all(|row| row.ratio.is_some())),
            // The static graph has no insertions of single edges.
            "hub" => assert!(rows.iter().all(|row| row.engine != "csr")),
            _ => assert!(rows.iter().all(|row| row.ratio_to_csr.is_some()), "{workload}"),
        }
    }
}

#[test]
fn one_side_of_a_mix_is_measured_alone() {
    for (workload, unit) in [("mixed-writer", "edges/s"), ("mixed-reader", "s")] {
        let report = run("kron-6", settings(&["rapid"], &[workload]));
        assert!(report.results.iter().all(|row| row.workload == workload));
        assert!(contract(&report, workload).iter().all(|row| row.unit == unit && row.ratio.is_some()));
    }
}

#[test]
fn operations_on_the_hub_are_timed() {
    let report = run("kron-6", settings(&["rapid"], &["hub"]));
    for metric in ["insert-throughput", "insert-latency-max", "delete-throughput", "delete-latency-p99"] {
        assert!(row(&report, "rapid", metric, 1).median > 0.0, "{metric}");
    }
    assert!(row(&report, "csr", "scan-throughput", 1).median > 0.0);
}

#[test]
fn an_edge_log_is_measured_on_the_engine_that_has_one() {
    let workloads = ["archiving", "unarchived", "edge-log"];
    let settings = Settings { threads: vec![1, 2], ..settings(&["rapid", "hybrid"], &workloads) };
    let report = run("kron-6", settings.clone());
    for workload in workloads {
        let rows = contract(&report, workload);
        let has_ratio = |row: &&Row| row.ratio_to_csr.or(row.ratio).is_some();
        assert!(rows.iter().any(|row| row.engine == "hybrid" && has_ratio(row)), "{workload}");
        assert!(rows.iter().all(|row| row.engine != "rapid"), "{workload}");
    }
    for metric in ["throughput-log", "bytes-growing", "time-scan-growing"] {
        assert!(row(&report, "hybrid", metric, 1).ratio_to_csr.is_some(), "{metric}");
    }

    let data = DataSet::named("kron-6", 1, &Watch::default()).unwrap();
    let engines = vec![Engine::named("rapid", ENGINES).unwrap()];
    let refused = hedgerow_driver::run(&data, &Settings { engines, ..settings }, &Watch::default());
    assert!(matches!(refused, Err(BenchError::NothingToMeasure { .. })), "{refused:?}");
}

#[test]
fn linkbench_asks_both_engines_in_memory_and_in_stores() {
    let report = run("kron-8", settings(&["rapid", "tel"], &["linkbench"]));
    for engine in ["rapid", "tel"] {
        for clients in [1, 2, 8, 64] {
            let rate = row(&report, engine, "throughput", clients);
            assert!(rate.contract && rate.median > 0.0 && rate.unit == "requests/s", "{rate:?}");
            assert_eq!(rate.baseline, Some("the same requests, not served"));
            for durability in ["-buffered", "-sync"] {
                let stored = row(&report, engine, &format!("throughput{durability}"), clients);
                assert!(close_to(stored.ratio.unwrap(), stored.median / rate.median), "{stored:?}");
                assert!(!stored.contract);
            }
            for ending in ["", "-buffered", "-sync"] {
                for side in ["", "read-", "write-"] {
                    let at =
                        |part| row(&report, engine, &format!("{side}latency-{part}{ending}"), clients).median;
                    assert!(0.0 < at("p50") && at("p50") <= at("p99"), "{engine} {side}{ending}");
                    assert!(at("p99") <= at("p99.9") && at("p99.9") <= at("max"));
                    assert!(at("mean") <= at("max"));
                }
            }
        }
        let few = row(&report, engine, "throughput", 2).median;
        for part in ["writes-25", "writes-50", "writes-75", "writes-100", "snapshot-held"] {
            let other = row(&report, engine, &format!("throughput-{part}"), 2);
            assert!(other.median > 0.0 && close_to(other.ratio.unwrap(), other.median / few), "{other:?}");
        }
        for ending in ["", "-buffered", "-sync"] {
            let long = row(&report, engine, &format!("throughput{ending}"), 2).median;
            let short = row(&report, engine, &format!("throughput-newest-10{ending}"), 2);
            assert!(close_to(short.ratio.unwrap(), short.median / long), "{short:?}");
            assert!(row(&report, engine, &format!("read-latency-p99-newest-10{ending}"), 2).median > 0.0);
        }
        if engine == "tel" {
            let by_time = row(&report, engine, "throughput-newest-10", 2).median;
            let by_commit = row(&report, engine, "throughput-newest-10-by-commit", 2);
            assert!(close_to(by_commit.ratio.unwrap(), by_commit.median / by_time), "{by_commit:?}");
        }
        let by_writers = row(&report, engine, "throughput-compaction-by-writers", 2).median;
        for way in ["by-writers", "in-background", "off"] {
            let rate = row(&report, engine, &format!("throughput-compaction-{way}"), 2);
            assert!(close_to(rate.ratio.unwrap(), rate.median / by_writers), "{rate:?}");
            assert!(row(&report, engine, &format!("memory-after-compaction-{way}"), 2).ratio.unwrap() > 0.0);
        }
        let buffered = row(&report, engine, "throughput-buffered", 2).median;
        let beside = row(&report, engine, "throughput-checkpoint", 2);
        assert!(close_to(beside.ratio.unwrap(), beside.median / buffered), "{beside:?}");

        let memory = row(&report, engine, "memory", 1);
        assert!(memory.median > 0.0 && memory.min == memory.max, "{memory:?}");
        let (after, afresh) =
            (row(&report, engine, "memory-after", 1), row(&report, engine, "memory-afresh", 1));
        assert!(close_to(after.ratio.unwrap(), after.median / afresh.median), "{after:?}");
        // All writes were kept for the snapshot, or are there themselves.
        assert!(row(&report, engine, "memory-snapshot-held", 2).ratio.unwrap() >= 1.0);
    }
}

#[test]
fn both_workloads_of_linkbench_are_measured_together_and_reported_apart() {
    let workloads = ["linkbench", "linkbench-tao"];
    let report = run("kron-6", Settings { repetitions: 1, ..settings(&["rapid"], &workloads) });
    for workload in workloads {
        let clients: Vec<_> = contract(&report, workload).iter().map(|row| row.threads).collect();
        assert_eq!(clients, [1, 2, 8, 64], "{workload}");
    }
}

#[test]
fn the_mix_of_caches_has_the_same_clients_and_nothing_else() {
    let report = run("kron-8", Settings { repetitions: 1, ..settings(&["rapid"], &["linkbench-tao"]) });
    for clients in [1, 2, 8, 64] {
        for metric in ["throughput", "throughput-buffered", "throughput-sync"] {
            assert!(row(&report, "rapid", metric, clients).median > 0.0);
        }
        assert!(row(&report, "rapid", "read-latency-p50", clients).median > 0.0);
    }
    assert!(report.results.iter().all(|row| !row.metric.contains("throughput-writes")));
}
