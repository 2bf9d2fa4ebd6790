//! `hedgerow path`

use crate::common::Folder;
use serde_json::{Value, json};

/// Payments: the way with the fewest edges from `anna b` to `dora` is not the cheapest.
const PAYMENTS: &str = "source,destination,number,amount\n\
    anna b,dora,1,50\nanna b,ben,2,9.5\nanna b,ben,3,4\nben,carl,4,2\ncarl,dora,5,1\nben,dora,6,\ndora,eve,7,1\n";

fn store(options: &str) -> Folder {
    let folder = Folder::with("pays.csv", PAYMENTS);
    let labels = "--labels pays:number=key+amount=f64,knows:f64";
    folder.hedgerow(&format!("import pays.csv --store bank --keys text {labels} {options}")).success();
    folder
}

fn paths(folder: &Folder, options: &str) -> Value {
    let mut command = folder.command("path");
    let output = command.args(["anna b", "dora", "bank", "--json"]).args(options.split_whitespace());
    let output = output.assert().success().get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

#[test]
fn paths_have_the_fewest_edges_or_the_least_weight() {
    for options in ["", "--reverse", "--undirected", "--engine lsm", "--engine tel"] {
        let folder = store(options);
        let found = paths(&folder, "");
        assert_eq!(found["paths"], json!([{ "length": 1.0, "vertices": ["anna b", "dora"] }]), "{options}");
        assert_eq!((&found["weight"], &found["label"]), (&Value::Null, &"pays".into()));
        let cheapest = json!([{ "length": 7.0, "vertices": ["anna b", "ben", "carl", "dora"] }]);
        assert_eq!(paths(&folder, "--weight amount")["paths"], cheapest, "{options}");
        let several = paths(&folder, "--weight amount --count 5");
        let lengths: Vec<_> =
            several["paths"].as_array().unwrap().iter().map(|path| &path["length"]).collect();
        assert_eq!(lengths, [&json!(7.0), &json!(50.0)], "{options}");
        assert_eq!(paths(&folder, "--count 5 --max 1.5")["paths"].as_array().unwrap().len(), 1, "{options}");
        let within = paths(&folder, "--count 5 --max 2");
        assert_eq!(within["paths"].as_array().unwrap().len(), 2, "{options}");
        assert_eq!(paths(&folder, "--weight amount --max 6.9")["paths"], json!([]), "{options}");
    }
}

#[test]
fn a_path_is_a_line() {
    let folder = store("");
    let text = |arguments: &[&str]| {
        let output = folder.command("path").args(arguments).assert().success().get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    assert_eq!(text(&["anna b", "eve", "bank"]), "\"anna b\" -> dora -> eve  (2 edges)\n");
    assert_eq!(
        text(&["anna b", "ben", "bank", "--weight", "amount"]),
        "\"anna b\" -> ben  (1 edge, amount 4)\n"
    );
    assert_eq!(text(&["ben", "ben", "bank"]), "ben  (0 edges)\n");
    assert_eq!(
        text(&["eve", "ben", "bank"]),
        "no such path from eve to ben along edges of the label \"pays\"\n"
    );
    folder.hedgerow("put edge ben eve bank --label knows --value 2.5").success();
    let known = text(&["ben", "eve", "bank", "--label", "knows", "--weight", "value"]);
    assert_eq!(known, "ben -> eve  (1 edge, value 2.5)\n");
    let before = text(&["ben", "eve", "bank", "--label", "knows", "--from-checkpoint"]);
    assert_eq!(before, "no such path from ben to eve along edges of the label \"knows\"\n");
    let shell = folder.pipe("shell bank", "path 'anna b' eve\nbegin\npath ben eve\n");
    let output = shell.get_output();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("\"anna b\" -> dora -> eve  (2 edges)\n"));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("path: a transaction is open"), "it does not see staged changes: {error}");
}

#[test]
fn what_is_wrong_is_named() {
    let folder = store("");
    folder.fails("path ben zoe bank", 3, &["zoe"]);
    folder.fails("path ben eve bank --weight price", 2, &["\"pays\"", "\"price\""]);
    folder.fails("path ben eve bank --label knows --weight amount", 2, &["\"knows\"", "no properties"]);
    folder.fails("path ben eve bank --max -1", 2, &["expected a number that is not negative"]);
    folder.fails("path ben eve bank --count 0", 2, &["--count"]);
    folder.fails("path ben eve bank --label likes", 2, &["likes"]);
}
