//! `neighbors --newest` by the order of commits.

use crate::common::Folder;
use serde_json::Value;

fn keys(neighbors: &Value) -> Vec<u64> {
    neighbors["neighbors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|neighbor| neighbor["key"].as_u64().unwrap())
        .collect()
}

#[test]
fn edges_without_a_time_are_ordered_by_commit_in_a_store_of_tel() {
    for label in ["knows", "pays:amount=f64"] {
        let folder = Folder::with("edges.jsonl", "{\"from\":1,\"to\":8}\n{\"from\":1,\"to\":9}\n");
        folder.json(&format!(
            "import edges.jsonl --store store --engine tel --labels {label} --checkpoint always"
        ));
        for to in [3, 5, 2, 4] {
            folder.json(&format!("put edge 1 {to} --store store"));
        }
        let newest = |options: &str| keys(&folder.json(&format!("neighbors 1 --store store {options}")));
        assert_eq!(newest("--newest 3"), [4, 2, 5]);
        assert_eq!(newest("--newest 3 --by commit"), [4, 2, 5]);
        // The edges in the checkpoint count as one commit.
        assert_eq!(newest("--newest 9"), [4, 2, 5, 3, 8, 9]);
        assert_eq!(newest("--newest 9 --from-checkpoint"), [8, 9]);
        assert_eq!(newest(""), [8, 9, 3, 5, 2, 4], "ascending by id");
    }
}

#[test]
fn a_time_comes_before_the_order_of_commits() {
    let folder = Folder::with("pays.csv", "from,to,at,commit\n1,2,20,7\n1,3,10,9\n");
    folder.json("import pays.csv --store store --engine tel --labels pays:at=timestamp+commit=i64");
    let newest =
        |options: &str| keys(&folder.json(&format!("neighbors 1 --store store --newest 2 {options}")));
    assert_eq!(newest(""), [2, 3]);
    assert_eq!(newest("--by at"), [2, 3]);
    assert_eq!(newest("--by commit"), [3, 2], "a property of this name");
}

#[test]
fn numbers_from_2_to_the_63_are_times_as_others_are() {
    let folder = Folder::with("graph", "7 8\n");
    folder.json("import graph --store store --labels edge,counted:u64,sent:number=key,pays:amount=f64");
    let numbers = [9, 1 << 63, u64::MAX, (1 << 63) - 1, u64::MAX - 1];
    for (to, number) in (2..).zip(numbers) {
        folder.json(&format!("put edge 1 {to} --store store --label counted --value {number}"));
        folder.json(&format!("put edge 1 {to} --store store --label sent --key {number}"));
    }
    for label in ["counted", "sent"] {
        let newest = |options: &str| {
            keys(&folder.json(&format!("neighbors 1 --store store --label {label} {options}")))
        };
        assert_eq!(newest("--newest 9"), [4, 6, 3, 5, 2]);
        assert_eq!(newest("--newest 1"), [4]);
        assert_eq!(newest("--since 18446744073709551614"), [4, 6]);
        assert_eq!(newest("--since -9 --until 9223372036854775808"), [3, 5, 2]);
        assert_eq!(newest("--until 9223372036854775807"), [5, 2]);
    }
    folder.fails("neighbors 1 --store store --label pays --by amount", 2, &["timestamp, i64 or u64"]);
    let refusal = &["18446744073709551616", "an age such as 90s", "microseconds since 1970"];
    folder.fails("neighbors 1 --store store --since 18446744073709551616", 2, refusal);
}
