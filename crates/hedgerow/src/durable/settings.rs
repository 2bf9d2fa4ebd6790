//! The options of a graph, and those that its store was made with.

use crate::error::{Error, OtherOption, Reason};
use crate::options::{EngineKind, GraphOptions, OWN_FILES};
use hedgerow_log::files::{FileSystem, RealFiles};
use hedgerow_log::{Manifest, StoreError, StoreOptions};
use hedgerow_model::{Catalog, ColumnType, EdgeSchema, LabelSchema, ParallelSchema, RecordSchema, Topology};
use hedgerow_sync::Arc;
use std::path::Path;

impl GraphOptions {
    /// What the graph in the directory `path` was made with: engine, topology, keys, labels, vertex properties, strictness. What is not
    /// kept in the store has its default; if the engine was one for research, so has the engine. Reads one small file; the store may be
    /// open elsewhere.
    ///
    /// A graph that is opened with these options also has the labels that [were added](crate::store::add_labels) to the store since they were read,
    /// unless [`GraphOptions::label`] lists labels of its own.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no store; what is wrong with its manifest;
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if it was made with an engine that this version does not know.
    pub fn of_store(path: impl AsRef<Path>) -> Result<Self, Error> {
        let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(path.as_ref()));
        Self::of_store_on(&files)
    }

    /// [`GraphOptions::of_store`] in any directory.
    #[doc(hidden)]
    pub fn of_store_on(files: &Arc<dyn FileSystem>) -> Result<Self, Error> {
        let store = hedgerow_log::Store::open_read_only(Arc::clone(files))?;
        Self::of_manifest(store.manifest(), &files.location().join(Manifest::FILE))
    }

    /// What the graph of the manifest at `path` was made with.
    pub(crate) fn of_manifest(manifest: &Manifest, path: &Path) -> Result<Self, Error> {
        let StoreOptions { engine, keys, topology, strict, catalog } = &manifest.options;
        let Some(engine) = EngineKind::of_manifest(engine) else {
            let (path, name) = (path.to_owned(), engine.clone());
            return Err(StoreError::UnknownEngine { path, name }.into());
        };
        Ok(GraphOptions {
            engine,
            topology: *topology,
            keys: *keys,
            labels: catalog.labels().to_vec(),
            takes_stored_labels: true,
            vertices: catalog.vertices().clone(),
            strict: *strict,
            ..GraphOptions::default()
        })
    }

    /// What a store of this graph is made with.
    pub(super) fn of_new_store(&self) -> Result<StoreOptions, Error> {
        Ok(StoreOptions {
            engine: self.engine.stored_name(),
            keys: self.keys,
            topology: self.topology,
            strict: self.strict,
            catalog: Catalog::new(self.labels.clone(), self.vertices.clone())?,
        })
    }

    /// The options to open the store of the manifest at `path` with. Fails if what cannot be changed differs from what it says. The engine can be,
    /// unless it owns files.
    pub(super) fn into_opening(mut self, stored: &StoreOptions, path: &Path) -> Result<Self, Error> {
        if self.takes_stored_labels {
            self.labels = stored.catalog.labels().to_vec();
        }
        let asked = self.of_new_store()?;
        let owns_files = |options: &StoreOptions| options.engine.starts_with(OWN_FILES);
        let bound = owns_files(stored) || owns_files(&asked);
        let engine = |options: &StoreOptions| {
            if bound { options.engine.trim_start_matches(OWN_FILES).to_owned() } else { String::new() }
        };
        let both = |describe: &dyn Fn(&StoreOptions) -> String| (describe(stored), describe(&asked));
        let options = [
            ("engine, which keeps edges in files of its own,", both(&engine)),
            ("topology", both(&|options| topology(options.topology).to_owned())),
            ("kind of keys", both(&|options| options.keys.to_string())),
            ("strictness", both(&|options| if options.strict { "strict" } else { "not strict" }.to_owned())),
            ("list of labels", both(&|options| labels(options.catalog.labels()))),
            ("list of vertex properties", both(&|options| fields(options.catalog.vertices()))),
        ];
        for (what, (stored, asked)) in options {
            if stored != asked {
                let other = OtherOption { path: path.to_owned(), what, stored, asked };
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
        format!("{:?}: {:?}{nullable}", field.name, field.value_type)
    }))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}
