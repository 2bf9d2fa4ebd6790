//! LinkBench's nodes and links in a graph: vertices with properties, and edges of one label with
//! records.

use super::{Content, Link, Node, Request};
use hedgerow::kernels::CancelToken;
use hedgerow::{
    AsKey, Direction, EdgeSchema, EdgeUpdate, EngineKind, Error, Field, Graph, GraphOptions, LabelId,
    LabelSchema, Newest, ReadGraph, Record, RecordRef, RecordSchema, Value, ValueRef, ValueType, VertexId,
    WriteGraph,
};
use hedgerow_driver::load::{check_edge_count, on_threads, options as graph_options, reclaim_all};
use hedgerow_driver::watch::check;
use hedgerow_driver::{Entry, Failure};
use hedgerow_sync::atomic::{AtomicU64, Ordering};
use std::ops::{AddAssign, Range};
use std::path::Path;

const LABEL: &str = "link";
const KIND: &str = "type";
const VERSION: &str = "version";
const TIME: &str = "time";
const DATA: &str = "data";
const VISIBILITY: &str = "visibility";

/// Entries loaded between two checks for cancellation.
const LOAD_STEP: usize = 1 << 14;

/// A graph with LinkBench's nodes and links.
#[derive(Debug)]
pub struct LinkStore {
    graph: Graph,
    links: LabelId,
    /// The id of the next node that is added.
    next_node: AtomicU64,
    /// Number of links.
    edges: u64,
    /// Number of clients so far.
    clients: u64,
    /// True if lists of newest links are in commit order; false if they are in the order of the
    /// links' times.
    lists_by_commit: bool,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Nodes and links that were found, or the links that were counted.
    pub found: u64,
    /// Number of links added.
    pub links_added: u64,
    /// Number of links removed.
    pub links_removed: u64,
}

impl AddAssign for Served {
    fn add_assign(&mut self, other: Self) {
        self.found += other.found;
        self.links_added += other.links_added;
        self.links_removed += other.links_removed;
    }
}

/// Reads every value of a link and the last byte of its data, as an application would.
fn look(end: VertexId, link: RecordRef<'_>) {
    std::hint::black_box(end);
    for value in link.values() {
        match value {
            ValueRef::Bytes(data) => drop(std::hint::black_box(data.last().copied())),
            value => drop(std::hint::black_box(value)),
        }
    }
}

/// The options of the graph.
#[must_use]
pub fn options(kind: EngineKind) -> GraphOptions {
    // Properties of vertices can always be null; a deleted node has only nulls.
    let fields = |fields: &[(&str, ValueType)]| {
        let field = |(name, value_type): &(&str, ValueType)| Field {
            name: (*name).to_owned(),
            value_type: *value_type,
            nullable: true,
        };
        RecordSchema { fields: fields.iter().map(field).collect() }
    };
    let (version, time, data) =
        ((VERSION, ValueType::I64), (TIME, ValueType::Timestamp), (DATA, ValueType::Bytes));
    let links = EdgeSchema::Record(fields(&[(VISIBILITY, ValueType::Bool), version, time, data]));
    graph_options(kind, 1)
        .label_schema(LabelSchema { name: LABEL.to_owned(), edges: links })
        .vertex_properties(fields(&[(KIND, ValueType::I64), version, time, data]))
}

impl LinkStore {
    /// Puts the nodes below `nodes` and the links of `entries` into an empty graph, each in its own
    /// transaction, with one thread per core. Links of a node are put in the order of their times,
    /// as in a live system.
    ///
    /// # Errors
    /// Errors of the graph, cancellation, and missing links afterwards.
    pub fn load(
        graph: Graph,
        nodes: u32,
        entries: &[Entry],
        content: &Content,
        cancel: &CancelToken,
    ) -> Result<Self, Failure> {
        let links = graph.label::<Record>(LABEL)?.id();
        let (next_node, edges) = (AtomicU64::new(nodes.into()), entries.len() as u64);
        let store = LinkStore { graph, links, next_node, edges, clients: 0, lists_by_commit: false };
        let ids: Vec<VertexId> = (0..nodes).map(VertexId::new).collect();
        on_each(&ids, cancel, |node| store.put_node(node, &content.base_node(*node)))?;
        let put_link = |(source, destination): &Entry| {
            store.put_link(&content.base_link(*source, *destination)).map(drop)
        };
        let parts = in_order_of_time(entries, content, cores());
        on_threads(parts.len(), &parts, |parts| {
            parts.iter().try_for_each(|part| one_by_one(part, cancel, put_link))
        })?;
        store.check()?;
        reclaim_all(&store.graph)?;
        Ok(store)
    }

    /// Puts all nodes and links of this graph into an empty one, like [`LinkStore::load`], to
    /// measure their memory without any garbage.
    pub fn afresh(&self, graph: Graph, cancel: &CancelToken) -> Result<Self, Failure> {
        let (snapshot, links) = (self.graph.snapshot()?, graph.label::<Record>(LABEL)?.id());
        let next_node = AtomicU64::new(self.next_node.load(Ordering::Relaxed));
        let store = LinkStore { graph, links, next_node, ..*self };
        let mut nodes = Vec::new();
        snapshot.for_each_vertex(|_, key| nodes.push(key))?;
        on_each(&nodes, cancel, |node| {
            let record = snapshot.properties(node)?;
            let values = [KIND, VERSION, TIME, DATA]
                .into_iter()
                .zip(record.iter().flat_map(hedgerow::Record::values).cloned());
            store.graph.set_properties(node, &values.collect::<Vec<_>>())?;
            Ok(())
        })?;
        on_each(&nodes, cancel, |node| {
            for (end, record) in snapshot.edges::<Record>((self.links, Direction::Out), node)? {
                let values = [VISIBILITY, VERSION, TIME, DATA].into_iter().zip(record.values());
                let put = values.fold(EdgeUpdate::put(), |put, (name, value)| put.set(name, value.clone()));
                store.graph.update_edge(links, node, end, &put)?;
            }
            Ok(())
        })?;
        store.check()?;
        reclaim_all(&store.graph)?;
        Ok(store)
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Closes the graph and opens it again from its directory with other options.
    ///
    /// # Errors
    /// Errors of the graph, and missing links afterwards.
    pub fn reopened(self, path: &Path, options: &GraphOptions) -> Result<Self, Failure> {
        self.graph.close()?;
        let LinkStore { graph: closed, .. } = self;
        drop(closed);
        let store = LinkStore { graph: options.open(path)?, ..self };
        store.check()?;
        Ok(store)
    }

    /// New client numbers: each client sends different requests, but the same requests on every
    /// engine.
    pub fn new_clients(&mut self, clients: usize) -> Range<u64> {
        let first = self.clients;
        self.clients += clients as u64;
        first..self.clients
    }

    /// Updates the expected number of links, and checks that the graph agrees.
    pub fn count(&mut self, served: Served) -> Result<(), Failure> {
        self.edges = self.edges + served.links_added - served.links_removed;
        self.check()
    }

    /// Sets if the newest links are the last ones put; for engines that keep commit order.
    pub fn list_by_commit(&mut self, by_commit: bool) {
        self.lists_by_commit = by_commit;
    }

    fn check(&self) -> Result<(), Failure> {
        check_edge_count(&self.graph, self.edges as usize)
    }

    /// Serves a request.
    ///
    /// # Errors
    /// Errors of the graph.
    pub fn serve(&self, request: &Request<'_>) -> Result<Served, Failure> {
        let found = |found| Served { found, ..Served::default() };
        Ok(match *request {
            Request::AddNode(node) => {
                self.put_node(self.next_node.fetch_add(1, Ordering::Relaxed), &node)?;
                Served::default()
            }
            Request::UpdateNode(id, node) => found(u64::from(self.update_node(id, &node)?)),
            Request::DeleteNode(id) => {
                self.delete_node(id)?;
                Served::default()
            }
            Request::GetNode(id) => found(u64::from(self.node(id)?.is_some())),
            Request::AddLink(link) | Request::UpdateLink(link) => {
                Served { links_added: self.put_link(&link)?, ..Served::default() }
            }
            Request::DeleteLink { source, destination } => {
                let deleted = self.graph.delete_edge(self.links, source, destination)?;
                Served { links_removed: u64::from(deleted.changed == Some(true)), ..Served::default() }
            }
            Request::CountLinks(source) => {
                found(self.graph.snapshot()?.degree((self.links, Direction::Out), source)? as u64)
            }
            Request::GetLinks { source, destinations } => {
                found(self.links(source, destinations)?.len() as u64)
            }
            Request::ListLinks { source, before, limit } => {
                found(self.visit_newest(source, before, limit, look)?)
            }
        })
    }

    fn put_node(&self, id: impl AsKey, node: &Node<'_>) -> Result<(), Failure> {
        self.graph.set_properties(id, &properties(node))?;
        Ok(())
    }

    /// Replaces the properties of a node; returns false if the node is deleted.
    fn update_node(&self, id: VertexId, node: &Node<'_>) -> Result<bool, Failure> {
        let (exists, _) = self.graph.transact_declared(&[id], |transaction| {
            let exists = transaction.properties(id)?.is_some_and(|record| is_node(&record));
            if exists {
                transaction.set_properties(id, &properties(node))?;
            }
            Ok(exists)
        })?;
        Ok(exists)
    }

    /// Deletes a node and leaves its links, as LinkBench does: the vertex remains as an end of the
    /// links.
    fn delete_node(&self, id: VertexId) -> Result<(), Failure> {
        self.graph.set_properties(id, &[KIND, VERSION, TIME, DATA].map(|name| (name, Value::Null)))?;
        Ok(())
    }

    /// The properties of a node: type, version, time and data.
    ///
    /// # Errors
    /// Errors of the graph.
    pub fn node(&self, id: VertexId) -> Result<Option<Record>, Failure> {
        Ok(self.graph.snapshot()?.properties(id)?.filter(is_node))
    }

    /// Puts a link; returns the number of links added.
    fn put_link(&self, link: &Link<'_>) -> Result<u64, Failure> {
        let update = EdgeUpdate::put()
            .set(VISIBILITY, link.is_visible)
            .set(VERSION, link.version)
            .set(TIME, Value::Timestamp(link.time))
            .set(DATA, link.data);
        let put = self.graph.update_edge(self.links, link.source, link.destination, &update)?;
        Ok(put.written.edges_added.at_most())
    }

    /// The existing links to some nodes: for each the node, the visibility, version, time and data.
    ///
    /// # Errors
    /// Errors of the graph.
    pub fn links(
        &self,
        source: VertexId,
        destinations: &[VertexId],
    ) -> Result<Vec<(VertexId, Record)>, Failure> {
        let snapshot = self.graph.snapshot()?;
        let link = |end: &VertexId| {
            let record = snapshot.get_edge::<Record>(self.links, source, *end).transpose()?;
            Some(record.map(|record| (*end, record)))
        };
        Ok(destinations.iter().filter_map(link).collect::<Result<_, Error>>()?)
    }

    /// Visits the newest links of a node in place, newest first: of all its links, or of those
    /// before a time. Returns their number.
    ///
    /// # Errors
    /// Errors of the graph.
    pub fn visit_newest(
        &self,
        source: VertexId,
        before: Option<i64>,
        limit: usize,
        mut visit: impl FnMut(VertexId, RecordRef<'_>),
    ) -> Result<u64, Failure> {
        let (newest, mut found) = (self.wanted(before, limit), 0);
        self.graph.snapshot()?.visit_newest_records(
            (self.links, Direction::Out),
            source,
            &newest,
            |end, link| {
                found += 1;
                visit(end, link);
            },
        )?;
        Ok(found)
    }

    fn wanted(&self, before: Option<i64>, limit: usize) -> Newest {
        let all = Newest::most(limit);
        match before {
            Some(time) => all.until(time - 1),
            None if self.lists_by_commit => all.by_commit(),
            None => all,
        }
    }
}

/// Returns true if a vertex with these properties is a node that was not deleted.
fn is_node(properties: &Record) -> bool {
    properties.values().first().is_some_and(|kind| *kind != Value::Null)
}

fn properties(node: &Node<'_>) -> [(&'static str, Value); 4] {
    [
        (KIND, node.kind.into()),
        (VERSION, node.version.into()),
        (TIME, Value::Timestamp(node.time)),
        (DATA, node.data.into()),
    ]
}

/// Processes every item, on all cores.
fn on_each<T: Sync>(
    items: &[T],
    cancel: &CancelToken,
    work: impl Fn(&T) -> Result<(), Failure> + Sync,
) -> Result<(), Failure> {
    on_threads(cores(), items, |part| one_by_one(part, cancel, &work))?;
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn one_by_one<T>(
    items: &[T],
    cancel: &CancelToken,
    work: impl Fn(&T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    items.chunks(LOAD_STEP).try_for_each(|some| {
        check(cancel)?;
        some.iter().try_for_each(&work)
    })
}

/// Links in the order of their times, in parts with different nodes.
fn in_order_of_time(entries: &[Entry], content: &Content, parts: usize) -> Vec<Vec<Entry>> {
    let mut of_nodes = vec![Vec::new(); parts];
    for entry in entries {
        of_nodes[entry.0.index() % parts].push(*entry);
    }
    for part in &mut of_nodes {
        part.sort_by_cached_key(|(source, destination)| content.base_link(*source, *destination).time);
    }
    of_nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use hedgerow::Durability;
    use std::cmp::Reverse;

    const ENGINES: [EngineKind; 2] = [EngineKind::Rapid, EngineKind::Tel];

    fn id(number: u32) -> VertexId {
        VertexId::new(number)
    }

    /// The ends of the newest links of a node, and the fields of these links as text.
    fn newest(store: &LinkStore, source: VertexId, before: Option<i64>, limit: usize) -> Vec<(u32, String)> {
        let mut links = Vec::new();
        let visit = |end: VertexId, link: RecordRef<'_>| {
            links.push((end.get(), format!("{:?}", link.values().collect::<Vec<_>>())));
        };
        assert_eq!(store.visit_newest(source, before, limit, visit).unwrap(), links.len() as u64);
        links
    }

    /// The ends of the newest links of node 1.
    fn ends(store: &LinkStore, before: Option<i64>, limit: usize) -> Vec<u32> {
        newest(store, id(1), before, limit).into_iter().map(|(end, _)| end).collect()
    }

    /// Four nodes, the first with links to the others, on each engine.
    fn stores(content: &Content) -> impl Iterator<Item = LinkStore> + '_ {
        ENGINES.into_iter().map(|kind| {
            let graph = Graph::in_memory(options(kind)).unwrap();
            let entries = [1, 2, 3].map(|end| (id(0), id(end)));
            LinkStore::load(graph, 4, &entries, content, &CancelToken::new()).unwrap()
        })
    }

    fn found(store: &LinkStore, request: &Request<'_>) -> u64 {
        store.serve(request).unwrap().found
    }

    #[test]
    fn a_node_is_added_updated_and_deleted_and_its_links_stay() {
        let content = Content::new(1);
        let node = Node { kind: 7, version: 2, time: 9, data: b"data" };
        for store in stores(&content) {
            let data = store.node(id(0)).unwrap().unwrap().values()[3].clone();
            assert_eq!(data.as_bytes(), Some(content.base_node(id(0)).data));

            assert_eq!(found(&store, &Request::UpdateNode(id(0), node)), 1);
            let expected = [Value::I64(7), Value::I64(2), Value::Timestamp(9), (&b"data"[..]).into()];
            assert_eq!(store.node(id(0)).unwrap().unwrap().values(), expected);

            assert_eq!(found(&store, &Request::GetNode(id(4))), 0);
            store.serve(&Request::AddNode(node)).unwrap();
            assert_eq!(found(&store, &Request::GetNode(id(4))), 1);

            store.serve(&Request::DeleteNode(id(0))).unwrap();
            assert_eq!(found(&store, &Request::GetNode(id(0))), 0);
            assert_eq!(found(&store, &Request::UpdateNode(id(0), node)), 0);
            assert_eq!(found(&store, &Request::GetNode(id(0))), 0);
            assert_eq!(found(&store, &Request::CountLinks(id(0))), 3);
        }
    }

    #[test]
    fn links_are_put_counted_read_and_deleted() {
        let content = Content::new(1);
        for mut store in stores(&content) {
            let link =
                Link { source: id(0), destination: id(0), is_visible: true, version: 0, time: 5, data: b"x" };
            let served = store.serve(&Request::AddLink(link)).unwrap();
            assert_eq!(served.links_added, 1);
            store.count(served).unwrap();
            let again = store.serve(&Request::UpdateLink(Link { data: b"y", ..link })).unwrap();
            assert_eq!(again.links_added, 0);
            assert_eq!(found(&store, &Request::CountLinks(id(0))), 4);

            let read = store.links(id(0), &[id(0), id(9), id(2)]).unwrap();
            let base = content.base_link(id(0), id(2));
            let expected = [
                [Value::Bool(true), Value::I64(0), Value::Timestamp(5), (&b"y"[..]).into()],
                [Value::Bool(true), Value::I64(0), Value::Timestamp(base.time), base.data.into()],
            ];
            assert_eq!(read.iter().map(|(_, record)| record.values()).collect::<Vec<_>>(), expected);

            let delete = Request::DeleteLink { source: id(0), destination: id(0) };
            let served = store.serve(&delete).unwrap();
            assert_eq!(served.links_removed, 1);
            store.count(served).unwrap();
            assert_eq!(store.serve(&delete).unwrap(), Served::default());
            assert_eq!(found(&store, &Request::CountLinks(id(0))), 3);
        }
    }

    #[test]
    fn lists_have_the_newest_first_up_to_the_limit() {
        let content = Content::new(1);
        let limit = 100;
        for store in stores(&content) {
            // All times differ, and are ordered differently from ids.
            let time = |end: u32| i64::from(end) * 7919 % 107;
            for end in 0..limit as u32 + 5 {
                let link = Link { time: time(end), ..content.base_link(id(1), id(end)) };
                store.serve(&Request::AddLink(link)).unwrap();
            }
            let mut expected: Vec<u32> = (0..limit as u32 + 5).collect();
            expected.sort_unstable_by_key(|end| Reverse(time(*end)));
            assert_eq!(ends(&store, None, limit), expected[..limit]);

            expected.retain(|end| time(*end) < 3);
            assert_eq!(ends(&store, Some(3), limit), expected);
            assert!(newest(&store, id(9), None, limit).is_empty());
        }
    }

    #[test]
    fn lists_by_commit_have_the_links_first_that_were_put_last() {
        let content = Content::new(1);
        let mut store = stores(&content).last().unwrap();
        store.list_by_commit(true);
        for (end, time) in [(5, 30), (6, 10), (7, 20), (5, 0)] {
            let link = Link { time, ..content.base_link(id(1), id(end)) };
            store.serve(&Request::AddLink(link)).unwrap();
        }
        assert_eq!(ends(&store, None, 2), [5, 7]);
        assert_eq!(ends(&store, None, 9), [5, 7, 6]);
        // Links before a time are listed by time, even if `lists_by_commit` is set.
        assert_eq!(ends(&store, Some(20), 9), [6, 5]);
    }

    #[test]
    fn a_new_copy_of_a_graph_holds_the_same() {
        let content = Content::new(1);
        for (kind, store) in ENGINES.into_iter().zip(stores(&content)) {
            store.serve(&Request::DeleteNode(id(2))).unwrap();
            store.serve(&Request::AddNode(content.base_node(id(9)))).unwrap();
            let copy = store.afresh(Graph::in_memory(options(kind)).unwrap(), &CancelToken::new()).unwrap();
            for node in (0..6).map(id) {
                assert_eq!(copy.node(node).unwrap(), store.node(node).unwrap());
                assert_eq!(newest(&copy, node, None, 9), newest(&store, node, None, 9));
            }
            copy.serve(&Request::AddNode(content.base_node(id(9)))).unwrap();
            assert_eq!(
                found(&copy, &Request::GetNode(id(5))),
                1,
                "new nodes go on where those of the other ended"
            );
        }
    }

    #[test]
    fn links_that_are_not_there_are_noticed() {
        for mut store in stores(&Content::new(1)) {
            let wrong = store.count(Served { links_added: 1, ..Served::default() });
            assert!(matches!(wrong, Err(Failure::WrongResult { .. })));
        }
    }

    #[test]
    fn a_store_that_is_opened_again_has_all_and_other_options() {
        let (content, folder) = (Content::new(1), tempfile::tempdir().unwrap());
        let options = options(EngineKind::Rapid);
        let graph = options.clone().durability(Durability::Buffered).create(folder.path()).unwrap();
        let entries = [(id(0), id(1))];
        let mut store = LinkStore::load(graph, 2, &entries, &content, &CancelToken::new()).unwrap();
        assert_eq!((store.new_clients(3), store.new_clients(2)), (0..3, 3..5));
        let node = content.base_node(id(0));
        store.serve(&Request::AddNode(node)).unwrap();
        let store = store.reopened(folder.path(), &options.durability(Durability::Sync)).unwrap();
        assert_eq!(store.graph().durability(), Some(Durability::Sync));
        assert_eq!(found(&store, &Request::GetNode(id(2))), 1);
        store.serve(&Request::AddNode(node)).unwrap();
        assert_eq!(found(&store, &Request::GetNode(id(3))), 1);
    }
}
