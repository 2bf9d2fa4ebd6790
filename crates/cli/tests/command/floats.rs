//! Floats that JSON cannot represent: words as in files, and never null.

use crate::common::Folder;
use serde_json::json;

#[test]
fn properties_that_are_infinite_or_not_a_number_are_printed() {
    let lines = "{\"from\":1,\"to\":2,\"amount\":\"Infinity\",\"low\":\"-Infinity\",\"odd\":\"NaN\",\"text\":\"NaN\"}\n";
    let folder = Folder::with("pays.jsonl", lines);
    folder.write("people.jsonl", "{\"key\":1,\"height\":\"-Infinity\"}\n{\"key\":2,\"height\":\"NaN\"}\n");
    folder.json(
        "import pays.jsonl --vertices people.jsonl --store store --labels pays:amount=f64!+low=f64+odd=f64+text=string \
         --vertex-properties height=f64",
    );
    let expected = json!({ "amount": "Infinity", "low": "-Infinity", "odd": "NaN", "text": "NaN" });
    assert_eq!(folder.json("get edge 1 2 --store store")["properties"], expected);
    assert_eq!(folder.json("neighbors 1 --store store")["neighbors"][0]["properties"], expected);
    assert_eq!(folder.json("get vertex 1 --store store")["properties"], json!({ "height": "-Infinity" }));
    assert_eq!(folder.json("get vertex 2 --store store")["properties"], json!({ "height": "NaN" }));
    let shown = "amount=Infinity low=-Infinity odd=NaN text=\"NaN\"\n";
    assert_eq!(folder.text("get edge 1 2 --store store"), format!("1 2 {shown}"));
    assert_eq!(folder.text("neighbors 1 --store store"), format!("2 {shown}"));
    assert!(folder.text("get vertex 1 --store store").ends_with("height      -Infinity\n"));
    // Files contain the same words.
    folder.json("export store --output out.jsonl");
    assert_eq!(folder.read("out.jsonl"), lines.replace("from", "source").replace("to\"", "destination\""));
}

#[test]
fn values_beside_edges_that_are_infinite_or_not_a_number_are_printed() {
    for value_type in ["f32", "f64"] {
        let folder = Folder::with(
            "roads.jsonl",
            "{\"from\":1,\"to\":2,\"km\":\"Infinity\"}\n{\"from\":1,\"to\":3,\"km\":\"-Infinity\"}\n\
             {\"from\":1,\"to\":4,\"km\":\"NaN\"}\n{\"from\":1,\"to\":5,\"km\":0.5}\n",
        );
        folder.json(&format!("import roads.jsonl --store store --labels road:{value_type}"));
        let values: Vec<_> = folder.json("neighbors 1 --store store")["neighbors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|neighbor| neighbor["value"].clone())
            .collect();
        assert_eq!(values, [json!("Infinity"), json!("-Infinity"), json!("NaN"), json!(0.5)]);
        assert_eq!(folder.json("get edge 1 4 --store store")["value"], "NaN");
        assert_eq!(folder.text("get edge 1 3 --store store"), "1 3 -Infinity\n");
        assert_eq!(folder.text("neighbors 1 --store store"), "2 Infinity\n3 -Infinity\n4 NaN\n5 0.5\n");
        let put = "put edge 1 2 --store store --value";
        assert_eq!(folder.json(&format!("{put} inf"))["value"], "Infinity");
        folder.fails(&format!("{put} nan"), 2, &["--value \"nan\" is not a number", value_type]);
    }
}
