//! The edges of a label as rows with columns.

use hedgerow::{ColumnType, EdgeSchema, LabelId, LabelSchema, ValueRef, ValueType, VertexId};
use hedgerow_encoding::decode_record_value;
use hedgerow_model::ReadError;

/// The name of the value of an edge.
pub const VALUE: &str = "value";

/// An edge as it lies in the engine.
#[derive(Clone, Copy, Debug)]
pub struct Row<'r> {
    pub source: VertexId,
    pub destination: VertexId,
    /// The value, or the number of a parallel edge; null for other labels.
    pub number: ValueRef<'static>,
    /// The encoded record; empty for labels without records.
    pub record: &'r [u8],
}

/// Location of a column in the rows of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The label lacks the property, which is null.
    Null,
    /// The value, or the number of parallel edges.
    Number,
    /// The property at this position of the record.
    Field(usize),
}

/// The type of a column, as far as comparisons and aggregates depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Whole,
    /// A 32-bit float.
    Single,
    Float,
    Text,
    Bytes,
    Time,
}

/// A label, and the columns of its edges.
#[derive(Clone, Debug)]
pub struct Layout {
    pub label: LabelId,
    pub name: String,
    pub edges: EdgeSchema,
}

impl<'r> Row<'r> {
    /// The content of a column. O(bytes of the record before it).
    #[inline]
    pub fn get(&self, place: Place) -> Result<ValueRef<'r>, ReadError> {
        match place {
            Place::Null => Ok(ValueRef::Null),
            Place::Number => Ok(self.number),
            Place::Field(position) => decode_record_value(self.record, position)
                .map_err(|error| ReadError::new("the record of an edge", error)),
        }
    }
}

impl Layout {
    pub fn of(label: LabelId, schema: &LabelSchema) -> Self {
        Layout { label, name: schema.name.clone(), edges: schema.edges.clone() }
    }

    /// The columns besides the ends and the label, with their names.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Place, Kind)> {
        let value = match &self.edges {
            EdgeSchema::Value(column) => Kind::of_column(*column).map(|kind| (VALUE, Place::Number, kind)),
            _ => None,
        };
        let number = self.edges.key().map(|key| (key, Place::Number, Kind::Whole));
        let fields = self.edges.record().into_iter().flat_map(|record| record.fields.iter().enumerate());
        let fields = fields.map(|(position, field)| {
            (field.name.as_str(), Place::Field(position), Kind::of_property(field.value_type))
        });
        value.into_iter().chain(number).chain(fields)
    }

    /// The column with this name; `None` if the label lacks it.
    pub fn column(&self, name: &str) -> Option<(Place, Kind)> {
        let mut columns = self.columns();
        columns.find(|(column, ..)| *column == name).map(|(_, place, kind)| (place, kind))
    }
}

/// The names of the columns of some labels, and `others`, for messages: `` `due date`, note or
/// label``.
pub fn names_of(layouts: &[Layout], others: &[&str]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let columns = layouts.iter().flat_map(Layout::columns).map(|(name, ..)| name);
    for name in columns.chain(others.iter().copied()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let quoted = |name: &&str| match name
        .contains(|character: char| !character.is_alphanumeric() && character != '_')
    {
        true => format!("`{name}`"),
        false => (*name).to_owned(),
    };
    let names: Vec<String> = names.iter().map(quoted).collect();
    match names.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

impl Kind {
    fn of_column(column: ColumnType) -> Option<Self> {
        match column {
            ColumnType::Unit | ColumnType::Record => None,
            ColumnType::U32 | ColumnType::U64 | ColumnType::I64 => Some(Kind::Whole),
            ColumnType::F32 => Some(Kind::Single),
            ColumnType::F64 => Some(Kind::Float),
        }
    }

    fn of_property(value_type: ValueType) -> Self {
        match value_type {
            ValueType::Bool => Kind::Bool,
            ValueType::I64 | ValueType::U64 | ValueType::Version => Kind::Whole,
            ValueType::F64 => Kind::Float,
            ValueType::String => Kind::Text,
            ValueType::Bytes => Kind::Bytes,
            ValueType::Timestamp => Kind::Time,
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Kind::Whole | Kind::Single | Kind::Float)
    }

    /// Returns true if values of both kinds have an order.
    pub fn is_comparable(self, other: Kind) -> bool {
        self == other || self.is_number() && other.is_number()
    }

    /// The content, for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Kind::Bool => "true or false",
            Kind::Whole | Kind::Single | Kind::Float => "a number",
            Kind::Text => "text",
            Kind::Bytes => "bytes",
            Kind::Time => "a time",
        }
    }

    /// The literals of this kind, for messages.
    pub fn literal(self) -> &'static str {
        match self {
            Kind::Text => "text, such as 'rent'",
            Kind::Bytes => "bytes, such as '00ff'",
            Kind::Time => "a time, such as '2026-01-31' or '2026-01-31T12:00:00Z'",
            _ => self.noun(),
        }
    }
}
