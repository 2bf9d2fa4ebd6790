//! The files of an import, in their order.

use super::args::{ImportArgs, OnRepeat};
use super::position::InputList;
use super::tables;
use crate::error::{CliError, StoredError};
use crate::input;
use crate::options::{ColumnsName, STANDARD_INPUT};
use crate::stored::number;
use clap::ValueEnum;
use hedgerow::{ColumnType, EdgeSchema, LabelSchema, RecordSchema};
use hedgerow_formats::{
    FormatError, GraphReader, LineSchema, PropertyOptions, PropertyReader, VertexKey, without_compression,
};
use std::num::NonZeroUsize;
use std::path::Path;
use std::{fs, io};

/// The files, and the options for reading them.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The options, with what was inferred.
    args: &'a ImportArgs,
    /// The options as given, which identify an import.
    given: &'a ImportArgs,
    /// True if the file of vertices begins with the names of its columns.
    has_vertex_header: bool,
}

/// Edges and vertices per commit; the other constant is for files with properties, which are put
/// one by one.
const CHUNK: usize = 1 << 20;
const CHUNK_WITH_PROPERTIES: usize = 1 << 16;

/// One of the files.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Vertices only, one key per line.
    Vertices(&'a Path),
    Graph(&'a Path),
}

impl<'a> Sources<'a> {
    /// The files of this import. All must exist.
    pub fn of(
        args: &'a ImportArgs,
        given: &'a ImportArgs,
        has_vertex_header: bool,
    ) -> Result<Self, CliError> {
        let sources = Sources { args, given, has_vertex_header };
        let named = sources.iter().filter(|source| !source.is_standard_input());
        named.map(|source| source.path()).try_for_each(check)?;
        if sources.iter().filter(Source::is_standard_input).count() > 1 {
            return Err(StoredError::Import("standard input can be read once only".into()).into());
        }
        if args.atomic
            && let Some(pipe) = sources.iter().find(|source| !source.can_be_read_again())
        {
            let name = pipe.path().display();
            let message =
                format!("--atomic reads all files twice, which {name} cannot be: write it to a file first");
            return Err(StoredError::Import(message).into());
        }
        Ok(sources)
    }

    /// The files in the order in which they are read.
    pub fn iter(&self) -> impl Iterator<Item = Source<'a>> + use<'a> {
        let vertices = self.args.format.vertices.as_deref().map(Source::Vertices);
        vertices.into_iter().chain(self.args.files.iter().map(|path| Source::Graph(path)))
    }

    /// Opens one of the files.
    pub fn open<K: VertexKey>(
        &self,
        source: Source<'_>,
        chunk: Option<NonZeroUsize>,
    ) -> Result<GraphReader<K>, FormatError> {
        let options = self.args.format.read_options(chunk.map_or(CHUNK, NonZeroUsize::get));
        match source {
            Source::Vertices(path) => GraphReader::open_vertices(path, options),
            Source::Graph(path) => input::open(path, options),
        }
    }

    /// The options for reading a file whose lines carry properties; `None` for any other file.
    /// Vertices have the properties of `vertices`, edges the properties of `edges`.
    pub fn properties(
        &self,
        source: Source<'_>,
        edges: &EdgeSchema,
        vertices: &RecordSchema,
        chunk: Option<NonZeroUsize>,
    ) -> Option<PropertyOptions> {
        let named = self.args.format.format;
        let (format, lines) = match source {
            Source::Vertices(path) => {
                let has_names = self.has_vertex_header || !vertices.fields.is_empty();
                let format = named.of_vertices(path, has_names)?;
                (format, LineSchema::Vertices(vertices.clone()))
            }
            Source::Graph(path) => (named.of_edges(path, edges)?, LineSchema::Edges(edges.clone())),
        };
        let are_numbered = self.args.on_repeat.is_none_or(|what| what == OnRepeat::Parallel);
        Some(PropertyOptions {
            numbers_are_optional: are_numbered && edges.key().is_some(),
            batch_size: chunk.map_or(CHUNK_WITH_PROPERTIES, NonZeroUsize::get),
            ..tables::options(self.args, format, lines)
        })
    }

    /// Checks that the options apply to the files: some are only for files with properties, some
    /// only for all others.
    pub fn check_options(&self, edges: &EdgeSchema, vertices: &RecordSchema) -> Result<(), StoredError> {
        let has_properties = |source: &Source<'_>| self.properties(*source, edges, vertices, None).is_some();
        let of_graph = |source: &Source<'_>| matches!(source, Source::Graph(_)) && has_properties(source);
        let refused = |message: String| Err(StoredError::Import(message));
        let ends = [&self.args.source_column, &self.args.destination_column];
        if ends != [&None, &None] && !self.iter().any(|source| of_graph(&source)) {
            return refused(
                "--source-column and --destination-column name columns of files with properties, and none of these files is one: \
                 --format properties-csv or jsonl says that they are"
                    .into(),
            );
        }
        match self.iter().find(has_properties).filter(|_| self.args.format.skip_bad_lines) {
            Some(source) => refused(format!(
                "--skip-bad-lines passes over lines of graphs without properties: those of {} must all be right",
                source.path().display()
            )),
            None => Ok(()),
        }
    }

    /// Checks that edges of this label can be imported from these files, with weights if requested.
    pub fn check_values(&self, label: &LabelSchema) -> Result<(), StoredError> {
        let column = label.edges.column();
        let given = if self.args.target.weights && column != ColumnType::F64 {
            "--weights".to_owned()
        } else if let (false, Some(file)) =
            (matches!(column, ColumnType::Unit | ColumnType::F64), self.without_properties(&label.edges))
        {
            let what = match column {
                ColumnType::Record => "an edge in this file has a weight at most",
                _ => "the weights in this file are of type f64",
            };
            let file = file.display();
            format!(
                "{file}: {what}; edges of this label come in .csv with a header (--format properties-csv) or .jsonl"
            )
        } else {
            return Ok(());
        };
        let (label, declared) = (label.name.clone(), number::describe(column));
        Err(StoredError::Value { given, label, declared })
    }

    /// A file of edges without properties, which have at most a weight.
    fn without_properties(&self, edges: &EdgeSchema) -> Option<&'a Path> {
        let plain = |path: &&Path| self.args.format.format.of_edges(path, edges).is_none();
        self.args.files.iter().map(|path| &**path).find(plain)
    }

    /// Identifies this import among others.
    pub fn list(&self, label: &str) -> InputList {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map_or(String::new(), |value| value.get_name().to_owned())
        };
        let given = self.given;
        let ends = match [&given.source_column, &given.destination_column] {
            [None, None] => String::new(),
            ends => ends.map(|name| format!(" {:?}", name.as_deref().unwrap_or("auto"))).concat(),
        };
        let columns = match &given.format.columns {
            ColumnsName::Names(names) => names.join(","),
            columns => name(columns.to_possible_value()),
        };
        InputList {
            files: self.iter().map(|source| source.name()).collect(),
            label: label.into(),
            format: name(given.format.format.to_possible_value()),
            columns: columns + &ends + &further_options(given),
        }
    }
}

impl<'a> Source<'a> {
    pub fn path(&self) -> &'a Path {
        match self {
            Source::Vertices(path) | Source::Graph(path) => path,
        }
    }

    /// The name of a file, independent of the current directory.
    fn name(&self) -> String {
        let path = self.path();
        if self.is_standard_input() {
            return "standard input".into();
        }
        path.canonicalize().unwrap_or_else(|_| path.into()).display().to_string()
    }

    /// Opens a file whose lines carry properties.
    pub fn open_properties<K: VertexKey>(
        &self,
        options: &PropertyOptions,
    ) -> Result<PropertyReader<K>, FormatError> {
        if self.is_standard_input() {
            PropertyReader::from_reader("standard input", io::stdin(), options)
        } else {
            PropertyReader::open(self.path(), options)
        }
    }

    fn is_standard_input(&self) -> bool {
        matches!(self, Source::Graph(path) if *path == Path::new(STANDARD_INPUT))
    }

    pub fn can_be_read_again(&self) -> bool {
        can_be_read_again(self.path())
    }

    /// The bytes of the file; four times as many if its name says that it is compressed, since it
    /// rarely has more. `None` if it is a pipe.
    pub fn most_bytes(&self) -> Option<u64> {
        let path = self.path();
        let bytes = self.can_be_read_again().then(|| fs::metadata(path).ok())??.len();
        Some(if without_compression(path) == path { bytes } else { bytes.saturating_mul(4) })
    }
}

/// Returns true for a file; false for standard input and other pipes.
pub fn can_be_read_again(path: &Path) -> bool {
    path != Path::new(STANDARD_INPUT) && fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
}

/// The options, besides names of ends, by which the same files are other edges.
fn further_options(given: &ImportArgs) -> String {
    let ImportArgs { number_column, ignore, delimiter, time_zone, on_repeat, .. } = given;
    let ignored = (!ignore.is_empty()).then(|| ignore.join(","));
    let is_first = *on_repeat == Some(OnRepeat::First);
    [
        ("number", number_column.clone()),
        ("ignoring", ignored),
        ("delimiter", delimiter.map(|byte| char::from(byte).to_string())),
        ("time zone", time_zone.as_ref().map(ToString::to_string)),
        ("on repeat", is_first.then(|| "first".to_owned())),
    ]
    .into_iter()
    .filter_map(|(option, value)| Some(format!(" {option} {:?}", value?)))
    .collect()
}

/// Checks that a file exists, before anything is done. It does not open the file, because a pipe
/// can be opened only once.
fn check(path: &Path) -> Result<(), CliError> {
    let metadata = fs::metadata(path);
    let metadata =
        metadata.map_err(|source| FormatError::Io { path: path.into(), action: "open", source })?;
    if metadata.is_dir() {
        return Err(FormatError::NotAFile { path: path.into(), found: "this is a directory" }.into());
    }
    Ok(())
}
