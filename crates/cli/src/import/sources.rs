//! The files of an import, in their order.

use super::ImportArgs;
use super::position::InputList;
use crate::error::{CliError, StoredError};
use crate::input;
use crate::options::{FormatArgs, STANDARD_INPUT};
use clap::ValueEnum;
use hedgerow::{EdgeSchema, RecordSchema};
use hedgerow_formats::{FormatError, GraphReader, LineSchema, PropertyOptions, PropertyReader, VertexKey};
use std::num::NonZeroUsize;
use std::path::Path;
use std::{fs, io};

/// The files, and the options for reading them.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    files: &'a [std::path::PathBuf],
    format: &'a FormatArgs,
    /// The names of the columns where edges start and end, if given.
    ends: [Option<&'a str>; 2],
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
    pub fn of(args: &'a ImportArgs) -> Result<Self, CliError> {
        let ends = [args.source_column.as_deref(), args.destination_column.as_deref()];
        let sources = Sources { files: &args.files, format: &args.format, ends };
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
        let vertices = self.format.vertices.as_deref().map(Source::Vertices);
        vertices.into_iter().chain(self.files.iter().map(|path| Source::Graph(path)))
    }

    /// Opens one of the files.
    pub fn open<K: VertexKey>(
        &self,
        source: Source<'_>,
        chunk: Option<NonZeroUsize>,
    ) -> Result<GraphReader<K>, FormatError> {
        let options = self.format.read_options(chunk.map_or(CHUNK, NonZeroUsize::get));
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
        let named = self.format.format;
        let (format, lines) = match source {
            Source::Vertices(path) => {
                let format = named.of_vertices(path, !vertices.fields.is_empty())?;
                (format, LineSchema::Vertices(vertices.clone()))
            }
            Source::Graph(path) => (named.of_edges(path, edges)?, LineSchema::Edges(edges.clone())),
        };
        let [source_column, destination_column] = self.ends.map(|name| name.map(str::to_owned));
        let batch_size = chunk.map_or(CHUNK_WITH_PROPERTIES, NonZeroUsize::get);
        Some(PropertyOptions {
            source_column,
            destination_column,
            batch_size,
            ..PropertyOptions::new(format, lines)
        })
    }

    /// Checks that the options apply to the files: some are only for files with properties, some
    /// only for all others.
    pub fn check_options(&self, edges: &EdgeSchema, vertices: &RecordSchema) -> Result<(), StoredError> {
        let has_properties = |source: &Source<'_>| self.properties(*source, edges, vertices, None).is_some();
        let of_graph = |source: &Source<'_>| matches!(source, Source::Graph(_)) && has_properties(source);
        let refused = |message: String| Err(StoredError::Import(message));
        if self.ends != [None, None] && !self.iter().any(|source| of_graph(&source)) {
            return refused(
                "--source-column and --destination-column name columns of files with properties, and none of these files is one: \
                 --format properties-csv or jsonl says that they are"
                    .into(),
            );
        }
        match self.iter().find(has_properties).filter(|_| self.format.skip_bad_lines) {
            Some(source) => refused(format!(
                "--skip-bad-lines passes over lines of graphs without properties: those of {} must all be right",
                source.path().display()
            )),
            None => Ok(()),
        }
    }

    /// A file of edges without properties, which have at most a weight.
    pub fn without_properties(&self, edges: &EdgeSchema) -> Option<&'a Path> {
        let plain = |path: &&Path| self.format.format.of_edges(path, edges).is_none();
        self.files.iter().map(|path| &**path).find(plain)
    }

    /// Identifies this import among others.
    pub fn list(&self, label: &str) -> InputList {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map_or(String::new(), |value| value.get_name().to_owned())
        };
        let ends = match self.ends {
            [None, None] => String::new(),
            ends => ends.map(|name| format!(" {:?}", name.unwrap_or("auto"))).concat(),
        };
        InputList {
            files: self.iter().map(|source| source.name()).collect(),
            label: label.into(),
            format: name(self.format.format.to_possible_value()),
            columns: name(self.format.columns.to_possible_value()) + &ends,
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

    fn can_be_read_again(&self) -> bool {
        !self.is_standard_input() && fs::metadata(self.path()).is_ok_and(|metadata| metadata.is_file())
    }
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
