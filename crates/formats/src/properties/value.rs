//! Converts cells to values, and values to text.

use super::zone::{Zone, text_of_timestamp};
use crate::VertexKey;
use hedgerow_model::{Column, ColumnType, EdgeValue, KeyKind, KeyRef, Value, ValueType};
use std::borrow::Cow;
use std::fmt;
use std::io::Write;

/// A cell of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    /// Null: an empty field, or a member that is null or missing.
    Null,
    /// A field of a CSV file, unquoted.
    Text(&'a str),
    /// A JSON value that is not null.
    Json(&'a str),
}

/// The type of a place in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Property(ValueType),
    /// The value of an edge.
    Value(ColumnType),
    /// The number of a parallel edge.
    Number,
}

/// Text with its JSON type; text of a CSV file may be of any type.
enum Scalar<'a> {
    Any(&'a str),
    String(Cow<'a, str>),
    /// A number, or true or false.
    Bare(&'a str),
}

impl Cell<'_> {
    /// The text for messages.
    pub fn shown(&self) -> &str {
        match self {
            Cell::Null => "",
            Cell::Text(text) | Cell::Json(text) => text,
        }
    }

    /// The text, without the quotation marks of JSON.
    pub fn text(&self) -> Cow<'_, str> {
        match self.scalar() {
            Some(Scalar::String(text)) => text,
            _ => self.shown().into(),
        }
    }

    fn scalar(&self) -> Option<Scalar<'_>> {
        match self {
            Cell::Null => None,
            Cell::Text(text) => Some(Scalar::Any(text)),
            Cell::Json(text) => match text.as_bytes().first()? {
                b'"' => serde_json::from_str::<String>(text).ok().map(|text| Scalar::String(text.into())),
                b'[' | b'{' => None,
                _ => Some(Scalar::Bare(text)),
            },
        }
    }

    /// Parses the key; the error says what is expected.
    pub fn key<K: VertexKey>(&self) -> Result<K, String> {
        match (self.scalar(), K::KIND) {
            (Some(Scalar::Any(text)), _) => K::of_text(text).map_err(|problem| {
                let problem = problem.to_string();
                problem.strip_prefix("expected ").unwrap_or(&problem).to_owned()
            }),
            (Some(Scalar::Bare(text)), KeyKind::Number | KeyKind::Dense)
                if text != "true" && text != "false" =>
            {
                K::of_text(text).map_err(|_| format!("a vertex key: a whole number from 0 to {}", u64::MAX))
            }
            (Some(Scalar::String(text)), KeyKind::String) => {
                K::of_text(&text).map_err(|problem| problem.to_string())
            }
            (_, KeyKind::Number | KeyKind::Dense) => Err("a vertex key: a number".into()),
            (_, KeyKind::String) => Err("a vertex key: text".into()),
        }
    }

    /// Parses the value of a property of this type, a time without an offset as one of `zone`;
    /// `None` if it is invalid.
    pub fn property(&self, value_type: ValueType, zone: &Zone) -> Option<Value> {
        let (scalar, is_csv) = (self.scalar()?, matches!(self, Cell::Text(_)));
        let string = match &scalar {
            Scalar::Any(text) => Some(*text),
            Scalar::String(text) => Some(&**text),
            Scalar::Bare(_) => None,
        };
        let bare = match &scalar {
            Scalar::Any(text) | Scalar::Bare(text) => Some(*text),
            Scalar::String(_) => None,
        };
        match value_type {
            ValueType::Bool => truth(bare?, is_csv).map(Value::Bool),
            ValueType::I64 | ValueType::Version => bare?.parse().ok().map(Value::I64),
            ValueType::U64 => bare?.parse().ok().map(Value::U64),
            ValueType::F64 => match bare {
                Some(bare) => f64::parse(bare).map(Value::F64),
                // JSON expresses floats that are not finite only as strings.
                None => f64::parse(string?).filter(|value| !value.is_finite()).map(Value::F64),
            },
            ValueType::String => string.map(|text| Value::String(text.into())),
            ValueType::Bytes => bytes(string?).map(|bytes| Value::Bytes(bytes.into())),
            ValueType::Timestamp => {
                let number = bare.and_then(|text| text.parse().ok());
                let is_time = is_csv || bare.is_none();
                let time = || string.filter(|_| is_time).and_then(|text| zone.microseconds(text));
                number.or_else(time).map(Value::Timestamp)
            }
        }
    }

    /// Parses the number of a parallel edge, or a time after 1970 as its microseconds; `None` if it
    /// is neither.
    pub fn number(&self, zone: &Zone) -> Option<EdgeValue> {
        let number = self.edge_value(ColumnType::U64);
        number.or_else(|| {
            let time = self.property(ValueType::Timestamp, zone)?.as_timestamp()?;
            u64::try_from(time).ok().map(Column::to_bits)
        })
    }

    /// Parses the value of an edge; `None` if it is not of this type.
    pub fn edge_value(&self, column: ColumnType) -> Option<EdgeValue> {
        let scalar = self.scalar()?;
        let (text, is_string) = match &scalar {
            Scalar::Any(text) | Scalar::Bare(text) => (*text, false),
            Scalar::String(text) => (&**text, true),
        };
        let is_allowed = |is_finite: bool| !is_string || !is_finite;
        let whole = Some(text).filter(|_| !is_string);
        match column {
            ColumnType::Unit | ColumnType::Record => None,
            ColumnType::U32 => whole?.parse::<u32>().ok().map(Column::to_bits),
            ColumnType::U64 => whole?.parse::<u64>().ok().map(Column::to_bits),
            ColumnType::I64 => whole?.parse::<i64>().ok().map(Column::to_bits),
            ColumnType::F32 => {
                f32::parse(text).filter(|value| is_allowed(value.is_finite())).map(Column::to_bits)
            }
            ColumnType::F64 => {
                f64::parse(text).filter(|value| is_allowed(value.is_finite())).map(Column::to_bits)
            }
        }
    }
}

/// Parses a property of this type from text in the form of a CSV field; the error says what is
/// expected.
pub fn property_of_text(text: &str, value_type: ValueType) -> Result<Value, String> {
    let value = Cell::Text(text).property(value_type, &Zone::default());
    value.ok_or_else(|| Kind::Property(value_type).expected())
}

/// Parses microseconds since 1970, in UTC, from a number, a date or a time, rounded down to
/// microseconds; the error says what is expected.
pub fn timestamp_of_text(text: &str) -> Result<i64, String> {
    let kind = ValueType::Timestamp;
    let value = Cell::Text(text).property(kind, &Zone::default());
    value.and_then(|value| value.as_timestamp()).ok_or_else(|| Kind::Property(kind).expected())
}

/// Parsing of floats.
trait Float: Sized {
    /// The float nearest to this number; `None` if the text is not a number, or one out of range.
    fn parse(text: &str) -> Option<Self>;
}

impl Float for f64 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|value: &f64| !value.is_infinite() || is_infinity(text))
    }
}

impl Float for f32 {
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|value: &f32| !value.is_infinite() || is_infinity(text))
    }
}

/// Returns true if the text is a word for infinity, not a number too large.
fn is_infinity(text: &str) -> bool {
    !text.contains(|character: char| character.is_ascii_digit())
}

/// Parses bytes from hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok();
    text.len().is_multiple_of(2).then(|| text.as_bytes().chunks(2).map(pair).collect())?
}

/// Parses true or false; in CSV also as most programs write it.
fn truth(text: &str, is_csv: bool) -> Option<bool> {
    match text {
        "True" | "TRUE" if is_csv => Some(true),
        "False" | "FALSE" if is_csv => Some(false),
        _ => text.parse().ok(),
    }
}

impl Kind {
    /// The expectation for messages.
    pub fn expected(self) -> String {
        let (what, name) = match self {
            Kind::Property(value_type) => (
                match value_type {
                    ValueType::Bool => "true or false",
                    ValueType::I64 | ValueType::Version => return whole(i64::MIN, i64::MAX, self),
                    ValueType::U64 => return whole(0, u64::MAX, self),
                    ValueType::F64 => "a number that 64-bit floats can hold",
                    ValueType::String => "text",
                    ValueType::Bytes => "bytes as pairs of hexadecimal digits",
                    ValueType::Timestamp => {
                        "microseconds since 1970 as a whole number, or a time such as 2026-01-31T12:00:00Z"
                    }
                },
                value_type.name(),
            ),
            Kind::Number => ("a whole number or a time after 1970 that distinguishes parallel edges", "key"),
            Kind::Value(column) => match column {
                ColumnType::Unit | ColumnType::Record => ("nothing", "()"),
                ColumnType::U32 => return whole(0, u32::MAX, self),
                ColumnType::U64 => return whole(0, u64::MAX, self),
                ColumnType::I64 => return whole(i64::MIN, i64::MAX, self),
                ColumnType::F32 => ("a number that 32-bit floats can hold", "f32"),
                ColumnType::F64 => ("a number that 64-bit floats can hold", "f64"),
            },
        };
        format!("{what} ({name})")
    }
}

fn whole(from: impl fmt::Display, to: impl fmt::Display, kind: Kind) -> String {
    format!("a whole number from {from} to {to} ({kind})")
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Property(value_type) => value_type.fmt(f),
            Kind::Value(column) => column.fmt(f),
            Kind::Number => f.write_str("key"),
        }
    }
}

/// The style in which values are written.
#[derive(Clone, Copy)]
pub(super) struct Style {
    /// True for JSON, false for CSV.
    pub json: bool,
    /// True to write times as numbers.
    pub raw_times: bool,
}

impl Style {
    pub fn push_key(self, key: KeyRef<'_>, buffer: &mut Vec<u8>) {
        match key {
            KeyRef::Number(number) => push(number, buffer),
            KeyRef::Text(text) => self.push_text(text, buffer),
            KeyRef::Negative(number) => push(number, buffer),
        }
    }

    pub fn push_property(self, value: &Value, buffer: &mut Vec<u8>) {
        match value {
            Value::Null if self.json => buffer.extend_from_slice(b"null"),
            Value::Null => {}
            Value::Bool(truth) => push(truth, buffer),
            Value::I64(number) => push(number, buffer),
            Value::Timestamp(time) => match text_of_timestamp(*time).filter(|_| !self.raw_times) {
                Some(text) => self.push_text(&text, buffer),
                None => push(time, buffer),
            },
            Value::U64(number) => push(number, buffer),
            Value::F64(number) => self.push_float(*number, number.is_finite(), buffer),
            Value::String(text) => self.push_text(text, buffer),
            Value::Bytes(bytes) => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                self.push_text(&digits, buffer);
            }
        }
    }

    pub fn push_value(self, value: EdgeValue, column: ColumnType, buffer: &mut Vec<u8>) {
        match column {
            ColumnType::Unit | ColumnType::Record => {}
            ColumnType::U32 => push(u32::from_bits(value), buffer),
            ColumnType::U64 => push(u64::from_bits(value), buffer),
            ColumnType::I64 => push(i64::from_bits(value), buffer),
            ColumnType::F32 => {
                let value = <f32 as Column>::from_bits(value);
                self.push_float(value, value.is_finite(), buffer);
            }
            ColumnType::F64 => {
                let value = <f64 as Column>::from_bits(value);
                self.push_float(value, value.is_finite(), buffer);
            }
        }
    }

    /// Writes the fewest digits that parse to the same float; JSON has no numbers that are not
    /// finite.
    fn push_float(self, value: impl fmt::Debug, is_finite: bool, buffer: &mut Vec<u8>) {
        let text = format!("{value:?}").replace("inf", "Infinity");
        if is_finite { buffer.extend_from_slice(text.as_bytes()) } else { self.push_text(&text, buffer) }
    }

    /// Writes text in quotation marks, in CSV only where it needs them.
    pub fn push_text(self, text: &str, buffer: &mut Vec<u8>) {
        if self.json {
            serde_json::to_writer(buffer, text).expect("text is JSON");
        } else {
            buffer.extend_from_slice(csv_field(text).as_bytes());
        }
    }
}

/// A text as a field of a CSV file: in quotation marks if it is empty or needs them. O(length).
#[must_use]
pub fn csv_field(text: &str) -> Cow<'_, str> {
    if text.is_empty() || text.contains(['"', ',', '\r', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

fn push(value: impl fmt::Display, buffer: &mut Vec<u8>) {
    write!(buffer, "{value}").expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(text: &str, value_type: ValueType) -> Option<Value> {
        Cell::Text(text).property(value_type, &Zone::default())
    }

    fn json(text: &str, value_type: ValueType) -> Option<Value> {
        Cell::Json(text).property(value_type, &Zone::default())
    }

    #[test]
    fn fields_of_csv_are_what_their_type_says() {
        assert_eq!(csv("true", ValueType::Bool), Some(Value::Bool(true)));
        assert_eq!(csv("9223372036854775807", ValueType::I64), Some(Value::I64(i64::MAX)));
        assert_eq!(csv("18446744073709551615", ValueType::U64), Some(Value::U64(u64::MAX)));
        assert_eq!(csv("1e-300", ValueType::F64), Some(Value::F64(1e-300)));
        assert_eq!(csv("-Infinity", ValueType::F64), Some(Value::F64(f64::NEG_INFINITY)));
        assert_eq!(csv("", ValueType::String), Some(Value::from("")));
        assert_eq!(csv("00fF", ValueType::Bytes), Some(Value::from(vec![0, 255])));
        assert_eq!(csv("-5", ValueType::Timestamp), Some(Value::Timestamp(-5)));
        for (text, value_type) in [
            ("yes", ValueType::Bool),
            ("9223372036854775808", ValueType::I64),
            ("1.0", ValueType::I64),
            ("18446744073709551616", ValueType::U64),
            ("-1", ValueType::U64),
            ("1e999", ValueType::F64),
            ("", ValueType::F64),
            ("0", ValueType::Bytes),
            ("+1", ValueType::Bytes),
            ("ü", ValueType::Bytes),
            ("yesterday", ValueType::Timestamp),
        ] {
            assert_eq!(csv(text, value_type), None, "{text}");
        }
    }

    #[test]
    fn members_of_json_are_of_the_types_of_json() {
        assert_eq!(json("true", ValueType::Bool), Some(Value::Bool(true)));
        assert_eq!(json("18446744073709551615", ValueType::U64), Some(Value::U64(u64::MAX)));
        assert_eq!(json("3", ValueType::F64), Some(Value::F64(3.0)));
        assert_eq!(json("\"Infinity\"", ValueType::F64), Some(Value::F64(f64::INFINITY)));
        assert_eq!(json("\"a\\u00fc\\n\"", ValueType::String), Some(Value::from("aü\n")));
        for (text, value_type) in [
            ("\"true\"", ValueType::Bool),
            ("\"3\"", ValueType::I64),
            ("\"3\"", ValueType::U64),
            ("1e3", ValueType::U64),
            ("3.5", ValueType::I64),
            ("\"3\"", ValueType::F64),
            ("true", ValueType::F64),
            ("3", ValueType::String),
            ("12", ValueType::Bytes),
            ("\"12\"", ValueType::Timestamp),
            ("[1]", ValueType::I64),
            ("{}", ValueType::String),
        ] {
            assert_eq!(json(text, value_type), None, "{text}");
        }
    }

    #[test]
    fn times_are_microseconds_rounded_down() {
        for (text, microseconds) in [
            ("1970-01-01T00:00:01Z", 1_000_000),
            ("1970-01-01T02:00:00.5+02:00", 500_000),
            ("1969-12-31T23:59:59.999999999Z", -1),
            ("2026-01-31T12:00:00.000001Z", 1_769_860_800_000_001),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
            ("9999-12-31T23:59:59Z", 253_402_300_799_000_000),
            ("9999-12-31T23:59:59-23:59", 253_402_387_139_000_000),
            ("0000-01-01T00:00:00+23:59", -62_167_305_540_000_000),
        ] {
            assert_eq!(csv(text, ValueType::Timestamp), Some(Value::Timestamp(microseconds)), "{text}");
            assert_eq!(
                json(&format!("{text:?}"), ValueType::Timestamp),
                Some(Value::Timestamp(microseconds))
            );
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for (microseconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (1_769_860_800_500_000, "2026-01-31T12:00:00.500000Z"),
            (1_769_860_800_000_001, "2026-01-31T12:00:00.000001Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"),
        ] {
            assert_eq!(text_of_timestamp(microseconds).as_deref(), Some(text));
            assert_eq!(timestamp_of_text(text), Ok(microseconds));
        }
        for microseconds in [i64::MIN, -62_167_219_200_000_001, 253_402_300_800_000_000, i64::MAX] {
            assert_eq!(text_of_timestamp(microseconds), None);
        }
    }

    #[test]
    fn keys_are_of_their_kind() {
        assert_eq!(Cell::Text("7").key::<u64>(), Ok(7));
        assert_eq!(Cell::Json("7").key::<u64>(), Ok(7));
        assert_eq!(Cell::Json("\"a, b\"").key::<Box<str>>().as_deref(), Ok("a, b"));
        for cell in [
            Cell::Null,
            Cell::Text("x"),
            Cell::Text("-1"),
            Cell::Json("1.5"),
            Cell::Json("\"7\""),
            Cell::Json("true"),
        ] {
            assert!(cell.key::<u64>().is_err(), "{cell:?}");
        }
        for cell in [Cell::Null, Cell::Json("7")] {
            assert!(cell.key::<Box<str>>().is_err(), "{cell:?}");
        }
    }
}
