//! Labels and schemas, in bodies and in the manifest.

use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_model::{
    Catalog, ColumnType, EdgeSchema, Field, LabelSchema, ParallelSchema, RecordSchema, ValueType,
};

const TOPOLOGY: u8 = 0;
const VALUE: u8 = 1;
const RECORD: u8 = 2;
const PARALLEL: u8 = 3;

const COLUMNS: [ColumnType; 6] =
    [ColumnType::Unit, ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64];

const TYPES: [ValueType; 8] = [
    ValueType::Bool,
    ValueType::I64,
    ValueType::F64,
    ValueType::String,
    ValueType::Bytes,
    ValueType::Timestamp,
    ValueType::Version,
    ValueType::U64,
];

/// Returns true if a field of the catalog has a type that the first versions of the format lack.
pub(crate) fn has_newer_types(catalog: &Catalog) -> bool {
    let of_edges = catalog.labels().iter().filter_map(|label| label.edges.record());
    let mut fields = of_edges.chain([catalog.vertices()]).flat_map(|schema| &schema.fields);
    fields.any(|field| field.value_type == ValueType::U64)
}

/// The index of `one` in `all`, which must contain it.
fn number_of<T: PartialEq>(all: &[T], one: &T) -> u8 {
    all.iter().position(|other| other == one).unwrap_or_default() as u8
}

pub(crate) fn encode_catalog(bytes: &mut Vec<u8>, catalog: &Catalog) {
    put_varint(bytes, catalog.labels().len() as u64);
    for LabelSchema { name, edges } in catalog.labels() {
        put_bytes(bytes, name.as_bytes());
        match edges {
            EdgeSchema::Topology => bytes.push(TOPOLOGY),
            EdgeSchema::Value(column) => bytes.extend([VALUE, number_of(&COLUMNS, column)]),
            EdgeSchema::Record(schema) => {
                bytes.push(RECORD);
                encode_record(bytes, schema);
            }
            EdgeSchema::Parallel(ParallelSchema { key, record }) => {
                bytes.push(PARALLEL);
                put_bytes(bytes, key.as_bytes());
                encode_record(bytes, record);
            }
        }
    }
    encode_record(bytes, catalog.vertices());
}

fn encode_record(bytes: &mut Vec<u8>, schema: &RecordSchema) {
    put_varint(bytes, schema.fields.len() as u64);
    for Field { name, value_type, nullable } in &schema.fields {
        put_bytes(bytes, name.as_bytes());
        bytes.extend([number_of(&TYPES, value_type), u8::from(*nullable)]);
    }
}

pub(crate) fn decode_catalog(reader: &mut Reader<'_>) -> Result<Catalog, DecodeError> {
    let count = reader.count()?;
    if count == 0 {
        return Err(reader.error("a catalog without labels"));
    }
    let labels = (0..count).map(|_| decode_label(reader)).collect::<Result<_, _>>()?;
    let vertices = decode_record(reader)?;
    Catalog::new(labels, vertices).map_err(|_| reader.error("a catalog that contradicts itself"))
}

fn decode_label(reader: &mut Reader<'_>) -> Result<LabelSchema, DecodeError> {
    let name = reader.text()?.to_owned();
    let edges = match reader.byte()? {
        TOPOLOGY => EdgeSchema::Topology,
        VALUE => {
            let column = COLUMNS.get(usize::from(reader.byte()?)).copied();
            EdgeSchema::Value(column.ok_or_else(|| reader.error("an unknown type of column"))?)
        }
        RECORD => EdgeSchema::Record(decode_record(reader)?),
        PARALLEL => {
            let key = reader.text()?.to_owned();
            EdgeSchema::Parallel(ParallelSchema { key, record: decode_record(reader)? })
        }
        _ => return Err(reader.error("an unknown kind of schema")),
    };
    Ok(LabelSchema { name, edges })
}

fn decode_record(reader: &mut Reader<'_>) -> Result<RecordSchema, DecodeError> {
    let count = reader.count()?;
    let fields = (0..count).map(|_| {
        let name = reader.text()?.to_owned();
        let value_type = TYPES.get(usize::from(reader.byte()?)).copied();
        let value_type = value_type.ok_or_else(|| reader.error("an unknown type of field"))?;
        Ok(Field { name, value_type, nullable: reader.flag()? })
    });
    Ok(RecordSchema { fields: fields.collect::<Result<_, _>>()? })
}
