//! The cost of a phase: time, bytes read and written, memory.

use super::limit::Group;
use anyhow::{Context, Result};
use std::fs;
use std::time::Instant;

/// Bytes that this process has read from and written to the disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transferred {
    /// Bytes read from the disk, not from the page cache.
    pub read: u64,
    /// Bytes written, or dirtied in the page cache.
    pub written: u64,
}

impl Transferred {
    fn now() -> Result<Self> {
        let text = fs::read_to_string("/proc/self/io").context("/proc/self/io")?;
        Ok(Transferred { read: field(&text, "read_bytes:"), written: field(&text, "write_bytes:") })
    }
}

/// The number after a name at the beginning of a line.
fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// The maximum resident memory of this process, without the page cache except for mapped pages.
pub fn peak_resident() -> u64 {
    field(&fs::read_to_string("/proc/self/status").unwrap_or_default(), "VmHWM:") * 1024
}

/// A phase that is being measured.
#[derive(Debug)]
pub struct Meter<'g> {
    group: Option<&'g Group>,
    before: Transferred,
    started: Instant,
}

/// The cost of a phase.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Its time.
    pub seconds: f64,
    /// Its bytes.
    pub transferred: Transferred,
    /// The maximum memory, page cache included, if a group counts it.
    pub peak: Option<u64>,
}

impl<'g> Meter<'g> {
    /// Begins a phase.
    pub fn start(group: Option<&'g Group>) -> Result<Self> {
        group.into_iter().for_each(Group::reset_peak);
        Ok(Meter { group, before: Transferred::now()?, started: Instant::now() })
    }

    /// Ends the phase.
    pub fn stop(self) -> Result<Taken> {
        let seconds = self.started.elapsed().as_secs_f64();
        let Transferred { read, written } = Transferred::now()?;
        let transferred =
            Transferred { read: read - self.before.read, written: written - self.before.written };
        let peak = self.group.map(Group::peak).transpose()?;
        Ok(Taken { seconds, transferred, peak })
    }
}
