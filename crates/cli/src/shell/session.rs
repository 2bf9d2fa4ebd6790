//! The store that a shell has open, and the commands on it.

use super::args::{Here, KernelHere, LabelHere, LineCommand, ShellArgs};
use super::line::{Parsed, Parser};
use super::transaction::OpenTransaction;
use crate::console::{Console, Format};
use crate::edges;
use crate::error::{CliError, StoredError};
use crate::input::Loaded;
use crate::interrupt::{Interrupt, Listener};
use crate::maintenance::{Compacted, info, label, rewrite};
use crate::objects::{GetObject, NeighborhoodArgs, Reading, Writing, delete, get, neighbors, path, put};
use crate::options::Place;
use crate::outputs::FilesInUse;
use crate::run::{EngineName, KernelCommand, OpenGraph, Output, compute, keys_of, label_of};
use crate::stored::args::DurabilityName;
use crate::stored::checkpoint::Checkpointed;
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
    transaction: Option<OpenTransaction>,
    durability: DurabilityName,
    format: Format,
}

#[derive(Debug)]
enum Opened {
    ForWriting(Graph),
    /// A fixed state: the store itself is closed again.
    ReadOnly(StoredState),
}

/// The next step of the shell: another line, or the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Line,
    End,
}

impl Session {
    /// Opens the store. The graph has the order of commits if its engine keeps one.
    pub fn open(args: &ShellArgs, console: &Console) -> Result<Self, CliError> {
        let store = args.place.path();
        let made_with = store::manifest(store).map_err(StoredError::from)?.options;
        let opened = if args.read_only {
            let in_order = made_with.engine.parse().is_ok_and(EngineKind::keeps_commit_order);
            Opened::ReadOnly(stored::read_in_order(store, &args.read, in_order, console)?)
        } else {
            Opened::ForWriting(stored::open_for_session(store, &args.write, &args.read.memory, console)?)
        };
        let format = if args.json { Format::JsonLines } else { Format::Text };
        let (store, durability, transaction) = (store.into(), args.write.durability, None);
        Ok(Session { store, made_with, opened, transaction, durability, format })
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

    /// Returns true if a transaction is open.
    pub fn is_in_transaction(&self) -> bool {
        self.transaction.is_some()
    }

    /// Notes that a line failed in a shell that goes on: the open transaction cannot be committed.
    pub fn line_failed(&mut self) {
        self.transaction.iter_mut().for_each(OpenTransaction::line_failed);
    }

    /// Rolls the open transaction back. Returns true if there was one.
    pub fn roll_back(&mut self) -> bool {
        self.transaction.take().is_some()
    }

    /// Closes the store: all commits are durable then.
    pub fn close(&self) -> Result<(), CliError> {
        match &self.opened {
            Opened::ReadOnly(_) => Ok(()),
            Opened::ForWriting(graph) => Ok(graph.close().map_err(StoredError::from)?),
        }
    }

    /// Runs a line, until Ctrl-C.
    pub fn run_line(
        &mut self,
        line: &str,
        parser: &mut Parser,
        console: &Console,
        listener: &Listener,
    ) -> Result<Next, CliError> {
        match parser.parse(line)? {
            Parsed::Nothing => Ok(Next::Line),
            Parsed::Help(text) => console.print_bytes(text.as_bytes()).map(|()| Next::Line),
            Parsed::Command(command) => {
                let ran = self.run(&command, console, &listener.begin());
                listener.end();
                ran
            }
        }
    }

    /// Runs a command.
    fn run(
        &mut self,
        command: &LineCommand,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<Next, CliError> {
        let console = &console.with(self.format);
        self.check_transaction(command)?;
        match command {
            LineCommand::Put { object } => put::put(object, &self.writing()?, console)?,
            LineCommand::Delete { object } => delete::delete(object, &self.writing()?, console)?,
            LineCommand::Get { object } => self.get(object, console)?,
            LineCommand::Neighbors(args) => self.neighbors(args, console)?,
            LineCommand::Edges(args) => {
                edges::check_output(args, &self.store)?;
                edges::query(args, &Reading::of(&self.state()?, &self.store), console, interrupt)?;
            }
            LineCommand::Path(args) => {
                path::path(args, &Reading::of(&self.state()?, &self.store), console, interrupt)?;
            }
            LineCommand::Run { kernel } => self.run_kernel(kernel, console, interrupt)?,
            LineCommand::Label { action: LabelHere::List } => {
                label::list(&self.catalog(), &self.store, console)?;
            }
            LineCommand::Label { action: LabelHere::Add(new) } => {
                label::add(self.writing()?.graph, new, &self.store, console, interrupt)?;
            }
            LineCommand::Begin => {
                let transaction = OpenTransaction::begin(&self.writing()?)?;
                // Lines after this one belong to it, even if this one fails.
                self.transaction.insert(transaction).confirm(&self.store, console)?;
            }
            LineCommand::Commit => self.ended("commit")?.commit(&self.writing()?, console)?,
            LineCommand::Rollback => self.ended("rollback")?.roll_back(&self.store, console)?,
            LineCommand::Checkpoint => {
                rewrite::of_open::<Checkpointed>(self.writing()?.graph, &self.store, console, interrupt)?;
            }
            LineCommand::Compact => {
                rewrite::of_open::<Compacted>(self.writing()?.graph, &self.store, console, interrupt)?;
            }
            LineCommand::Info => info::print(&self.store, Some(&self.state()?), None, false, console)?,
            LineCommand::Quit => return Ok(Next::End),
        }
        Ok(Next::Line)
    }

    /// Fails if the command does not go together with an open transaction: it would not see the
    /// changes, or change something that the transaction does not have.
    fn check_transaction(&self, command: &LineCommand) -> Result<(), CliError> {
        let name = match command {
            LineCommand::Begin => "begin",
            LineCommand::Run { .. } => "run",
            LineCommand::Edges(_) => "edges",
            LineCommand::Path(_) => "path",
            LineCommand::Label { action: LabelHere::Add(_) } => "label add",
            LineCommand::Checkpoint => "checkpoint",
            LineCommand::Compact => "compact",
            LineCommand::Info => "info",
            _ => return Ok(()),
        };
        (!self.is_in_transaction()).then_some(()).ok_or(CliError::TransactionOpen(name))
    }

    /// Takes the open transaction, which `command` ends.
    fn ended(&mut self, command: &'static str) -> Result<OpenTransaction, CliError> {
        self.transaction.take().ok_or(CliError::NoTransaction(command))
    }

    fn writing(&self) -> Result<Writing<'_>, CliError> {
        let transaction = self.transaction.as_ref().map(OpenTransaction::changes);
        match &self.opened {
            Opened::ForWriting(graph) => Ok(Writing::on(graph, transaction, &self.store, self.durability)),
            Opened::ReadOnly(_) => Err(CliError::ReadOnlyShell(self.store.clone())),
        }
    }

    fn get(&self, object: &GetObject<Here>, console: &Console) -> Result<(), CliError> {
        match (&self.opened, &self.transaction) {
            (Opened::ForWriting(graph), Some(open)) => {
                get::get(object, &Reading::within(open.changes(), graph, &self.store), console)
            }
            _ => get::get(object, &Reading::of(&self.state()?, &self.store), console),
        }
    }

    fn neighbors(&self, args: &NeighborhoodArgs, console: &Console) -> Result<(), CliError> {
        let made_with = StoreOptions { catalog: self.catalog(), ..self.made_with.clone() };
        match (&self.opened, &self.transaction) {
            (Opened::ForWriting(graph), Some(open)) => {
                let reading = Reading::within(open.changes(), graph, &self.store);
                neighbors::neighbors(args, &made_with, &reading, console)
            }
            _ => {
                let state = self.state()?;
                neighbors::neighbors(args, &made_with, &Reading::of(&state, &self.store), console)
            }
        }
    }

    fn run_kernel(
        &self,
        kernel: &KernelCommand<KernelHere>,
        console: &Console,
        interrupt: &Interrupt,
    ) -> Result<(), CliError> {
        let (command, here) = (kernel.command(), kernel.place());
        let StoredState { graph, snapshot, keys, .. } = self.state()?;
        let (options, view) = (command.options(), here.runner.view);
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
        let state = view.open(&graph, snapshot)?.into();
        let loaded = Loaded { graph: Some(graph), state, rows: 0, skipped, elapsed: Duration::ZERO };
        let graph = OpenGraph {
            place: Place::Store(&self.store),
            from_checkpoint: false,
            loaded: &loaded,
            label,
            engine: self.engine(here.runner.engine)?,
            view,
            threads: &threads,
        };
        compute(command, &graph, sources, output, console, interrupt)
    }

    /// The engine that a kernel runs on: the engine of the open graph, or a static copy.
    fn engine(&self, asked: Option<EngineName>) -> Result<EngineName, CliError> {
        let open = EngineName(Some(self.made_with.engine_name().parse().unwrap_or_default()));
        match asked {
            Some(EngineName::CSR) => Ok(EngineName::CSR),
            Some(other) if other != open => Err(CliError::EngineOfShell(open)),
            _ => Ok(open),
        }
    }
}
