//! Changes of edge records.

use crate::{Record, RecordSchema, Value, ValueType};

/// A change of one edge's record, decided at commit.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordChange {
    /// The kind of change.
    pub mode: RecordMode,
    /// Positions in the schema of the label, and the new values.
    pub fields: Vec<(usize, Value)>,
    /// Positions and values that the record must have; otherwise nothing changes. Never fulfilled
    /// by an edge that does not exist.
    pub condition: Option<Vec<(usize, Value)>>,
}

/// The kind of a record change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordMode {
    /// Puts the edge, with these fields and nulls in all others.
    Put,
    /// Puts the edge, with these fields and nulls in all others, if it does not exist; else does
    /// nothing.
    Insert,
    /// Changes these fields and keeps all others; puts the edge if it does not exist.
    Update,
    /// Deletes the edge.
    Delete,
}

impl RecordChange {
    /// A change without a condition.
    #[must_use]
    pub fn new(mode: RecordMode, fields: Vec<(usize, Value)>) -> Self {
        RecordChange { mode, fields, condition: None }
    }

    /// Returns true if the change may put an edge that does not exist.
    #[must_use]
    pub fn may_create(&self) -> bool {
        self.mode != RecordMode::Delete && self.condition.is_none()
    }

    /// Returns true if the condition holds for an edge with record `current`, `None` if the edge
    /// does not exist. Returns true without a condition.
    #[must_use]
    pub fn holds(&self, current: Option<&Record>) -> bool {
        let Some(condition) = &self.condition else { return true };
        let has = |record: &Record, (position, value): &(usize, Value)| {
            record.values().get(*position) == Some(value)
        };
        current.is_some_and(|record| condition.iter().all(|field| has(record, field)))
    }

    /// Returns true if the new state is the same whatever the current one, which decides only
    /// whether it is a change: a put without a condition, of a record without a version.
    #[must_use]
    pub fn ignores_current(&self, schema: &RecordSchema) -> bool {
        let has_versions = schema.fields.iter().any(|field| field.value_type == ValueType::Version);
        self.mode == RecordMode::Put && self.condition.is_none() && !has_versions
    }

    /// Returns the new state of an edge with record `current`, `None` if the edge does not exist.
    /// The result is `None` if nothing changes, `Some(None)` if the edge is deleted, else its new
    /// record. `schema` is the schema of the edge's label.
    #[must_use]
    pub fn decide(&self, current: Option<&Record>, schema: &RecordSchema) -> Option<Option<Record>> {
        if !self.holds(current) {
            return None;
        }
        let changed = match (self.mode, current) {
            (RecordMode::Delete, current) => return current.map(|_| None),
            (RecordMode::Insert, Some(_)) => return None,
            (RecordMode::Update, Some(current)) => self.applied_to(current.values().to_vec()),
            (RecordMode::Put | RecordMode::Insert | RecordMode::Update, _) => {
                self.applied_to(vec![Value::Null; schema.fields.len()])
            }
        };
        // A new version alone is no change.
        let versions = |change: &dyn Fn(&Value) -> Value| counted(schema, &changed, current, change);
        let unchanged = current.is_some() && current == Some(&versions(&Value::clone));
        (!unchanged).then(|| Some(versions(&next_version)))
    }

    fn applied_to(&self, mut values: Vec<Value>) -> Record {
        for (position, value) in &self.fields {
            values[*position].clone_from(value);
        }
        Record::new(values)
    }
}

/// Returns `record` with each version field set to `change` of its current value, or of null if
/// there is no current record.
fn counted(
    schema: &RecordSchema,
    record: &Record,
    current: Option<&Record>,
    change: &dyn Fn(&Value) -> Value,
) -> Record {
    let is_version = |field: &crate::Field| field.value_type == ValueType::Version;
    if !schema.fields.iter().any(is_version) {
        return record.clone();
    }
    let values = schema.fields.iter().zip(record.values()).enumerate().map(|(position, (field, value))| {
        let before = current.and_then(|current| current.values().get(position)).unwrap_or(&Value::Null);
        if is_version(field) { change(before) } else { value.clone() }
    });
    Record::new(values.collect())
}

/// The version after a change. On overflow, after centuries, it starts at 1 again.
fn next_version(version: &Value) -> Value {
    Value::I64(version.as_i64().and_then(|version| version.checked_add(1)).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, Field, SchemaError, ValueType};

    fn schema() -> RecordSchema {
        let field = |name: &str| Field { name: name.to_owned(), value_type: ValueType::I64, nullable: true };
        RecordSchema { fields: vec![field("version"), field("amount")] }
    }

    fn record(version: i64, amount: i64) -> Record {
        Record::new(vec![Value::I64(version), Value::I64(amount)])
    }

    #[test]
    fn modes_differ_in_what_they_do_to_an_edge_that_exists() {
        let decide = |mode, current: Option<Record>| {
            RecordChange::new(mode, vec![(1, Value::I64(7))]).decide(current.as_ref(), &schema())
        };
        let fresh = Record::new(vec![Value::Null, Value::I64(7)]);
        for mode in [RecordMode::Put, RecordMode::Insert, RecordMode::Update] {
            assert_eq!(decide(mode, None), Some(Some(fresh.clone())));
        }
        assert_eq!(decide(RecordMode::Put, Some(record(1, 2))), Some(Some(fresh)));
        assert_eq!(decide(RecordMode::Insert, Some(record(1, 2))), None);
        assert_eq!(decide(RecordMode::Update, Some(record(1, 2))), Some(Some(record(1, 7))));
        assert_eq!(decide(RecordMode::Update, Some(record(1, 7))), None, "it has these values");
        assert_eq!(decide(RecordMode::Delete, Some(record(1, 2))), Some(None));
        assert_eq!(decide(RecordMode::Delete, None), None);
    }

    #[test]
    fn versions_count_changes_and_nothing_else() {
        let field = |name: &str, value_type, nullable| Field { name: name.to_owned(), value_type, nullable };
        let fields = vec![field("version", ValueType::Version, false), field("amount", ValueType::I64, true)];
        let schema = RecordSchema { fields };
        let decide = |change: &RecordChange, current: Option<&Record>| change.decide(current, &schema);
        let set = |mode, amount: i64| RecordChange::new(mode, vec![(1, Value::I64(amount))]);
        for mode in [RecordMode::Put, RecordMode::Insert, RecordMode::Update] {
            assert_eq!(decide(&set(mode, 7), None), Some(Some(record(1, 7))));
        }
        assert_eq!(decide(&set(RecordMode::Put, 7), Some(&record(4, 7))), None, "it has these values");
        assert_eq!(decide(&set(RecordMode::Put, 8), Some(&record(4, 7))), Some(Some(record(5, 8))));
        assert_eq!(decide(&set(RecordMode::Update, 8), Some(&record(4, 7))), Some(Some(record(5, 8))));
        let compared =
            RecordChange { condition: Some(vec![(0, Value::I64(4))]), ..set(RecordMode::Update, 9) };
        assert_eq!(decide(&compared, Some(&record(4, 7))), Some(Some(record(5, 9))));
        assert_eq!(decide(&compared, Some(&record(5, 7))), None);
        let put = decide(&set(RecordMode::Put, 8), Some(&record(4, 7))).flatten();
        assert_eq!(put.map(|record| schema.check(&record)), Some(Ok(())));
        assert!(matches!(schema.fields[0].check_set(&Value::I64(1)), Err(SchemaError::Counted(_))));
        let of_vertices = Catalog::new(Vec::new(), schema);
        assert_eq!(of_vertices, Err(SchemaError::VersionOfVertex("version".to_owned())));
    }

    #[test]
    fn a_condition_holds_only_for_the_record_that_is_there() {
        let change = RecordChange {
            condition: Some(vec![(0, Value::I64(1))]),
            ..RecordChange::new(RecordMode::Update, vec![(0, Value::I64(2))])
        };
        assert_eq!(change.decide(Some(&record(1, 5)), &schema()), Some(Some(record(2, 5))));
        assert_eq!(change.decide(Some(&record(3, 5)), &schema()), None);
        assert_eq!(change.decide(None, &schema()), None);
        assert!(!change.may_create());
        assert!(
            change.holds(Some(&record(1, 5))) && !change.holds(Some(&record(3, 5))) && !change.holds(None)
        );
        assert!(RecordChange::new(RecordMode::Delete, Vec::new()).holds(None), "without a condition");
        // An empty condition also requires that the edge exists.
        let any = RecordChange { condition: Some(Vec::new()), ..change };
        assert_eq!(any.decide(None, &schema()), None);
    }
}
