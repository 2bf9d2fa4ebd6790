//! Vertices and edges without properties are read back unchanged, whatever text their keys are, or
//! are refused.

use crate::common::drain;
use hedgerow_formats::{
    FormatError, GraphReader, LineSchema, PropertyBatch, PropertyFormat, PropertyOptions, PropertyReader,
    PropertyWriter, ReadOptions, VertexListWriter,
};
use hedgerow_model::{EdgeSchema, EdgeValue, Record, RecordSchema};
use proptest::prelude::*;
use std::path::Path;

/// Any text, with column names and with separators of fields and lines more often than by chance.
fn key() -> impl Strategy<Value = Box<str>> {
    let names = prop::sample::select(vec!["key", "id", "source", "Target", "from", "to", "value", "1", ""]);
    let text = prop_oneof![".{0,6}", "[ ,#%\"\r\n\ta\u{feff}]{0,5}", names.prop_map(str::to_owned)];
    text.prop_map(String::into_boxed_str)
}

fn read_lines(
    path: &Path,
    format: PropertyFormat,
    lines: LineSchema,
) -> Result<PropertyBatch<Box<str>>, FormatError> {
    let mut reader = PropertyReader::open(path, &PropertyOptions::new(format, lines))?;
    let mut batch = PropertyBatch::new();
    reader.read_batch(&mut batch)?;
    assert!(!reader.read_batch(&mut PropertyBatch::new())?);
    Ok(batch)
}

proptest! {
    #[test]
    fn lists_of_vertices_come_back_or_are_refused(keys in prop::collection::vec(key(), 0..8)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vertices.csv");
        let mut writer = VertexListWriter::create(&path).unwrap();
        let mut written = Vec::new();
        for key in keys {
            match writer.write(&*key) {
                Ok(()) => written.push(key),
                Err(error) => prop_assert!(matches!(error, FormatError::NoPlace { .. }), "{}", error),
            }
        }
        writer.complete().unwrap().finish().unwrap();
        let whole = drain(GraphReader::<Box<str>>::open_vertices(&path, ReadOptions::default()).unwrap());
        prop_assert!(whole.end.is_ok());
        prop_assert_eq!(whole.read.vertices, written);
    }

    #[test]
    fn any_keys_come_back_from_lines_without_properties(keys in prop::collection::vec((key(), key()), 0..8)) {
        let folder = tempfile::tempdir().unwrap();
        for format in [PropertyFormat::Csv, PropertyFormat::JsonLines] {
            let path = folder.path().join("vertices");
            let vertices = LineSchema::Vertices(RecordSchema::default());
            let mut writer = PropertyWriter::create(&path, format, &vertices).unwrap();
            keys.iter().for_each(|(key, _)| writer.write_vertex(&**key, &Record::default()).unwrap());
            writer.complete().unwrap().finish().unwrap();
            let read = read_lines(&path, format, vertices).unwrap().vertices;
            prop_assert!(read.iter().map(|(key, _)| key).eq(keys.iter().map(|(key, _)| key)), "{:?}", read);

            let path = folder.path().join("edges");
            let edges = LineSchema::Edges(EdgeSchema::Topology);
            let mut writer = PropertyWriter::create(&path, format, &edges).unwrap();
            for (source, destination) in &keys {
                writer.write_edge(&**source, &**destination, EdgeValue::default()).unwrap();
            }
            writer.complete().unwrap().finish().unwrap();
            let read = read_lines(&path, format, edges).unwrap().edges.into_iter();
            let ends: Vec<_> = read.map(|edge| (edge.source, edge.destination)).collect();
            prop_assert_eq!(&ends, &keys);
        }
    }
}
