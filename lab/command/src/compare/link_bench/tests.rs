//! All stores answer like a plain model.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::stores::KINDS;
use super::*;
use clap::Parser;
use hedgerow::VertexId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

const LEVELS: [Level; 3] = [Level::None, Level::Buffered, Level::Sync];

/// Version, time, data, and the type of a node or the visibility of a link.
type Fields = (i64, i64, Vec<u8>, i64);

fn of_node(node: &Node<'_>) -> Fields {
    (node.version, node.time, node.data.to_vec(), node.kind)
}

fn of_link(link: &Link<'_>) -> Fields {
    (link.version, link.time, link.data.to_vec(), i64::from(link.is_visible))
}

/// All results of a client, with the ends of links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Got {
    nodes: Vec<Fields>,
    links: Vec<(VertexId, VertexId, Fields)>,
}

impl Answer for Got {
    fn node(&mut self, node: Node<'_>) {
        self.nodes.push(of_node(&node));
    }

    fn link(&mut self, link: Link<'_>) {
        self.links.push((link.source, link.destination, of_link(&link)));
    }
}

#[derive(Debug)]
struct Model {
    nodes: BTreeMap<VertexId, Fields>,
    links: BTreeMap<(VertexId, VertexId), Fields>,
    next_node: u32,
}

impl Model {
    fn new(base: &Base<'_>) -> Self {
        let all = base.nodes().flat_map(|(id, _)| base.links_of(id));
        Model {
            nodes: base.nodes().map(|(id, node)| (id, of_node(&node))).collect(),
            links: all.map(|link| ((link.source, link.destination), of_link(&link))).collect(),
            next_node: base.graph.nodes(),
        }
    }

    fn links_of(&self, node: VertexId) -> impl Iterator<Item = (VertexId, VertexId, Fields)> + '_ {
        let entries = self.links.iter().filter(move |((source, _), _)| *source == node);
        entries.map(|((source, destination), fields)| (*source, *destination, fields.clone()))
    }

    fn serve(&mut self, request: &Request<'_>, got: &mut Got) -> Served {
        let mut served = Served::default();
        match *request {
            Request::AddNode(node) => {
                self.nodes.insert(VertexId::new(self.next_node), of_node(&node));
                self.next_node += 1;
            }
            Request::UpdateNode(id, node) => {
                if let Some(fields) = self.nodes.get_mut(&id) {
                    *fields = of_node(&node);
                    served.found = 1;
                }
            }
            Request::DeleteNode(id) => drop(self.nodes.remove(&id)),
            Request::GetNode(id) => {
                got.nodes.extend(self.nodes.get(&id).cloned());
                served.found = got.nodes.len() as u64;
            }
            Request::AddLink(link) | Request::UpdateLink(link) => {
                let before = self.links.insert((link.source, link.destination), of_link(&link));
                served.links_added = u64::from(before.is_none());
            }
            Request::DeleteLink { source, destination } => {
                served.links_removed = u64::from(self.links.remove(&(source, destination)).is_some());
            }
            Request::CountLinks(source) => served.found = self.links_of(source).count() as u64,
            Request::GetLinks { source, destinations } => {
                let find = |end: &VertexId| Some((source, *end, self.links.get(&(source, *end))?.clone()));
                got.links = destinations.iter().filter_map(find).collect();
                served.found = got.links.len() as u64;
            }
            Request::ListLinks { source, before, limit } => {
                let is_listed = |time| before.is_none_or(|before| time < before);
                got.links = self.links_of(source).filter(|(.., fields)| is_listed(fields.1)).collect();
                got.links.sort_by_key(|(.., fields)| Reverse(fields.1));
                got.links.truncate(limit);
                served.found = got.links.len() as u64;
            }
        }
        served
    }
}

/// Sixty-four nodes, some with many links, some with few and some with none.
fn with_base(work: impl FnOnce(&Base<'_>)) {
    let graph = Graph::kronecker(6, 1).unwrap();
    let csr = Csr::from_edges(graph.vertices, Topology::Directed, &graph.stream, BuildOptions::default());
    let (csr, content) = (csr.unwrap(), Content::new(1));
    let base = BaseGraph::new(csr.offsets(), csr.neighbors()).unwrap();
    work(&Base { graph: base, stream: &graph.stream, content: &content });
}

#[test]
fn all_stores_answer_as_a_model_does() {
    with_base(|base| {
        for level in LEVELS {
            let folders: Vec<TempDir> = KINDS.iter().map(|_| tempfile::tempdir().unwrap()).collect();
            let load = |(kind, folder): (&Kind, &TempDir)| (kind.load)(folder.path(), level, base).unwrap();
            let stores: Vec<_> = KINDS.iter().zip(&folders).map(load).collect();
            let (mut model, mut operations, mut time) =
                (Model::new(base), HashSet::new(), 1_700_000_000_000_000);
            // Half of the requests are writes, and lists are short, so that tests cover the ends of
            // lists.
            for (mix, requests) in [(Mix::default(), 2000), (Mix::tao().with_writes(0.5).unwrap(), 2000)] {
                let mix = mix.with_list_limit(7);
                let mut client = Requests::new(base.graph, base.content, &mix, 3, 0);
                for _ in 0..requests {
                    time += 1;
                    let request = client.next_request(time);
                    operations.insert(request.operation());
                    let mut expected = Got::default();
                    let served = model.serve(&request, &mut expected);
                    for (kind, store) in KINDS.iter().zip(&stores) {
                        let mut got = Got::default();
                        let answered = store.serve(&request, &mut got).unwrap();
                        let what = format!("{} ({level:?}), {:?}", kind.name, request.operation());
                        assert_eq!((answered, got), (served, expected.clone()), "{what}");
                    }
                }
            }
            assert_eq!(operations.len(), 10);
            for store in &stores {
                assert_eq!(store.links().unwrap(), model.links.len() as u64);
            }
        }
    });
}

#[test]
fn clients_at_the_same_time_leave_lists_and_counters_that_agree() {
    with_base(|base| {
        let mix = Mix::default().with_writes(0.9).unwrap();
        for kind in KINDS {
            let folder = tempfile::tempdir().unwrap();
            let store = (kind.load)(folder.path(), Level::Buffered, base).unwrap();
            let client = |number| Requests::new(base.graph, base.content, &mix, 5, number);
            let serve = |request: &Request<'_>| store.serve(request, &mut Seen::default());
            let measured = ask(Duration::from_millis(300), (0..8).map(client).collect(), serve).unwrap();
            let Served { links_added, links_removed, .. } = measured.served;
            assert!(links_added > 0 && links_removed > 0);
            let expected = base.stream.len() as u64 + links_added - links_removed;
            assert_eq!(store.links().unwrap(), expected, "{}", kind.name);
        }
    });
}

#[test]
fn every_store_is_measured_and_set_against_hedgerow() {
    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }
    let line = ["link-bench", "--scale", "6", "--clients", "1,2", "--seconds", "0.02", "--repetitions", "2"];
    let mut arguments = Line::parse_from(line).arguments;
    arguments.stores = KINDS.iter().collect();
    let folder = tempfile::tempdir().unwrap();
    let report = Report::new(&arguments, measure(&arguments, folder.path()).unwrap());
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let rows = json["results"].as_array().unwrap();
    // Two mixes, three levels, two numbers of clients; and unserved requests.
    assert_eq!(rows.len(), 2 * 3 * 2 * (KINDS.len() + 1));
    for row in rows.iter().filter(|row| row["store"] == "rapid") {
        assert_eq!(row["rapid_over_this"].as_f64(), Some(1.0));
        assert!(row["read_p99_ns"]["median"].as_f64() > Some(0.0), "{row}");
    }
    assert!(rows.iter().all(|row| row["requests_per_second"]["median"].as_f64() > Some(0.0)));
    assert!(report.to_table().contains("lists of 10000 links at most"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "all stores are removed");
}
