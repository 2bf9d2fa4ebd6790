//! `hedgerow bench`: a tiny run of everything, and its refusals.

use crate::common::Folder;
use serde_json::Value;
use std::collections::BTreeMap;

/// Each workload with its contract metric.
const CONTRACT: [(&str, &str); 14] = [
    ("insert", "throughput"),
    ("batch-insert", "throughput-65536"),
    ("update", "throughput"),
    ("search", "throughput"),
    ("scan-ordered", "throughput"),
    ("scan-random", "throughput"),
    ("snapshot", "time"),
    ("memory", "bytes-per-edge"),
    ("pagerank", "time"),
    ("bfs", "time"),
    ("sssp", "time"),
    ("wcc", "time"),
    ("triangles", "time"),
    ("betweenness", "time"),
];

/// Metrics that the static graph does not have.
const WITHOUT_CSR: [&str; 1] = ["snapshot"];

/// Runs the benchmark in `folder`, and returns its report.
fn report(folder: &Folder, arguments: &str) -> Value {
    folder.hedgerow(&format!("bench --quick {arguments} --json figures.json")).success();
    serde_json::from_str(&folder.read("figures.json")).unwrap()
}

fn rows(report: &Value) -> &Vec<Value> {
    report["results"].as_array().unwrap()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field} is no number in {row}"))
}

fn key(row: &Value) -> (String, String, String, u64) {
    let text = |field: &str| row[field].as_str().unwrap().to_string();
    (text("workload"), text("engine"), text("metric"), row["threads"].as_u64().unwrap())
}

#[test]
fn every_workload_gives_its_contract_row_for_every_engine() {
    let report = report(
        &Folder::new(),
        "--dataset kron-6 --engines csr,rapid --workloads \
        insert,batch-insert,update,search,scan-ordered,scan-random,snapshot,memory,pagerank,bfs,sssp,wcc,triangles,betweenness",
    );
    for (workload, metric) in CONTRACT {
        for engine in ["csr", "rapid"] {
            let is_row = |row: &&Value| {
                row["workload"] == workload && row["engine"] == engine && row["contract"] == true
            };
            let contract: Vec<&Value> = rows(&report).iter().filter(is_row).collect();
            if engine == "csr" && WITHOUT_CSR.contains(&workload) {
                assert!(contract.is_empty(), "{workload}");
                continue;
            }
            assert_eq!(contract.len(), 1, "{workload} of {engine}");
            assert_eq!(contract[0]["metric"], metric);
            let has_reference = !contract[0]["ratio_to_csr"].is_null();
            assert_eq!(has_reference, !WITHOUT_CSR.contains(&workload), "{workload}");
            assert_eq!(!has_reference, contract[0]["baseline"].is_string(), "{workload}");
            assert_eq!(!has_reference, contract[0]["ratio"].is_number(), "{workload}");
        }
    }
    for metric in ["throughput-1", "throughput-1024"] {
        assert!(rows(&report).iter().any(|row| row["workload"] == "batch-insert" && row["metric"] == metric));
    }
}

#[test]
fn rows_are_complete_and_ratios_are_those_of_their_medians() {
    let report = report(&Folder::new(), "--dataset kron-6 --threads 1,2 --repetitions 3");
    let medians: BTreeMap<_, f64> =
        rows(&report).iter().map(|row| (key(row), number(row, "median"))).collect();
    assert_eq!(medians.len(), rows(&report).len(), "no row comes twice");
    for row in rows(&report) {
        assert_eq!(row["dataset"], "kron-6");
        assert!(row["unit"].as_str().is_some_and(|unit| !unit.is_empty()), "{row}");
        assert!(row["contract"].is_boolean(), "{row}");
        let (min, median, max) = (number(row, "min"), number(row, "median"), number(row, "max"));
        assert!(0.0 <= min && min <= median && median <= max, "{row}");
        let (workload, _, metric, threads) = key(row);
        let csr = |threads| medians.get(&(workload.clone(), "csr".into(), metric.clone(), threads));
        // If the static graph runs on only one thread, that is the baseline of all.
        match csr(threads).or_else(|| csr(1)) {
            Some(csr) if *csr > 0.0 && metric != "speed-up" => {
                let ratio = number(row, "ratio_to_csr");
                assert!((ratio - median / csr).abs() <= 1e-9 * ratio.abs(), "{row}");
            }
            _ => assert!(row["ratio_to_csr"].is_null(), "{row}"),
        }
    }
    let speed_up = key_of("insert", "rapid", "speed-up", 2);
    let (two, one) =
        (&key_of("insert", "rapid", "throughput", 2), &key_of("insert", "rapid", "throughput", 1));
    assert!((medians[&speed_up] - medians[two] / medians[one]).abs() < 1e-9);
}

fn key_of(workload: &str, engine: &str, metric: &str, threads: u64) -> (String, String, String, u64) {
    (workload.into(), engine.into(), metric.into(), threads)
}

#[test]
fn the_report_says_what_was_run_on_what() {
    let folder = Folder::new();
    let report = report(&folder, "--dataset uniform-64x6 --workloads scan-ordered --seed 9");
    assert_eq!(report["seed"], 9);
    assert_eq!(report["repetitions"], 2);
    assert_eq!(report["dataset"]["vertices"], 64);
    assert_eq!(report["dataset"]["edges"], 64 * 6);
    assert!(report["command"].as_array().unwrap().iter().any(|word| word == "uniform-64x6"));
    for (part, field) in
        [("machine", "cpu"), ("machine", "cores"), ("machine", "memory_bytes"), ("build", "version")]
    {
        assert!(!report[part][field].is_null(), "{part} {field}");
    }
    assert!(report["build"]["rustc"].as_str().unwrap().starts_with("rustc "));
    assert!(!report["build"]["profile"].as_str().unwrap().is_empty());
    // The static graph is measured even if not requested.
    let engines = |row: &Value| row["engine"].as_str().unwrap().to_string();
    assert_eq!(rows(&report).iter().map(engines).collect::<Vec<_>>(), ["csr", "rapid"]);
    assert_eq!(folder.names(), ["figures.json"]);
}

#[test]
fn a_file_is_a_data_set_whatever_its_keys_are() {
    let folder = Folder::with(
        "graph.txt",
        "# a triangle, a tail, a loop and an edge twice\n\
        7 1000000000000\n1000000000000 9\n9 7\n7 9\n9 9\n9 12345\n",
    );
    let report = report(&folder, "--dataset graph.txt --repetitions 1");
    assert_eq!(report["dataset"]["vertices"], 4);
    assert_eq!(report["dataset"]["edges"], 8);
    assert_eq!(report["dataset"]["name"], "graph.txt");
}

#[test]
fn stores_are_measured_in_the_directory_that_was_named_and_removed() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("disk")).unwrap();
    let workloads = "synced-commits,buffered-insert,durable-ingest,recovery,checkpoint";
    let arguments = format!("--dataset kron-6 --repetitions 1 --store disk --workloads {workloads}");
    let report = report(&folder, &arguments);
    for workload in workloads.split(',') {
        let is_contract = |row: &&Value| row["workload"] == workload && row["contract"] == true;
        let contract: Vec<&Value> = rows(&report).iter().filter(is_contract).collect();
        assert!(
            contract.iter().any(|row| row["engine"] == "rapid" && row["ratio"].is_number()),
            "{workload}"
        );
        assert!(contract.iter().all(|row| row["ratio_to_csr"].is_null()), "{workload}");
    }
    assert_eq!(report["store"]["directory"], "disk");
    if cfg!(target_os = "linux") {
        assert!(report["store"]["file_system"].is_string());
    }
    assert_eq!(std::fs::read_dir(folder.path("disk")).unwrap().count(), 0, "nothing is left");
}

#[test]
fn the_table_goes_to_standard_output() {
    let output = Folder::new().hedgerow("bench --quick --dataset kron-5 --workloads memory").success();
    let text = String::from_utf8(output.get_output().stdout.clone()).unwrap();
    for part in ["data set  kron-5", "* bytes-per-edge", "csr", "rapid", "1.000"] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[test]
fn workloads_that_measure_none_of_the_engines_are_refused() {
    let arguments = "bench --quick --dataset kron-5 --workloads snapshot --engines csr";
    let refused = Folder::new().hedgerow(arguments).code(2).stdout("");
    let error = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(error.contains("error: there is nothing to measure for snapshot on csr"), "{error}");
}

#[test]
fn invalid_requests_are_refused_before_anything_is_measured() {
    let folder = Folder::with("empty.txt", "# nothing\n");
    folder.write("loop.txt", "5 5\n");
    folder.write("bad.txt", "1 2\n3 x\n");
    for (arguments, code, part) in [
        ("--engines csr,btree", 2, "there are: csr, rapid"),
        ("--workloads insert,delete", 2, "batch-insert"),
        ("--threads 0", 2, "expected a number from 1 to 1024"),
        ("--repetitions 0", 2, "0 is not in 1..=1000"),
        ("--quick --full", 2, "cannot be used with"),
        ("--dataset kron-27", 2, "the scale must be a number from 4 to 26"),
        ("--dataset uniform-5x5", 2, "below the number of vertices"),
        ("--dataset nowhere.txt", 3, "there is no data set and no file \"nowhere.txt\""),
        ("--dataset empty.txt", 3, "no edge"),
        ("--dataset loop.txt", 3, "no edge"),
        ("--dataset bad.txt", 3, "bad.txt:2:3"),
        ("--dataset kron-26 --json nowhere/figures.json", 1, "nowhere/figures.json"),
        ("--dataset kron-26 --json .", 1, "this is a directory"),
        ("--dataset kron-26 --store nowhere", 1, "no stores can be made in nowhere"),
        ("--dataset kron-26 --store empty.txt", 1, "name another directory with --store"),
        ("--json -", 2, "standard output is taken"),
    ] {
        folder.fails(&format!("bench {arguments}"), code, &[part]);
    }
    assert_eq!(folder.names(), ["bad.txt", "empty.txt", "loop.txt"]);
}
