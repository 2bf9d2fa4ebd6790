//! Parses and writes labels and properties as the options `--labels` and `--vertex-properties` of
//! `import` declare them.

use hedgerow::{ColumnType, EdgeSchema, Field, LabelSchema, ParallelSchema, RecordSchema, ValueType};

/// Parses a label with the content of its edges.
pub fn label(text: &str) -> Result<LabelSchema, String> {
    let (name, edges) = match text.rsplit_once(':') {
        None => (text, EdgeSchema::Topology),
        Some((name, fields)) if fields.contains('=') => {
            let (first, others) =
                fields.split_once('+').map_or((fields, None), |(one, all)| (one, Some(all)));
            let properties = |text: Option<&str>| {
                let fields = text.into_iter().flat_map(|text| text.split('+')).map(property);
                Ok::<_, String>(RecordSchema { fields: fields.collect::<Result<_, _>>()? })
            };
            match first.strip_suffix("=key") {
                Some("") => return Err("expected NAME:KEY=key".into()),
                Some(key) => {
                    let (key, record) = (key.to_owned(), properties(others)?);
                    (name, EdgeSchema::Parallel(ParallelSchema { key, record }))
                }
                None => (name, EdgeSchema::Record(properties(Some(fields))?)),
            }
        }
        Some((name, column)) => (name, EdgeSchema::Value(self::column(column)?)),
    };
    if name.is_empty() {
        return Err("expected NAME, NAME:TYPE or NAME:PROPERTY=TYPE".into());
    }
    Ok(LabelSchema { name: name.into(), edges })
}

fn column(name: &str) -> Result<ColumnType, String> {
    let columns = [ColumnType::U32, ColumnType::U64, ColumnType::I64, ColumnType::F32, ColumnType::F64];
    let column = columns.into_iter().find(|column| column.to_string() == name);
    column.ok_or_else(|| format!("{name:?} is no type of values: expected u32, u64, i64, f32 or f64"))
}

/// Parses a property of a record.
pub fn property(text: &str) -> Result<Field, String> {
    let (name, name_of_type) = text.split_once('=').ok_or("expected PROPERTY=TYPE")?;
    let (name_of_type, nullable) = match name_of_type.strip_suffix('!') {
        Some(required) => (required, false),
        None => (name_of_type, true),
    };
    let mut types = ValueType::ALL.into_iter().chain([ValueType::Version]);
    let value_type = types.find(|value_type| value_type.name() == name_of_type);
    let value_type = value_type.ok_or_else(|| {
        format!(
            "{name_of_type:?} is no type of properties: expected bool, i64, u64, f64, string, bytes, timestamp or version, or \
             key for the first of a label whose edges may be parallel"
        )
    })?;
    if name.is_empty() {
        return Err("expected PROPERTY=TYPE".into());
    }
    Ok(Field { name: name.into(), value_type, nullable: nullable && value_type != ValueType::Version })
}

/// The text of `--labels` that declares these labels; `None` if it cannot express their names.
pub fn labels_text(labels: &[LabelSchema]) -> Option<String> {
    let text = labels.iter().map(label_text).collect::<Vec<_>>().join(",");
    let read: Result<Vec<_>, _> = text.split(',').map(label).collect();
    (read.as_deref() == Ok(labels)).then_some(text)
}

/// The text of `--vertex-properties` that declares these properties; `None` if it cannot express
/// their names.
pub fn properties_text(fields: &[Field]) -> Option<String> {
    let text = fields.iter().map(property_text).collect::<Vec<_>>().join(",");
    let read: Result<Vec<_>, _> = text.split(',').map(property).collect();
    (read.as_deref() == Ok(fields)).then_some(text)
}

fn label_text(label: &LabelSchema) -> String {
    let name = &label.name;
    match &label.edges {
        EdgeSchema::Topology => name.clone(),
        EdgeSchema::Value(column) => format!("{name}:{column}"),
        EdgeSchema::Record(schema) => format!("{name}:{}", record_text(None, schema)),
        EdgeSchema::Parallel(ParallelSchema { key, record }) => {
            format!("{name}:{}", record_text(Some(key), record))
        }
    }
}

/// The properties of a record, preceded by the key of parallel edges.
pub fn record_text(key: Option<&str>, schema: &RecordSchema) -> String {
    let key = key.map(|key| format!("{key}=key"));
    key.into_iter().chain(schema.fields.iter().map(property_text)).collect::<Vec<_>>().join("+")
}

/// A property with its type, in the form of the options.
pub fn property_text(field: &Field) -> String {
    let required = if field.nullable || field.value_type == ValueType::Version { "" } else { "!" };
    format!("{}={}{required}", field.name, field.value_type)
}

/// An argument quoted for a shell.
pub fn quoted(argument: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || "_-.,:=+/".contains(character);
    if argument.chars().all(is_plain) && !argument.is_empty() {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_written_as_they_are_read() {
        let text = "knows,likes:f32,pays:amount=f64!+note=string+at=timestamp,x:y:u32,flows:number=key,sends:n=key+at=i64+v=version";
        let labels: Vec<_> = text.split(',').map(|text| label(text).unwrap()).collect();
        assert_eq!(labels_text(&labels).as_deref(), Some(text));
        let text = "name=string,born=timestamp!";
        let fields: Vec<_> = text.split(',').map(|text| property(text).unwrap()).collect();
        assert_eq!(properties_text(&fields).as_deref(), Some(text));
    }

    #[test]
    fn a_key_comes_first() {
        for wrong in ["pays:amount=f64+number=key", "pays:=key", "pays:number=key!", "pays:a=key+b=key"] {
            assert!(label(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_that_cannot_be_declared_are_not_written() {
        let named = |name: &str| [LabelSchema { name: name.into(), edges: EdgeSchema::Topology }];
        for name in ["a,b", "a:b", "a:b=i64", ""] {
            assert_eq!(labels_text(&named(name)), None, "{name}");
        }
        let field = |name: &str| [Field { name: name.into(), value_type: ValueType::I64, nullable: true }];
        for name in ["a,b=i64", "a=b", ""] {
            assert_eq!(properties_text(&field(name)), None, "{name}");
        }
    }

    #[test]
    fn arguments_are_quoted_where_a_shell_would_read_them_otherwise() {
        assert_eq!(quoted("pays:amount=f64+note=string"), "pays:amount=f64+note=string");
        assert_eq!(quoted("amount=f64!"), "'amount=f64!'");
        assert_eq!(quoted("it's"), "'it'\\''s'");
    }
}
