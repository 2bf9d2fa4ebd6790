//! Property values and records.

use std::sync::Arc;
use std::time::SystemTime;

/// The type of a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// True or false.
    Bool,
    /// A signed 64-bit integer.
    I64,
    /// An unsigned 64-bit integer.
    U64,
    /// A 64-bit float.
    F64,
    /// UTF-8 text.
    String,
    /// Any bytes.
    Bytes,
    /// Microseconds since 1970-01-01 UTC.
    Timestamp,
    /// The number of changes of the record, counted by the store: 1 when it is put, one more with
    /// each change. Its values are [`Value::I64`] and never null; they cannot be set, but
    /// conditions may require a value. Edges only.
    Version,
}

impl ValueType {
    /// All types whose values can be set.
    pub const ALL: [ValueType; 7] = [
        ValueType::Bool,
        ValueType::I64,
        ValueType::U64,
        ValueType::F64,
        ValueType::String,
        ValueType::Bytes,
        ValueType::Timestamp,
    ];
}

crate::names!(ValueType, "type of properties":
    Bool => "bool", I64 => "i64", U64 => "u64", F64 => "f64", String => "string", Bytes => "bytes",
    Timestamp => "timestamp", Version => "version");

/// The value of a property.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    I64(i64),
    /// An unsigned 64-bit integer.
    U64(u64),
    /// A 64-bit float.
    F64(f64),
    /// UTF-8 text.
    String(Arc<str>),
    /// Any bytes.
    Bytes(Arc<[u8]>),
    /// Microseconds since 1970-01-01 UTC.
    Timestamp(i64),
}

/// A borrowed property value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'v> {
    /// No value.
    Null,
    /// True or false.
    Bool(bool),
    /// A signed 64-bit integer.
    I64(i64),
    /// An unsigned 64-bit integer.
    U64(u64),
    /// A 64-bit float.
    F64(f64),
    /// UTF-8 text.
    String(&'v str),
    /// Any bytes.
    Bytes(&'v [u8]),
    /// Microseconds since 1970-01-01 UTC.
    Timestamp(i64),
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Value::Null,
            ValueRef::Bool(value) => Value::Bool(value),
            ValueRef::I64(value) => Value::I64(value),
            ValueRef::U64(value) => Value::U64(value),
            ValueRef::F64(value) => Value::F64(value),
            ValueRef::String(text) => Value::String(text.into()),
            ValueRef::Bytes(bytes) => Value::Bytes(bytes.into()),
            ValueRef::Timestamp(time) => Value::Timestamp(time),
        }
    }
}

/// Serializes the content: null, a Boolean, a number, a text, bytes; a timestamp as its
/// microseconds. The schema determines the type.
#[cfg(feature = "serde")]
impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(truth) => serializer.serialize_bool(*truth),
            Value::I64(number) | Value::Timestamp(number) => serializer.serialize_i64(*number),
            Value::U64(number) => serializer.serialize_u64(*number),
            Value::F64(number) => serializer.serialize_f64(*number),
            Value::String(text) => serializer.serialize_str(text),
            Value::Bytes(bytes) => serializer.serialize_bytes(bytes),
        }
    }
}

impl ValueRef<'_> {
    /// The type, or `None` for [`ValueRef::Null`], which has every type.
    #[must_use]
    pub fn value_type(&self) -> Option<ValueType> {
        match self {
            ValueRef::Null => None,
            ValueRef::Bool(_) => Some(ValueType::Bool),
            ValueRef::I64(_) => Some(ValueType::I64),
            ValueRef::U64(_) => Some(ValueType::U64),
            ValueRef::F64(_) => Some(ValueType::F64),
            ValueRef::String(_) => Some(ValueType::String),
            ValueRef::Bytes(_) => Some(ValueType::Bytes),
            ValueRef::Timestamp(_) => Some(ValueType::Timestamp),
        }
    }
}

impl Value {
    /// The type, or `None` for [`Value::Null`], which has every type.
    #[must_use]
    pub fn value_type(&self) -> Option<ValueType> {
        match self {
            Value::Null => None,
            Value::Bool(_) => Some(ValueType::Bool),
            Value::I64(_) => Some(ValueType::I64),
            Value::U64(_) => Some(ValueType::U64),
            Value::F64(_) => Some(ValueType::F64),
            Value::String(_) => Some(ValueType::String),
            Value::Bytes(_) => Some(ValueType::Bytes),
            Value::Timestamp(_) => Some(ValueType::Timestamp),
        }
    }

    /// The content of a [`Value::Bool`]; `None` for other values.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Value::Bool(truth) = self { Some(*truth) } else { None }
    }

    /// The number of a [`Value::I64`]; `None` for other values.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Value::I64(number) = self { Some(*number) } else { None }
    }

    /// The number of a [`Value::U64`]; `None` for other values.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Value::U64(number) = self { Some(*number) } else { None }
    }

    /// The number of a [`Value::F64`]; `None` for other values.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        if let Value::F64(number) = self { Some(*number) } else { None }
    }

    /// The text of a [`Value::String`]; `None` for other values.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// The bytes of a [`Value::Bytes`]; `None` for other values.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    /// The microseconds since 1970-01-01 UTC of a [`Value::Timestamp`]; `None` for other values.
    #[must_use]
    pub fn as_timestamp(&self) -> Option<i64> {
        if let Value::Timestamp(microseconds) = self { Some(*microseconds) } else { None }
    }

    /// Heap bytes of this value.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Value::String(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

macro_rules! into_value {
    ($($type:ty => $variant:ident),*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Value::$variant(value.into())
            }
        })*
    };
}

into_value!(bool => Bool, i64 => I64, i32 => I64, u32 => I64, u64 => U64, f64 => F64, f32 => F64, &str => String, String => String, &[u8] => Bytes, Vec<u8> => Bytes);

impl<T: Into<Value>> From<Option<T>> for Value {
    /// The value, or null.
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, T::into)
    }
}

impl From<SystemTime> for Value {
    /// The timestamp, rounded down to microseconds. Times out of the range of 64 bits become the
    /// nearest time in range.
    fn from(time: SystemTime) -> Self {
        let microseconds = match time.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => {
                let nanoseconds = before.duration().as_nanos();
                i64::try_from(nanoseconds.div_ceil(1000)).map_or(i64::MIN, |microseconds| -microseconds)
            }
        };
        Value::Timestamp(microseconds)
    }
}

/// The properties of a vertex or an edge: one value per field of the
/// [`RecordSchema`](crate::RecordSchema), in its order.
///
/// Cheap to clone; never changed in place, so that snapshots can share it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record(Option<Arc<[Value]>>);

impl Record {
    /// The record without fields.
    pub const EMPTY: Record = Record(None);

    /// A record of these values.
    #[must_use]
    pub fn new(values: Vec<Value>) -> Self {
        Record((!values.is_empty()).then(|| values.into()))
    }

    /// A record of these values, which are removed from the vector. Allocates once.
    #[must_use]
    pub fn of(values: &mut Vec<Value>) -> Self {
        Record((!values.is_empty()).then(|| values.drain(..).collect()))
    }

    /// The values, in the order of the schema's fields.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Returns true if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Heap bytes of this record.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let inline = std::mem::size_of_val(self.values());
        inline + self.values().iter().map(Value::heap_bytes).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn options_are_null_without_a_value() {
        assert_eq!(Value::from(None::<&str>), Value::Null);
        assert_eq!(Value::from(Some("rent")), Value::from("rent"));
    }

    #[test]
    fn times_are_rounded_down_to_microseconds() {
        let after = |nanoseconds| Value::from(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds));
        let before = |nanoseconds| Value::from(SystemTime::UNIX_EPOCH - Duration::from_nanos(nanoseconds));
        assert_eq!((after(0), after(1_999)), (Value::Timestamp(0), Value::Timestamp(1)));
        assert_eq!((before(1), before(1_000), before(1_001)), {
            let [first, second] = [-1, -2].map(Value::Timestamp);
            (first.clone(), first, second)
        });
    }
}
