//! Messages name options as the command spells them, and begin with the problem.

use crate::common::Folder;
use flate2::write::GzEncoder;
use std::io::Write;

#[test]
fn options_are_named_as_the_command_has_them() {
    let folder = Folder::with("graph", "1 2 0.5\n2 3 1.5\n");
    folder.write("text.txt", "anna ben\n");
    folder.write("text.csv", "source,to,amount\nanna,ben,1\n");
    folder.write("text.jsonl", "{\"source\":\"anna\",\"to\":\"ben\"}\n");
    folder.write("ends.csv", "who,to,amount\n1,2,3\n");
    folder.write("half.txt", "1 2 0.5\n2 3\n");
    folder.write("times.txt", "1 2 17\n2 3 18\n");
    folder.json("import graph --store store");
    folder.json("import graph --store undirected --undirected");
    folder.json("import graph --store bare --checkpoint never");
    for (command, code, part) in [
        ("import text.txt --store new", 3, "--keys text"),
        ("import text.csv --store new --labels pays:amount=f64", 3, "--keys text"),
        ("import text.jsonl --store new --keys number", 3, "--keys text"),
        ("import ends.csv --store new --labels pays:amount=f64", 3, "--source-column"),
        ("import graph --store store --undirected", 2, "leave --undirected out"),
        ("import graph --store store --reverse --keys dense", 2, "leave --reverse and --keys out"),
        ("import graph --store undirected --labels likes", 2, "leave --labels out"),
        ("neighbors 1 --store store --direction in", 2, "--reverse"),
        ("neighbors 1 --store store --newest 3", 2, "--by names"),
        ("neighbors 1 --store store --by commit", 2, "--by \"commit\": the store keeps no order of commits"),
        ("neighbors 1 --store bare --from-checkpoint", 3, "hedgerow checkpoint DIR"),
        ("neighbors 1 --store store --by weight", 2, "--by \"weight\": "),
        ("neighbors 1 --store store --from-checkpoint --as-of 1", 2, "--as-of"),
        ("run sssp --graph half.txt --source 1", 3, "--unit-weights"),
        ("convert half.txt new.mtx", 1, "--columns topology"),
        ("convert times.txt new.txt --columns timestamp --keys dense --to mtx", 0, ""),
        ("generate uniform --vertices 0 --edges 5 --output new", 2, "--vertices"),
        ("generate stream --vertices 1 --changes 5 --output new", 2, "--vertices"),
        ("generate stream --vertices 9 --changes 5 --output new", 2, "--changes"),
        ("generate stream --vertices 3 --changes 5 --deletions 0.9 --output new", 2, "--deletions"),
        ("put edge 1 2 --store store --value nan", 2, "--value \"nan\""),
    ] {
        match code {
            0 => drop(folder.hedgerow(command).success()),
            code => folder.fails(command, code, &[part]),
        }
    }
    folder.write("zero.txt", "0 1\n");
    folder.fails("convert zero.txt new.mtx --keys dense", 1, &["--keys number"]);
}

/// A file compressed by gzip whose checksum is wrong.
fn with_wrong_checksum(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let mut bytes = encoder.finish().unwrap();
    let checksum = bytes.len() - 8;
    bytes[checksum] ^= 1;
    bytes
}

#[test]
fn damage_of_compressed_data_is_reported_before_the_lines_that_it_garbled() {
    let folder = Folder::new();
    for (name, text, command) in [
        ("a.txt.gz", "1 2\nx y\n3 4\n", "stats"),
        ("b.txt.gz", "1 2\n3\n", "run bfs --graph"),
        ("c.txt.gz", "1 2 0.5\n3 4\n", "run sssp --source 1 --graph"),
        ("d.txt.gz", "1 2 -0.5\n", "run sssp --source 1 --graph"),
        ("e.mtx.gz", "%%MatrixMarket matrix coordinate pattern general\n2 2 9\n1 2\n", "stats"),
        ("f.txt.gz", "1 2 0.5\n3 4\n", "import --weights --store store"),
        ("g.txt.gz", "1 2 0.5\n3 4\n", "import --weights --atomic --store store"),
        ("h.csv.gz", "source,to,amount\n1,2,x\n", "import --labels pays:amount=f64 --store store"),
        ("i.jsonl.gz", "{\"source\":1}\n", "import --labels pays:amount=f64 --store store"),
        ("j.sg.gz", "nonsense", "stats"),
        ("k.txt.gz", "1 4294967299\n", "import --keys dense --atomic --store store"),
    ] {
        folder.write(name, with_wrong_checksum(text));
        let told = format!("{name}: the gzip data is cut short or damaged");
        folder.fails(&format!("{command} {name}"), 3, &[&told, "fetch or compress the file again"]);
    }
    folder.write("fine.txt.gz", {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"1 2\nx y\n").unwrap();
        encoder.finish().unwrap()
    });
    folder.fails("stats fine.txt.gz", 3, &["fine.txt.gz:2:1", "expected a vertex key"]);
}

#[test]
fn columns_that_come_twice_are_named() {
    let folder = Folder::with("twice.csv", "source,to,amount,note,amount\n1,2,3,x,4\n");
    let import = "--store store --labels pays:amount=f64+note=string";
    let told = "twice.csv:1: column \"amount\": found \"amount\", expected each name once: columns 3 and 5 have this one";
    folder.fails(&format!("import twice.csv {import}"), 3, &[told]);
    folder.write("ends.csv", "source,to,From,amount\n1,2,3,4\n");
    let told = "ends.csv:1: column \"From\": found \"From\", expected one column for each key: \"source\" is this one already";
    folder.fails(&format!("import ends.csv {import}"), 3, &[told]);
}
