//! `hedgerow run` by a property of edges, from some vertices, and with parents.

use crate::common::{Folder, engine_options, key_values};
use serde_json::{Value, json};

/// Payments: the way with the fewest edges from `anna b` to `dora` is not the cheapest.
const PAYMENTS: &str = "source,destination,number,amount,units\n\
    anna b,dora,1,50,1\nanna b,ben,2,9.5,2\nanna b,ben,3,4,3\nben,carl,4,2,1\ncarl,dora,5,1,\n";

fn store(options: &str) -> Folder {
    let folder = Folder::with("pays.csv", PAYMENTS);
    let labels = "--labels pays:number=key+amount=f64+units=u64,knows:f64,lends:u32";
    folder.hedgerow(&format!("import pays.csv --store bank --keys text {labels} {options}")).success();
    folder.hedgerow("put vertex eve bank").success();
    folder
}

/// Runs a kernel with sources whose keys have blanks.
fn run(folder: &Folder, options: &str, sources: &[&str], result: &str) -> Value {
    let sources = sources.iter().flat_map(|source| ["--source", source]);
    let mut command = folder.command("run");
    let command = command.args(options.split_whitespace()).args(sources);
    let output = command.args(["--json", "--output", result]).assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn distances_are_sums_of_a_property_and_parents_are_on_the_way() {
    for options in engine_options().chain(["--reverse".to_owned()]) {
        let folder = store(&options);
        for engine in ["", "--engine csr"] {
            let command = format!("sssp bank --label pays --weight amount --parents {engine}");
            let summary = run(&folder, &command, &["anna b"], "result.csv");
            assert_eq!((&summary["weight"], &summary["farthest"]), (&json!("amount"), &json!(7.0)));
            let expected = "key,distance,parent\nanna b,0.0,anna b\ndora,7.0,carl\nben,4.0,anna b\ncarl,6.0,ben\neve,,\n";
            assert_eq!(folder.read("result.csv"), expected, "{options} {engine}");
            run(&folder, &format!("bfs bank --label pays --parents {engine}"), &["anna b"], "result");
            let expected = "\"anna b\" 0 \"anna b\"\ndora 1 \"anna b\"\nben 1 \"anna b\"\ncarl 2 ben\neve 9223372036854775807 -\n";
            assert_eq!(folder.read("result"), expected, "{options} {engine}");
        }
    }
}

#[test]
fn parents_are_a_field_of_json_and_only_on_request() {
    let folder = store("");
    run(&folder, "sssp bank --label pays --weight amount --parents", &["ben"], "result.json");
    let result: Value = serde_json::from_str(&folder.read("result.json")).unwrap();
    assert_eq!(result[1], json!({ "key": "dora", "distance": 3.0, "parent": "carl" }));
    assert_eq!(result[4], json!({ "key": "eve", "distance": null, "parent": null }));
    run(&folder, "bfs bank --label pays", &["ben"], "result.jsonl");
    assert!(folder.read("result.jsonl").contains("{\"key\":\"dora\",\"distance\":2}\n"));
    let file = Folder::with("graph", "1 2 2.5\n2 3 0.5\n");
    file.hedgerow("run sssp graph --source 1 --weight value --parents --output result").success();
    assert_eq!(file.read("result"), "1 0.0 1\n2 2.5 1\n3 3.0 2\n");
}

/// As NetworkX 3.6.1 computes them for the multigraph, with `tol` 1e-15.
#[test]
fn ranks_follow_weights_and_return_to_the_sources() {
    let edges = "source,destination,number,amount\n\
        0,1,1,9.5\n0,1,2,20\n0,2,1,4\n1,2,1,1\n2,0,1,3\n2,3,1,1\n1,1,1,0.5\n";
    let everywhere = [0.2454020885495691, 0.34552499119993196, 0.2846449246972682, 0.12442799555323077];
    let to_some = [0.2904361961528038, 0.3033399910530327, 0.20136976807192902, 0.20485404472223437];
    for options in ["", "--reverse", "--engine lsm"] {
        let folder = Folder::with("pays.csv", edges);
        let labels = "--labels pays:number=key+amount=f64";
        folder.hedgerow(&format!("import pays.csv --store bank {labels} {options}")).success();
        for engine in ["", "--engine csr"] {
            for (sources, expected) in [(&[][..], everywhere), (&["3", "0"], to_some)] {
                let command =
                    format!("pagerank bank --weight amount --iterations 1000 --tolerance 1e-14 {engine}");
                let summary = run(&folder, &command, sources, "result");
                let keys: Vec<u64> = sources.iter().map(|source| source.parse().unwrap()).collect();
                assert_eq!((&summary["weight"], &summary["sources"]), (&json!("amount"), &json!(keys)));
                for (key, rank) in key_values(&folder.read("result")) {
                    let (rank, expected) =
                        (rank.parse::<f64>().unwrap(), expected[key.parse::<usize>().unwrap()]);
                    assert!(
                        (rank - expected).abs() < 1e-12,
                        "{options} {engine}: {key}: {rank}, not {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn values_of_any_type_are_weights() {
    let folder = store("");
    folder.hedgerow("put edge ben eve bank --label lends --value 3").success();
    folder.hedgerow("put edge eve carl bank --label lends --value 4").success();
    for engine in ["", "--engine csr"] {
        let command = format!("sssp bank --label lends --weight value {engine}");
        assert_eq!(run(&folder, &command, &["ben"], "result")["farthest"], 7.0);
        let ranks =
            run(&folder, &format!("pagerank bank --label lends --weight value {engine}"), &[], "result");
        assert_eq!(ranks["top"][0]["key"], "carl");
    }
    let file = Folder::with("graph", "1 2 1\n1 3 3\n2 1 1\n3 1 1\n");
    file.hedgerow("run pagerank graph --weight value --iterations 300 --output result").success();
    let ranks: Vec<f64> =
        key_values(&file.read("result")).iter().map(|(_, rank)| rank.parse().unwrap()).collect();
    assert!(((ranks[2] - 0.05) / (ranks[1] - 0.05) - 3.0).abs() < 1e-6, "{ranks:?}");
    let shell = folder
        .pipe("shell bank", "run sssp --label pays --weight amount --source ben --parents --output far\n");
    shell.success();
    assert!(folder.read("far").contains("dora 3.0 carl\n"));
}

#[test]
fn what_is_wrong_is_named() {
    let folder = store("");
    for kernel in ["sssp", "sssp --engine csr", "pagerank"] {
        let run = |label: &str, weight: &str| format!("run {kernel} bank --label {label} --weight {weight}");
        folder.fails(&run("pays", "price"), 2, &["\"pays\"", "\"price\""]);
        folder.fails(&run("knows", "amount"), 2, &["\"knows\"", "no properties"]);
        folder.fails(&run("pays", "value"), 2, &["\"pays\"", "\"value\""]);
        let refused = ["bank: the edge from carl to dora has no weight"];
        folder.fails(&format!("{} --output new", run("pays", "units")), 3, &refused);
    }
    folder.hedgerow("put edge ben eve bank --label pays --key 7 --property amount=-2").success();
    for kernel in ["sssp", "pagerank", "pagerank --engine csr"] {
        let refused = ["the edge from ben to eve has the weight -2, but weights must be 0 or more"];
        folder.fails(&format!("run {kernel} bank --weight amount"), 3, &refused);
    }
    folder.fails("run pagerank bank --source zoe", 3, &["zoe"]);
    folder.fails("run pagerank pays.csv --weight amount", 2, &["--weight", "for stores"]);
    folder.fails("run sssp pays.csv --weight value --unit-weights", 2, &["--unit-weights", "--weight"]);
    let file = Folder::with("graph", "1 2 0.5\n2 3\n");
    file.fails("run pagerank graph --weight value", 3, &["from 2 to 3 has no weight"]);
}
