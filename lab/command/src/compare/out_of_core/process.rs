//! The state of a store's process that its phases share: its limit, its meter, and its output.

use super::deadline::{Cut, Deadline};
use super::job::{Job, Line};
use super::limit::Group;
use super::meter::{Meter, Taken};
use super::stores::{Kind, Setup, Store};
use anyhow::{Error, Result};

/// Bytes per vertex that every phase may use, for the store's tables by vertex.
pub const TABLE_BYTES: u64 = 16;

/// A running process.
pub struct Process<'j> {
    /// Its task.
    pub job: &'j Job,
    /// Its kind of store.
    pub kind: &'static Kind,
    group: Option<Group>,
    tell: &'j mut dyn FnMut(Line) -> Result<()>,
}

impl<'j> Process<'j> {
    /// Starts a job: enters its group, if there is one.
    pub fn start(job: &'j Job, tell: &'j mut dyn FnMut(Line) -> Result<()>) -> Result<Self> {
        let kind = Kind::named(&job.store).map_err(Error::msg)?;
        let group = job.group.clone().map(Group::at);
        if let Some(group) = &group {
            group.set_limit(limit(job, 0))?;
            group.enter()?;
        }
        Ok(Process { job, kind, group, tell })
    }

    /// Runs a phase whose arrays take `array_bytes` per vertex, and reports its cost; `None` if it
    /// was cut.
    pub fn measure<T>(
        &mut self,
        workload: &str,
        array_bytes: u64,
        work: impl FnOnce(&mut Deadline) -> Result<T>,
    ) -> Result<Option<(T, Taken)>> {
        if let Some(group) = &self.group {
            group.set_limit(limit(self.job, array_bytes))?;
        }
        eprintln!("{}: {workload}", self.kind.name);
        let meter = Meter::start(self.group.as_ref())?;
        let done = work(&mut Deadline::after(self.job.most_seconds));
        let taken = meter.stop()?;
        self.figure(workload, "time", "s", taken.seconds)?;
        self.figure(workload, "read", "MB", taken.transferred.read as f64 / 1e6)?;
        self.figure(workload, "written", "MB", taken.transferred.written as f64 / 1e6)?;
        if let Some(peak) = taken.peak {
            self.figure(workload, "memory", "MB", peak as f64 / 1e6)?;
        }
        match done {
            Ok(done) => Ok(Some((done, taken))),
            Err(error) if error.is::<Cut>() => {
                self.tell(Line::Note(format!("{workload}: {error}")))?;
                Ok(None)
            }
            Err(error) => Err(error.context(workload.to_owned())),
        }
    }

    /// Reports a figure.
    pub fn figure(&mut self, workload: &str, metric: &str, unit: &str, value: f64) -> Result<()> {
        let (workload, metric, unit) = (workload.to_owned(), metric.to_owned(), unit.to_owned());
        self.tell(Line::Figure { workload, metric, unit, value })
    }

    /// Reports a line.
    pub fn tell(&mut self, line: Line) -> Result<()> {
        (self.tell)(line)
    }
}

/// Makes or opens the store of a job.
pub fn open(kind: &Kind, job: &Job) -> Result<Box<dyn Store>> {
    let Job { folder, vertices, budget, .. } = job;
    (kind.open)(Setup { folder, vertices: *vertices, budget: *budget })
}

/// Maximum bytes of the process in a phase, page cache included.
pub fn limit(job: &Job, array_bytes: u64) -> u64 {
    job.budget + job.process_bytes + u64::from(job.vertices) * (TABLE_BYTES + array_bytes)
}
