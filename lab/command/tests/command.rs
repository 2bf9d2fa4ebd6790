//! `hedgerow-lab`: a tiny run of every engine, and arguments that it rejects.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use assert_cmd::Command;
use serde_json::Value;
use std::collections::BTreeSet;

const ENGINES: [&str; 11] = [
    "csr",
    "rapid",
    "tel",
    "adjacency-list",
    "art-fine",
    "art",
    "cart",
    "cart-vec",
    "cart-ci",
    "rapid-erased",
    "tel-erased",
];

fn lab(arguments: &str) -> assert_cmd::assert::Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hedgerow-lab"));
    command.arg("bench").args(arguments.split_whitespace()).assert()
}

#[test]
fn every_engine_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    let workloads = "insert,update,search,scan-ordered,snapshot,pagerank,bfs,sssp,triangles,recovery";
    let arguments = format!(
        "--quick --dataset kron-6 --engines {} --workloads {workloads} --json {}",
        ENGINES.join(","),
        file.display()
    );
    let output = lab(&arguments).success().get_output().clone();
    assert!(String::from_utf8(output.stdout).unwrap().contains("cart-ci"));
    let report: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let of = |row: &Value, field: &str| row[field].as_str().unwrap().to_owned();
    let measured: BTreeSet<_> = report["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (of(row, "workload"), of(row, "engine")))
        .collect();
    for workload in workloads.split(',') {
        for engine in ENGINES {
            let has_no_such_thing = engine == "csr" && ["snapshot", "recovery"].contains(&workload);
            assert!(
                has_no_such_thing || measured.contains(&(workload.into(), engine.into())),
                "{workload} of {engine}"
            );
        }
    }
}

#[test]
fn workloads_of_the_laboratory_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("figures.json");
    let workloads = "hops,mixed-writer,linkbench-tao";
    let arguments = format!(
        "--quick --dataset kron-6 --repetitions 1 --mix-seconds 1 --workloads {workloads} --json {}",
        file.display()
    );
    lab(&arguments).success();
    let report: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let rows = report["results"].as_array().unwrap();
    for workload in workloads.split(',') {
        let is_contract = |row: &&Value| row["workload"] == workload && row["contract"] == true;
        assert!(rows.iter().filter(is_contract).any(|row| row["engine"] == "rapid"), "{workload}");
    }
    // Two mixes, and four numbers of clients in memory and in two kinds of stores.
    assert!(report["seconds"].as_f64().unwrap() > 2.0);
}

#[test]
fn the_help_names_every_engine_and_an_unknown_one_is_refused() {
    let output = lab("--help").success().get_output().clone();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(help.starts_with("Measure engines of research"), "{help}");
    assert!(ENGINES.iter().all(|engine| help.contains(&format!("\n  {engine} "))), "{help}");
    assert!(["insert", "hops", "linkbench-tao"].iter().all(|name| help.contains(&format!("\n  {name} "))));
    assert!(!help.contains("hedgerow bench"), "{help}");
    for (arguments, known) in
        [("--engines btree", "cart-ci"), ("--workloads btree", "linkbench-tao"), ("--mix-seconds 0", "1..=")]
    {
        let output = lab(arguments).code(2).get_output().clone();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(known), "{error}");
    }
}
