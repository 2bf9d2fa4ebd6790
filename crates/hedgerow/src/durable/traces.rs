//! Searches all files of a store for traces of vertices that were deleted.

use crate::durable::examine::options_of;
use crate::engines::TypedStore;
use crate::error::Error;
use hedgerow_encoding::decode_vertex;
use hedgerow_log::checkpoint::Checkpoint;
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_log::{LogRecord, LoggedCommit, LoggedEdges, Manifest, StoreError, StoreFiles};
use hedgerow_model::{Catalog, Key, KeyRef, Record, Topology, Value, VersionInFile, VertexId};
use hedgerow_sync::Arc;
use memchr::memmem::Finder;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

/// Bytes of a text key from which on files are searched for them: shorter ones occur by chance.
const FEWEST_BYTES: usize = 4;

/// Bytes of a file that are searched at a time.
const PIECE: u64 = 1 << 20;

/// The names of files that hold settings, and no content of the graph.
const SETTINGS: [&str; 4] = [Manifest::FILE, "MANIFEST.new", "DURABLE", "LOCK"];

/// The prefix of the names of files that a repair has set aside.
const SET_ASIDE: &str = "cut-";

/// The result of [`traces`](crate::store::traces).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TraceReport {
    /// The files of the directory, all of which were searched, ascending by name.
    pub files: Vec<SearchedFile>,
    /// The traces that were found.
    pub traces: Vec<Trace>,
    /// Text keys that other keys, properties or names of the store contain: their bytes are no
    /// trace.
    pub mentioned: Vec<Key>,
}

/// A file that was searched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SearchedFile {
    /// The name.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// True if the content was decoded; else only the bytes of text keys were looked for.
    pub decoded: bool,
}

/// A trace of vertices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Trace {
    /// The name of the file.
    pub file: String,
    /// The key; `None` if it is unknown which vertex left the trace.
    pub key: Option<Key>,
    /// The kind of the trace.
    pub kind: TraceKind,
}

/// The kind of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TraceKind {
    /// The key of the vertex.
    Key,
    /// A change or a record of the vertex, or of one of its edges.
    Record,
    /// A deletion in a file of the engine, above records that may be of a vertex without a given
    /// id, or of its edges.
    Deletion,
    /// The bytes of a text key, which nothing else in the file explains.
    Bytes,
    /// The file is left over, or was set aside by a repair: its content is unknown.
    Leftover,
    /// The file is damaged, so its content is unknown.
    Damage,
}

/// A search in progress.
struct Search {
    keys: HashSet<Key>,
    ids: HashMap<VertexId, Key>,
    /// True if the ids of some vertices are unknown.
    lacks_ids: bool,
    /// The long text keys, and their bytes.
    needles: Vec<(Key, Finder<'static>)>,
    traces: BTreeSet<Trace>,
    /// Numbers of needles that decoded content contains, by file.
    mentions: HashSet<(String, usize)>,
    decoded: HashSet<String>,
}

/// See [`traces`](crate::store::traces).
pub(crate) fn traces(
    files: &Arc<dyn FileSystem>,
    vertices: &[(Key, Option<VertexId>)],
) -> Result<TraceReport, Error> {
    let store = StoreFiles::open_shared(Arc::clone(files))?;
    let mut search = Search::new(vertices);
    search.catalog(&store.manifest().options.catalog);
    if let Some(checkpoint) = store.open_checkpoint()? {
        search.checkpoint(&file_of_checkpoint(&store), &checkpoint)?;
    }
    search.log(&store)?;
    let options = options_of(&store)?;
    let checked = TypedStore::check_files(&options, files, &mut |version| search.version(&version))?;
    for problem in checked.iter().flat_map(|checked| &checked.problems) {
        search.add(&problem.file, None, TraceKind::Damage);
    }
    let leftovers: HashSet<&String> = checked.iter().flat_map(|checked| &checked.unlisted).collect();
    let mut report = TraceReport::default();
    let mut names = files.list().map_err(StoreError::from)?;
    names.sort_unstable();
    for name in names {
        let is_engine = checked.is_some() && name.starts_with("engine-") && !leftovers.contains(&name);
        let decoded = is_engine || SETTINGS.contains(&&*name) || search.decoded.contains(&name);
        let of_store = ["log-", "checkpoint-", "engine-", SET_ASIDE].iter().any(|of| name.starts_with(of));
        if of_store && !decoded {
            search.add(&name, None, TraceKind::Leftover);
        }
        let bytes = search.bytes_of(&**files, &name)?;
        report.files.push(SearchedFile { name, bytes, decoded });
    }
    let mentioned = |number: usize| search.mentions.iter().any(|(_, mentioned)| *mentioned == number);
    let needles = search.needles.iter().enumerate();
    report.mentioned =
        needles.filter(|(number, _)| mentioned(*number)).map(|(_, (key, _))| key.clone()).collect();
    report.traces = search.traces.into_iter().collect();
    Ok(report)
}

fn file_of_checkpoint(store: &StoreFiles) -> String {
    store.manifest().checkpoint.map(|checkpoint| checkpoint.file_name()).unwrap_or_default()
}

impl Search {
    fn new(vertices: &[(Key, Option<VertexId>)]) -> Self {
        let needle = |key: &Key| match key {
            Key::Text(text) if text.len() >= FEWEST_BYTES => {
                Some((key.clone(), Finder::new(text.as_bytes()).into_owned()))
            }
            _ => None,
        };
        Search {
            keys: vertices.iter().map(|(key, _)| key.clone()).collect(),
            ids: vertices.iter().filter_map(|(key, id)| Some(((*id)?, key.clone()))).collect(),
            lacks_ids: vertices.iter().any(|(_, id)| id.is_none()),
            needles: vertices.iter().filter_map(|(key, _)| needle(key)).collect(),
            traces: BTreeSet::new(),
            mentions: HashSet::new(),
            decoded: HashSet::new(),
        }
    }

    fn add(&mut self, file: &str, key: Option<Key>, kind: TraceKind) {
        self.traces.insert(Trace { file: file.to_owned(), key, kind });
    }

    fn key(&mut self, file: &str, key: KeyRef<'_>) {
        let key = key.to_key();
        if self.keys.contains(&key) {
            self.add(file, Some(key), TraceKind::Key);
        }
    }

    fn id(&mut self, file: &str, id: VertexId) {
        if let Some(key) = self.ids.get(&id) {
            self.add(file, Some(key.clone()), TraceKind::Record);
        }
    }

    /// Looks for long text keys in bytes that belong to something else.
    fn mention(&mut self, file: &str, bytes: &[u8]) {
        for (number, (_, finder)) in self.needles.iter().enumerate() {
            if finder.find(bytes).is_some() {
                self.mentions.insert((file.to_owned(), number));
            }
        }
    }

    fn record(&mut self, file: &str, record: &Record) {
        for value in record.values() {
            match value {
                Value::String(text) => self.mention(file, text.as_bytes()),
                Value::Bytes(bytes) => self.mention(file, bytes),
                _ => {}
            }
        }
    }

    /// The names in the settings, which are in checkpoints, too.
    fn catalog(&mut self, catalog: &Catalog) {
        let labels = catalog.labels().iter().flat_map(|label| {
            let fields = label.edges.record().into_iter().flat_map(|schema| &schema.fields);
            [Some(label.name.as_str()), label.edges.key()]
                .into_iter()
                .flatten()
                .chain(fields.map(|field| &*field.name))
        });
        let names: Vec<&str> =
            labels.chain(catalog.vertices().fields.iter().map(|field| &*field.name)).collect();
        // The name without a file stands for all files.
        names.iter().for_each(|name| self.mention("", name.as_bytes()));
    }

    fn checkpoint(&mut self, file: &str, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        self.decoded.insert(file.to_owned());
        let description = checkpoint.description();
        description.input.iter().for_each(|input| self.mention(file, input));
        for chunk in checkpoint.vertex_chunks() {
            // As in the file, where two texts may adjoin.
            let mut texts = Vec::new();
            checkpoint.read_vertices(chunk, |vertex, key, record| {
                self.key(file, key);
                self.id(file, vertex);
                self.record(file, &record);
                if let KeyRef::Text(text) = key {
                    texts.extend_from_slice(text.as_bytes());
                }
            })?;
            self.mention(file, &texts);
        }
        for (label, schema) in description.labels() {
            let has_records = schema.edges.record().is_some();
            for chunk in checkpoint.edge_chunks(label) {
                checkpoint.read_edges::<()>(chunk, |source, destinations, _| {
                    self.id(file, source);
                    destinations.iter().for_each(|destination| self.id(file, *destination));
                })?;
                if has_records {
                    checkpoint.read_record_edges(chunk, |_, _, record| self.mention(file, record))?;
                }
            }
        }
        Ok(())
    }

    fn log(&mut self, store: &StoreFiles) -> Result<(), StoreError> {
        let manifest = store.manifest();
        for entry in &manifest.segments {
            self.decoded.insert(entry.file_name());
        }
        store.replay::<StoreError>(manifest.oldest_readable, |record, place| {
            let file = place.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            self.commit(&file, &record, manifest.options.topology).map_err(|what| StoreError::Damaged {
                path: place.path.to_owned(),
                offset: place.offset,
                what,
            })
        })?;
        Ok(())
    }

    fn commit(&mut self, file: &str, record: &LogRecord<'_>, topology: Topology) -> Result<(), String> {
        let commit =
            LoggedCommit::decode_canonical(record.body, topology).map_err(|error| error.to_string())?;
        commit.keys.iter().for_each(|(_, key)| self.key(file, key.as_ref()));
        commit.effects.vertices.iter().for_each(|effect| self.id(file, effect.vertex));
        let edges = commit.effects.adjacencies.iter().flat_map(|edges| edges.changes.iter());
        let appended = commit.appended.iter().flat_map(LoggedEdges::changes);
        for change in edges.chain(appended) {
            self.id(file, change.owner());
            self.id(file, change.neighbor());
        }
        self.mention(file, record.body);
        Ok(())
    }

    fn version(&mut self, version: &VersionInFile<'_>) {
        let VersionInFile { file, owner, neighbor, record, is_deletion } = *version;
        if is_deletion && self.lacks_ids {
            self.add(file, None, TraceKind::Deletion);
        }
        self.id(file, owner);
        neighbor.into_iter().for_each(|neighbor| self.id(file, neighbor));
        let Some(record) = record else { return };
        if neighbor.is_none() {
            match decode_vertex(record) {
                Ok((key, _)) => key.into_iter().for_each(|key| self.key(file, key)),
                Err(_) => self.add(file, None, TraceKind::Damage),
            }
        }
        // The records of an edge file are in a file of their own.
        let records = Path::new(file).with_extension("records").to_string_lossy().into_owned();
        self.mention(&records, record);
    }

    /// Searches the bytes of a file, as they are, for long text keys that nothing decoded explains.
    /// Returns the size of the file.
    fn bytes_of(&mut self, files: &dyn FileSystem, name: &str) -> Result<u64, StoreError> {
        let file = match files.open(name, OpenMode::Read) {
            Err(error) if error.is_not_found() => return Ok(0),
            file => file?,
        };
        let length = file.length()?;
        let is_explained =
            |number| ["", name].iter().any(|file| self.mentions.contains(&((*file).to_owned(), number)));
        let needles: Vec<_> =
            self.needles.iter().enumerate().filter(|(number, _)| !is_explained(*number)).collect();
        let Some(longest) = needles.iter().map(|(_, (_, finder))| finder.needle().len() as u64).max() else {
            return Ok(length);
        };
        let mut found = HashSet::new();
        for begin in (0..length).step_by(PIECE as usize) {
            // A key may begin in one piece and end in the next.
            let bytes = file.read_range(begin..length.min(begin + PIECE + longest - 1))?;
            found.extend(
                needles
                    .iter()
                    .filter(|(_, (_, finder))| finder.find(&bytes).is_some())
                    .map(|(number, _)| *number),
            );
        }
        for number in found {
            let key = self.needles[number].0.clone();
            self.add(name, Some(key), TraceKind::Bytes);
        }
        Ok(length)
    }
}
