//! Targets of lines with properties: arbitrary bytes, with numbers and with text as keys, as edges
//! with records, as edges with values, and as vertices. The items and the end must not depend on
//! the batch size.

use hedgerow_formats::{
    LineSchema, PropertyBatch, PropertyFormat, PropertyOptions, PropertyReader, VertexKey,
};
use hedgerow_model::{ColumnType, EdgeSchema, Field, RecordSchema, ValueType};
use std::io::Cursor;

/// Reads the bytes in all ways.
pub fn read_all(bytes: &[u8], format: PropertyFormat) {
    let field = |value_type: ValueType| Field { name: value_type.to_string(), value_type, nullable: true };
    let every_type = RecordSchema { fields: ValueType::ALL.map(field).to_vec() };
    for lines in [
        LineSchema::Edges(EdgeSchema::Record(every_type.clone())),
        LineSchema::Edges(EdgeSchema::Value(ColumnType::F32)),
        LineSchema::Vertices(every_type),
    ] {
        let options = PropertyOptions::new(format, lines);
        compare::<u64>(bytes, &options);
        compare::<Box<str>>(bytes, &options);
    }
}

fn compare<K: VertexKey>(bytes: &[u8], options: &PropertyOptions) {
    let large = read::<K>(bytes, options);
    let small = read::<K>(bytes, &PropertyOptions { batch_size: 2, ..options.clone() });
    assert_eq!(large.1, small.1, "the end");
    // The number of items read before an error depends on the batch size.
    if large.1.is_none() {
        assert_eq!(large.0, small.0, "vertices and edges");
    }
}

/// Returns all vertices and edges as text, in which NaN equals itself, and the error at the end.
fn read<K: VertexKey>(bytes: &[u8], options: &PropertyOptions) -> (String, Option<String>) {
    let reader = PropertyReader::<K>::from_reader("fuzz", Cursor::new(bytes.to_vec()), options);
    let mut reader = reader.expect("memory can be read");
    let (mut batch, mut all) = (PropertyBatch::new(), PropertyBatch::new());
    let end = loop {
        match reader.read_batch(&mut batch) {
            Ok(true) => {
                all.vertices.append(&mut batch.vertices);
                all.edges.append(&mut batch.edges);
            }
            Ok(false) => break None,
            Err(error) => break Some(error.to_string()),
        }
    };
    (format!("{all:?}"), end)
}
