//! `hedgerow watch`

use super::WatchArgs;
use super::files::FileSizes;
use super::info::{Holder, holder_of};
use crate::console::{Console, Format};
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::signal::Signal;
use crate::text;
use hedgerow::store::{LogStatus, Watch};
use serde::Serialize;
use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant};

/// The longest sleep before a signal is noticed.
const NAP: Duration = Duration::from_millis(50);

/// One line.
#[derive(Debug, Serialize)]
struct Seen {
    store: String,
    /// Seconds since the line before; 0 in the first one, which has no rates.
    seconds: text::Seconds,
    commits: u64,
    commits_per_second: f64,
    edges: u64,
    edges_per_second: f64,
    /// The last commit in the log, and its age.
    last: u64,
    age_seconds: Option<f64>,
    /// The last commit that is known to survive a loss of power.
    durable: u64,
    /// Commits in the log that may not be durable yet.
    not_durable: u64,
    /// The commit of the checkpoint.
    checkpoint: Option<u64>,
    log_bytes_since_checkpoint: u64,
    #[serde(flatten)]
    sizes: FileSizes,
    open_in: Option<Holder>,
}

/// Prints a line per interval until a signal arrives, or as many as requested.
pub fn execute(args: &WatchArgs, console: &Console, interrupt: &Interrupt) -> Result<(), CliError> {
    let path = args.place.path();
    let lines = if console.is_json() { console.with(Format::JsonLines) } else { *console };
    let mut watch = Watch::new(path);
    let mut before: Option<Instant> = None;
    let mut left = args.count.map(NonZeroU64::get);
    loop {
        let (now, status) = (Instant::now(), watch.look().map_err(StoredError::from)?);
        let seconds = before.replace(now).map_or(Duration::ZERO, |before| now - before);
        let sizes = FileSizes::of(path)?;
        let seen = Seen::of(path.display().to_string(), seconds, &status, sizes, holder_of(path));
        lines.print(&seen, describe)?;
        left = left.map(|left| left - 1);
        if left == Some(0) || !wait(now + args.interval, interrupt)? {
            return Ok(());
        }
    }
}

/// Waits until `end`. Returns false after Ctrl-C, which is how a watch ends.
fn wait(end: Instant, interrupt: &Interrupt) -> Result<bool, CliError> {
    loop {
        match interrupt.check() {
            Err(CliError::Interrupted(Signal::CTRL_C)) => return Ok(false),
            checked => checked?,
        }
        match end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return Ok(true),
            rest => thread::sleep(rest.min(NAP)),
        }
    }
}

impl Seen {
    fn of(
        store: String,
        seconds: Duration,
        status: &LogStatus,
        sizes: FileSizes,
        open_in: Option<Holder>,
    ) -> Self {
        Seen {
            store,
            seconds: text::Seconds(seconds),
            commits: status.commits,
            commits_per_second: text::rate(status.commits, seconds),
            edges: status.edges,
            edges_per_second: text::rate(status.edges, seconds),
            last: status.newest.0,
            age_seconds: (status.wall_clock > 0).then(|| text::Moment(status.wall_clock).age().as_secs_f64()),
            durable: status.durable.0,
            not_durable: status.newest.0.saturating_sub(status.durable.0),
            checkpoint: status.checkpoint.map(|checkpoint| checkpoint.at.0),
            log_bytes_since_checkpoint: status.bytes,
            sizes,
            open_in,
        }
    }
}

/// One line: `commit 12, 5 seconds ago, …`.
fn describe(seen: &Seen) -> String {
    let bytes = |bytes: u64| text::Bytes(bytes);
    let last = match seen.age_seconds {
        Some(age) => {
            format!("{}, {} ago", text::Count(seen.last), text::roughly(Duration::from_secs_f64(age)))
        }
        None => text::commit_made(seen.last, None),
    };
    let rates = match seen.seconds.0 {
        Duration::ZERO => String::new(),
        seconds => format!(
            ", {:.0} commits/s, {}",
            seen.commits_per_second,
            text::edges_per_second(seen.edges, seconds)
        ),
    };
    let lag = match seen.not_durable {
        0 => String::new(),
        commits => format!(", {} not synced", text::Count(commits)),
    };
    let FileSizes { log_bytes, checkpoint_bytes, engine_bytes, .. } = seen.sizes;
    let others = [("checkpoint", checkpoint_bytes), ("engine files", engine_bytes)];
    let others: String = others
        .iter()
        .filter(|(_, size)| *size > 0)
        .map(|(name, size)| format!(", {name} {}", bytes(*size)))
        .collect();
    let since = bytes(seen.log_bytes_since_checkpoint);
    let open_in = match seen.open_in {
        Some(Holder { process: Some(process) }) => format!("open in process {process}"),
        Some(Holder { process: None }) => "open in another process".to_owned(),
        None => "not open".to_owned(),
    };
    format!(
        "commit {last}{rates}{lag}; log {}, {since} since the checkpoint{others}; {open_in}\n",
        bytes(log_bytes)
    )
}
