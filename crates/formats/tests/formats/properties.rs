//! Tests writing and reading files whose lines carry properties.

use flate2::Compression;
use flate2::write::GzEncoder;
use hedgerow_formats::{
    FormatError, HasHeader, LineSchema, PropertyBatch, PropertyEdge, PropertyFormat, PropertyOptions,
    PropertyReader, PropertyWriter, Survey, SurveyColumn, VertexKey,
};
use hedgerow_model::{
    Column, ColumnType, EdgeSchema, EdgeValue, Field, ParallelSchema, Record, RecordSchema, Value, ValueType,
};
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

const FORMATS: [PropertyFormat; 2] = [PropertyFormat::Csv, PropertyFormat::JsonLines];

fn every_type() -> RecordSchema {
    let field = |value_type: ValueType| Field { name: value_type.to_string(), value_type, nullable: true };
    RecordSchema { fields: ValueType::ALL.map(field).to_vec() }
}

fn drain<K: VertexKey>(mut reader: PropertyReader<K>) -> Result<PropertyBatch<K>, FormatError> {
    let (mut all, mut batch) = (PropertyBatch::new(), PropertyBatch::new());
    while reader.read_batch(&mut batch)? {
        all.vertices.append(&mut batch.vertices);
        all.edges.append(&mut batch.edges);
    }
    Ok(all)
}

fn read<K: VertexKey>(
    text: impl Into<Vec<u8>>,
    format: PropertyFormat,
    lines: &LineSchema,
) -> Result<PropertyBatch<K>, FormatError> {
    let options = PropertyOptions { batch_size: 3, ..PropertyOptions::new(format, lines.clone()) };
    drain(PropertyReader::from_reader("x", Cursor::new(text.into()), &options)?)
}

/// Writes edges and reads them again.
fn edges_again<K: VertexKey>(
    path: &Path,
    format: PropertyFormat,
    schema: &EdgeSchema,
    edges: &[PropertyEdge<K>],
) -> Vec<PropertyEdge<K>> {
    let lines = LineSchema::Edges(schema.clone());
    let mut writer = PropertyWriter::create(path, format, &lines).unwrap();
    for PropertyEdge { source, destination, value, record } in edges {
        let value = value.unwrap_or_default();
        let written = match schema.record() {
            Some(_) if schema.key().is_some() => {
                writer.write_parallel_edge(source.as_key(), destination.as_key(), value.0, record)
            }
            Some(_) => writer.write_edge_record(source.as_key(), destination.as_key(), record),
            None => writer.write_edge(source.as_key(), destination.as_key(), value),
        };
        written.unwrap();
    }
    writer.complete().unwrap().finish().unwrap();
    let options = PropertyOptions::new(format, lines);
    drain(PropertyReader::open(path, &options).unwrap()).unwrap().edges
}

fn value(value_type: ValueType) -> BoxedStrategy<Value> {
    let extremes = prop::sample::select(vec![0, 1, -1, i64::MIN, i64::MAX]);
    let whole = prop_oneof![extremes, any::<i64>()];
    let text = "[a\u{0}\",\r\n ü\\\\{}:🦔]{0,8}";
    let not_null = match value_type {
        ValueType::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        ValueType::I64 | ValueType::Version => whole.prop_map(Value::I64).boxed(),
        ValueType::Timestamp => whole.prop_map(Value::Timestamp).boxed(),
        ValueType::F64 => any::<u64>()
            .prop_map(f64::from_bits)
            .prop_filter("a number that is not one equals nothing", |number| !number.is_nan())
            .prop_map(Value::F64)
            .boxed(),
        ValueType::String => text.prop_map(|text: String| Value::from(text)).boxed(),
        ValueType::U64 => any::<u64>().prop_map(Value::U64).boxed(),
        ValueType::Bytes => prop::collection::vec(any::<u8>(), 0..5).prop_map(Value::from).boxed(),
    };
    prop_oneof![1 => Just(Value::Null), 4 => not_null].boxed()
}

fn record() -> impl Strategy<Value = Record> {
    ValueType::ALL.map(value).prop_map(|values| Record::new(values.to_vec()))
}

proptest! {
    #[test]
    fn edges_come_back_as_they_were(
        rows in prop::collection::vec(("[a\",\n é#]{0,4}", "[a\",\n é#]{0,4}", record()), 0..8),
        compressed in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if compressed { "x.zst" } else { "x" });
        let edge = |(source, destination, record): (String, String, Record)| PropertyEdge::<Box<str>> {
            source: source.into(),
            destination: destination.into(),
            value: None,
            record,
        };
        let edges: Vec<_> = rows.into_iter().map(edge).collect();
        for format in FORMATS {
            let again = edges_again(&path, format, &EdgeSchema::Record(every_type()), &edges);
            prop_assert_eq!(&again, &edges, "{}", format);
        }
    }

    #[test]
    fn parallel_edges_come_back_as_they_were(
        rows in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), record(), any::<i64>()), 0..8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let version = Field { name: "changes".to_owned(), value_type: ValueType::Version, nullable: false };
        let record = RecordSchema { fields: [&every_type().fields[..], &[version]].concat() };
        let schema = EdgeSchema::Parallel(ParallelSchema { key: "number".to_owned(), record });
        let edge = |(source, destination, key, record, version): (u64, u64, u64, Record, i64)| PropertyEdge {
            source,
            destination,
            value: Some(EdgeValue(key)),
            record: Record::new([record.values(), &[Value::I64(version)]].concat()),
        };
        let edges: Vec<_> = rows.into_iter().map(edge).collect();
        for format in FORMATS {
            let again = edges_again(&folder.path().join("x"), format, &schema, &edges);
            prop_assert_eq!(&again, &edges, "{}", format);
        }
    }

    #[test]
    fn vertices_come_back_as_they_were(rows in prop::collection::vec((any::<u64>(), record()), 0..8)) {
        let folder = tempfile::tempdir().unwrap();
        let (path, lines) = (folder.path().join("x.gz"), LineSchema::Vertices(every_type()));
        for format in FORMATS {
            let mut writer = PropertyWriter::create(&path, format, &lines).unwrap();
            rows.iter().for_each(|(key, record)| writer.write_vertex(*key, record).unwrap());
            writer.complete().unwrap().finish().unwrap();
            let reader = PropertyReader::open(&path, &PropertyOptions::new(format, lines.clone())).unwrap();
            prop_assert_eq!(&drain(reader).unwrap().vertices, &rows, "{}", format);
        }
    }

    #[test]
    fn values_come_back_as_they_were(bits in prop::collection::vec(any::<u64>(), 0..8)) {
        let folder = tempfile::tempdir().unwrap();
        for column in [ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64] {
            let value = |bits: u64| match column {
                ColumnType::U32 => Some((bits as u32).to_bits()),
                ColumnType::F32 => {
                    let value = f32::from_bits(bits as u32);
                    (!value.is_nan()).then(|| Column::to_bits(value))
                }
                ColumnType::F64 => {
                    let value = f64::from_bits(bits);
                    (!value.is_nan()).then(|| Column::to_bits(value))
                }
                _ => Some(EdgeValue(bits)),
            };
            let values = bits.iter().filter_map(|bits| value(*bits));
            let edge = |value| PropertyEdge {
                source: 1,
                destination: u64::MAX,
                value: Some(value),
                record: Record::EMPTY,
            };
            let edges: Vec<_> = values.map(edge).collect();
            for format in FORMATS {
                let again = edges_again(&folder.path().join("x"), format, &EdgeSchema::Value(column), &edges);
                prop_assert_eq!(&again, &edges, "{} {}", column, format);
            }
        }
    }
}

fn pays() -> LineSchema {
    let field = |name: &str, value_type, nullable| Field { name: name.to_owned(), value_type, nullable };
    let fields = vec![field("amount", ValueType::F64, false), field("note", ValueType::String, true)];
    LineSchema::Edges(EdgeSchema::Record(RecordSchema { fields }))
}

#[test]
fn errors_name_line_and_column() {
    let csv = |text: &str| read::<u64>(text, PropertyFormat::Csv, &pays()).unwrap_err().to_string();
    let json = |text: &str| read::<u64>(text, PropertyFormat::JsonLines, &pays()).unwrap_err().to_string();
    let header = "source,destination,amount,note\n";
    for (text, expected) in [
        (
            "1,2,much,\n",
            "x:2: column \"amount\": found \"much\", expected a number that 64-bit floats can hold (f64)",
        ),
        ("1,2,\"1\n\",\n", "x:2: column \"amount\": found \"1\\n\", expected a number"),
        ("1,2,3,\"a\nb\"\n1,2,1e999,\n", "x:4: column \"amount\": found \"1e999\", expected a number"),
        (
            "1,2,,lunch\n",
            "x:2: column \"amount\": found nothing, expected a number that 64-bit floats can hold (f64), which must be there",
        ),
        ("1,,3,\n", "x:2: column \"destination\": found nothing, expected a vertex key"),
        (
            "1,-2,3,\n",
            "x:2: column \"destination\": found \"-2\", expected a vertex key that is not negative",
        ),
        ("1,2,3\n", "x:2: found \"3 fields\", expected 4, as in the header"),
        ("1,2,3,4,5\n", "x:2: found \"5 fields\", expected 4, as in the header"),
    ] {
        let error = csv(&format!("{header}{text}"));
        assert!(error.starts_with(expected), "{error}");
    }
    for (text, expected) in [
        ("", "x:1: found nothing, expected a first line of column names"),
        (
            "1,2,3.5,lunch\n",
            "x:1: found \"1,2,3.5,lunch\", expected a first line of column names, not of values",
        ),
        ("source,to,amount,color\n", "x:1: found \"color\", expected one of the properties"),
        (
            "source,to,amount,source\n",
            "x:1: column \"source\": found \"source\", expected each name once: columns 1 and 4 have this one",
        ),
        ("source,to,note\n", "x:1: column \"amount\": found nothing, expected a number"),
    ] {
        let error = csv(text);
        assert!(error.starts_with(expected), "{error}");
    }
    for (text, expected) in [
        (
            "{\"source\":1,\"to\":2,\"amount\":\"3\"}",
            "x:1: column \"amount\": found \"\\\"3\\\"\", expected a number",
        ),
        ("\n{\"source\":1,\"to\":2}", "x:2: column \"amount\": found nothing, expected a number"),
        (
            "{\"source\":1,\"to\":2,\"amount\":null}",
            "x:1: column \"amount\": found nothing, expected a number",
        ),
        (
            "{\"source\":1,\"amount\":2}",
            "x:1: found \"source, amount\", expected a column destination or dst",
        ),
        (
            "{\"source\":1,\"to\":\"2\",\"amount\":2}",
            "x:1: column \"to\": found \"\\\"2\\\"\", expected a vertex key",
        ),
        (
            "{\"source\":1,\"to\":2,\"amount\":2,\"color\":1}",
            "x:1: found \"color\", expected one of the properties",
        ),
        (
            "{\"source\":1,\"to\":2,\"amount\":2,\"to\":3}",
            "x:1: column \"to\": found \"to\", expected each name once: columns",
        ),
        ("{}", "x:1: found nothing, expected a column source"),
        ("[]", "x:1: found \"[]\", expected one JSON object per line"),
    ] {
        let error = json(text);
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_file_of_numbers_without_a_header_is_not_taken_for_one_with() {
    let none = LineSchema::Edges(EdgeSchema::Topology);
    let error = read::<u64>("1,2\n3,4\n", PropertyFormat::Csv, &none).unwrap_err().to_string();
    assert!(error.contains("a first line of column names, not of values"), "{error}");
    let edges = read::<u64>("a,b\n3,4\n", PropertyFormat::Csv, &none).unwrap().edges;
    assert_eq!((edges[0].source, edges[0].destination), (3, 4));
}

#[test]
fn members_may_come_in_any_order_and_be_absent() {
    let text = "{\"source\":1,\"to\":2,\"amount\":1,\"note\":\"x\"}\n{\"note\":null,\"amount\":2,\"to\":2,\"source\":1}\n\
                {\"source\":1,\"to\":2,\"amount\":3}\n";
    let edges = read::<u64>(text, PropertyFormat::JsonLines, &pays()).unwrap().edges;
    let values: Vec<_> = edges.iter().map(|edge| edge.record.values().to_vec()).collect();
    let expected =
        [[Value::F64(1.0), Value::from("x")], [Value::F64(2.0), Value::Null], [Value::F64(3.0), Value::Null]];
    assert_eq!(values, expected);
}

/// Reads a file as it is: the names, types and keys of its columns, and its rows.
#[test]
fn a_survey_finds_columns_types_and_equal_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pays.csv");
    let text = "amount;payer;payee;at\n1,5;anna;ben;2024-01-01\n2;anna;ben;2024-01-01\n1,5;anna;ben;2024-01-01\n;7;ben;\n";
    fs::write(&path, text).unwrap();
    let lines = LineSchema::Edges(EdgeSchema::Topology);
    let mut survey = Survey::open(&path, &PropertyOptions::new(PropertyFormat::Csv, lines.clone())).unwrap();
    let found = survey.find_on(None, &|_| true).unwrap().unwrap();
    let (rows, keys) = (found.iter().map(|found| found.row).collect::<Vec<_>>(), found[3].keys.clone());
    assert!(found.iter().map(|found| &found.cells).eq(survey.first()));
    assert_eq!((rows[0].keys, rows[0].content), (rows[2].keys, rows[2].content));
    assert!(rows[0].keys == rows[1].keys && rows[0].content != rows[1].content);
    assert_eq!((rows[3].line, keys), (5, vec!["7".to_owned(), "ben".to_owned()]));
    let columns =
        survey.columns().map(|column| (column.name(), column.key(), column.value_type(), column.has_nulls()));
    let expected = [
        ("amount", None, ValueType::String, true),
        ("payer", Some(0), ValueType::String, false),
        ("payee", Some(1), ValueType::String, false),
        ("at", None, ValueType::Timestamp, true),
    ];
    assert_eq!(columns.collect::<Vec<_>>(), expected);
    assert_eq!((survey.has_header(), survey.delimiter()), (HasHeader::Yes, Some(b';')));

    // The members of JSON come in any order, and may be missing.
    let path = folder.path().join("pays.jsonl");
    fs::write(&path, "{\"from\":1,\"to\":2,\"a\":1,\"b\":\"x\"}\n{\"b\":\"x\",\"a\":1,\"to\":2,\"from\":1}\n{\"to\":2,\"from\":1}\n").unwrap();
    let mut survey = Survey::open(&path, &PropertyOptions::new(PropertyFormat::JsonLines, lines)).unwrap();
    let rows = survey.read_on(None).unwrap().unwrap();
    assert_eq!(survey.read_on(None).unwrap(), None);
    assert_eq!((rows[0].keys, rows[0].content), (rows[1].keys, rows[1].content));
    assert!(rows[2].keys == rows[0].keys && rows[2].content != rows[0].content);
    assert!(survey.columns().filter(|column| column.key().is_some()).all(SurveyColumn::holds_number_keys));
}

/// The edges before the end, and the error there, in small parts.
fn read_in_parts(text: &[u8], format: PropertyFormat) -> (usize, Option<String>) {
    let options = PropertyOptions { batch_size: 1, ..PropertyOptions::new(format, pays()) };
    let bytes = Cursor::new(text.to_vec());
    let mut reader = PropertyReader::<u64>::from_reader("x", bytes, &options).unwrap();
    let (mut batch, mut edges) = (PropertyBatch::new(), 0);
    loop {
        let read = reader.read_batch(&mut batch);
        edges += batch.edges.len();
        match read {
            Ok(true) => {}
            Ok(false) => return (edges, None),
            Err(error) => return (edges, Some(error.to_string())),
        }
    }
}

#[test]
fn parts_join_to_long_records_headers_and_lines() {
    let header = "source,to,amount,note\n";
    let long = "so long\n".repeat(1 << 19);
    let read = |text: String| read_in_parts(text.as_bytes(), PropertyFormat::Csv);
    assert_eq!(read(format!("{header}1,2,3,\"{long}\"\n1,2,3,")), (2, None));
    let (edges, error) = read(format!("{header}1,2,3,\n1,2,3,\"{long}"));
    assert!(edges == 1 && error.unwrap().starts_with("x:3: "));
    assert_eq!(read(format!("{}{header}1,2,3,", "\n".repeat(1 << 19))), (1, None));
    let (edges, error) = read(format!("source,to,amount,\"{long}\"\n1,2,3,"));
    assert!(edges == 0 && error.unwrap().contains("expected one of the properties \"amount\""));
    let json = format!("{{\"source\":1,\"to\":2,\"amount\":3,\r\"note\":\"{}\"}}\nno", "x".repeat(1 << 20));
    let (edges, error) = read_in_parts(format!("\n{json}").as_bytes(), PropertyFormat::JsonLines);
    assert!(edges == 1 && error.unwrap().starts_with("x:3: "));
}

#[test]
fn lines_before_damage_are_read() {
    let mut text = "source,to,amount,note\n".to_owned();
    (0..20_000).for_each(|line| text += &format!("{line},{},1,\n", line * 7919 % 10_007));
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text.as_bytes()).unwrap();
    let mut bytes = encoder.finish().unwrap();
    bytes.truncate(bytes.len() / 2);
    let (edges, error) = read_in_parts(&bytes, PropertyFormat::Csv);
    assert!((5_000..20_000).contains(&edges) && error.unwrap().contains("gzip"), "{edges}");
}

proptest! {
    /// Whatever lines and quotation marks are where a part of the file ends.
    #[test]
    fn lines_are_the_same_in_parts_of_any_size_on_any_threads(
        fields in prop::collection::vec("[a\"\n\r,]{0,12}", 0..60),
        quoted in any::<u64>(),
        size in 1usize..40,
        threads in 1usize..3,
    ) {
        let mut text = "source,to,amount,note\n".to_owned();
        for (line, note) in fields.iter().enumerate() {
            // Some quotation marks are wrong.
            let note = match quoted >> (line % 64) & 1 {
                0 => note.clone(),
                _ => format!("\"{}\"", note.replace('"', "\"\"")),
            };
            text += &format!("{line},{},{line}.5,{note}{}", line + 1, ["\n", "\r\n", "\r"][line % 3]);
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let read = |batch_size: usize, pool: Option<&ThreadPool>| {
            let options = PropertyOptions { batch_size, ..PropertyOptions::new(PropertyFormat::Csv, pays()) };
            let bytes = Cursor::new(text.clone());
            let mut reader = PropertyReader::<u64>::from_reader("x", bytes, &options).unwrap();
            let (mut batch, mut all) = (PropertyBatch::new(), PropertyBatch::new());
            let end = loop {
                let read = reader.read_batch_on(pool, &mut batch);
                prop_assert!(batch.len() <= batch_size);
                all.edges.append(&mut batch.edges);
                match read {
                    Ok(true) => {}
                    Ok(false) => break None,
                    Err(error) => break Some(error.to_string()),
                }
            };
            prop_assert!(!reader.read_batch(&mut batch).unwrap());
            Ok((all, end))
        };
        let whole = read(1 << 16, None)?;
        prop_assert_eq!(&read(size, None)?, &whole);
        prop_assert_eq!(&read(size, Some(&pool))?, &whole);

        let path = tempfile::tempdir().unwrap();
        let path = path.path().join("x");
        fs::write(&path, &text).unwrap();
        let survey = |batch_size: usize, pool: Option<&ThreadPool>| {
            let options = PropertyOptions { batch_size, ..PropertyOptions::new(PropertyFormat::Csv, pays()) };
            let mut survey = Survey::open(&path, &options).unwrap();
            let mut all = Vec::new();
            let end = loop {
                match survey.read_on(pool) {
                    Ok(Some(rows)) => all.extend(rows),
                    Ok(None) => break None,
                    Err(error) => break Some(error.to_string()),
                }
            };
            (all, survey.columns().cloned().collect::<Vec<_>>(), survey.first().to_vec(), survey.rows(), end)
        };
        prop_assert_eq!(survey(size, Some(&pool)), survey(1 << 16, None));
    }
}
