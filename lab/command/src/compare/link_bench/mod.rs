//! LinkBench: clients of a social graph, identical for every store, in turns over the stores.
//!
//! The requests come from `hedgerow_formats::link_bench`, and the clients from Hedgerow's own
//! benchmark.

mod report;
mod stores;

use crate::compare::graph::Graph;
use crate::link_bench::{self, BaseGraph, Content, Link, Measured, Mix, Node, Request, Requests, Served};
use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use hedgerow::Topology;
use hedgerow::kernels::{BuildOptions, CancelToken, Csr};
use report::{Cell, Figures, Report};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use stores::{Answer, Base, Kind, Level, LinkStore};
use tempfile::TempDir;

/// The name of the row for requests that are made and timed, but not served.
const UNSERVED: &str = "unserved";

/// LinkBench's requests: adds, updates, deletes and reads of nodes and links, counts of links and
/// lists of the newest
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The graph has 2^SCALE nodes (6 to 24) and about 30 times as many links
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(6..=24))]
    scale: u32,
    /// The seed of the graph and the requests
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The stores, separated by commas [default: all that were built]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = Kind::named)]
    stores: Vec<&'static Kind>,
    /// The mixes of requests
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = [MixName::Dflt, MixName::Tao])]
    mixes: Vec<MixName>,
    /// The durability of commits
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_enum, default_values_t = [Level::None, Level::Buffered, Level::Sync])]
    durability: Vec<Level>,
    /// Numbers of concurrent clients
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_values_t = [1, 2, 64])]
    clients: Vec<usize>,
    /// Maximum number of links in a list
    #[arg(long, default_value_t = 10_000)]
    list_limit: usize,
    /// The directory for the stores, on the disk to be measured [default: for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    store: Option<PathBuf>,
    /// Repetitions of each measurement
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repetitions: u32,
    /// The time for which clients run
    #[arg(long, default_value_t = 4.0, value_name = "S", value_parser = crate::compare::seconds)]
    seconds: f64,
    /// Write the figures to this file, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A mix of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MixName {
    /// LinkBench's own, 69 % reads.
    Dflt,
    /// 99.8 % reads.
    Tao,
}

/// Measures and prints.
pub fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.stores.is_empty() {
        arguments.stores = stores::KINDS.iter().collect();
    }
    ensure!(arguments.clients.iter().all(|clients| *clients > 0), "there must be a client at least");
    let directory = arguments.store.clone().unwrap_or_else(std::env::temp_dir);
    let folder = crate::compare::folder_in(&directory)?;
    let report = Report::new(&arguments, measure(&arguments, folder.path())?);
    print!("{}", report.to_table());
    if let Some(path) = &arguments.json {
        std::fs::write(path, report.to_json()?).with_context(|| path.display().to_string())?;
    }
    folder.close().with_context(|| format!("the stores in {} could not be removed", directory.display()))
}

/// A store in its own folder, which is removed after the store.
struct Opened {
    kind: &'static Kind,
    store: Box<dyn LinkStore>,
    links: u64,
    _folder: TempDir,
}

fn measure(arguments: &Arguments, folder: &Path) -> Result<Figures> {
    let graph = Graph::kronecker(arguments.scale, arguments.seed)?;
    let csr = Csr::from_edges(graph.vertices, Topology::Directed, &graph.stream, BuildOptions::default())?;
    let content = Content::new(arguments.seed);
    let base = BaseGraph::new(csr.offsets(), csr.neighbors())?;
    let base = Base { graph: base, stream: &graph.stream, content: &content };
    let mut figures = Figures::new(&graph);
    for level in &arguments.durability {
        let load = |kind: &&'static Kind| {
            eprintln!("{level:?}: loading {}", kind.name);
            let folder = tempfile::tempdir_in(folder)?;
            let store = (kind.load)(folder.path(), *level, &base).context(kind.name)?;
            Ok(Opened { kind, store, links: graph.stream.len() as u64, _folder: folder })
        };
        let mut stores = arguments.stores.iter().map(load).collect::<Result<Vec<_>>>()?;
        in_turns(arguments, *level, &base, &mut stores, &mut figures)?;
        for Opened { kind, store, links, .. } in stores {
            let found = store.links().context(kind.name)?;
            ensure!(found == links, "{} has {found} links, not {links}", kind.name);
        }
    }
    Ok(figures)
}

fn in_turns(
    arguments: &Arguments,
    level: Level,
    base: &Base<'_>,
    stores: &mut [Opened],
    figures: &mut Figures,
) -> Result<()> {
    let mut next_client = 0;
    for repetition in 1..=arguments.repetitions {
        for mix_name in &arguments.mixes {
            let mix = match mix_name {
                MixName::Dflt => Mix::default(),
                MixName::Tao => Mix::tao(),
            };
            let mix = mix.with_list_limit(arguments.list_limit);
            for clients in &arguments.clients {
                eprintln!("{level:?}: repetition {repetition}, {mix_name:?}, {clients} clients");
                let numbers = next_client..next_client + *clients as u64;
                next_client = numbers.end;
                let requests = || {
                    let client =
                        |number| Requests::new(base.graph, base.content, &mix, arguments.seed, number);
                    numbers.clone().map(client).collect::<Vec<_>>()
                };
                let time = Duration::from_secs_f64(arguments.seconds);
                let cell = |store| Cell { mix: *mix_name, durability: level, clients: *clients, store };
                figures.push(
                    cell(UNSERVED),
                    &ask(time, requests(), |request| {
                        std::hint::black_box(request);
                        Ok(Served::default())
                    })?,
                );
                for Opened { kind, store, links, .. } in &mut *stores {
                    let serve = |request: &Request<'_>| store.serve(request, &mut Seen::default());
                    let measured = ask(time, requests(), serve).context(kind.name)?;
                    *links = *links + measured.served.links_added - measured.served.links_removed;
                    figures.push(cell(kind.name), &measured);
                }
            }
        }
    }
    Ok(())
}

fn ask(
    time: Duration,
    requests: Vec<Requests<'_>>,
    serve: impl Fn(&Request<'_>) -> Result<Served> + Sync,
) -> Result<Measured> {
    let wait = || {
        thread::sleep(time);
        Ok(())
    };
    Ok(link_bench::run(requests, serve, &CancelToken::new(), wait)?.0)
}

/// A client that reads every field of its results, and the last byte of data.
#[derive(Debug, Default)]
struct Seen(i64);

impl Seen {
    fn look(&mut self, fields: [i64; 4], data: &[u8]) {
        let last = data.last().copied().unwrap_or_default();
        let sum = fields.into_iter().fold(i64::from(last), i64::wrapping_add);
        self.0 = std::hint::black_box(self.0.wrapping_add(sum));
    }
}

impl Answer for Seen {
    fn node(&mut self, Node { kind, version, time, data }: Node<'_>) {
        self.look([kind, version, time, 0], data);
    }

    fn link(&mut self, link: Link<'_>) {
        let Link { destination, is_visible, version, time, data, .. } = link;
        self.look([destination.get().into(), is_visible.into(), version, time], data);
    }
}

#[cfg(test)]
mod tests;
