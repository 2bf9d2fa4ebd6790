//! Context of an import: its options, its files and the store.

use super::args::ImportArgs;
use super::plan::Plan;
use super::sources::{Source, Sources};
use crate::console::Console;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::stored::declared;
use crate::stored::target::Target;
use crate::threads::Threads;
use hedgerow::{EdgeSchema, Field, Graph, LabelSchema, RecordSchema, ValueType};
use hedgerow_formats::{FormatError, PropertyOptions};

/// The context of an import.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub args: &'a ImportArgs,
    pub plan: &'a Plan,
    pub sources: Sources<'a>,
    pub target: &'a Target<'a>,
    pub threads: &'a Threads,
    pub console: &'a Console,
    pub interrupt: &'a Interrupt,
}

impl Context<'_> {
    /// Opens the graph, or creates it.
    pub fn open(&self) -> Result<Graph, CliError> {
        self.interrupt.or_interrupted(self.target.open(self.args.wait, self.interrupt))
    }

    /// The options for reading this file, if its lines carry properties.
    pub fn properties(&self, source: Source<'_>) -> Option<PropertyOptions> {
        let Context { sources, target, .. } = self;
        sources.properties(source, &target.schema.edges, &target.vertices, target.chunk)
    }

    /// Adds to an error about undeclared columns their declaration for a new store.
    pub fn undeclared(&self, error: CliError) -> CliError {
        let CliError::Input(FormatError::BadProperty(bad)) = &error else { return error };
        let is_vertices = self.args.format.vertices.as_deref() == Some(&*bad.path);
        let is_declared = !self.args.target.labels.is_empty() && !is_vertices
            || !self.args.target.vertex_properties.is_empty() && is_vertices;
        if self.target.exists() || is_declared || bad.undeclared.is_empty() {
            return error;
        }
        let text =
            |name: &String| Field { name: name.clone(), value_type: ValueType::String, nullable: true };
        let fields: Vec<_> = bad.undeclared.iter().map(text).collect();
        let (option, text) = if is_vertices {
            ("--vertex-properties", declared::properties_text(&fields))
        } else {
            let edges = EdgeSchema::Record(RecordSchema { fields });
            (
                "--labels",
                declared::labels_text(&[LabelSchema { name: self.target.schema.name.clone(), edges }]),
            )
        };
        match text {
            Some(text) => {
                StoredError::Undeclared { cause: Box::new(error), option, text: declared::quoted(&text) }
                    .into()
            }
            None => error,
        }
    }
}
