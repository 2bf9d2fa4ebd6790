//! Structs as records: each field is a property of the same name.

use crate::data::Names;
use crate::error::{Error, OtherProperty, Reason};
use hedgerow_model::{Field, RecordSchema, SchemaError, Value, ValueType};
use std::time::{Duration, SystemTime};

/// A struct whose fields are the properties of an edge or a vertex.
///
/// Derive it, with the feature `derive` (on by default). Each field is a property of its name and
/// of a type that implements [`Property`]; an `Option` may be null.
///
/// ```
/// use hedgerow::prelude::*;
///
/// #[derive(Properties, Debug, PartialEq)]
/// struct Pays {
///     amount: f64,
///     note: Option<String>,
/// }
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<Pays>("pays"))?;
/// let pays = graph.label::<Pays>("pays")?;
/// graph.put_edge_with(pays, 1, 2, Pays { amount: 9.5, note: None })?;
/// assert_eq!(graph.get_edge(pays, 1, 2)?, Some(Pays { amount: 9.5, note: None }));
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub trait Properties: Sized {
    /// Returns the names and types of the properties.
    fn schema() -> RecordSchema;

    /// Reads the properties by name.
    ///
    /// # Errors
    /// A property is missing, or its value does not fit the type of the field.
    fn read(properties: &ReadProperties<'_>) -> Result<Self, PropertyMismatch>;

    /// Returns the names and values to write, without a [`Version`].
    fn write(&self) -> Vec<(&'static str, Value)>;
}

/// The properties of a stored record, read by name.
#[derive(Clone, Copy, Debug)]
pub struct ReadProperties<'r> {
    schema: &'r RecordSchema,
    values: &'r [Value],
}

impl ReadProperties<'_> {
    /// Returns the value of a property. O(properties).
    ///
    /// # Errors
    /// There is no such property, or its value does not fit `P`.
    pub fn get<P: Property>(&self, name: &'static str) -> Result<P, PropertyMismatch> {
        let position = self.schema.fields.iter().position(|field| field.name == name);
        let value = position.and_then(|position| self.values.get(position));
        let read = value.and_then(P::from_value);
        read.ok_or_else(|| PropertyMismatch { property: name, found: value.cloned(), expected: P::TYPE })
    }
}

/// A stored property cannot be read as the type of a field.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", mismatch(property, found.as_ref(), *expected))]
pub struct PropertyMismatch {
    /// The name of the property.
    pub property: &'static str,
    /// Its value; `None` if there is no such property.
    pub found: Option<Value>,
    /// The type that the field needs.
    pub expected: ValueType,
}

fn mismatch(property: &str, found: Option<&Value>, expected: ValueType) -> String {
    match found {
        None => format!("there is no property {property:?}"),
        Some(Value::Null) => format!("property {property:?} is null: make its field an `Option`"),
        Some(value) => {
            format!("property {property:?} is {value:?}, which does not fit a field of type {expected}")
        }
    }
}

/// A type that can be a field of a struct with [`Properties`].
///
/// Implemented for `bool`, `i64`, `i32`, `u32`, `u64`, `f64`, `f32`, `String`, `Vec<u8>`,
/// [`SystemTime`], [`Version`], and `Option`s of these. A [`SystemTime`] is rounded down to
/// microseconds.
pub trait Property: Sized {
    /// The type of the property.
    const TYPE: ValueType;

    /// True if the property may be null.
    const NULLABLE: bool = false;

    /// Converts a stored value to the field; `None` if it does not fit.
    fn from_value(value: &Value) -> Option<Self>;

    /// Returns the value to write; `None` for a [`Version`], which the store counts.
    fn to_value(&self) -> Option<Value>;
}

/// The number of puts and changes of a record: 1 when it is put, one more with each change. The
/// store counts them, so a written value has no effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Version(pub i64);

macro_rules! properties {
    ($($type:ty: $variant:ident, $stored:ident => $read:expr, $written:expr;)*) => {
        $(
            impl Property for $type {
                const TYPE: ValueType = ValueType::$variant;

                fn from_value(value: &Value) -> Option<Self> {
                    match value {
                        Value::$variant($stored) => $read,
                        _ => None,
                    }
                }

                fn to_value(&self) -> Option<Value> {
                    let write: fn(&$type) -> Value = $written;
                    Some(write(self))
                }
            }
        )*
    };
}

properties! {
    bool: Bool, truth => Some(*truth), |truth| Value::Bool(*truth);
    i64: I64, number => Some(*number), |number| Value::I64(*number);
    i32: I64, number => i32::try_from(*number).ok(), |number| Value::from(*number);
    u32: I64, number => u32::try_from(*number).ok(), |number| Value::from(*number);
    u64: U64, number => Some(*number), |number| Value::U64(*number);
    f64: F64, number => Some(*number), |number| Value::F64(*number);
    f32: F64, number => Some(*number as f32), |number| Value::from(*number);
    String: String, text => Some(text.as_ref().to_owned()), |text| Value::from(text.as_str());
    Vec<u8>: Bytes, bytes => Some(bytes.to_vec()), |bytes| Value::from(bytes.as_slice());
    SystemTime: Timestamp, microseconds => time(*microseconds), |time| Value::from(*time);
}

/// Converts microseconds since 1970 to a time, if the platform can represent it.
fn time(microseconds: i64) -> Option<SystemTime> {
    let distance = Duration::from_micros(microseconds.unsigned_abs());
    match microseconds {
        0.. => SystemTime::UNIX_EPOCH.checked_add(distance),
        _ => SystemTime::UNIX_EPOCH.checked_sub(distance),
    }
}

impl Property for Version {
    const TYPE: ValueType = ValueType::Version;

    fn from_value(value: &Value) -> Option<Self> {
        value.as_i64().map(Version)
    }

    fn to_value(&self) -> Option<Value> {
        None
    }
}

impl<P: Property> Property for Option<P> {
    const TYPE: ValueType = P::TYPE;
    const NULLABLE: bool = true;

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => P::from_value(value).map(Some),
        }
    }

    fn to_value(&self) -> Option<Value> {
        self.as_ref().map_or(Some(Value::Null), P::to_value)
    }
}

/// Fails if records of the schema, on edges of a label, cannot be read as `P`.
pub(super) fn check<P: Properties>(stored: &RecordSchema, label: &str) -> Result<(), Error> {
    for Field { name, value_type, nullable } in P::schema().fields {
        let field = &stored.fields[stored.position(&name)?];
        if field.value_type != value_type || (field.nullable && !nullable) {
            let described = |value_type, nullable| {
                format!("{value_type}{}", if nullable { ", which may be null" } else { "" })
            };
            let other = OtherProperty {
                label: label.to_owned(),
                stored: described(field.value_type, field.nullable),
                asked: described(value_type, nullable),
                property: name,
            };
            return Err(Reason::OtherProperty(Box::new(other)).into());
        }
    }
    Ok(())
}

/// Reads the properties of a record.
pub(crate) fn read<P: Properties>(values: &[Value], names: &Names<'_>) -> Result<P, Error> {
    let empty = RecordSchema::default();
    let schema = names.schema().unwrap_or(&empty);
    Ok(P::read(&ReadProperties { schema, values })?)
}

/// Returns the properties to set, by their positions in the schema.
pub(crate) fn by_position<P: Properties>(
    properties: &P,
    schema: &RecordSchema,
) -> Result<Vec<(usize, Value)>, Error> {
    let properties = properties.write().into_iter();
    Ok(properties
        .map(|(name, value)| Ok((schema.position(name)?, value)))
        .collect::<Result<_, SchemaError>>()?)
}
