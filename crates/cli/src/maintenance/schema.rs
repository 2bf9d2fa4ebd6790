//! `hedgerow schema`: the declarations of a store, from its manifest alone.

use super::SchemaArgs;
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::stored::{declared, schema};
use crate::text;
use hedgerow::store::{self, StoreOptions};
use hedgerow::{EdgeSchema, EngineKind, Field, LabelSchema, Topology, ValueType};
use serde::Serialize;
use std::path::Path;

#[derive(Debug, Serialize)]
struct Schema {
    store: String,
    /// The engine with which the store was made.
    engine: String,
    topology: &'static str,
    keys: &'static str,
    strict: bool,
    labels: Vec<Label>,
    vertex_properties: Vec<Property>,
    /// The option `--labels` that declares these labels; null if it cannot express their names.
    labels_option: Option<String>,
    /// The option `--vertex-properties` that declares these properties; null also if there are
    /// none.
    vertex_properties_option: Option<String>,
    /// All options of `import` that make such a store; null if there are none.
    options: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct Label {
    id: usize,
    name: String,
    edges: EdgesHave,
    /// The type of the values.
    values: Option<String>,
    /// The property that distinguishes parallel edges, if edges may be parallel.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    properties: Vec<Property>,
}

/// The content of a label's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum EdgesHave {
    Nothing,
    Value,
    Record,
    Parallel,
}

#[derive(Debug, Serialize)]
struct Property {
    name: String,
    #[serde(serialize_with = "name_of_type")]
    r#type: ValueType,
    nullable: bool,
}

fn name_of_type<S: serde::Serializer>(value_type: &ValueType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(value_type.name())
}

/// Prints the schema.
pub fn execute(args: &SchemaArgs, console: &Console) -> Result<(), CliError> {
    let path = args.place.path();
    let manifest = store::manifest(path).map_err(StoredError::from)?;
    console.print(&Schema::of(path, &manifest.options), describe)
}

impl Schema {
    fn of(path: &Path, made_with: &StoreOptions) -> Self {
        let catalog = &made_with.catalog;
        let labels_option = declared::labels_text(catalog.labels());
        let fields = &catalog.vertices().fields;
        let vertex_properties_option = declared::properties_text(fields).filter(|_| !fields.is_empty());
        let is_declared = fields.is_empty() || vertex_properties_option.is_some();
        let options = labels_option.as_deref().filter(|_| is_declared && !made_with.strict);
        Schema {
            store: path.display().to_string(),
            engine: made_with.engine_name().to_owned(),
            topology: schema::topology(made_with.topology),
            keys: schema::keys(made_with.keys),
            strict: made_with.strict,
            labels: catalog.labels().iter().enumerate().map(Label::of).collect(),
            vertex_properties: fields.iter().map(Property::of).collect(),
            options: options.map(|labels| options_of(made_with, labels, vertex_properties_option.as_deref())),
            labels_option,
            vertex_properties_option,
        }
    }
}

/// The options of `import` for a new store.
fn options_of(made_with: &StoreOptions, labels: &str, vertex_properties: Option<&str>) -> Vec<String> {
    let mut options = vec!["--keys", schema::keys(made_with.keys)];
    match made_with.topology {
        Topology::Directed => {}
        Topology::DirectedWithReverse => options.push("--reverse"),
        Topology::Undirected => options.push("--undirected"),
    }
    let engine: EngineKind = made_with.engine_name().parse().unwrap_or_default();
    if engine != EngineKind::default() {
        options.extend(["--engine", engine.name()]);
    }
    options.extend(["--labels", labels]);
    options.extend(vertex_properties.into_iter().flat_map(|text| ["--vertex-properties", text]));
    options.into_iter().map(str::to_owned).collect()
}

impl Label {
    fn of((id, label): (usize, &LabelSchema)) -> Self {
        let edges = match &label.edges {
            EdgeSchema::Record(_) => EdgesHave::Record,
            EdgeSchema::Parallel(_) => EdgesHave::Parallel,
            EdgeSchema::Value(column) if column.width() > 0 => EdgesHave::Value,
            EdgeSchema::Topology | EdgeSchema::Value(_) => EdgesHave::Nothing,
        };
        let values = (edges == EdgesHave::Value).then(|| label.edges.column().to_string());
        let fields = label.edges.record().map_or(&[][..], |schema| &schema.fields);
        Label {
            id,
            name: label.name.clone(),
            edges,
            values,
            key: label.edges.key().map(str::to_owned),
            properties: fields.iter().map(Property::of).collect(),
        }
    }
}

impl Property {
    fn of(field: &Field) -> Self {
        Property { name: field.name.clone(), r#type: field.value_type, nullable: field.nullable }
    }

    fn describe(&self) -> String {
        let required = if self.nullable { "" } else { ", never null" };
        format!("  {:?}: {}{required}", self.name, self.r#type)
    }
}

fn describe(schema: &Schema) -> String {
    let strict = if schema.strict { ", strict" } else { "" };
    let mut rows = vec![
        ("store", format!("{}, made with engine {}", schema.store, schema.engine)),
        ("graph", format!("{}, keys of kind {}{strict}", schema.topology, schema.keys)),
    ];
    for label in &schema.labels {
        let has = match (label.edges, &label.values) {
            (EdgesHave::Nothing, _) => "nothing on its edges".to_owned(),
            (EdgesHave::Record, _) => "a record on each edge".to_owned(),
            (EdgesHave::Parallel, _) => {
                let key = label.key.as_deref().unwrap_or_default();
                format!("parallel edges, told apart by {key:?}, with a record on each")
            }
            (EdgesHave::Value, values) => {
                format!("a value of type {} on each edge", values.as_deref().unwrap_or_default())
            }
        };
        rows.push(("label", format!("{} {:?}: {has}", label.id, label.name)));
        rows.extend(label.properties.iter().map(|property| ("", property.describe())));
    }
    if !schema.vertex_properties.is_empty() {
        rows.push(("vertices", "a record on each".to_owned()));
        rows.extend(schema.vertex_properties.iter().map(|property| ("", property.describe())));
    }
    let such = match &schema.options {
        Some(options) => {
            let options: Vec<_> = options.iter().map(|option| declared::quoted(option)).collect();
            format!("hedgerow import FILE --store DIR {}", options.join(" "))
        }
        None if schema.strict => "only a program makes a strict store".to_owned(),
        None => "only a program makes it: some names cannot stand on a command line".to_owned(),
    };
    rows.push(("such a store", such));
    text::table(&rows)
}
