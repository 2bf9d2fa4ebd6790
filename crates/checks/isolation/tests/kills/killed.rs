//! A store, and processes that are killed while they write to it.

use hedgerow::{Durability, ErrorKind, Graph, Topology};
use hedgerow_isolation::Mistake;
use hedgerow_isolation::Named;
use hedgerow_isolation::load::{Acknowledged, Promise, Round, Verifier, Violation, graph_options};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

const SIGKILL: i32 = 9;

/// Time limit for opening a store.
const PATIENCE: Duration = Duration::from_secs(60);

/// A store on which processes are killed.
pub struct Killed {
    folder: TempDir,
    seed: u64,
    topology: Topology,
    durability: Durability,
    mistake: Mistake,
    /// The verifier of the store's contents.
    pub verifier: Verifier,
    random: SmallRng,
}

impl Killed {
    /// A store that does not exist yet.
    pub fn new(seed: u64, topology: Topology, durability: Durability, mistake: Mistake) -> Self {
        Killed {
            folder: TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
            seed,
            topology,
            durability,
            mistake,
            verifier: Verifier::new(seed, topology),
            random: SmallRng::seed_from_u64(seed),
        }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// Keeps the store, for debugging.
    pub fn keep(&mut self) -> String {
        self.folder.disable_cleanup(true);
        self.store().display().to_string()
    }

    /// Starts a process, kills it, and verifies the store.
    pub fn round(&mut self, promise: Promise) -> Result<Round, Violation> {
        let acknowledged = self.kill();
        let Some(graph) = self.open() else {
            let was_there =
                !acknowledged.is_empty() || self.verifier.committed().iter().any(|&last| last > 0);
            assert!(!was_there, "the store is gone");
            return Ok(Round::default());
        };
        let round = self.verifier.verify(&graph, &acknowledged, promise)?;
        drop(graph);
        let problems = hedgerow::store::check(self.store()).unwrap().problems;
        assert!(problems.is_empty(), "{problems:?}; the store is kept in {}", self.keep());
        Ok(round)
    }

    /// Opens the graph that a process left; `None` if the process was killed before it created one.
    pub fn open(&mut self) -> Option<Graph> {
        match graph_options(self.topology, self.durability).open(self.store()) {
            Ok(graph) => Some(graph),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => panic!("{error}; the store is kept in {}", self.keep()),
        }
    }

    /// Starts a process and kills it, mostly under load and sometimes while it opens the store.
    /// Returns its acknowledgements.
    pub fn kill(&mut self) -> Vec<Acknowledged> {
        let committed: Vec<String> = self.verifier.committed().iter().map(u64::to_string).collect();
        let mut process = Command::new(env!("CARGO_BIN_EXE_hedgerow-isolation"))
            .arg("load")
            .arg("--store")
            .arg(self.store())
            .args(["--topology", self.topology.name(), "--durability", self.durability.name()])
            .args(["--seed", &self.seed.to_string(), "--committed", &committed.join(",")])
            .args(["--mistake", self.mistake.name()])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let (tell_open, is_open) = mpsc::channel();
        let reader = thread::spawn(move || {
            let mut written = String::new();
            output.read_line(&mut written).unwrap();
            let _ = tell_open.send(());
            output.read_to_string(&mut written).unwrap();
            written
        });
        if self.random.random_bool(0.125) {
            thread::sleep(Duration::from_micros(self.random.random_range(0..20_000)));
        } else {
            is_open.recv_timeout(PATIENCE).expect("the store is opened in time");
            thread::sleep(Duration::from_micros(self.random.random_range(5_000..300_000)));
        }
        process.kill().unwrap();
        let status = process.wait().unwrap();
        assert_eq!(status.signal(), Some(SIGKILL), "it ended by itself, {status}; see above for why");
        let written = reader.join().unwrap();
        let line = |line: &str| Acknowledged::parse(line).unwrap_or_else(|| panic!("it wrote {line:?}"));
        written.lines().map(line).collect()
    }
}
