//! Imports into a new store without commits, compared with imports in commits.

use crate::common::{Folder, lines_of};
use serde_json::Value;

/// Members of a summary that depend on the way, the machine or the name of the store.
const NOT_COMPARED: [&str; 6] = ["command", "store", "commits", "checkpoint", "seconds", "edges_per_second"];

const NUMBERED: &str = "{\"from\":\"a\",\"to\":\"b\",\"number\":7,\"amount\":1}\n{\"to\":\"a\",\"from\":\"b\",\"number\":3}\n\
    {\"from\":\"a\",\"to\":\"b\",\"number\":7,\"amount\":1}\n{\"from\":\"b\",\"to\":\"b\",\"number\":3,\"amount\":-5}\n";

const ODD: &str = "# odd\n7 3 2.5\r\n3 7 1\n\n7 3 0.5\n9 9 4\n18446744073709551615 7 1\n5 3 2\n3 5 2";

fn folder() -> Folder {
    let folder = Folder::with("odd.wel", ODD);
    folder.write("names.txt", "anna ben\nben zoë\nanna ben\nzoë zoë\n");
    folder.write("bad.txt", "1 2\nno line\n2 3\n3 x\n3 4\n");
    folder.write("ids", "3 0\n0 5\n5 3\n9 3\n");
    folder.write("sparse", "4000000000 0\n0 5\n");
    folder.write("more", "70\n3\n71\n");
    folder.write("empty", "");
    let pays = "payer,payee,amount,at,note\nanna,ben,9.5,2026-01-31T12:00:00Z,\"for\nrent\"\nben,zoë,1,2026-02-01,\n\
                anna,ben,3.25,,x\nzoë,zoë,0,,\"\"\nben,anna,7,,y\n";
    folder.write("pays.csv", pays);
    folder.write("times.csv", pays.replace(",,x", ",2026-03-01,x").replace(",,", ",2026-03-01,"));
    folder.write("numbered.jsonl", NUMBERED);
    folder.write("people.csv", "key,age,name\nanna,31,\"A, B\"\nmax,,\nben,40,\nanna,32,Anna\n");
    folder.write("roads.csv", "from,to,weight\n1,2,2.5\n2,3,1\n1,2,0.5\n");
    folder.write("calls.csv", "from,to,count\n1,2,4294967295\n2,3,0\n1,2,7\n3,3,4294967294\n");
    folder.write(
        "sums.csv",
        "from,to,sum\n1,2,-9223372036854775808\n2,3,-1\n1,2,9223372036854775807\n3,1,-7\n",
    );
    folder.write("bits.csv", "from,to,bits\n1,2,18446744073709551615\n2,3,0\n3,1,9223372036854775808\n");
    let many = |line: u32| {
        format!("{},{},{line}.25,\"{}\"\n", line % 97, line % 89, "\"\"\n".repeat(line as usize % 3))
    };
    folder.write("many.csv", "from,to,amount,note\n".to_owned() + &(0..9000).map(many).collect::<String>());
    folder.json("generate kronecker --scale 10 --weights --output kron.wel");
    folder.json("convert kron.wel kron.wsg --undirected");
    folder
}

#[test]
fn a_store_is_that_of_the_same_commits() {
    let folder = folder();
    let imports = [
        "odd.wel",
        "odd.wel --undirected",
        "odd.wel --weights",
        "odd.wel --weights --undirected --engine tel",
        "odd.wel --weights --reverse",
        "odd.wel --keys text --label knows",
        "odd.wel --labels likes,knows --label knows --on-repeat last",
        "odd.wel names.txt --keys text --undirected",
        "odd.wel --vertices more",
        "bad.txt --skip-bad-lines",
        "ids --keys dense --vertices more",
        "ids --keys dense --undirected",
        "sparse --keys dense",
        "empty",
        "empty --vertices more",
        "kron.wel ids --threads 1",
        "kron.wel kron.wel --weights --undirected --atomic",
        "kron.wsg --weights --undirected",
        "pays.csv --on-repeat last --yes",
        "pays.csv --on-repeat last --undirected --threads 1",
        "pays.csv --on-repeat last --vertices people.csv --engine tel",
        "pays.csv --on-repeat last --ignore note",
        "times.csv --on-repeat parallel --number-column at --time-zone UTC",
        "numbered.jsonl --on-repeat parallel --undirected --engine hybrid",
        "numbered.jsonl --labels paid:number=key+amount=i64 --format jsonl --keys text",
        "roads.csv --on-repeat last --weights",
        "roads.csv --on-repeat last --labels road:f64 --format properties-csv",
        "calls.csv --on-repeat last --labels calls:u32 --undirected",
        "calls.csv --on-repeat last --labels calls:f32 --reverse",
        "calls.csv --on-repeat last --labels calls:u32 --reverse --engine lsm",
        "sums.csv --on-repeat last --labels sums:i64 --reverse",
        "bits.csv --labels bits:u64 --undirected --engine lsm",
        "many.csv --on-repeat last --reverse",
    ];
    for (number, import) in imports.iter().enumerate() {
        let end = if import.contains(".csv") || import.contains(".jsonl") { "jsonl" } else { "e" };
        let imported = |options: &str| {
            let store = format!("{number}{}", options.trim_start_matches("--").replace(' ', ""));
            let summary =
                folder.json_without(&format!("import {import} --store {store} {options}"), &NOT_COMPARED);
            // Sparse dense keys are imported in commits after all.
            let is_built = options.is_empty() && !import.starts_with("sparse");
            assert!(!is_built || folder.json(&format!("info {store}"))["timestamp"] == 1, "{import}");
            assert_eq!(folder.json(&format!("check {store}"))["problems"], Value::Array(Vec::new()));
            let labels = folder.json(&format!("info {store}"))["labels"].take();
            let label = summary["label"].as_str().unwrap().to_owned();
            folder.json(&format!("export {store} --label {label} --output out.{end}"));
            // In commits, this engine does not count the edges that it adds.
            let summary = if import.contains("--engine lsm") { Value::Null } else { summary };
            (summary, labels, folder.read(&format!("out.{end}")))
        };
        assert_eq!(imported(""), imported("--chunk 1000"), "{import}");
    }
}

/// Sparse dense keys are read once more, which a pipe cannot be.
#[cfg(unix)]
#[test]
fn vertices_of_a_pipe_come_into_the_store_whatever_the_ids() {
    let folder = folder();
    for (number, file) in ["sparse", "ids"].iter().enumerate() {
        let import = format!("import {file} --keys dense --vertices /dev/stdin --store {number}");
        folder.pipe(&import, "70\n71\n").success();
        let vertices = folder.json(&format!("info {number}"))["vertices"].as_u64();
        assert_eq!(vertices, Some(if *file == "sparse" { 5 } else { 6 }), "{file}");
    }
}

#[test]
fn a_stopped_import_keeps_what_was_read_and_goes_on() {
    let folder = folder();
    let lines: String = (0..200_000).map(|line| format!("{} {}\n", line % 977, line % 1013)).collect();
    folder.write("good", &lines);
    folder.write("bad", &(lines.clone() + "5 no\n6 7\n"));
    let kept = ["bad:200001:3", "edges of ", "in store: the same command goes on from there"];
    folder.fails("import good bad --store store", 3, &kept);
    assert_eq!(folder.json("info store")["import"]["finished"], false);
    folder.fails("import good bad --store all --atomic", 3, &["bad:200001:3"]);
    assert!(!folder.path("all").exists());
    folder.fails("import names.txt --store all", 3, &["names.txt:1:1"]);
    assert!(!folder.path("all").exists());
    folder.fails("import names.txt --vertices more --store part", 3, &["names.txt:1:1", "in part: the same"]);
    assert_eq!(folder.json("info part")["vertices"], 3);
    folder.write("bad", &(lines + "5 1100\n6 7\n"));
    let resumed = folder.json("import good bad --store store");
    assert!(resumed["resumed"] == true && resumed["rows"].as_u64() < Some(200_003), "{resumed}");
    folder.json("import good bad --store all");
    let edges_of = |store: &str| {
        folder.json(&format!("export {store} --output out.el"));
        lines_of(&folder.read("out.el"))
    };
    assert_eq!(edges_of("store"), edges_of("all"));
}

#[cfg(target_os = "linux")]
mod killed {
    use super::*;
    use std::thread;
    use std::time::Instant;

    #[test]
    fn an_import_that_is_killed_at_any_moment_can_be_repeated() {
        let folder = Folder::new();
        let lines: String = (0..400_000).map(|line| format!("{} {}\n", line % 977, line % 1013)).collect();
        folder.write("graph", &lines);
        let begin = Instant::now();
        folder.json("import graph --store whole");
        let all = begin.elapsed();
        let mut killed = 0;
        for part in 1..=8 {
            let mut child = folder.start("import graph --store store");
            thread::sleep(all * part / 8);
            child.kill().unwrap();
            killed += u32::from(!child.wait().unwrap().success());
        }
        assert!(killed > 0, "the import was over before it could be killed");
        folder.json("import graph --store store");
        let edges = |store: &str| folder.json(&format!("info {store}"))["edges"].take();
        assert_eq!(edges("store"), edges("whole"));
        assert_eq!(folder.json("check store")["problems"], Value::Array(Vec::new()));
    }
}
