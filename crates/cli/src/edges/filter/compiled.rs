//! Filters compiled for one label, and the order of values.

use super::Op;
use crate::edges::layout::{Place, Row};
use hedgerow::{Error, Key, Value, ValueRef, VertexId};
use hedgerow_model::ReadError;
use std::cmp::Ordering;

/// A filter compiled for the edges of one label: evaluated on a row without allocations.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Always(bool),
    All(Vec<Test>),
    Any(Vec<Test>),
    Not(Box<Test>),
    IsNull(Place),
    Literal {
        place: Place,
        op: Op,
        literal: Value,
    },
    Columns {
        left: Place,
        op: Op,
        right: Place,
    },
    /// The end is this vertex.
    Vertex {
        end: End,
        vertex: VertexId,
    },
    /// The key of the end compares with this one, which takes a look at the key of each row.
    Key {
        end: End,
        op: Op,
        key: Key,
    },
    /// Both ends are the same vertex.
    Loop,
}

/// An end of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Source,
    Destination,
}

impl End {
    pub fn of(self, row: &Row<'_>) -> VertexId {
        match self {
            End::Source => row.source,
            End::Destination => row.destination,
        }
    }
}

/// Returns the key of a vertex.
pub type KeyOf<'k> = dyn Fn(VertexId) -> Result<Key, Error> + Sync + 'k;

impl Test {
    pub fn not(test: Test) -> Test {
        match test {
            Test::Always(holds) => Test::Always(!holds),
            test => Test::Not(Box::new(test)),
        }
    }

    /// The conjunction of tests, or their disjunction.
    pub fn join(tests: Vec<Test>, are_all: bool) -> Test {
        if tests.contains(&Test::Always(!are_all)) {
            return Test::Always(!are_all);
        }
        let mut open: Vec<_> = tests.into_iter().filter(|test| !matches!(test, Test::Always(_))).collect();
        match open.len() {
            0 => Test::Always(are_all),
            1 => open.remove(0),
            _ if are_all => Test::All(open),
            _ => Test::Any(open),
        }
    }

    /// Returns true if the test reads values or properties.
    pub fn reads_data(&self) -> bool {
        match self {
            Test::Always(_) | Test::Vertex { .. } | Test::Key { .. } | Test::Loop => false,
            Test::All(tests) | Test::Any(tests) => tests.iter().any(Test::reads_data),
            Test::Not(test) => test.reads_data(),
            Test::IsNull(_) | Test::Literal { .. } | Test::Columns { .. } => true,
        }
    }

    /// Evaluates the test. A comparison with a null is false.
    pub fn holds(&self, row: &Row<'_>, key_of: &KeyOf<'_>) -> Result<bool, Error> {
        let get = |place| row.get(place).map_err(read_failed);
        Ok(match self {
            Test::Always(holds) => *holds,
            Test::All(tests) => {
                for test in tests {
                    if !test.holds(row, key_of)? {
                        return Ok(false);
                    }
                }
                true
            }
            Test::Any(tests) => {
                for test in tests {
                    if test.holds(row, key_of)? {
                        return Ok(true);
                    }
                }
                false
            }
            Test::Not(test) => !test.holds(row, key_of)?,
            Test::IsNull(place) => get(*place)? == ValueRef::Null,
            Test::Literal { place, op, literal } => op.holds(get(*place)?, borrowed(literal)),
            Test::Columns { left, op, right } => op.holds(get(*left)?, get(*right)?),
            Test::Vertex { end, vertex } => end.of(row) == *vertex,
            Test::Key { end, op, key } => op.accepts(key_of(end.of(row))?.cmp(key)),
            Test::Loop => row.source == row.destination,
        })
    }
}

/// A record in an engine that could not be read.
#[cold]
pub fn read_failed(error: ReadError) -> Error {
    hedgerow::kernels::KernelError::Read(error).into()
}

/// The value, borrowed.
#[inline]
pub fn borrowed(value: &Value) -> ValueRef<'_> {
    match value {
        Value::Null => ValueRef::Null,
        Value::Bool(truth) => ValueRef::Bool(*truth),
        Value::I64(number) => ValueRef::I64(*number),
        Value::U64(number) => ValueRef::U64(*number),
        Value::F64(number) => ValueRef::F64(*number),
        Value::String(text) => ValueRef::String(text),
        Value::Bytes(bytes) => ValueRef::Bytes(bytes),
        Value::Timestamp(time) => ValueRef::Timestamp(*time),
    }
}

impl Op {
    /// Compares two values; false for nulls, and for values without an order.
    #[inline]
    fn holds(self, left: ValueRef<'_>, right: ValueRef<'_>) -> bool {
        match order(left, right) {
            Some(ordering) => self.accepts(ordering),
            None => self == Op::NotEqual && left != ValueRef::Null && right != ValueRef::Null,
        }
    }
}

/// The order of two values: of numbers by their exact values, of text by its code points; `None`
/// for null, NaN, and different types.
#[inline]
pub fn order(left: ValueRef<'_>, right: ValueRef<'_>) -> Option<Ordering> {
    use ValueRef::{Bool, Bytes, F64, I64, String, Timestamp, U64};
    match (left, right) {
        (F64(left), F64(right)) => left.partial_cmp(&right),
        (I64(left), I64(right)) | (Timestamp(left), Timestamp(right)) => Some(left.cmp(&right)),
        (U64(left), U64(right)) => Some(left.cmp(&right)),
        (I64(left), U64(right)) => Some(i128::from(left).cmp(&right.into())),
        (U64(left), I64(right)) => Some(i128::from(left).cmp(&right.into())),
        (I64(left), F64(right)) => order_of_mixed(left.into(), right),
        (U64(left), F64(right)) => order_of_mixed(left.into(), right),
        (F64(left), I64(right)) => order_of_mixed(right.into(), left).map(Ordering::reverse),
        (F64(left), U64(right)) => order_of_mixed(right.into(), left).map(Ordering::reverse),
        (String(left), String(right)) => Some(left.cmp(right)),
        (Bytes(left), Bytes(right)) => Some(left.cmp(right)),
        (Bool(left), Bool(right)) => Some(left.cmp(&right)),
        _ => None,
    }
}

/// The order of a whole number of up to 64 bits and a float, without rounding.
fn order_of_mixed(whole: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // Converts exactly: floats that 128 bits cannot hold saturate, beyond all 64-bit numbers.
    let truncated = float.trunc() as i128;
    match whole.cmp(&truncated) {
        Ordering::Equal => 0.0.partial_cmp(&float.fract()),
        unequal => Some(unequal),
    }
}
