//! The process under test: started, killed at random moments, and started again.

use hedgerow_isolation::Named;
use hedgerow_isolation::lists::ServerOptions;
use rand::RngExt;
use rand::rngs::SmallRng;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

const SIGKILL: i32 = 9;

/// The program that serves lists.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_hedgerow-isolation");

/// Keeps a server alive until the end of the test.
#[derive(Debug, Default)]
pub struct Life {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    /// The input of the running server, which closes its store when the input ends.
    input: Option<ChildStdin>,
}

impl Life {
    /// Lets the server close its store and end; it is not restarted.
    pub fn end(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_over = true;
        state.input = None;
    }

    /// Hands the server's input over, unless the life has ended.
    fn give(&self, input: ChildStdin) {
        let mut state = self.state.lock().unwrap();
        state.input = (!state.is_over).then_some(input);
    }
}

/// Runs a server until its life ends. For each of `marks`, kills the server shortly after it has
/// answered that many transactions since its start, and restarts it. Returns the number of kills.
pub fn serve_and_kill(options: &ServerOptions, marks: &[u64], life: &Life, random: &mut SmallRng) -> usize {
    for (kills, mark) in marks.iter().enumerate() {
        if !run_until(start(options), Some(*mark), life, random) {
            return kills;
        }
    }
    run_until(start(options), None, life, random);
    marks.len()
}

/// Runs a server until it ends or reaches the mark. Returns true if it was killed at the mark.
fn run_until(mut server: Child, mark: Option<u64>, life: &Life, random: &mut SmallRng) -> bool {
    life.give(server.stdin.take().unwrap());
    let output = BufReader::new(server.stdout.take().unwrap());
    for line in output.lines() {
        let line = line.unwrap();
        let answered: u64 = line.strip_prefix("answered ").map_or(0, |count| count.parse().unwrap());
        if mark.is_some_and(|mark| answered >= mark) {
            thread::sleep(Duration::from_micros(random.random_range(0..2_000)));
            server.kill().unwrap();
            let status = server.wait().unwrap();
            assert!(status.signal() == Some(SIGKILL) || status.success(), "{status}; see above for why");
            return status.signal() == Some(SIGKILL);
        }
    }
    let status = server.wait().unwrap();
    assert!(status.success(), "the server ended by itself, {status}; see above for why");
    false
}

fn start(options: &ServerOptions) -> Child {
    let mut command = Command::new(PROGRAM);
    command
        .arg("serve")
        .arg("--store")
        .arg(&options.store)
        .arg("--socket")
        .arg(&options.socket)
        .args(["--transactions", options.transactions.name()])
        .args(["--representation", options.representation.name()])
        .args(["--engine", options.engine.name()])
        .args(["--topology", options.topology.name()])
        .args(["--durability", options.durability.name()])
        .args(["--mistake", options.mistake.name()])
        .args(["--seed", &options.seed.to_string()]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}
