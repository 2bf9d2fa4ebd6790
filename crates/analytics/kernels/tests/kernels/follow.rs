//! Tests that computations which follow a graph equal those made anew, after every batch.

use crate::support::{Graph, TOPOLOGIES, Unhelpful, id, large_graph, scrambled};
use hedgerow_kernels::{
    CancelToken, Components, Csr, DegreeKind, Degrees, Execution, Follow, GraphChanges, Kernel, KernelError,
    LabeledEdge, MemoryBudget, Wcc,
};
use hedgerow_model::{GraphView, LabelId, Topology, VertexId, ViewError};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const CONNECTED: [Topology; 2] = [Topology::DirectedWithReverse, Topology::Undirected];
const KINDS: [DegreeKind; 3] = [DegreeKind::Out, DegreeKind::In, DegreeKind::Total];
const OTHER_LABEL: LabelId = LabelId(1);

#[derive(Clone, Debug)]
enum Step {
    Put(u32, u32),
    Delete(u32, u32),
    PutVertex(u32),
    DeleteVertex(u32),
    /// An edge of a label that is not followed.
    PutOther(u32, u32),
    DeleteOther(u32, u32),
}

/// The changes of a batch, as a graph lists them.
#[derive(Default)]
struct Listed {
    put: Vec<LabeledEdge>,
    deleted: Vec<LabeledEdge>,
    put_vertices: Vec<VertexId>,
    deleted_vertices: Vec<VertexId>,
}

impl Listed {
    fn changes(&self) -> GraphChanges<'_> {
        GraphChanges {
            put_edges: &self.put,
            deleted_edges: &self.deleted,
            put_vertices: &self.put_vertices,
            deleted_vertices: &self.deleted_vertices,
        }
    }

    /// Applies a step to the graph, and lists its changes: puts and deletions that change nothing,
    /// too.
    fn apply(&mut self, graph: &mut Graph, step: &Step) {
        let edge = |label, one: u32, other: u32| (label, id(one), id(other));
        let is_undirected = graph.topology.is_undirected();
        let is_same = |one: (u32, u32), (source, destination): (u32, u32)| {
            one == (source, destination) || is_undirected && one == (destination, source)
        };
        match *step {
            Step::Put(source, destination) => {
                self.apply(graph, &Step::PutVertex(source));
                self.apply(graph, &Step::PutVertex(destination));
                if !graph.edges.iter().any(|edge| is_same(*edge, (source, destination))) {
                    graph.edges.push((source, destination));
                }
                self.put.push(edge(LabelId::DEFAULT, source, destination));
            }
            Step::Delete(source, destination) => {
                graph.edges.retain(|edge| !is_same(*edge, (source, destination)));
                self.deleted.push(edge(LabelId::DEFAULT, source, destination));
            }
            Step::PutVertex(vertex) => {
                if graph.vertices.insert(vertex) {
                    self.put_vertices.push(id(vertex));
                    graph.bound = graph.bound.max(vertex + 1);
                }
            }
            Step::DeleteVertex(vertex) => {
                let edges = graph.edges.iter().filter(|edge| edge.0 == vertex || edge.1 == vertex);
                let deleted: Vec<_> = edges.map(|edge| Step::Delete(edge.0, edge.1)).collect();
                deleted.iter().for_each(|step| self.apply(graph, step));
                graph.vertices.remove(&vertex);
                self.deleted_vertices.push(id(vertex));
            }
            Step::PutOther(source, destination) => {
                self.put.push(edge(OTHER_LABEL, source, destination));
            }
            Step::DeleteOther(source, destination) => {
                self.deleted.push(edge(OTHER_LABEL, source, destination));
            }
        }
    }
}

/// Batches of steps on a graph with few edges per vertex, so that components come and go.
fn batches() -> impl Strategy<Value = (u32, Vec<Vec<Step>>)> {
    (6..40_u32).prop_flat_map(|ids| {
        let ends = || (0..ids, 0..ids);
        let step = prop_oneof![
            8 => ends().prop_map(|(one, other)| Step::Put(one, other)),
            // Neighbors by number, so that deletions find edges.
            4 => (0..ids - 3, 0..4_u32).prop_map(|(one, more)| Step::Put(one, one + more)),
            4 => (0..ids - 3, 0..4_u32).prop_map(|(one, more)| Step::Delete(one + more, one)),
            6 => ends().prop_map(|(one, other)| Step::Delete(one, other)),
            1 => (0..ids).prop_map(Step::PutVertex),
            1 => (0..ids).prop_map(Step::DeleteVertex),
            1 => ends().prop_map(|(one, other)| Step::PutOther(one, other)),
            1 => ends().prop_map(|(one, other)| Step::DeleteOther(one, other)),
        ];
        (Just(ids), prop::collection::vec(prop::collection::vec(step, 0..30), 1..12))
    })
}

/// Computations of all kinds that follow one graph.
struct All {
    /// `None` if the graph has no in-neighbors.
    components: Option<Components>,
    degrees: [Degrees; 3],
}

impl All {
    fn new(view: &impl GraphView) -> Self {
        let has_components = view.topology() != Topology::Directed;
        let components = has_components.then(Components::default);
        let mut all = All { components, degrees: KINDS.map(Degrees::new) };
        all.components.iter_mut().for_each(|it| it.begin(view, Execution::default()).unwrap());
        all.degrees.iter_mut().for_each(|it| it.begin(view, Execution::default()).unwrap());
        all
    }

    fn follow<V: GraphView>(&mut self, before: &V, listed: &Listed, after: &V) {
        let (changes, execution) = (listed.changes(), Execution::default());
        self.components.iter_mut().for_each(|it| it.follow(before, changes, after, execution).unwrap());
        self.degrees.iter_mut().for_each(|it| it.follow(before, changes, after, execution).unwrap());
    }

    fn check(&self, graph: &Graph, view: &impl GraphView) {
        self.components.iter().for_each(|components| check_components(components, graph, view));
        KINDS.into_iter().zip(&self.degrees).for_each(|(kind, degrees)| check_degrees(kind, degrees, graph));
    }
}

fn check_components(components: &Components, graph: &Graph, view: &impl GraphView) {
    let expected = Wcc::default().run(view).unwrap();
    assert_eq!(components.labels(), expected.components);
    assert_eq!(components.count(), expected.count);
    let joined: BTreeSet<_> =
        graph.edges.iter().flat_map(|&(one, other)| [(one, other), (other, one)]).collect();
    let mut edges_of_forest = 0;
    let mut sizes = vec![0; expected.components.len()];
    expected.components.iter().filter(|it| **it != Wcc::NO_VERTEX).for_each(|it| sizes[*it as usize] += 1);
    for (vertex, component) in (0..).zip(&expected.components) {
        let exists = *component != Wcc::NO_VERTEX;
        assert_eq!(components.component(id(vertex)), exists.then(|| id(*component)));
        assert_eq!(components.size(id(vertex)), exists.then(|| sizes[*component as usize]));
        if let Some(parent) = components.parent(id(vertex)) {
            edges_of_forest += 1;
            assert!(joined.contains(&(vertex, parent.get())), "{vertex} is below {parent} without an edge");
            let path = std::iter::successors(Some(id(vertex)), |below| components.parent(*below));
            assert!(path.take(sizes.len() + 1).count() <= sizes.len(), "a cycle above {vertex}");
        }
    }
    assert_eq!(edges_of_forest + expected.count, graph.vertices.len() as u64, "the forest spans all");
}

fn check_degrees(kind: DegreeKind, degrees: &Degrees, graph: &Graph) {
    let edges: BTreeSet<_> = graph.edges.iter().copied().collect();
    let degree = |vertex: &u32| {
        let outgoing = edges.iter().filter(|(source, _)| source == vertex).count();
        let incoming = edges.iter().filter(|(_, destination)| destination == vertex).count();
        let loops = usize::from(edges.contains(&(*vertex, *vertex)));
        (match kind {
            _ if graph.topology.is_undirected() => outgoing + incoming - loops,
            DegreeKind::Out => outgoing,
            DegreeKind::In => incoming,
            DegreeKind::Total => outgoing + incoming,
        }) as u64
    };
    let mut expected: Vec<_> = graph.vertices.iter().map(|vertex| (id(*vertex), degree(vertex))).collect();
    for vertex in (0..=graph.bound).map(id) {
        let known = expected.iter().find(|(of, _)| *of == vertex).map(|(_, degree)| *degree);
        assert_eq!(degrees.degree(vertex), known);
    }
    expected.sort_by_key(|(vertex, degree)| (std::cmp::Reverse(*degree), *vertex));
    assert_eq!(degrees.largest().collect::<Vec<_>>(), expected);
}

fn empty(topology: Topology) -> Graph {
    Graph { topology, bound: 0, vertices: BTreeSet::new(), edges: Vec::new() }
}

/// Applies batches, and checks after each that all computations equal those made anew.
fn follow_batches<V: GraphView>(graph: &mut Graph, batches: &[Vec<Step>], view: impl Fn(Csr) -> V) {
    let mut before = view(graph.csr());
    let mut all = All::new(&before);
    all.check(graph, &before);
    for batch in batches {
        let mut listed = Listed::default();
        batch.iter().for_each(|step| listed.apply(graph, step));
        let after = view(graph.csr());
        all.follow(&before, &listed, &after);
        all.check(graph, &after);
        before = after;
    }
}

proptest! {
    #[test]
    fn following_equals_computing_anew((_, batches) in batches(), topology in prop::sample::select(&TOPOLOGIES)) {
        follow_batches(&mut empty(topology), &batches, |csr| csr);
        follow_batches(&mut empty(topology), &batches, Unhelpful::new);
    }
}

/// Deletes and puts some edges at a time of a graph with hubs, a long path and many components.
#[test]
fn a_large_graph_is_followed() {
    for topology in CONNECTED {
        let mut graph = large_graph(topology);
        let canonical = graph.edges.iter().map(|(one, other)| topology.canonical(id(*one), id(*other)));
        let distinct: BTreeSet<_> = canonical.map(|(one, other)| (one.get(), other.get())).collect();
        let few =
            distinct.into_iter().filter(|(one, other)| scrambled(u64::from(one ^ other)).is_multiple_of(12));
        graph.edges = few.collect();
        let mut before = graph.csr();
        let mut components = Components::default();
        components.begin(&before, Execution::default()).unwrap();
        let mut random = (0..).map(scrambled);
        let mut random = || random.next().unwrap();
        for _ in 0..8 {
            let mut listed = Listed::default();
            for _ in 0..400 {
                let edge = graph.edges.swap_remove(random() as usize % graph.edges.len());
                listed.deleted.push((LabelId::DEFAULT, id(edge.0), id(edge.1)));
                let put = (random() % 20_000, 20_000 + random() % 500);
                if graph.vertices.contains(&put.0) && graph.vertices.contains(&put.1) {
                    graph.edges.push(put);
                    listed.put.push((LabelId::DEFAULT, id(put.0), id(put.1)));
                }
            }
            let after = graph.csr();
            components.follow(&before, listed.changes(), &after, Execution::default()).unwrap();
            let expected = Wcc::default().run(&after).unwrap();
            assert_eq!((components.labels(), components.count()), (expected.components, expected.count));
            before = after;
        }
        check_forest_is_acyclic(&components, graph.bound);
    }
}

fn check_forest_is_acyclic(components: &Components, bound: u32) {
    for vertex in (0..bound).map(id) {
        let path = std::iter::successors(Some(vertex), |below| components.parent(*below));
        assert!(path.take(bound as usize + 1).count() <= bound as usize, "a cycle above {vertex}");
    }
}

#[test]
fn the_hub_of_a_star_is_deleted() {
    let star = (1..300).map(|leaf| Step::Put(0, leaf));
    let ring = (1..300).map(|vertex| Step::Put(vertex, 1 + vertex % 299));
    let (star, ring): (Vec<_>, Vec<_>) = (star.collect(), ring.collect());
    let again = vec![Step::DeleteVertex(0), Step::Put(0, 7), Step::Put(0, 301)];
    for topology in CONNECTED {
        let batches = [star.clone(), vec![Step::DeleteVertex(0)], star.clone(), again.clone()];
        follow_batches(&mut empty(topology), &batches, |csr| csr);
        let batches = [star.clone(), ring.clone(), vec![Step::DeleteVertex(0)], star.clone(), again.clone()];
        follow_batches(&mut empty(topology), &batches, |csr| csr);
    }
}

/// Both neighbors of the middle piece stay connected by an edge around it, although the middle
/// piece is complete before either of them.
#[test]
fn pieces_on_both_sides_of_a_complete_one_are_reconnected() {
    let clique = |ids: std::ops::Range<u32>| {
        ids.clone().flat_map(move |one| (one + 1..ids.end).map(move |other| Step::Put(one, other)))
    };
    let mut all: Vec<_> = clique(0..12).chain(clique(20..32)).collect();
    all.extend([Step::Put(0, 15), Step::Put(15, 20)]);
    let around = [vec![Step::Put(11, 31)], vec![Step::Delete(0, 15), Step::Delete(15, 20)]];
    for topology in CONNECTED {
        follow_batches(&mut empty(topology), &[vec![all.clone()], around.to_vec()].concat(), |csr| csr);
    }
}

/// Neighbors read by one batch.
fn neighbors_read(before: &Graph, step: &Step) -> usize {
    let counted = Arc::new(AtomicUsize::new(0));
    let view = |graph: &Graph| {
        let counted = Arc::clone(&counted);
        let on_read = move |neighbors| _ = counted.fetch_add(neighbors, Ordering::Relaxed);
        Unhelpful { on_read: Some(Box::new(on_read)), ..Unhelpful::new(graph.csr()) }
    };
    let (mut components, mut graph, mut listed) = (Components::default(), before.clone(), Listed::default());
    let old = view(&graph);
    components.begin(&old, Execution::default()).unwrap();
    listed.apply(&mut graph, step);
    let new = view(&graph);
    counted.store(0, Ordering::Relaxed);
    components.follow(&old, listed.changes(), &new, Execution::default()).unwrap();
    let read = counted.load(Ordering::Relaxed);
    check_components(&components, &graph, &new);
    read
}

#[test]
fn the_work_is_that_of_the_smaller_part() {
    // Two large parts, and a small one at vertex 0, which is the root.
    let mut edges: Vec<_> = (10..4000).map(|vertex| (vertex, vertex + 1)).collect();
    edges.extend((10..3900).map(|vertex| (vertex, vertex + 100)));
    edges.extend([(0, 1), (0, 2), (0, 10), (4002, 4003)]);
    for topology in CONNECTED {
        let graph = Graph { topology, bound: 4004, vertices: (0..4004).collect(), edges: edges.clone() };
        assert!(neighbors_read(&graph, &Step::Delete(0, 10)) < 500, "three vertices are cut off");
        assert!(neighbors_read(&graph, &Step::Delete(10, 11)) < 500, "an edge around is near");
        assert!(neighbors_read(&graph, &Step::Put(4002, 10)) < 100, "two vertices are joined");
        assert_eq!(neighbors_read(&graph, &Step::Put(20, 1000)), 0, "an edge within a component");
        assert_eq!(neighbors_read(&graph, &Step::Delete(20, 1000)), 0, "an edge that was not there");
    }
}

#[test]
fn after_an_error_a_computation_begins_anew() {
    let graph = large_graph(Topology::Undirected).csr();
    let (mut components, mut degrees) = (Components::default(), Degrees::default());
    let little = Execution::default().within(MemoryBudget::bytes(1000));
    assert!(matches!(components.begin(&graph, little), Err(KernelError::Memory(_))));
    assert!(matches!(degrees.begin(&graph, little), Err(KernelError::Memory(_))));
    let token = CancelToken::new();
    token.cancel();
    let cancelled = Execution::default().cancelled_by(&token);
    assert_eq!(components.begin(&graph, cancelled), Err(KernelError::Cancelled));
    assert_eq!(degrees.begin(&graph, cancelled), Err(KernelError::Cancelled));
    assert_eq!((components.labels(), components.count(), components.component(id(0))), (vec![], 0, None));
    assert_eq!((degrees.largest().count(), degrees.degree(id(0))), (0, None));

    let nothing = GraphChanges::default();
    components.follow(&graph, nothing, &graph, Execution::default()).unwrap();
    degrees.follow(&graph, nothing, &graph, Execution::default()).unwrap();
    assert_eq!(components.labels(), Wcc::default().run(&graph).unwrap().components);
    assert_eq!(degrees.largest().count() as u64, graph.vertex_count());
}

#[test]
fn bad_calls_are_refused() {
    let directed = large_graph(Topology::Directed).csr();
    let refused = Components::default().begin(&directed, Execution::default());
    assert_eq!(refused, Err(KernelError::View(ViewError::NoReverse)));
    let unknown = Err(KernelError::View(ViewError::UnknownLabel(OTHER_LABEL)));
    let undirected = large_graph(Topology::Undirected).csr();
    assert_eq!(Components::default().label(OTHER_LABEL).begin(&undirected, Execution::default()), unknown);
    assert_eq!(Degrees::default().label(OTHER_LABEL).begin(&undirected, Execution::default()), unknown);
}
