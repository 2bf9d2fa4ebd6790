//! The weights of edges: values, or a property of their records.

use crate::record::RecordValues;
use crate::wire::DecodeError;
use hedgerow_model::{Column, ColumnType, EdgeValue, ValueRef};

/// The weight of a label's edges, a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeWeight {
    /// The value, of this type.
    Value(ColumnType),
    /// The property at this position of the record.
    Property(usize),
}

impl EdgeWeight {
    /// The weight of an edge with this value; 1 if weights are properties.
    #[must_use]
    pub fn of_value(self, value: EdgeValue) -> f64 {
        match self {
            EdgeWeight::Value(ColumnType::U32) => f64::from(<u32 as Column>::from_bits(value)),
            EdgeWeight::Value(ColumnType::U64) => <u64 as Column>::from_bits(value) as f64,
            EdgeWeight::Value(ColumnType::I64) => <i64 as Column>::from_bits(value) as f64,
            EdgeWeight::Value(ColumnType::F32) => f64::from(<f32 as Column>::from_bits(value)),
            EdgeWeight::Value(ColumnType::F64) => <f64 as Column>::from_bits(value),
            EdgeWeight::Value(ColumnType::Unit | ColumnType::Record) | EdgeWeight::Property(_) => 1.0,
        }
    }

    /// The weight of an edge with this encoded record; `None` for null, and if weights are values.
    /// O(bytes before the property).
    ///
    /// # Errors
    /// If the bytes are not a record.
    pub fn of_record(self, record: &[u8]) -> Result<Option<f64>, DecodeError> {
        let EdgeWeight::Property(position) = self else { return Ok(None) };
        let mut values = RecordValues::new(record)?;
        for _ in 0..position {
            values.next().transpose()?;
        }
        Ok(match values.next().transpose()? {
            Some(ValueRef::I64(number)) => Some(number as f64),
            Some(ValueRef::U64(number)) => Some(number as f64),
            Some(ValueRef::F64(number)) => Some(number),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode_record;
    use hedgerow_model::{Record, Value};

    #[test]
    fn numbers_of_records_are_weights_and_nothing_else_is() {
        let values = vec![Value::I64(-3), Value::U64(u64::MAX), Value::F64(0.5), Value::Null, "7".into()];
        let record = encode_record(&Record::new(values));
        let weight = |position| EdgeWeight::Property(position).of_record(&record);
        let expected = [Some(-3.0), Some(u64::MAX as f64), Some(0.5), None, None, None];
        assert_eq!([0, 1, 2, 3, 4, 5].map(|position| weight(position).unwrap()), expected);
        let cut = &record[..record.len() - 1];
        assert!(EdgeWeight::Property(4).of_record(cut).is_err());
        assert_eq!(EdgeWeight::Value(ColumnType::F64).of_record(&record), Ok(None));
    }

    #[test]
    fn values_of_every_type_are_weights() {
        let weight = |column, value| EdgeWeight::Value(column).of_value(value);
        assert_eq!(weight(ColumnType::U32, 7_u32.to_bits()), 7.0);
        assert_eq!(weight(ColumnType::U64, (1_u64 << 40).to_bits()), 2_f64.powi(40));
        assert_eq!(weight(ColumnType::I64, Column::to_bits(-2_i64)), -2.0);
        assert_eq!(weight(ColumnType::F32, Column::to_bits(0.5_f32)), 0.5);
        assert_eq!(weight(ColumnType::F64, Column::to_bits(-0.25_f64)), -0.25);
        assert_eq!(weight(ColumnType::Unit, EdgeValue(9)), 1.0);
    }
}
