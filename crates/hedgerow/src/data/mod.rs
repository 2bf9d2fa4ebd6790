//! The data on edges and vertices, as Rust types.

pub(crate) mod properties;
mod record;

pub use properties::{Properties, Property, PropertyMismatch, ReadProperties, Version};
pub use record::Record;
pub(crate) use record::{Names, Owner};

use crate::error::{Error, NoData, OtherData, Reason};
use hedgerow_model as model;
use hedgerow_model::{
    Column, ColumnType, EdgeSchema, LabelSchema, RecordHandle, RecordSchema, SchemaError, Value, ValueType,
};

/// A Rust type for the data of an edge.
///
/// Implemented for `()`, `u32`, `u64`, `i64`, `f32`, `f64`, [`Record`], and every type with
/// [`Properties`]; it cannot be implemented directly. See [`Label`](crate::Label).
pub trait EdgeData: Sized + hidden::Stored {}

/// Edge data with a schema of its own: `()`, numbers, and types with [`Properties`].
///
/// [`GraphOptions::label`](crate::GraphOptions::label) takes such types.
pub trait EdgeType: EdgeData {
    /// Returns the schema of edges with this data.
    fn edge_schema() -> EdgeSchema;
}

impl<T: hidden::Stored> EdgeData for T {}

/// The conversion of data to and from its stored form: not part of the API.
pub(crate) mod hidden {
    use super::*;

    pub trait Stored: Sized {
        /// The type of the value stored with each neighbor; `()` for records.
        type Column: Column;

        /// True if the data is a record.
        const IS_RECORD: bool = false;

        /// Fails if edges of this schema cannot be read as this type.
        fn check(label: &LabelSchema) -> Result<(), Error>;

        /// Converts the value of an edge to its data.
        fn from_value(_value: Self::Column) -> Result<Self, Error> {
            Err(Reason::ChangedType.into())
        }

        /// Converts the data to the value of an edge.
        fn to_value(&self) -> Self::Column {
            Self::Column::default()
        }

        /// Converts the record of an edge to its data.
        fn from_record(_record: model::Record, _names: &Names<'_>) -> Result<Self, Error> {
            Err(Reason::ChangedType.into())
        }

        /// Returns the properties to set, by their positions in the schema.
        fn to_properties(&self, _schema: &RecordSchema) -> Result<Vec<(usize, Value)>, Error> {
            Ok(Vec::new())
        }

        /// Returns the whole record, with nulls in properties that are not set.
        fn to_record(&self, schema: &RecordSchema) -> Result<model::Record, Error> {
            let mut values = vec![Value::Null; schema.fields.len()];
            for (position, value) in self.to_properties(schema)? {
                values[position] = value;
            }
            Ok(model::Record::new(values))
        }
    }
}

use hidden::Stored;

macro_rules! values {
    ($($type:ty => $fits:expr;)*) => {
        $(
            impl Stored for $type {
                type Column = $type;

                fn check(label: &LabelSchema) -> Result<(), Error> {
                    let fits: fn(&EdgeSchema) -> bool = $fits;
                    fits(&label.edges).then_some(()).ok_or_else(|| other_data(label, stringify!($type)))
                }

                #[inline]
                fn from_value(value: $type) -> Result<Self, Error> {
                    Ok(value)
                }

                #[inline]
                fn to_value(&self) -> $type {
                    *self
                }
            }
        )*
    };
}

values! {
    () => |_| true;
    u32 => |edges| edges.column() == ColumnType::U32;
    u64 => |edges| edges.column() == ColumnType::U64;
    i64 => |edges| edges.column() == ColumnType::I64;
    f32 => |edges| edges.column() == ColumnType::F32;
    f64 => |edges| edges.column() == ColumnType::F64;
    // For callers that know the type of the data only at run time: reads the existence of edges.
    RecordHandle => |edges| edges.column() == ColumnType::Record;
}

macro_rules! edge_types {
    ($($type:ty => $schema:expr;)*) => {
        $(impl EdgeType for $type {
            fn edge_schema() -> EdgeSchema {
                $schema
            }
        })*
    };
}

edge_types! {
    () => EdgeSchema::Topology;
    u32 => EdgeSchema::Value(ColumnType::U32);
    u64 => EdgeSchema::Value(ColumnType::U64);
    i64 => EdgeSchema::Value(ColumnType::I64);
    f32 => EdgeSchema::Value(ColumnType::F32);
    f64 => EdgeSchema::Value(ColumnType::F64);
}

impl Stored for Record {
    type Column = ();

    const IS_RECORD: bool = true;

    fn check(label: &LabelSchema) -> Result<(), Error> {
        label.edges.record().map(drop).ok_or_else(|| other_data(label, "a record"))
    }

    fn from_record(record: model::Record, names: &Names<'_>) -> Result<Self, Error> {
        Ok(Record::read(record, names))
    }

    fn to_properties(&self, schema: &RecordSchema) -> Result<Vec<(usize, Value)>, Error> {
        let (expected, found) = (schema.fields.len(), self.values().len());
        if expected != found {
            return Err(SchemaError::FieldCount { expected, found }.into());
        }
        // The store counts versions, so a version in the record is ignored.
        let is_set =
            |(position, _): &(usize, &Value)| schema.fields[*position].value_type != ValueType::Version;
        let values = self.values().iter().enumerate().filter(is_set);
        Ok(values.map(|(position, value)| (position, value.clone())).collect())
    }

    fn to_record(&self, _schema: &RecordSchema) -> Result<model::Record, Error> {
        Ok(self.stored().clone())
    }
}

impl<P: Properties> Stored for P {
    type Column = ();

    const IS_RECORD: bool = true;

    fn check(label: &LabelSchema) -> Result<(), Error> {
        let name = std::any::type_name::<P>();
        let stored = label.edges.record().ok_or_else(|| other_data(label, name))?;
        properties::check::<P>(stored, &label.name)
    }

    fn from_record(record: model::Record, names: &Names<'_>) -> Result<Self, Error> {
        properties::read(record.values(), names)
    }

    fn to_properties(&self, schema: &RecordSchema) -> Result<Vec<(usize, Value)>, Error> {
        properties::by_position(self, schema)
    }
}

impl<P: Properties> EdgeType for P {
    fn edge_schema() -> EdgeSchema {
        EdgeSchema::Record(P::schema())
    }
}

/// Describes the data of a label's edges, in words.
fn carried(label: &LabelSchema) -> String {
    match &label.edges {
        EdgeSchema::Topology => "no data".to_owned(),
        EdgeSchema::Value(column) => column.to_string(),
        EdgeSchema::Record(_) | EdgeSchema::Parallel(_) => "a record".to_owned(),
    }
}

/// Returns the error of putting edges of `label` without data.
pub(crate) fn no_data(label: &LabelSchema) -> Error {
    Reason::NoData(Box::new(NoData { label: label.name.clone(), carried: carried(label) })).into()
}

/// Returns the error of reading or writing edges of `label` as `asked`.
pub(crate) fn other_data(label: &LabelSchema, asked: &str) -> Error {
    let (label, carried) = (label.name.clone(), carried(label));
    Reason::OtherData(Box::new(OtherData { label, carried, asked: asked.to_owned() })).into()
}
