//! The options of a graph, and the options that its store was made with.

use crate::engine_kind::EngineKind;
use crate::error::{Error, OtherOption, Reason};
use crate::options::GraphOptions;
use hedgerow_log::{OWN_FILES, StoreError, StoreOptions};
use hedgerow_model::{Catalog, ColumnType, EdgeSchema, LabelSchema, ParallelSchema, RecordSchema, Topology};
use hedgerow_pipeline::Settings;
use std::path::Path;

const LABELS: &str = "list of labels";

impl GraphOptions {
    /// Returns the options with which a store of this graph is made.
    pub(super) fn of_new_store(&self) -> Result<StoreOptions, Error> {
        let Settings { keys, topology, strict, .. } = self.settings();
        let catalog = Catalog::new(self.labels.clone(), self.vertices.clone().unwrap_or_default())?;
        Ok(StoreOptions { engine: self.engine_or_default().stored_name(), keys, topology, strict, catalog })
    }

    /// Fills in options that are not set from the manifest at `path`. Fails if an option that is
    /// set differs from the stored one and cannot be changed. The engine can be changed, unless it
    /// owns files.
    pub(super) fn for_store(mut self, stored: &StoreOptions, path: &Path) -> Result<Self, Error> {
        if self.engine.is_none() {
            let preferred = self.preferred_engine.filter(|_| !stored.engine.starts_with(OWN_FILES));
            let engine = preferred.or_else(|| EngineKind::of_manifest(&stored.engine));
            let unknown = || StoreError::UnknownEngine { path: path.to_owned(), name: stored.engine.clone() };
            self.engine = Some(engine.ok_or_else(unknown)?);
        }
        self.topology.get_or_insert(stored.topology);
        self.keys.get_or_insert(stored.keys);
        self.strict.get_or_insert(stored.strict);
        self.vertices.get_or_insert_with(|| stored.catalog.vertices().clone());
        // Labels that were added to the graph later follow the original ones.
        if stored.catalog.labels().starts_with(&self.labels) {
            self.labels = stored.catalog.labels().to_vec();
        }
        let asked = self.of_new_store()?;
        let owns_files = |options: &StoreOptions| options.engine.starts_with(OWN_FILES);
        let bound = owns_files(stored) || owns_files(&asked);
        let engine = |options: &StoreOptions| {
            if bound { options.engine_name().to_owned() } else { String::new() }
        };
        let both = |describe: &dyn Fn(&StoreOptions) -> String| (describe(stored), describe(&asked));
        let options = [
            ("engine, which keeps edges in files of its own,", both(&engine)),
            ("topology", both(&|options| topology(options.topology).to_owned())),
            ("kind of keys", both(&|options| options.keys.to_string())),
            ("strictness", both(&|options| if options.strict { "strict" } else { "not strict" }.to_owned())),
            (LABELS, both(&|options| labels(options.catalog.labels()))),
            ("list of vertex properties", both(&|options| fields(options.catalog.vertices()))),
        ];
        let (stored_labels, asked_labels) = (stored.catalog.labels(), asked.catalog.labels());
        for (what, (stored, asked)) in options {
            if stored != asked {
                let more =
                    asked_labels.len() > stored_labels.len() && asked_labels.starts_with(stored_labels);
                let hint = match what {
                    LABELS if more => ", and add the others by `Graph::add_label`",
                    _ => "",
                };
                let other = OtherOption { path: path.to_owned(), what, stored, asked, hint };
                return Err(Reason::OtherOption(Box::new(other)).into());
            }
        }
        Ok(self)
    }
}

fn topology(topology: Topology) -> &'static str {
    match topology {
        Topology::Directed => "directed",
        Topology::DirectedWithReverse => "directed with reverse adjacency",
        Topology::Undirected => "undirected",
    }
}

fn labels(labels: &[LabelSchema]) -> String {
    let label = |LabelSchema { name, edges }: &LabelSchema| match edges {
        EdgeSchema::Topology | EdgeSchema::Value(ColumnType::Unit) => format!("{name:?}"),
        EdgeSchema::Value(column) => format!("{name:?}: {column}"),
        EdgeSchema::Record(schema) => format!("{name:?}: {}", fields(schema)),
        EdgeSchema::Parallel(ParallelSchema { key, record }) => {
            format!("{name:?}: parallel by {key:?}, {}", fields(record))
        }
    };
    list(labels.iter().map(label))
}

fn fields(schema: &RecordSchema) -> String {
    list(schema.fields.iter().map(|field| {
        let nullable = if field.nullable { "?" } else { "" };
        format!("{:?}: {}{nullable}", field.name, field.value_type)
    }))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
