//! The process with the graph, which is killed.

use crate::give_up;
use crate::lists::disturbance::disturb;
use crate::lists::execute::{Executor, Transactions};
use crate::lists::protocol::Request;
use crate::lists::representation::{Representation, with_schema};
use crate::mistake::Mistake;
use crate::named::Named;
use hedgerow::{Durability, EngineKind, ErrorKind, Graph, GraphOptions, Topology};
use hedgerow_sync::Arc;
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;

/// Number of answers between two reports of progress.
const REPORTED_EVERY: u64 = 16;

/// Number of edges in the log of an engine with an edge log from which on they are archived.
const ARCHIVED_FROM: usize = 64;

/// The arguments of a server of lists.
#[derive(Clone, Debug, clap::Args)]
pub struct ServerOptions {
    /// The directory of the store; it is created if it does not exist.
    #[arg(long)]
    pub store: PathBuf,
    /// The socket to listen on.
    #[arg(long)]
    pub socket: PathBuf,
    /// The kind of transactions.
    #[arg(long, value_parser = Transactions::of_name)]
    pub transactions: Transactions,
    /// The representation of lists in the graph.
    #[arg(long, value_parser = Representation::of_name)]
    pub representation: Representation,
    /// The engine.
    #[arg(long)]
    pub engine: EngineKind,
    /// The topology of the graph.
    #[arg(long)]
    pub topology: Topology,
    /// The durability at which a commit returns.
    #[arg(long)]
    pub durability: Durability,
    /// The mistake to make.
    #[arg(long, value_parser = Mistake::of_name, default_value = "nothing")]
    pub mistake: Mistake,
    /// The seed of all random choices.
    #[arg(long)]
    pub seed: u64,
}

/// Opens or creates the store, and answers transactions until the input ends; then closes the
/// store.
///
/// Writes `ready` to its output when it is ready, and then the number of answered transactions, as
/// in `answered 320`.
///
/// # Errors
/// The store cannot be opened, or the socket cannot be created.
pub fn serve(options: &ServerOptions) -> Result<(), Box<dyn Error>> {
    let graph = open(options)?;
    // A killed server leaves its socket behind.
    let _ = fs::remove_file(&options.socket);
    let listener = UnixListener::bind(&options.socket)?;
    disturb(&graph, options.seed);
    close_at_end_of_input(graph.clone());
    println!("ready");
    let answered = Arc::new(AtomicU64::new(0));
    for (seed, connection) in (options.seed..).zip(listener.incoming()) {
        let connection = connection?;
        let executor = Executor {
            graph: graph.clone(),
            transactions: options.transactions,
            representation: options.representation,
            mistake: options.mistake,
            random: SmallRng::seed_from_u64(seed),
            unfinished: None,
        };
        let answered = Arc::clone(&answered);
        thread::spawn(move || {
            // A disconnected client does not concern the server.
            let _ = answer_all(&connection, executor, &answered);
        });
    }
    Ok(())
}

fn open(options: &ServerOptions) -> Result<Graph, hedgerow::Error> {
    let graph_options = with_schema(GraphOptions::new())
        .engine(options.engine)
        .topology(options.topology)
        .durability(options.durability)
        .segment_bytes(1 << 20)
        .threads(2);
    let graph_options = match options.engine.has_edge_log() {
        // In a history, edges are archived many times.
        true => graph_options.archiving_threshold(ARCHIVED_FROM),
        false => graph_options,
    };
    match graph_options.open(&options.store) {
        Err(error) if error.kind() == ErrorKind::NotFound => graph_options.create(&options.store),
        opened => opened,
    }
}

fn close_at_end_of_input(graph: Graph) {
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        match graph.close() {
            Ok(()) => std::process::exit(0),
            Err(error) => give_up("closing the store", &error),
        }
    });
}

fn answer_all(connection: &UnixStream, mut executor: Executor, answered: &AtomicU64) -> io::Result<()> {
    let (reader, mut writer) = (BufReader::new(connection), connection);
    for line in reader.lines() {
        let request: Request = match serde_json::from_str(&line?) {
            Ok(request) => request,
            Err(error) => give_up("a transaction that cannot be read", &error),
        };
        let answer = match executor.answer(&request.value) {
            Ok(answer) => answer,
            Err(error) => give_up("a transaction failed as none may", &error),
        };
        let mut line = serde_json::to_vec(&answer)?;
        line.push(b'\n');
        writer.write_all(&line)?;
        executor.finish();
        let count = answered.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(REPORTED_EVERY) {
            writeln!(io::stdout(), "answered {count}")?;
        }
    }
    Ok(())
}
