//! The store that a shell has open, and the commands on it.

use super::args::{KernelHere, LabelHere, LineCommand, ShellArgs};
use crate::console::{Console, Format};
use crate::error::{CliError, StoredError};
use crate::input::Loaded;
use crate::interrupt::Interrupt;
use crate::maintenance::{info, label};
use crate::objects::{Writing, delete, get, neighbors, put};
use crate::options::Place;
use crate::outputs::FilesInUse;
use crate::run::{EngineName, KernelCommand, OpenGraph, Output, compute, keys_of, label_of};
use crate::stored::args::DurabilityName;
use crate::stored::{self, StoredState};
use crate::threads::Threads;
use hedgerow::store::{self, StoreOptions};
use hedgerow::{Catalog, EngineKind, Graph};
use hedgerow_formats::SkippedLines;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An open store.
#[derive(Debug)]
pub struct Session {
    store: PathBuf,
    made_with: StoreOptions,
    opened: Opened,
    durability: DurabilityName,
    format: Format,
}

#[derive(Debug)]
enum Opened {
    ForWriting(Graph),
    /// A fixed state: the store itself is closed again.
    ReadOnly(StoredState),
}

/// Whether the shell goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Line,
    End,
}

impl Session {
    /// Opens the store. It has the order of commits if its engine keeps one.
    pub fn open(args: &ShellArgs, console: &Console) -> Result<Self, CliError> {
        let store = args.place.path();
        let made_with = store::manifest(store).map_err(StoredError::from)?.options;
        let opened = if args.read_only {
            let in_order = made_with.engine == EngineKind::Tel.name();
            Opened::ReadOnly(stored::read_in_order(store, &args.read, in_order, console)?)
        } else {
            Opened::ForWriting(stored::open_for_session(store, &args.write, &args.read.memory, console)?)
        };
        let format = if args.json { Format::JsonLines } else { Format::Text };
        Ok(Session { store: store.into(), made_with, opened, durability: args.write.durability, format })
    }

    /// The directory of the store.
    pub fn store(&self) -> &Path {
        &self.store
    }

    /// The names of the labels.
    pub fn labels(&self) -> Vec<String> {
        self.catalog().labels().iter().map(|label| label.name.clone()).collect()
    }

    /// The labels and properties, with the labels that were added meanwhile.
    fn catalog(&self) -> Catalog {
        match &self.opened {
            Opened::ReadOnly(state) => state.snapshot.catalog(),
            Opened::ForWriting(graph) => graph.catalog(),
        }
    }

    /// The newest state, or the only one.
    pub fn state(&self) -> Result<StoredState, CliError> {
        match &self.opened {
            Opened::ReadOnly(state) => Ok(state.clone()),
            Opened::ForWriting(graph) => Ok(StoredState::of(graph, Duration::ZERO)?),
        }
    }

    /// Closes the store: all commits are durable then.
    pub fn close(&self) -> Result<(), CliError> {
        match &self.opened {
            Opened::ReadOnly(_) => Ok(()),
            Opened::ForWriting(graph) => Ok(graph.close().map_err(StoredError::from)?),
        }
    }

    /// Runs a command.
    pub fn run(
        &self,
        command: &LineCommand,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<Next, CliError> {
        let (store, console) = (self.store.as_path(), &console.with(self.format));
        match command {
            LineCommand::Put { object } => put::put(object, &self.writing()?, console)?,
            LineCommand::Delete { object } => delete::delete(object, &self.writing()?, console)?,
            LineCommand::Get { object } => get::get(object, &self.state()?, store, console)?,
            LineCommand::Neighbors(args) => {
                let made_with = StoreOptions { catalog: self.catalog(), ..self.made_with.clone() };
                neighbors::neighbors(args, &made_with, &self.state()?, store, console)?;
            }
            LineCommand::Run { kernel } => self.run_kernel(kernel, console, interrupt)?,
            LineCommand::Label { action: LabelHere::List } => label::list(&self.catalog(), store, console)?,
            LineCommand::Label { action: LabelHere::Add(new) } => {
                label::add(self.writing()?.graph, new, store, console)?;
            }
            LineCommand::Info => info::print(store, Some(&self.state()?), None, console)?,
            LineCommand::Quit => return Ok(Next::End),
        }
        Ok(Next::Line)
    }

    fn writing(&self) -> Result<Writing<'_>, CliError> {
        match &self.opened {
            Opened::ForWriting(graph) => Ok(Writing::on(graph, &self.store, self.durability)),
            Opened::ReadOnly(_) => Err(CliError::ReadOnlyShell(self.store.clone())),
        }
    }

    fn run_kernel(
        &self,
        kernel: &KernelCommand<KernelHere>,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<(), CliError> {
        let (command, here) = (kernel.command(), kernel.place());
        let StoredState { snapshot, keys, .. } = self.state()?;
        let options = command.options();
        let label = label_of(&snapshot.catalog(), here.label.as_deref(), &options, &self.store)?;
        let sources = keys_of(&options, keys)?;
        let output = match options.output {
            Output::File(path) => Some(path),
            Output::Default | Output::None => None,
        };
        if let Some(path) = output {
            FilesInUse::read([&self.store]).check_output("--output", path)?;
        }
        let threads = Threads::new(here.runner.threads)?;
        let skipped = SkippedLines::default();
        let loaded = Loaded { snapshot, rows: 0, skipped, elapsed: Duration::ZERO };
        let graph = OpenGraph {
            place: Place::Store(&self.store),
            from_checkpoint: false,
            loaded: &loaded,
            label,
            engine: self.engine(here.runner.engine)?,
            threads: &threads,
        };
        compute(command, &graph, sources, output, console, interrupt)
    }

    /// The engine that a kernel runs on: the one of the open graph, or a static copy.
    fn engine(&self, asked: Option<EngineName>) -> Result<EngineName, CliError> {
        let open = match self.made_with.engine == EngineKind::Tel.name() {
            true => EngineName::Tel,
            false => EngineName::Rapid,
        };
        match asked {
            Some(EngineName::Csr) => Ok(EngineName::Csr),
            Some(other) if other != open => Err(CliError::EngineOfShell(open)),
            _ => Ok(open),
        }
    }
}
