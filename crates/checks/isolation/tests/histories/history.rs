//! Records and judges histories: transactions that the checker generates, run by a server that is
//! sometimes killed.

use crate::checker::{PATIENCE, checker};
use crate::server::{Life, PROGRAM, serve_and_kill};
use hedgerow::{Durability, EngineKind, Topology};
use hedgerow_isolation::Mistake;
use hedgerow_isolation::lists::{LONGEST_LIST, Representation, ServerOptions, Transactions};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// Number of clients of the server.
const CLIENTS: &str = "8";

/// A directory in memory where syncs cost nothing, if it exists. A kill loses nothing that was
/// written to the operating system.
const MEMORY: &str = "/dev/shm";

/// The files of the checker's report and of the counts of outcomes.
const REPORT: &str = "report";
const COUNTS: &str = "counts";

/// The parameters of a history.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    pub transactions: Transactions,
    pub representation: Representation,
    pub engine: EngineKind,
    pub topology: Topology,
    pub durability: Durability,
    pub mistake: Mistake,
    /// Number of kills of the server.
    pub kills: usize,
    /// True if the store is on a disk, whatever the cost.
    pub on_disk: bool,
    pub seed: u64,
}

impl Scenario {
    /// Creates the n-th scenario of its kind. In every second scenario the server is killed, and
    /// syncs each commit.
    pub fn new(transactions: Transactions, number: u64) -> Self {
        let kills = if number.is_multiple_of(2) { 3 } else { 0 };
        let representations = [
            Representation::Edges,
            Representation::Property,
            Representation::Record,
            Representation::Parallel,
        ];
        let engines: Vec<_> = EngineKind::ALL.iter().filter(|engine| !engine.owns_files()).collect();
        let topologies = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
        let durabilities = [Durability::Buffered, Durability::Sync, Durability::None];
        let choose = |count: u64| (number / 2 % count) as usize;
        Scenario {
            transactions,
            representation: representations[choose(4)],
            engine: *engines[number as usize / 3 % engines.len()],
            topology: topologies[choose(3)],
            durability: if kills > 0 { Durability::Sync } else { durabilities[choose(3)] },
            mistake: Mistake::Nothing,
            kills,
            on_disk: kills > 0 && choose(5) == 0,
            seed: number,
        }
    }
}

/// A recorded and judged history.
#[derive(Debug)]
pub struct History {
    pub valid: bool,
    /// The checker's report.
    pub report: String,
    /// Numbers of transactions that committed, that failed, and whose outcome is unknown.
    pub committed: usize,
    pub failed: usize,
    pub unknown: usize,
    folder: TempDir,
}

impl History {
    /// The file of the recorded history.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("history.jsonl")
    }

    /// Keeps history and store, for debugging.
    pub fn keep(&mut self) -> String {
        self.folder.disable_cleanup(true);
        format!("{}\nhistory and store are kept in {}", self.report, self.folder.path().display())
    }
}

/// Number of transactions per history.
pub fn transactions() -> u64 {
    std::env::var("HISTORY_TRANSACTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(5_000)
}

/// Records a history and has it judged by a consistency model.
pub fn record(scenario: &Scenario, model: &str) -> History {
    let in_memory = !scenario.on_disk && Path::new(MEMORY).is_dir();
    let folder = TempDir::new_in(if in_memory { MEMORY } else { env!("CARGO_TARGET_TMPDIR") }).unwrap();
    let options = ServerOptions {
        store: folder.path().join("store"),
        socket: folder.path().join("socket"),
        transactions: scenario.transactions,
        representation: scenario.representation,
        engine: scenario.engine,
        topology: scenario.topology,
        durability: scenario.durability,
        mistake: scenario.mistake,
        seed: scenario.seed,
    };
    let mut random = SmallRng::seed_from_u64(scenario.seed);
    let count = transactions();
    // All kills happen before the end.
    let last = count / (scenario.kills as u64 + 2);
    let marks: Vec<u64> = (0..scenario.kills).map(|_| random.random_range(last / 4..last)).collect();
    let life = Life::default();
    let mut checking = start_checker(scenario, count, model, folder.path());
    let (kills, judged) = thread::scope(|scope| {
        let server = scope.spawn(|| serve_and_kill(&options, &marks, &life, &mut random));
        let judged = loop {
            if let Some(status) = checking.try_wait().unwrap() {
                break status;
            }
            // Without a server, the checker would wait forever.
            if server.is_finished() {
                checking.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(2));
        };
        life.end();
        (server.join().unwrap(), judged)
    });
    assert_eq!(kills, scenario.kills, "the server was killed as often as it was to be");
    let store = hedgerow::store::check(&options.store).unwrap();
    assert!(store.problems.is_empty(), "{:?}", store.problems);
    assert!(store.checkpoint.is_some(), "there are checkpoints meanwhile");
    understood(judged, folder)
}

/// Starts the checker, which writes its output to files: unread pipes would block it.
fn start_checker(scenario: &Scenario, transactions: u64, model: &str, folder: &Path) -> Child {
    let file = |name| File::create(folder.join(name)).unwrap();
    Command::new(checker())
        .args(["run", "exec", "--model", "list-append", "--consistency-models", model])
        .args(["--url", &format!("exec '{PROGRAM}' relay --socket '{}'", folder.join("socket").display())])
        .args(["--processes", CLIENTS, "--txns", &transactions.to_string()])
        .args(["--max-writes-per-key", &LONGEST_LIST.to_string()])
        .args(["--seed", &scenario.seed.to_string(), "--cycle-search-timeout", PATIENCE, "--out"])
        .arg(folder.join("history.jsonl"))
        .stdout(file(REPORT))
        .stderr(file(COUNTS))
        .spawn()
        .unwrap()
}

fn understood(judged: ExitStatus, folder: TempDir) -> History {
    let read = |name| fs::read_to_string(folder.path().join(name)).unwrap();
    let (report, counts) = (read(REPORT), read(COUNTS));
    let numbers: Vec<usize> = counts
        .lines()
        .find_map(|line| {
            let words = line.strip_suffix(" indeterminate")?.split(", ");
            words.map(|count| count.split(' ').next()?.parse().ok()).collect()
        })
        .unwrap_or_else(|| panic!("the checker could not run: {counts}"));
    let &[committed, failed, unknown] = &numbers[..] else { panic!("three counts: {counts}") };
    History { valid: judged.success(), report, committed, failed, unknown, folder }
}
