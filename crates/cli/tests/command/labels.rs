//! `hedgerow label`: labels that are added to an existing store.

use crate::common::Folder;
use serde_json::json;

#[test]
fn labels_are_added_to_a_store_with_edges_and_a_checkpoint() {
    let folder = Folder::with("knows.txt", "1 2\n2 3\n");
    folder.json("import knows.txt --store bank --label knows");
    folder.json("checkpoint bank");
    folder.json("put edge 3 1 --store bank");
    assert_eq!(folder.text("label list bank"), "0 knows\n");
    let added = "label add likes:f64,pays:number=key+amount=f64! --store bank";
    assert_eq!(folder.text(added), "added 1 likes:f64\nadded 2 pays:number=key+amount=f64!\n");
    folder.json("put edge 1 3 --store bank --label pays --key 7 --property amount=2");
    folder.json("put edge 1 3 --store bank --label likes --value 0.5");
    let read =
        |label: &str| folder.json(&format!("neighbors 1 --store bank --label {label}"))["neighbors"].clone();
    for command in ["info bank", "checkpoint bank", "info bank"] {
        folder.json(command);
        assert_eq!(read("knows"), json!([{ "key": 2 }]));
        assert_eq!(read("likes"), json!([{ "key": 3, "value": 0.5 }]));
        assert_eq!(read("pays"), json!([{ "key": 3, "properties": { "number": 7, "amount": 2.0 } }]));
    }
    assert_eq!(folder.json("info bank")["edges"], 5);
    assert_eq!(folder.json("check bank")["problems"], json!([]));
    assert_eq!(
        folder.json("label list bank")["labels"][1],
        json!({ "id": 1, "name": "likes", "declaration": "likes:f64" })
    );
    assert_eq!(folder.json("schema bank")["labels_option"], "knows,likes:f64,pays:number=key+amount=f64!");
}

#[test]
fn invalid_labels_are_refused() {
    let folder = Folder::with("knows.txt", "1 2\n");
    folder.json("import knows.txt --store bank --label knows");
    folder.fails("label add likes,knows --store bank", 2, &["\"knows\" is declared twice", "MANIFEST"]);
    folder.fails("label add pays:amount=money --store bank", 2, &["no type of properties"]);
    folder.fails("label add likes --store nowhere", 3, &["there is no store in nowhere"]);
    assert_eq!(folder.text("label list bank"), "0 knows\n", "all or nothing");
}

#[test]
fn versions_are_counted_and_compared() {
    let folder = Folder::with("pays.csv", "source,destination,amount\n1,2,5\n");
    folder.json("import pays.csv --store bank --labels pays:amount=i64+seen=version");
    let seen = || folder.json("get edge 1 2 --store bank")["properties"]["seen"].clone();
    assert_eq!(seen(), 1);
    folder.json("put edge 1 2 --store bank --property amount=6");
    folder.json("put edge 1 2 --store bank --property amount=6");
    assert_eq!(seen(), 2, "what changes nothing is not counted");
    let put =
        |condition: &str| format!("put edge 1 2 --store bank --property amount=7 --only-if {condition}");
    let failed = [
        "the edge from 1 to 2 of the label \"pays\" in bank",
        "not as --only-if says",
        "nothing was changed",
    ];
    folder.fails(&put("seen=1"), 6, &failed);
    assert_eq!(folder.json(&put("seen=2"))["changed"], true);
    assert_eq!(folder.json(&put("amount=7"))["changed"], false, "it is so already");
    assert!(folder.text(&put("amount=7")).contains("was there already, nothing changed"));
    let delete = "delete edge 1 2 --store bank --only-if seen=2";
    folder.fails(delete, 6, &failed);
    folder.fails("put edge 1 3 --store bank --property amount=7 --only-if amount=1", 6, &["from 1 to 3"]);
    folder.fails("delete edge 1 3 --store bank --only-if amount=1", 6, &["from 1 to 3"]);
    // Scripts still get the result.
    for (command, field) in [(&*put("seen=1"), "changed"), (delete, "edges_deleted")] {
        let output = folder.hedgerow(&format!("{command} --json")).code(6).get_output().clone();
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(json[field] == false || json[field] == 0, "{json}");
    }
    folder.json("put edge 1 2 --store bank --property amount=6 --only-if seen=3");
    assert_eq!(seen(), 4);
    folder.fails(
        "put edge 1 2 --store bank --only-if other=9",
        2,
        &["have the properties \"amount\", \"seen\""],
    );
    folder.fails("put edge 1 2 --store bank --property seen=9", 2, &["\"seen\" is a version"]);
    // A file may have the column, as an export writes it: the store counts its own versions.
    folder.json("export bank --output copy.csv");
    assert_eq!(folder.read("copy.csv"), "source,destination,amount,seen\n1,2,6,4\n");
    folder.json("import copy.csv --store copy --labels pays:amount=i64+seen=version");
    assert_eq!(folder.json("get edge 1 2 --store copy")["properties"], json!({ "amount": 6, "seen": 1 }));
}
