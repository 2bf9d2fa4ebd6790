//! Edge values on the command line and in output.

use crate::error::StoredError;
use crate::float;
use hedgerow::{Column, ColumnType, LabelSchema};
use hedgerow_model::EdgeValue;
use serde::Serialize;
use std::fmt;

/// An edge value of any type.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EdgeNumber {
    /// The label carries no values.
    None,
    U32(u32),
    U64(u64),
    I64(i64),
    F32(#[serde(serialize_with = "float::serialize")] f32),
    F64(#[serde(serialize_with = "float::serialize")] f64),
}

impl EdgeNumber {
    /// A value that was read.
    pub fn of<W: Column>(value: W) -> Self {
        let bits = value.to_bits();
        match W::TYPE {
            // An edge record is not a number.
            ColumnType::Unit | ColumnType::Record => EdgeNumber::None,
            ColumnType::U32 => EdgeNumber::U32(u32::from_bits(bits)),
            ColumnType::U64 => EdgeNumber::U64(u64::from_bits(bits)),
            ColumnType::I64 => EdgeNumber::I64(i64::from_bits(bits)),
            ColumnType::F32 => EdgeNumber::F32(<f32 as Column>::from_bits(bits)),
            ColumnType::F64 => EdgeNumber::F64(<f64 as Column>::from_bits(bits)),
        }
    }

    /// Parses the value that `--value` gives to an edge of this label. NaN is refused, since no
    /// shortest path has such a weight.
    pub fn given(text: Option<&str>, label: &LabelSchema) -> Result<Self, StoredError> {
        let column = label.edges.column();
        let wrong = |given: String| StoredError::Value {
            given,
            label: label.name.clone(),
            declared: describe(column),
        };
        let Some(text) = text else {
            let is_none = column == ColumnType::Unit;
            return is_none.then_some(EdgeNumber::None).ok_or_else(|| wrong("--value is missing".into()));
        };
        let parsed = match column {
            ColumnType::Unit | ColumnType::Record => None,
            ColumnType::U32 => text.parse().ok().map(EdgeNumber::U32),
            ColumnType::U64 => text.parse().ok().map(EdgeNumber::U64),
            ColumnType::I64 => text.parse().ok().map(EdgeNumber::I64),
            ColumnType::F32 => text.parse().ok().map(EdgeNumber::F32),
            ColumnType::F64 => text.parse().ok().map(EdgeNumber::F64),
        };
        if parsed.is_some_and(EdgeNumber::is_nan) {
            return Err(wrong(format!("--value {text:?} is not a number")));
        }
        parsed.ok_or_else(|| wrong(format!("--value {text:?}")))
    }

    fn is_nan(self) -> bool {
        match self {
            EdgeNumber::F32(value) => value.is_nan(),
            EdgeNumber::F64(value) => value.is_nan(),
            _ => false,
        }
    }

    /// The bits as they are stored.
    pub fn bits(self) -> EdgeValue {
        match self {
            EdgeNumber::None => ().to_bits(),
            EdgeNumber::U32(value) => value.to_bits(),
            EdgeNumber::U64(value) => value.to_bits(),
            EdgeNumber::I64(value) => value.to_bits(),
            EdgeNumber::F32(value) => Column::to_bits(value),
            EdgeNumber::F64(value) => Column::to_bits(value),
        }
    }

    /// The number as a weight in a file, if there is one; an error if a 64-bit float cannot
    /// represent it exactly.
    pub fn weight(self) -> Result<Option<f64>, Self> {
        let weight = match self {
            EdgeNumber::None => return Ok(None),
            EdgeNumber::U32(value) => Some(f64::from(value)),
            EdgeNumber::U64(value) => Some(value as f64).filter(|float| *float as u128 == u128::from(value)),
            EdgeNumber::I64(value) => Some(value as f64).filter(|float| *float as i128 == i128::from(value)),
            EdgeNumber::F32(value) => Some(f64::from(value)),
            EdgeNumber::F64(value) => Some(value),
        };
        weight.map(Some).ok_or(self)
    }
}

/// Describes the content of a label's edges.
pub fn describe(column: ColumnType) -> String {
    match column {
        ColumnType::Unit => "no value".into(),
        ColumnType::Record => "records, whose properties `put edge --property` sets".into(),
        column => format!("a value of type {column}"),
    }
}

impl fmt::Display for EdgeNumber {
    /// Writes the fewest digits that parse to the same number; nothing if there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EdgeNumber::None => Ok(()),
            EdgeNumber::U32(value) => value.fmt(f),
            EdgeNumber::U64(value) => value.fmt(f),
            EdgeNumber::I64(value) => value.fmt(f),
            EdgeNumber::F32(value) => float::display(*value, f),
            EdgeNumber::F64(value) => float::display(*value, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::EdgeSchema;

    fn label(column: ColumnType) -> LabelSchema {
        LabelSchema { name: "road".into(), edges: EdgeSchema::Value(column) }
    }

    #[test]
    fn values_are_of_the_type_of_their_label() {
        let given = |text, column| EdgeNumber::given(text, &label(column)).map_err(|error| error.to_string());
        assert_eq!(given(Some("7"), ColumnType::U32), Ok(EdgeNumber::U32(7)));
        assert_eq!(given(Some("-7"), ColumnType::I64), Ok(EdgeNumber::I64(-7)));
        assert_eq!(given(Some("0.5"), ColumnType::F64), Ok(EdgeNumber::F64(0.5)));
        assert_eq!(given(None, ColumnType::Unit), Ok(EdgeNumber::None));
        let refused = [
            (
                Some("-7"),
                ColumnType::U32,
                "--value \"-7\": the edges of the label \"road\" carry a value of type u32",
            ),
            (Some("7"), ColumnType::Unit, "--value \"7\": the edges of the label \"road\" carry no value"),
            (
                None,
                ColumnType::F32,
                "--value is missing: the edges of the label \"road\" carry a value of type f32",
            ),
        ];
        for (text, column, expected) in refused {
            assert_eq!(given(text, column), Err(expected.to_owned()));
        }
    }

    #[test]
    fn values_come_back_from_their_bits() {
        assert_eq!(EdgeNumber::of(f32::from_bits(0x3f00_0000)), EdgeNumber::F32(0.5));
        assert_eq!(<f32 as Column>::from_bits(EdgeNumber::F32(0.5).bits()), 0.5);
        assert_eq!(<i64 as Column>::from_bits(EdgeNumber::I64(-1).bits()), -1);
    }

    #[test]
    fn weights_are_exact() {
        let exact = 1 << 53;
        assert_eq!(EdgeNumber::U64(exact).weight(), Ok(Some(exact as f64)));
        assert_eq!(EdgeNumber::U64(exact + 1).weight(), Err(EdgeNumber::U64(exact + 1)));
        assert_eq!(EdgeNumber::U64(u64::MAX).weight(), Err(EdgeNumber::U64(u64::MAX)));
        assert_eq!(EdgeNumber::I64(i64::MAX).weight(), Err(EdgeNumber::I64(i64::MAX)));
        assert_eq!(EdgeNumber::I64(i64::MIN).weight(), Ok(Some(i64::MIN as f64)));
        assert_eq!(EdgeNumber::None.weight(), Ok(None));
    }
}
