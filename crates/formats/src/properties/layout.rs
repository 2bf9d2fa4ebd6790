//! Maps the cells of a line to the ends of an edge or to properties, by the names of columns.

use super::names::{DESTINATION, KEY, SOURCE, is_named, pair_of_ends};
use super::value::{Cell, Kind};
use super::{LineSchema, PropertyOptions};
use crate::error::{Remedy, excerpt};
use hedgerow_model::{ColumnType, EdgeSchema, Field, ParallelSchema, ValueType};
use std::collections::HashMap;

/// The column name of a value in a file to write; in a file to read it may be any name.
const VALUE: &str = "value";

/// The place of a column that is left out.
pub(super) const LEFT_OUT: usize = usize::MAX;

/// The order of a line's cells: its keys first, one of a vertex or two of an edge, then its
/// properties or its value. Cells are rearranged into this order.
#[derive(Clone)]
pub(super) struct Layout {
    pub keys: Vec<KeyColumn>,
    pub fields: Vec<FieldColumn>,
    /// True if the label carries a single value, whose column may have any name.
    has_value: bool,
    /// The names of columns that are left out.
    ignored: Vec<String>,
    /// The column of the numbers of parallel edges, if the caller chose one.
    number_column: Option<String>,
}

/// The column of a key.
#[derive(Clone)]
pub(super) struct KeyColumn {
    names: &'static [&'static str],
    /// The only accepted name, if the caller chose one.
    chosen: Option<String>,
}

/// The column of a property, or of the value of an edge.
#[derive(Clone)]
pub(super) struct FieldColumn {
    pub name: String,
    pub kind: Kind,
    pub nullable: bool,
}

/// An invalid combination of column names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BadColumns {
    /// The column.
    pub column: Option<String>,
    pub found: String,
    pub expected: String,
    /// Columns that are not keys, if one of them is unknown.
    pub further: Vec<String>,
    pub remedy: Option<Remedy>,
}

impl Layout {
    pub fn new(options: &PropertyOptions) -> Self {
        let PropertyOptions { lines, source_column: source, destination_column: destination, .. } = options;
        let key = |names, chosen: &Option<String>| KeyColumn { names, chosen: chosen.clone() };
        let keys = match lines {
            LineSchema::Vertices(_) => vec![key(KEY, &None)],
            LineSchema::Edges(_) => vec![key(SOURCE, source), key(DESTINATION, destination)],
        };
        let property = |field: &Field| FieldColumn {
            name: field.name.clone(),
            kind: Kind::Property(field.value_type),
            // The store counts versions, whatever a file says.
            nullable: field.nullable || field.value_type == ValueType::Version,
        };
        let fields = match lines {
            LineSchema::Vertices(schema) | LineSchema::Edges(EdgeSchema::Record(schema)) => {
                schema.fields.iter().map(property).collect()
            }
            LineSchema::Edges(EdgeSchema::Value(column)) if column.width() > 0 => {
                vec![FieldColumn { name: VALUE.into(), kind: Kind::Value(*column), nullable: false }]
            }
            LineSchema::Edges(EdgeSchema::Topology | EdgeSchema::Value(_)) => Vec::new(),
            LineSchema::Edges(EdgeSchema::Parallel(ParallelSchema { key, record })) => {
                let name = options.number_column.as_ref().unwrap_or(key).clone();
                let nullable = options.numbers_are_optional;
                let number = FieldColumn { name, kind: Kind::Number, nullable };
                std::iter::once(number).chain(record.fields.iter().map(property)).collect()
            }
        };
        let has_value = matches!(lines, LineSchema::Edges(EdgeSchema::Value(column)) if column.width() > 0);
        let number_column = options
            .number_column
            .clone()
            .filter(|_| matches!(lines, LineSchema::Edges(EdgeSchema::Parallel(_))));
        Layout { keys, fields, has_value, ignored: options.ignored.clone(), number_column }
    }

    /// The maximum number of cells.
    pub fn len(&self) -> usize {
        self.keys.len() + self.fields.len()
    }

    /// The positions of columns with these names in this layout. If no column is named like a key
    /// and `positional` is set, the first columns are the keys.
    pub fn places(&self, names: &[String], positional: bool) -> Result<Vec<usize>, BadColumns> {
        check_names(names)?;
        let is_missing = |ignored: &&String| !names.iter().any(|name| name.trim() == **ignored);
        if let Some(missing) = self.ignored.iter().find(is_missing).filter(|_| positional) {
            return Err(bad(None, &names.join(", "), &format!("a column {missing:?}, to leave it out")));
        }
        let number =
            self.number_column.iter().find(|number| !names.iter().any(|name| name.trim() == **number));
        if let Some(missing) = number.filter(|_| positional) {
            return Err(bad(
                None,
                &names.join(", "),
                &format!("a column {missing:?} with the numbers of edges"),
            ));
        }
        let keys = self.key_columns(names, positional)?;
        let place = |(column, name): (usize, &String)| {
            if self.leaves_out(name) {
                return Ok(LEFT_OUT);
            }
            let key = keys.iter().position(|key| *key == column);
            key.or_else(|| self.field(name)).ok_or_else(|| self.unknown(name, names, &keys))
        };
        let places = names.iter().enumerate().map(place).collect::<Result<Vec<_>, _>>()?;
        let repeats =
            |(column, place): (usize, &usize)| *place != LEFT_OUT && places[..column].contains(place);
        if let Some(second) = places.iter().enumerate().position(repeats).filter(|_| !self.has_value) {
            return Err(bad(Some(&names[second]), &names[second], "one column for each property"));
        }
        if let (true, Some(second)) = (self.has_value, self.second_value(&places)) {
            return Err(self.unknown(&names[second], names, &keys));
        }
        let is_missing =
            |(position, field): &(usize, &FieldColumn)| !field.nullable && !places.contains(position);
        match (self.keys.len()..).zip(&self.fields).find(is_missing) {
            None => Ok(places),
            Some((_, field)) => {
                let name = (!self.has_value).then_some(&*field.name);
                Err(bad(name, "", &format!("{}, which must be there", field.kind.expected())))
            }
        }
    }

    /// Returns true if a header with these names may be a line of values when keys are text: this
    /// layout knows none of the names.
    pub fn may_be_values(&self, names: &[String]) -> bool {
        let is_known = |name: &String| !self.has_value && self.field(name).is_some();
        let is_value = |name: &String| match self.fields.first() {
            Some(FieldColumn { kind: Kind::Value(column), .. }) => {
                Cell::Text(name).edge_value(*column).is_some()
            }
            Some(FieldColumn { kind: Kind::Number, .. }) => {
                Cell::Text(name).edge_value(ColumnType::U64).is_some()
            }
            _ => true,
        };
        names.len() <= self.len()
            && self.keys.iter().all(|key| key.chosen.is_none() && self.find_key(key, names).is_none())
            && self.pair(names).is_none()
            && !names.iter().any(is_known)
            && names.iter().skip(self.keys.len()).all(is_value)
    }

    /// The columns of the keys, in their order.
    pub fn key_columns(&self, names: &[String], positional: bool) -> Result<Vec<usize>, BadColumns> {
        if let Some(found) = self.usual_columns(names) {
            return Ok(found);
        }
        let found: Vec<_> = self.keys.iter().map(|key| self.find_key(key, names)).collect();
        let is_default = self.keys.iter().all(|key| key.chosen.is_none());
        let first = (0..names.len()).filter(|column| !self.leaves_out(&names[*column]));
        let first: Vec<_> = first.take(found.len()).collect();
        if positional && is_default && found.iter().all(Option::is_none) && first.len() == found.len() {
            return Ok(first);
        }
        let place = |(key, column): (&KeyColumn, Option<usize>)| column.ok_or_else(|| key.missing(names));
        self.keys.iter().zip(found).map(place).collect()
    }

    /// The columns of the keys, if all have a name that was chosen or a usual name.
    pub fn usual_columns(&self, names: &[String]) -> Option<Vec<usize>> {
        let found = self.keys.iter().map(|key| self.find_key(key, names)).collect::<Option<Vec<_>>>();
        let is_default = self.keys.iter().all(|key| key.chosen.is_none());
        found.or_else(|| self.pair(names).filter(|_| is_default))
    }

    /// The columns of a pair of further usual names.
    fn pair(&self, names: &[String]) -> Option<Vec<usize>> {
        // A name that cannot be a key has no words.
        let usual: Vec<_> =
            names.iter().map(|name| if self.may_be_key(name) { &**name } else { "" }).collect();
        match self.keys[..] {
            [_] => Some(vec![usual.iter().position(|name| is_named(name, ":ID"))?]),
            _ => pair_of_ends(&usual).map(|(source, destination)| vec![source, destination]),
        }
    }

    fn find_key(&self, key: &KeyColumn, names: &[String]) -> Option<usize> {
        match &key.chosen {
            Some(chosen) => names.iter().position(|name| name.trim() == chosen),
            None => self.names_of(key).find_map(|usual| names.iter().position(|name| is_named(name, usual))),
        }
    }

    /// The usual names of a key, except names of properties and of columns that are left out.
    fn names_of(&self, key: &KeyColumn) -> impl Iterator<Item = &'static str> {
        key.names.iter().copied().filter(move |name| self.may_be_key(name))
    }

    fn may_be_key(&self, name: &str) -> bool {
        let is = |other: &String| other.eq_ignore_ascii_case(name);
        let is_property = !self.has_value && self.fields.iter().any(|field| is(&field.name));
        !is_property && !self.ignored.iter().any(is)
    }

    fn field(&self, name: &str) -> Option<usize> {
        let named = |name: &str| self.fields.iter().position(|field| self.has_value || field.name == name);
        named(name).or_else(|| named(name.trim())).map(|position| self.keys.len() + position)
    }

    /// Returns true if columns of this name are left out.
    pub fn leaves_out(&self, name: &str) -> bool {
        self.ignored.iter().any(|ignored| ignored == name.trim())
    }

    /// The name of a property at a place, to report its missing column.
    pub fn name_of(&self, place: usize) -> Option<&str> {
        let field = place.checked_sub(self.keys.len()).and_then(|field| self.fields.get(field))?;
        (!self.has_value).then_some(&*field.name)
    }

    /// The second column that maps to the value.
    fn second_value(&self, places: &[usize]) -> Option<usize> {
        let is_value = |(_, place): &(usize, &usize)| **place == self.keys.len();
        places.iter().enumerate().filter(is_value).nth(1).map(|(column, _)| column)
    }

    fn unknown(&self, name: &str, names: &[String], keys: &[usize]) -> BadColumns {
        let is_same_end = |(key, _): &(&KeyColumn, &usize)| {
            self.names_of(key).any(|usual| name.eq_ignore_ascii_case(usual))
        };
        if let Some((_, column)) = self.keys.iter().zip(keys).find(is_same_end) {
            let expected = format!("one column for each key: {:?} is this one already", names[*column]);
            return bad(Some(name), name, &expected);
        }
        let expected = match &self.fields[..] {
            [] => "no column but those of the keys: nothing was declared for these lines".to_owned(),
            [value] if self.has_value => {
                format!("one column beside those of the keys: {}", value.kind.expected())
            }
            fields => {
                let known: Vec<_> = fields.iter().map(FieldColumn::describe).collect();
                format!("one of the properties {}", known.join(", "))
            }
        };
        let is_further = |(column, name): &(usize, &String)| !keys.contains(column) && !self.leaves_out(name);
        let further = names.iter().enumerate().filter(is_further).map(|(_, name)| name.clone()).collect();
        BadColumns { further, ..bad(None, name, &expected) }
    }

    /// The usual names of the columns of keys.
    pub fn usual_names(&self) -> String {
        let names = |key: &KeyColumn| key.names.join(" or ");
        self.keys.iter().map(names).collect::<Vec<_>>().join(", and ")
    }

    /// Returns the column names of a file to write, by which a reader identifies the columns;
    /// `None` if properties take all usual names of a key.
    pub fn written_names(&self) -> Option<Vec<String>> {
        let keys = self.keys.iter().map(|key| self.names_of(key).next().map(str::to_owned));
        let fields = self.fields.iter().map(|field| Some(field.name.clone()));
        keys.chain(fields).collect()
    }
}

impl KeyColumn {
    fn missing(&self, names: &[String]) -> BadColumns {
        let found = names.join(", ");
        let (expected, remedy) = match (&self.chosen, self.names) {
            (Some(chosen), _) => (format!("a column {chosen:?}"), None),
            (None, names) => {
                let (option, remedy) = match names {
                    SOURCE => (
                        "; if it has another name, say which is the source column",
                        Some(Remedy::SourceColumn),
                    ),
                    DESTINATION => (
                        "; if it has another name, say which is the destination column",
                        Some(Remedy::DestinationColumn),
                    ),
                    _ => ("", None),
                };
                (format!("a column {}{option}", names.join(" or ")), remedy)
            }
        };
        BadColumns { remedy, ..bad(None, &found, &expected) }
    }
}

impl FieldColumn {
    fn describe(&self) -> String {
        let required = if self.nullable { "" } else { ", never null" };
        format!("{:?} ({}{required})", self.name, self.kind)
    }
}

fn bad(column: Option<&str>, found: &str, expected: &str) -> BadColumns {
    let column = column.map(str::to_owned);
    BadColumns {
        column,
        found: excerpt(found.as_bytes()),
        expected: expected.to_owned(),
        further: Vec::new(),
        remedy: None,
    }
}

/// Fails if two columns have one name.
pub(super) fn check_names(names: &[String]) -> Result<(), BadColumns> {
    let mut seen = HashMap::new();
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, second) {
            let (first, second) = (first + 1, second + 1);
            let expected = format!("each name once: columns {first} and {second} have this one");
            return Err(bad(Some(name), name, &expected));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PropertyFormat;
    use hedgerow_model::RecordSchema;

    fn layout(properties: &[(&str, bool)]) -> Layout {
        let field = |(name, nullable): &(&str, bool)| Field {
            name: (*name).to_owned(),
            value_type: ValueType::F64,
            nullable: *nullable,
        };
        let fields = properties.iter().map(field).collect();
        of(EdgeSchema::Record(RecordSchema { fields }))
    }

    fn of(edges: EdgeSchema) -> Layout {
        Layout::new(&options(edges))
    }

    fn options(edges: EdgeSchema) -> PropertyOptions {
        PropertyOptions::new(PropertyFormat::Csv, LineSchema::Edges(edges))
    }

    fn places(layout: &Layout, names: &str) -> Result<Vec<usize>, String> {
        let names: Vec<_> = names.split(',').map(str::to_owned).collect();
        layout.places(&names, true).map_err(|bad| format!("{:?} {} {}", bad.column, bad.found, bad.expected))
    }

    #[test]
    fn columns_are_found_by_their_names_in_any_order() {
        let pays = layout(&[("amount", false), ("note", true)]);
        assert_eq!(places(&pays, "source,destination,amount,note"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(places(&pays, "note,To,amount,From"), Ok(vec![3, 1, 2, 0]));
        assert_eq!(places(&pays, "payer,payee,amount"), Ok(vec![0, 1, 2]));
        let told = |names| places(&pays, names).unwrap_err();
        assert!(
            told("source,to,note").contains("\"amount\"") && told("source,to,note").contains("must be there")
        );
        assert!(
            told("source,to,amount,note,amount").contains("each name once: columns 3 and 5 have this one")
        );
        assert!(told("source,payee,amount").contains("a column destination or dst or target or to"));
        assert!(told("source,to,amount,color").contains("\"amount\" (f64, never null), \"note\" (f64)"));
        assert!(told("amount").contains("a column source"));
        assert!(told("source,From,to,amount").contains("\"source\" is this one already"));
        assert!(told("source,to,TO,amount").contains("\"to\" is this one already"));
    }

    #[test]
    fn a_property_may_have_the_name_of_an_end() {
        let moves = layout(&[("from", true), ("source", true)]);
        assert_eq!(places(&moves, "src,to,from,source"), Ok(vec![0, 1, 2, 3]));
        assert_eq!(moves.written_names().unwrap(), ["src", "destination", "from", "source"]);
        let all = layout(&[("from", true), ("source", true), ("src", true)]);
        assert_eq!(all.written_names(), None);
    }

    #[test]
    fn names_that_were_chosen_are_the_only_ones() {
        let source_column = Some("payer".to_owned());
        let chosen = Layout::new(&PropertyOptions { source_column, ..options(EdgeSchema::Topology) });
        assert_eq!(places(&chosen, "to,payer"), Ok(vec![1, 0]));
        assert!(places(&chosen, "source,to").unwrap_err().contains("a column \"payer\""));
    }

    #[test]
    fn columns_are_left_out() {
        let ignored = vec!["id".to_owned(), "from".to_owned()];
        let left_out = Layout::new(&PropertyOptions { ignored, ..options(EdgeSchema::Topology) });
        assert_eq!(places(&left_out, "id,a,from,b"), Ok(vec![LEFT_OUT, 0, LEFT_OUT, 1]));
        assert_eq!(places(&left_out, "from,to,id,src"), Ok(vec![LEFT_OUT, 1, LEFT_OUT, 0]));
        assert!(places(&left_out, "id,a,b").unwrap_err().contains("a column \"from\", to leave it out"));
    }

    #[test]
    fn a_value_is_the_only_other_column() {
        let road = of(EdgeSchema::Value(ColumnType::U32));
        assert_eq!(places(&road, "metres,source,to"), Ok(vec![2, 0, 1]));
        assert!(places(&road, "source,to").unwrap_err().contains("which must be there"));
        let two = road.places(&["source", "to", "metres", "lanes"].map(str::to_owned), true).unwrap_err();
        assert_eq!((&*two.found, two.further), ("lanes", vec!["metres".to_owned(), "lanes".to_owned()]));
    }
}
