//! Stores for graphs larger than memory, each in its own process, whose memory is limited together
//! with its page cache.
//!
//! | file | what it does |
//! |---|---|
//! | `args` | the arguments |
//! | `edges` | the graph, in files, and the correct answers |
//! | `limit` | cgroups |
//! | `job`, `process` | the jobs and answers of a store's process, and the state of its phases |
//! | `writes`, `reads` | the phases |
//! | `algorithms` | analytics over any store, the same code for all |
//! | `stores/` | a file per store |
//! | `meter`, `files`, `deadline` | time, bytes and memory; space on the disk; deadlines |
//! | `report` | medians and ratios, as a table and as JSON |

mod algorithms;
mod args;
mod deadline;
mod edges;
mod files;
mod job;
mod limit;
mod meter;
mod process;
mod reads;
mod report;
mod stores;
mod writes;

pub use args::{Arguments, StoreArguments};

use crate::compare::options::folder_in;
use anyhow::{Context, Result, bail, ensure};
use edges::Prepared;
use job::{Job, Line, Task};
use limit::Group;
use process::Process;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use report::{Figures, Report};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use stores::Kind;

/// Measures and prints.
pub fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.stores.is_empty() {
        arguments.stores = stores::KINDS.iter().collect();
    }
    let directory = arguments.store.clone().unwrap_or_else(std::env::temp_dir);
    let folder = folder_in(&directory)?;
    let report = measure(&arguments, folder.path(), &in_process_of_its_own)?;
    print!("{}", report.to_table());
    if let Some(path) = &arguments.json {
        std::fs::write(path, report.to_json()?).with_context(|| path.display().to_string())?;
    }
    folder.close().with_context(|| format!("the stores in {} could not be removed", directory.display()))?;
    let wrong = report.wrong();
    ensure!(wrong.is_empty(), "wrong answers of {}", wrong.join(", "));
    Ok(())
}

/// Does a job; returns its answers, and the reason if the process ended early.
type Start<'s> = &'s dyn Fn(&Job) -> Result<(Vec<Line>, Option<String>)>;

fn measure(arguments: &Arguments, folder: &Path, start: Start<'_>) -> Result<Report> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(arguments.seed);
    let queries: Vec<u64> = (0..arguments.queries).map(|_| random.random()).collect();
    eprintln!("making {}", arguments.graph);
    let graph = Prepared::new(&arguments.graph, arguments.seed, folder, &queries)?;
    let mut figures = Figures::default();
    for repetition in 1..=arguments.repetitions {
        for kind in &arguments.stores {
            eprintln!("repetition {repetition} of {}: {}", arguments.repetitions, kind.name);
            let store = folder.join(kind.name);
            std::fs::create_dir(&store)?;
            let job = Job {
                task: Task::Write,
                store: kind.name.to_owned(),
                folder: store.clone(),
                edges: graph.folder.clone(),
                vertices: graph.vertices,
                counts: graph.counts,
                source: graph.source.get(),
                queries: queries.clone(),
                budget: budget(arguments, &graph),
                process_bytes: arguments.process << 20,
                most_seconds: arguments.seconds,
                group: None,
            };
            do_tasks(&job, kind, &graph, start, &mut figures)?;
            std::fs::remove_dir_all(&store)?;
        }
    }
    Ok(Report::new(arguments, &graph, budget(arguments, &graph), figures))
}

/// Bytes that a store may use.
fn budget(arguments: &Arguments, graph: &Prepared) -> u64 {
    (arguments.share * 2.0 * 4.0 * graph.counts.left() as f64) as u64
}

/// Writes and reads one store. A process that fails ends the work on its store only.
fn do_tasks(
    job: &Job,
    kind: &'static Kind,
    graph: &Prepared,
    start: Start<'_>,
    figures: &mut Figures,
) -> Result<()> {
    let mut done = |task| {
        let job = Job { task, ..job.clone() };
        let (lines, failure) = start(&job)?;
        let is_incomplete = lines.iter().any(|line| matches!(line, Line::Incomplete));
        let has_failed = failure.is_some();
        figures.push(kind.name, lines, failure.map(|why| format!("{task:?}: {why}")), &graph.expected);
        anyhow::Ok((!is_incomplete, !has_failed))
    };
    let (is_complete, is_running) = done(Task::Write)?;
    let is_complete = is_complete && is_running;
    if !is_complete {
        std::fs::remove_dir_all(&job.folder)?;
        std::fs::create_dir(&job.folder)?;
        let (is_complete, is_running) = done(Task::Rebuild)?;
        if !(is_complete && is_running) {
            return Ok(());
        }
    }
    done(Task::Read)?;
    Ok(())
}

/// Does a job in another process of this program, in a cgroup if one can be made.
fn in_process_of_its_own(job: &Job) -> Result<(Vec<Line>, Option<String>)> {
    let group = Group::create(&format!("hedgerow-compare-{}", std::process::id()));
    let mut lines = Vec::new();
    if let Err(error) = &group {
        lines.push(Line::Note(format!("memory is not limited: {error}")));
    }
    let folder = group.as_ref().ok().map(|group| group.folder().to_owned());
    let path = job.edges.join("job");
    std::fs::write(&path, serde_json::to_vec(&Job { group: folder, ..job.clone() })?)?;
    let mut command = Command::new(std::env::current_exe()?);
    // With one arena per thread, memory freed by one thread would count twice when another needs
    // it.
    let command = command.env("MALLOC_ARENA_MAX", "1").args(["compare", "out-of-core-store"]).arg(&path);
    let mut process = command.stdout(Stdio::piped()).spawn()?;
    let output = process.stdout.take().context("a process without output")?;
    for line in BufReader::new(output).lines() {
        lines.push(serde_json::from_str(&line?)?);
    }
    let status = process.wait()?;
    if let Ok(group) = group {
        group.remove();
    }
    let failure = (!status.success()).then(|| format!("the process ended with {status}"));
    Ok((lines, failure))
}

/// Runs the process of a store.
pub fn run_store(arguments: &StoreArguments) -> Result<()> {
    let job: Job = serde_json::from_slice(&std::fs::read(&arguments.job)?)?;
    let mut output = std::io::stdout();
    let mut tell = |line: Line| {
        writeln!(output, "{}", serde_json::to_string(&line)?)?;
        Ok(output.flush()?)
    };
    if let Err(error) = work(&job, &mut tell) {
        tell(Line::Note(format!("{:?}: {error:#}", job.task)))?;
        bail!(error);
    }
    Ok(())
}

/// Does a job.
fn work(job: &Job, tell: &mut dyn FnMut(Line) -> Result<()>) -> Result<()> {
    let mut process = Process::start(job, tell)?;
    match job.task {
        Task::Write => writes::write(&mut process),
        Task::Rebuild => writes::rebuild(&mut process),
        Task::Read => reads::read(&mut process),
    }
}

#[cfg(test)]
mod tests;
