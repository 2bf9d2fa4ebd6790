//! LinkBench: clients of a social graph, identical for every store, in turns over the stores.
//!
//! The requests come from `hedgerow_formats::link_bench`, and the clients from Hedgerow's own
//! benchmark.

mod args;
mod report;
mod stores;

pub use args::Arguments;

use crate::compare::graph::Graph;
use crate::compare::options::folder_in;
use crate::link_bench::{self, BaseGraph, Content, Link, Measured, Mix, Node, Request, Requests, Served};
use anyhow::{Context, Result, ensure};
use args::MixName;
use hedgerow::Topology;
use hedgerow::kernels::{BuildOptions, CancelToken, Csr};
use report::{Cell, Figures, Report};
use std::path::Path;
use std::thread;
use std::time::Duration;
use stores::{Answer, Base, Kind, Level, LinkStore};
use tempfile::TempDir;

/// The name of the row for requests that are made and timed, but not served.
const UNSERVED: &str = "unserved";

/// Measures and prints.
pub fn run(mut arguments: Arguments) -> Result<()> {
    if arguments.stores.is_empty() {
        arguments.stores = stores::KINDS.iter().collect();
    }
    ensure!(arguments.clients.iter().all(|clients| *clients > 0), "there must be a client at least");
    let directory = arguments.store.clone().unwrap_or_else(std::env::temp_dir);
    let folder = folder_in(&directory)?;
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
