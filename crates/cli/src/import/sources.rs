//! The files of an import, in their order.

use super::ImportArgs;
use super::position::InputList;
use crate::args::FormatArgs;
use crate::error::{CliError, StoredError};
use crate::input::{self, STANDARD_INPUT};
use clap::ValueEnum;
use hedgerow_formats::{FormatError, GraphReader, VertexKey};
use std::fs;
use std::path::Path;

/// The files, and how they are read.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    files: &'a [std::path::PathBuf],
    format: &'a FormatArgs,
}

/// One of the files.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Vertices only, one key per line.
    Vertices(&'a Path),
    Graph(&'a Path),
}

impl<'a> Sources<'a> {
    /// The files of this import. All must be there.
    pub fn of(args: &'a ImportArgs) -> Result<Self, CliError> {
        let sources = Sources { files: &args.files, format: &args.format };
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

    /// How large the files are, as they lie on disk; `None` if that is unknown, as with a pipe.
    pub fn bytes(&self) -> Option<u64> {
        let size = |source: Source<'_>| {
            let metadata = fs::metadata(source.path()).ok().filter(fs::Metadata::is_file);
            metadata.filter(|_| !source.is_standard_input()).map(|metadata| metadata.len())
        };
        self.iter().map(size).sum()
    }

    /// Begins to read one of the files.
    pub fn open<K: VertexKey>(
        &self,
        source: Source<'_>,
        chunk: usize,
    ) -> Result<GraphReader<K>, FormatError> {
        let options = self.format.read_options(chunk);
        match source {
            Source::Vertices(path) => GraphReader::open_vertices(path, options),
            Source::Graph(path) => input::open(path, options),
        }
    }

    /// What tells this import from others.
    pub fn list(&self, label: &str) -> InputList {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map_or(String::new(), |value| value.get_name().to_owned())
        };
        InputList {
            files: self.iter().map(|source| source.name()).collect(),
            label: label.into(),
            format: name(self.format.format.to_possible_value()),
            columns: name(self.format.columns.to_possible_value()),
        }
    }
}

impl<'a> Source<'a> {
    pub fn path(&self) -> &'a Path {
        match self {
            Source::Vertices(path) | Source::Graph(path) => path,
        }
    }

    /// The same file has the same name from whatever directory it is named.
    fn name(&self) -> String {
        let path = self.path();
        if self.is_standard_input() {
            return "standard input".into();
        }
        path.canonicalize().unwrap_or_else(|_| path.into()).display().to_string()
    }

    fn is_standard_input(&self) -> bool {
        matches!(self, Source::Graph(path) if *path == Path::new(STANDARD_INPUT))
    }

    fn can_be_read_again(&self) -> bool {
        !self.is_standard_input() && fs::metadata(self.path()).is_ok_and(|metadata| metadata.is_file())
    }
}

/// Whether a file is there, before anything is done. It is not opened, for a pipe could be opened once only.
fn check(path: &Path) -> Result<(), CliError> {
    let metadata = fs::metadata(path);
    let metadata =
        metadata.map_err(|source| FormatError::Io { path: path.into(), action: "open", source })?;
    if metadata.is_dir() {
        return Err(FormatError::NotAFile { path: path.into(), found: "this is a directory" }.into());
    }
    Ok(())
}
