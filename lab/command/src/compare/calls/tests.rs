//! All stores answer like a plain model, and are measured.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::stores::KINDS;
use super::work::Keys;
use super::*;
use clap::Parser;

#[test]
fn all_stores_give_the_answers_of_the_model() {
    let graph = Graph::kronecker(6, 1).unwrap();
    for keys in [Keys::Numbers, Keys::Dense] {
        let work = Work::new(&graph, keys, 2);
        let [some, existing, sources] =
            [work.some[0].found, work.existing[0].numbers, work.sources[0].degrees];
        assert!(some > 0 && existing > 0 && sources > 0, "the sums would not tell a right answer from none");
        assert!(some < work.some[0].ends.len() as u64, "some edges are missing");
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let mut store = (kind.make)(folder.path(), &work).unwrap();
            // Twice, so that reads see the results of writes.
            for operation in Operation::value_variants().repeat(2) {
                let taken = store.measure(operation, &work, 1, Duration::from_millis(2));
                let taken = taken.unwrap_or_else(|error| panic!("{} ({keys:?}): {error}", kind.name));
                assert!(taken.is_none_or(|taken| taken > 0.0), "{}, {operation:?}", kind.name);
            }
        }
    }
}

#[test]
fn a_wrong_answer_is_an_error() {
    let graph = Graph::kronecker(6, 1).unwrap();
    let mut work = Work::new(&graph, Keys::Dense, 2);
    let folder = tempfile::tempdir().unwrap();
    let mut store = (Kind::named("map").unwrap().make)(folder.path(), &work).unwrap();
    work.sources.iter_mut().for_each(|batch| batch.neighbors += 1);
    let mut measure = |operation| store.measure(operation, &work, 0, Duration::ZERO);
    assert!(measure(Operation::Degree).is_ok());
    for operation in [Operation::Neighbors, Operation::VisitNeighbors] {
        let error = measure(operation).unwrap_err().to_string();
        assert!(error.starts_with(&operation.name()), "{error}");
    }
}

#[test]
fn a_store_without_an_operation_says_so_in_place_of_a_figure() {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }
    let line = ["calls", "--scale", "6", "--stores", "rapid,map", "--seconds", "0.002", "--repetitions", "2"];
    let mut arguments = Line::parse_from(line).arguments;
    arguments.calls = Operation::value_variants().to_vec();
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new(&arguments, measure(&arguments, folder.path()).unwrap());
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let rows = json["results"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 2 * Operation::value_variants().len());
    let lacking: Vec<_> = rows.iter().filter_map(|row| row["lacking"].as_str()).collect();
    assert_eq!(lacking, ["no reader", "no ids", "no snapshots", "no streams"].repeat(2));
    for row in rows {
        assert_eq!(row["lacking"].is_null(), row["nanoseconds"].as_f64() > Some(0.0), "{row}");
    }
    let table = report.to_table();
    assert!(table.contains("no streams") && table.contains("1.00"), "{table}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all stores are removed");
}
