//! `hedgerow ingest` from a topic.

use crate::broker::{Topic, records};
use crate::common::{Folder, PROGRAM, assert_holds, lines_of, listens, send};
use bytes::{BufMut, BytesMut};
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use kafka_protocol::records::{Compression, RecordBatchDecoder, RecordBatchEncoder, RecordEncodeOptions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `hedgerow ingest TOPIC store`, which must succeed; returns the last line of its JSON.
fn ingest(folder: &Folder, topic: &Topic, options: &str) -> Value {
    let output = folder.text(&format!("ingest {} store --json {options}", topic.address()));
    serde_json::from_str(output.lines().next_back().unwrap()).unwrap()
}

/// The edges after these operations on a graph, each line `+ a b` or `- a b`.
fn apply(edges: &mut BTreeSet<String>, operations: &str) {
    for line in operations.lines() {
        match line.split_at(2) {
            ("+ ", edge) => _ = edges.insert(edge.to_owned()),
            (_, edge) => _ = edges.remove(edge),
        }
    }
}

#[test]
fn records_of_all_partitions_become_edges_once() {
    let Some(topic) = Topic::new("edges", 3) else { return };
    let folder = Folder::new();
    assert_eq!(ingest(&folder, &topic, "--format operations")["edges"], 0);
    topic.put(0, ["+ 1 2\n+ 2 3\n", "- 1 2", "# a comment\n\n+1,9"]);
    topic.put(2, ["+ 7 8", "", "+ 8 9\n- 7 8\n"]);
    let first = ingest(&folder, &topic, "--format operations");
    assert_eq!(
        [&first["edges"], &first["deletions"], &first["offsets"], &first["resumed_at"], &first["bytes"]],
        [&json!(5), &json!(2), &json!([3, 0, 3]), &json!([0, 0, 0]), &Value::Null]
    );
    assert_holds(&folder, "2 3\n1 9\n8 9\n");
    assert_eq!(ingest(&folder, &topic, "--format operations")["commits"], 0, "nothing is new");
    topic.put(1, ["+ 5 5"]);
    let second = ingest(&folder, &topic, "--format operations --batch 1");
    assert_eq!((&second["edges"], &second["resumed_at"]), (&json!(1), &json!([3, 0, 3])));
    let info = folder.json("info store")["import"].clone();
    assert_eq!(
        info,
        json!({ "finished": true, "input": format!("topic {}", topic.name), "label": "edge", "offsets": [3, 1, 3] })
    );
    assert_holds(&folder, "2 3\n1 9\n8 9\n5 5\n");
    let text = folder.text(&format!("ingest {} other --format operations", topic.address()));
    assert!(text.contains("the records before the offsets 3, 1, 3"), "{text}");
}

#[test]
fn binary_values_and_compressed_batches_are_read() {
    let Some(topic) = Topic::new("pairs", 1) else { return };
    let pair = |from: u32, to: u32| [from.to_le_bytes(), to.to_le_bytes()].concat();
    topic.put(0, [pair(1, 2), [pair(2, 3), pair(3, 4)].concat()]);
    let plain = topic.records();
    for (compression, value) in [(Compression::Gzip, pair(4, 5)), (Compression::Zstd, pair(5, 6))] {
        let mut record = plain[0].clone();
        record.value = Some(value.into());
        let compress = |bytes: &mut BytesMut, into: &mut BytesMut, compression| {
            let compressed = match compression {
                Compression::Gzip => {
                    let mut encoder = GzEncoder::new(Vec::new(), Level::default());
                    encoder.write_all(bytes)?;
                    encoder.finish()?
                }
                _ => zstd::encode_all(&bytes[..], 0)?,
            };
            into.put_slice(&compressed);
            Ok(())
        };
        let mut batch = BytesMut::new();
        let options = RecordEncodeOptions { version: 2, compression };
        RecordBatchEncoder::encode_with_custom_compression(&mut batch, [&record], &options, Some(compress))
            .unwrap();
        assert!(RecordBatchDecoder::decode(&mut batch.clone()).is_err(), "the batch is compressed");
        topic.put_batch(0, batch.freeze());
    }
    let folder = Folder::new();
    assert_eq!(ingest(&folder, &topic, "--format pairs32")["edges"], 5);
    assert_holds(&folder, "1 2\n2 3\n3 4\n4 5\n5 6\n");
    topic.put(0, [&pair(6, 7)[..5]]);
    let command = format!("ingest {} store --format pairs32", topic.address());
    folder.fails(&command, 3, &["partition 0, offset 4: byte 0: found the end after 5 bytes"]);
}

#[test]
fn records_of_aborted_and_open_transactions_are_not_seen() {
    let Some(topic) = Topic::new("transactions", 1) else { return };
    let folder = Folder::new();
    let mut one = topic.producer(0, "one");
    let mut other = topic.producer(0, "other");
    one.send(records(["1 1"])).unwrap();
    other.send(records(["9 1"])).unwrap();
    one.end(true).unwrap();
    topic.put(0, ["2 2"]);
    other.send(records(["9 2"])).unwrap();
    one.send(records(["1 2"])).unwrap();
    other.end(false).unwrap();
    other.send(records(["3 3"])).unwrap();
    one.end(true).unwrap();
    other.end(true).unwrap();
    one.send(records(["9 3"])).unwrap();
    one.end(false).unwrap();
    let read = ingest(&folder, &topic, "");
    assert_eq!((&read["edges"], &read["offsets"]), (&json!(4), &json!([12])));
    assert_holds(&folder, "1 1\n2 2\n1 2\n3 3\n");
    // Records after the beginning of an open transaction wait for its end.
    one.send(records(["9 4"])).unwrap();
    topic.put(0, ["4 4"]);
    assert_eq!(ingest(&folder, &topic, "")["edges"], 0);
    drop(one);
    drop(topic.producer(0, "one"));
    assert_eq!(ingest(&folder, &topic, "")["edges"], 1);
    assert_holds(&folder, "1 1\n2 2\n1 2\n3 3\n4 4\n");
}

#[test]
fn a_bad_line_is_named_and_its_whole_record_comes_again() {
    let Some(topic) = Topic::new("bad", 2) else { return };
    let folder = Folder::new();
    topic.put(1, ["1 2", "2 3\n3 x\n4 5", "5 6"]);
    let address = topic.address();
    let place = format!("{address}, partition 1, offset 1:2:3: found \"x\"");
    let kept = "the edges of the records before the offsets 0, 1 of topic ";
    folder.fails(
        &format!("ingest {address} store"),
        3,
        &[&place, kept, "the same command goes on from there"],
    );
    assert_holds(&folder, "1 2\n");
    folder.write("file", "7 8\n");
    let other = ["store has the records before the offsets 0, 1 of topic bad", "--anew"];
    folder.fails("ingest file store", 2, &other);
    let skipping = ingest(&folder, &topic, "--skip-bad-lines");
    assert_eq!((&skipping["edges"], &skipping["skipped_lines"]), (&json!(3), &json!(1)));
    assert_holds(&folder, "1 2\n2 3\n4 5\n5 6\n");
    folder.fails(&format!("ingest {address} store --replayed"), 2, &["--replayed", "leave it out"]);
    let nowhere = address.replace(&topic.name, "nothing");
    folder.fails(&format!("ingest {nowhere} store"), 3, &["there is no topic nothing at 127.0.0.1:"]);
    folder.fails("ingest kafka://127.0.0.1:1/t store", 3, &["cannot reach the broker at 127.0.0.1:1"]);
    folder.fails("ingest kafka://127.0.0.1/t store", 2, &["a topic is kafka://HOST:PORT/TOPIC"]);
}

#[test]
fn records_that_are_gone_and_other_topics_are_errors_until_a_new_beginning() {
    let Some(topic) = Topic::new("retention", 2) else { return };
    let folder = Folder::new();
    let command = format!("ingest {} store", topic.address());
    topic.put(0, ["1 1", "1 2"]);
    ingest(&folder, &topic, "");
    topic.put(0, ["1 3", "1 4", "1 5"]);
    topic.put(1, ["2 1", "2 2"]);
    topic.remove(0, 4);
    topic.remove(1, 1);
    let lost = ["3 records of kafka://", "the first of them from offset 2 of partition 0 on", "--anew"];
    folder.fails(&command, 3, &lost);
    let again = ingest(&folder, &topic, "--anew");
    assert_eq!((&again["edges"], &again["resumed_at"]), (&json!(2), &json!([4, 1])));
    assert_holds(&folder, "1 1\n1 2\n1 5\n2 2\n");
    topic.create_again(2);
    topic.put(0, ["3 1"]);
    folder.fails(&command, 2, &["is not the topic of which the store has records", "--anew"]);
    assert_eq!(ingest(&folder, &topic, "--anew")["edges"], 1);
}

/// Starts `hedgerow ingest TOPIC store --follow`.
fn follow(folder: &Folder, topic: &Topic, options: &str) -> Child {
    let address = topic.address();
    let arguments = ["ingest", &address, "store", "--follow", "--json"];
    let mut command = Command::new(PROGRAM);
    command.args(arguments).args(options.split_whitespace()).current_dir(folder.root());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn new_records_are_followed_until_a_signal() {
    let Some(topic) = Topic::new("followed", 2) else { return };
    let folder = Folder::new();
    topic.put(0, ["1 2"]);
    let child = follow(&folder, &topic, "--within 0.01");
    let begin = Instant::now();
    for (edges, partition) in [(1, 1), (2, 0), (3, 1)] {
        let is_seen = || {
            let is_copied = folder.command("backup store copy --quiet").output().unwrap().status.success();
            is_copied && folder.json("stats copy")["edges"] == edges
        };
        while !is_seen() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{edges} edges are not seen");
            thread::sleep(Duration::from_millis(20));
        }
        topic.put(partition, [format!("{edges} 7\n")]);
    }
    while ingest_is_behind(&folder, 4) {
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    assert!(listens(&child));
    send(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let output = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(output.lines().next_back().unwrap()).unwrap();
    assert_eq!(
        (&last["edges"], &last["offsets"], &last["signal"]),
        (&json!(4), &json!([2, 2]), &json!("Ctrl-C"))
    );
    assert_eq!(folder.json("info store")["import"]["finished"], false);
    assert_holds(&folder, "1 2\n1 7\n2 7\n3 7\n");
}

/// Returns true if other processes see fewer edges in the store.
fn ingest_is_behind(folder: &Folder, edges: u64) -> bool {
    thread::sleep(Duration::from_millis(20));
    let is_copied = folder.command("backup store copy --quiet").output().unwrap().status.success();
    !is_copied || folder.json("stats copy")["edges"] != edges
}

/// After a kill at any time, the store has exactly the records before the offsets that it notes.
#[test]
fn killed_at_any_time_every_record_counts_once() {
    let Some(topic) = Topic::new("killed", 2) else { return };
    let folder = Folder::new();
    let mut random = 7_u64;
    let mut draw = move |bound: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % bound
    };
    // Partitions have edges of their own: there is no order between them.
    let mut operations = [Vec::new(), Vec::new()];
    let mut records = |partition: u64| {
        let mut line = || {
            let sign = if draw(3) == 0 { '-' } else { '+' };
            format!("{sign} {} {}\n", partition * 100 + draw(12), draw(12))
        };
        (0..400).map(|_| line() + &line() + &line()).collect::<Vec<_>>()
    };
    let options = "--format operations --batch 40 --within 0.002";
    for round in 0..7_u64 {
        for partition in 0..2 {
            let new = records(partition);
            topic.put(partition as i32, &new);
            operations[partition as usize].extend(new);
        }
        let mut child = follow(&folder, &topic, options);
        thread::sleep(Duration::from_millis(60 + round * 37 % 150));
        child.kill().unwrap();
        child.wait().unwrap();
        let is_there = fs::exists(folder.path("store")).unwrap();
        let noted =
            if is_there { folder.json("info store")["import"]["offsets"].clone() } else { Value::Null };
        let Some(offsets) = noted.as_array() else { continue };
        let mut edges = BTreeSet::new();
        for (offset, operations) in offsets.iter().zip(&operations) {
            let before = &operations[..offset.as_u64().unwrap() as usize];
            before.iter().for_each(|record| apply(&mut edges, record));
        }
        folder.json("export store --output edges.el");
        assert!(lines_of(&folder.read("edges.el")) == edges, "round {round}: {offsets:?}");
    }
    ingest(&folder, &topic, options);
    let mut edges = BTreeSet::new();
    operations.iter().flatten().for_each(|record| apply(&mut edges, record));
    folder.json("export store --output edges.el");
    assert!(lines_of(&folder.read("edges.el")) == edges);
    assert_eq!(folder.json("info store")["import"]["offsets"], json!([2800, 2800]));
}
