//! Checks the names and types of a filter, and compiles it for a label.

use super::compiled::{End, Test, borrowed, order};
use super::parser::{Content, Expression, parse};
use super::{Mistake, Op};
use crate::edges::layout::{Kind, Layout, Place, names_of};
use crate::error::CliError;
use crate::options::time;
use hedgerow::{Key, KeyKind, Value, ValueType, VertexId};
use hedgerow_formats::property_of_text;

/// The labels that a filter is about, and the vertices that it may name.
pub struct Schema<'a> {
    pub layouts: &'a [Layout],
    pub keys: KeyKind,
    /// Returns the vertex with a key; `None` if there is none.
    pub find: &'a dyn Fn(&Key) -> Result<Option<VertexId>, CliError>,
}

/// The columns that every label has, unless a property takes the name.
const BUILT_IN: [&str; 3] = ["source", "destination", "label"];

/// A column of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    End(End),
    Label,
    Data(Place, Kind),
    /// Only other labels have the property, which is null here.
    Lacking,
}

/// The reason why a filter was not compiled.
enum Stop {
    Mistake(Mistake),
    Failed(CliError),
}

impl From<Mistake> for Stop {
    fn from(mistake: Mistake) -> Self {
        Stop::Mistake(mistake)
    }
}

impl Schema<'_> {
    /// Parses a filter, and compiles it for each label. A name must be a column of at least one
    /// label, and each comparison must fit every label that has its columns.
    pub fn compile(&self, text: &str) -> Result<Vec<Test>, CliError> {
        let expression = parse(text).map_err(|mistake| mistake.in_text(text))?;
        let test = |layout| Resolver { schema: self, layout }.test(&expression);
        self.layouts.iter().map(test).collect::<Result<_, _>>().map_err(|stop| match stop {
            Stop::Mistake(mistake) => mistake.in_text(text),
            Stop::Failed(error) => error,
        })
    }
}

/// Compiles for one label.
struct Resolver<'a> {
    schema: &'a Schema<'a>,
    layout: &'a Layout,
}

impl Resolver<'_> {
    fn test(&self, expression: &Expression) -> Result<Test, Stop> {
        let each =
            |parts: &[Expression]| parts.iter().map(|part| self.test(part)).collect::<Result<_, Stop>>();
        Ok(match expression {
            Expression::And(parts) => Test::join(each(parts)?, true),
            Expression::Or(parts) => Test::join(each(parts)?, false),
            Expression::Not(inner) => Test::not(self.test(inner)?),
            Expression::Compare { left, op, right } => match (&left.content, &right.content) {
                (Content::Name(name), Content::Literal(literal)) => {
                    self.literal((name, left.at), *op, (literal, right.at))?
                }
                (Content::Literal(literal), Content::Name(name)) => {
                    self.literal((name, right.at), op.flipped(), (literal, left.at))?
                }
                (Content::Name(one), Content::Name(other)) => {
                    self.columns((one, left.at), *op, (other, right.at))?
                }
                (Content::Literal(_), Content::Literal(_)) => {
                    return Err(Mistake::new(left.at, "expected a property on one side").into());
                }
            },
        })
    }

    /// The column with a name.
    fn column(&self, name: &str, at: usize) -> Result<Column, Mistake> {
        if let Some((place, kind)) = self.layout.column(name) {
            return Ok(Column::Data(place, kind));
        }
        // A property takes its name from all labels.
        if self.schema.layouts.iter().any(|other| other.column(name).is_some()) {
            return Ok(Column::Lacking);
        }
        match name {
            "source" => Ok(Column::End(End::Source)),
            "destination" => Ok(Column::End(End::Destination)),
            "label" => Ok(Column::Label),
            _ => {
                let known = names_of(self.schema.layouts, &BUILT_IN);
                Err(Mistake::new(at, format!("there is no property {name:?}: expected {known}")))
            }
        }
    }

    /// Compiles a comparison of a column with a literal.
    fn literal(
        &self,
        (name, named_at): (&str, usize),
        op: Op,
        (literal, at): (&Value, usize),
    ) -> Result<Test, Stop> {
        let column = self.column(name, named_at)?;
        if *literal == Value::Null {
            let is_null = match column {
                Column::Data(place, _) => Test::IsNull(place),
                Column::Lacking => Test::Always(true),
                Column::End(_) | Column::Label => Test::Always(false),
            };
            return Ok(match op {
                Op::Equal => is_null,
                Op::NotEqual => Test::not(is_null),
                _ => Test::Always(false),
            });
        }
        let wrong = |expected: &str| Mistake::new(at, format!("{name:?} is compared with {expected}"));
        match column {
            Column::Lacking => Ok(Test::Always(false)),
            Column::Data(place, kind) => {
                let literal = converted(literal, kind).ok_or_else(|| wrong(kind.literal()))?;
                Ok(Test::Literal { place, op, literal })
            }
            Column::Label => {
                let Value::String(_) = literal else { return Err(wrong("text").into()) };
                let label = Value::from(self.layout.name.as_str());
                let ordering = order(borrowed(&label), borrowed(literal));
                Ok(Test::Always(ordering.is_some_and(|ordering| op.accepts(ordering))))
            }
            Column::End(end) => {
                let key = match (self.schema.keys, literal) {
                    (KeyKind::String, Value::String(text)) => Key::Text((**text).into()),
                    (KeyKind::String, _) => {
                        return Err(wrong("text, which the keys of this store are").into());
                    }
                    (_, Value::I64(number)) if *number >= 0 => Key::Number(number.cast_unsigned()),
                    (_, Value::U64(number)) => Key::Number(*number),
                    _ => return Err(wrong("a whole number, which the keys of this store are").into()),
                };
                self.vertex(end, op, key)
            }
        }
    }

    fn vertex(&self, end: End, op: Op, key: Key) -> Result<Test, Stop> {
        if op != Op::Equal && op != Op::NotEqual {
            return Ok(Test::Key { end, op, key });
        }
        let vertex = (self.schema.find)(&key).map_err(Stop::Failed)?;
        let is_vertex = vertex.map_or(Test::Always(false), |vertex| Test::Vertex { end, vertex });
        Ok(if op == Op::Equal { is_vertex } else { Test::not(is_vertex) })
    }

    /// Compiles a comparison of two columns.
    fn columns(&self, left: (&str, usize), op: Op, right: (&str, usize)) -> Result<Test, Stop> {
        let wrong = |problem: &str| Err(Mistake::new(right.1, problem).into());
        match (self.column(left.0, left.1)?, self.column(right.0, right.1)?) {
            (Column::Data(left, kind), Column::Data(right, other)) if kind.is_comparable(other) => {
                Ok(Test::Columns { left, op, right })
            }
            (Column::Lacking, Column::Lacking | Column::Data(..)) | (Column::Data(..), Column::Lacking) => {
                Ok(Test::Always(false))
            }
            (Column::End(one), Column::End(other)) if one != other => match op {
                Op::Equal => Ok(Test::Loop),
                Op::NotEqual => Ok(Test::not(Test::Loop)),
                _ => wrong("the ends of an edge are compared with = or !="),
            },
            _ => wrong(&format!("{:?} and {:?} are of different types", left.0, right.0)),
        }
    }
}

/// The literal as a value of this kind; `None` if it is of another.
fn converted(literal: &Value, kind: Kind) -> Option<Value> {
    Some(match (literal, kind) {
        (Value::Bool(_), Kind::Bool)
        | (Value::String(_), Kind::Text)
        | (Value::I64(_) | Value::U64(_) | Value::F64(_), Kind::Whole | Kind::Float) => literal.clone(),
        // The nearest value that the column can have, so that 0.1 is what is printed as 0.1.
        (Value::I64(number), Kind::Single) => Value::F64(f64::from(*number as f32)),
        (Value::U64(number), Kind::Single) => Value::F64(f64::from(*number as f32)),
        (Value::F64(number), Kind::Single) => Value::F64(f64::from(*number as f32)),
        (Value::I64(microseconds), Kind::Time) => Value::Timestamp(*microseconds),
        // A year in quotation marks is no number of microseconds.
        (Value::String(text), Kind::Time) if text.parse::<i64>().is_err() => {
            Value::Timestamp(time(text).ok()?)
        }
        (Value::String(digits), Kind::Bytes) => property_of_text(digits, ValueType::Bytes).ok()?,
        _ => return None,
    })
}
