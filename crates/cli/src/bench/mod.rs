//! Measures engines side by side: `hedgerow bench` the library's, other programs their own.

mod args;

pub use args::{BenchArgs, EXAMPLES};

use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Interrupt;
use crate::outputs::FilesInUse;
use crate::{progress, text};
use hedgerow_driver::{BenchError, DataSet, Engine, Report, Settings, Step, StoreFacts, Watch, Workload};
use hedgerow_formats::{FormatError, NewFile};
use std::cell::Cell;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;

/// Measures the requested engines and workloads of the given ones, prints the table, writes the
/// file.
pub fn execute(
    args: &BenchArgs,
    engines: &[Engine],
    workloads: &[&'static Workload],
    console: &Console,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    if let Some(path) = &args.json {
        FilesInUse::read(&args.dataset).check_output("--json", path)?;
    }
    let settings = settings(args, engines, workloads)?;
    settings.check_store()?;
    let shown = Shown::new(console);
    let show = |step: &Step| shown.show(step);
    let watch = Watch { cancel: interrupt.token().clone(), progress: Some(&show) };
    let name = args.dataset.as_deref().unwrap_or(if args.quick { "kron-10" } else { "kron-20" });
    let data = interrupt.or_interrupted(DataSet::named(name, args.seed, &watch))?;
    console.note(&announcement(&data, &settings));
    let report = interrupt.or_interrupted(hedgerow_driver::run(&data, &settings, &watch))?;
    shown.bar.finish_and_clear();
    if let Some(path) = &args.json {
        write(path, &report)?;
    }
    console.print(&report, describe)?;
    // Only a signal makes an incomplete report.
    match interrupt.check() {
        Err(CliError::Interrupted(signal)) if !report.complete => Err(CliError::BenchInterrupted(signal)),
        _ => Ok(()),
    }
}

/// Describes the measurements and their rough duration in advance.
fn announcement(data: &DataSet, settings: &Settings) -> String {
    let entries = data.stream().len();
    let (workloads, repetitions) = (settings.workloads.len() as u64, settings.repetitions as u64);
    let workloads = text::counted(workloads, "workload", "workloads");
    let repetitions = text::counted(repetitions, "repetition", "repetitions");
    let expected = text::roughly(settings.expected_time(entries));
    format!(
        "{}, {} adjacency entries, {workloads}, {repetitions}: this takes roughly {expected}; Ctrl-C stops it and keeps what it has measured",
        data.name(),
        text::Count(entries as u64)
    )
}

/// The settings of a run of what `args` selects.
pub fn settings(
    args: &BenchArgs,
    engines: &[Engine],
    workloads: &[&'static Workload],
) -> Result<Settings, BenchError> {
    let base = match (args.quick, args.full) {
        (true, _) => Settings::quick(),
        (_, true) => Settings::full(),
        _ => Settings::new(),
    };
    let engines: Result<Vec<_>, _> = args.engines.iter().map(|name| Engine::named(name, engines)).collect();
    let named = args.workloads.iter().map(|name| Workload::named(name, workloads));
    let named = named.collect::<Result<Vec<_>, _>>()?;
    let is_chosen = |workload: &&Workload| match named.is_empty() {
        true => args.full || workload.is_default,
        false => named.contains(workload),
    };
    Ok(Settings {
        engines: distinct(&engines?),
        workloads: workloads.iter().copied().filter(is_chosen).collect(),
        threads: distinct(&args.threads).into_iter().map(NonZeroUsize::get).collect(),
        repetitions: args.repetitions.map_or(base.repetitions, |repetitions| repetitions as usize),
        seed: args.seed,
        extent: base.extent,
        store: args.store.clone(),
    })
}

/// The distinct names, in order.
fn distinct<T: Copy + PartialEq>(named: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in named {
        if !distinct.contains(one) {
            distinct.push(*one);
        }
    }
    distinct
}

/// Progress: every step on a terminal, else a line per workload.
struct Shown<'a> {
    console: &'a Console,
    bar: indicatif::ProgressBar,
    position: Cell<Option<(usize, usize)>>,
}

impl<'a> Shown<'a> {
    fn new(console: &'a Console) -> Self {
        Shown { console, bar: progress::spinner(console, "beginning"), position: Cell::new(None) }
    }

    fn show(&self, step: &Step) {
        let position = step.position.map(|(workload, all)| format!("[{workload}/{all}] "));
        let line = position.unwrap_or_default() + &step.what;
        if !self.console.shows_progress() && self.position.replace(step.position) != step.position {
            self.console.note(&line);
        }
        self.bar.set_message(line);
    }
}

fn write(path: &Path, report: &Report) -> Result<(), CliError> {
    let failed = |source| CliError::Output(FormatError::Io { path: path.into(), action: "write", source });
    let mut file = NewFile::create(path).map_err(CliError::Output)?;
    file.write_all(report.to_json().as_bytes()).map_err(failed)?;
    file.finish().map_err(CliError::Output)
}

fn describe(report: &Report) -> String {
    let (data, machine, build) = (&report.dataset, &report.machine, &report.build);
    let edges = format!("{} (directed adjacency entries)", text::Count(data.edges as u64));
    let memory = format!("{:.0} GiB", machine.memory_bytes as f64 / (1u64 << 30) as f64);
    let mut facts = vec![
        ("data set", data.name.clone()),
        ("vertices", text::Count(data.vertices.into()).to_string()),
        ("edges", edges),
        ("machine", format!("{}, {} cores, {memory}", machine.cpu, machine.cores)),
        ("build", format!("{}, {}, {}", build.version, build.profile, build.rustc)),
        ("time", text::duration(Duration::from_secs_f64(report.seconds))),
    ];
    if let Some(store) = &report.store {
        let file_system = store.file_system.as_deref().unwrap_or("unknown file system");
        facts.push(("stores", format!("{} ({file_system})", store.directory)));
    }
    let mut facts = text::table(&facts);
    if !report.complete {
        facts += "\nThe run was interrupted: figures are missing, and some have fewer repetitions.\n";
    }
    if report.store.as_ref().is_some_and(StoreFacts::is_in_memory) {
        facts += "\nStores were kept in memory, where a sync costs nothing: name a directory on a disk with --store.\n";
    }
    if !build.is_optimized() {
        facts += "\nThis build checks itself and is slow: measure with cargo run --release.\n";
    }
    let explanation = "* the figure that stands for the workload; ratios are to csr unless said otherwise\n";
    format!("{facts}\n{}\n{explanation}", report.to_table())
}
