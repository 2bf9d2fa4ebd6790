//! Shortest paths, compared with all simple paths of small graphs, on every engine.

use crate::oracle::ENGINES;
use hedgerow::prelude::*;
use hedgerow::{LabelId, Path, PathOptions, Topology};
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;

const TOPOLOGIES: [Topology; 3] = [Topology::Directed, Topology::DirectedWithReverse, Topology::Undirected];
const VERTICES: u64 = 6;

#[derive(Properties, Clone)]
struct Road {
    length: Option<f64>,
    lanes: i64,
}

/// Returns the weight of the lightest edge from one vertex to another.
type Weights = [[Option<f64>; VERTICES as usize]; VERTICES as usize];

/// Lists the lengths of all simple paths from `at` to `to`, by depth-first search.
fn lengths(
    weights: &Weights,
    at: usize,
    to: usize,
    so_far: f64,
    visited: &mut Vec<usize>,
    found: &mut Vec<f64>,
) {
    if at == to {
        found.push(so_far);
        return;
    }
    visited.push(at);
    for (next, weight) in weights[at].iter().enumerate() {
        if let (Some(weight), false) = (weight, visited.contains(&next)) {
            lengths(weights, next, to, so_far + weight, visited, found);
        }
    }
    visited.pop();
}

/// Checks that paths are simple, follow edges, and have these lengths.
fn check(
    paths: &[Path],
    weights: &Weights,
    (from, to): (u64, u64),
    expected: &[f64],
) -> Result<(), TestCaseError> {
    let found: Vec<f64> = paths.iter().map(|path| path.length).collect();
    prop_assert_eq!(&found, expected);
    for path in paths {
        let vertices: Vec<usize> = path.vertices.iter().map(|key| key.to_string().parse().unwrap()).collect();
        prop_assert_eq!((vertices.first(), vertices.last()), (Some(&(from as usize)), Some(&(to as usize))));
        let mut distinct = vertices.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), vertices.len(), "{:?}", path);
        let sum: f64 = vertices.windows(2).map(|ends| weights[ends[0]][ends[1]].unwrap_or(f64::NAN)).sum();
        prop_assert_eq!(sum, path.length);
    }
    let mut distinct: Vec<_> = paths.iter().map(|path| &path.vertices).collect();
    distinct.sort();
    distinct.dedup();
    prop_assert_eq!(distinct.len(), paths.len());
    Ok(())
}

fn edges() -> impl Strategy<Value = Vec<(u64, u64, Option<u8>)>> {
    prop::collection::vec((0..VERTICES, 0..VERTICES, prop::option::weighted(0.9, 0..5_u8)), 0..16)
}

proptest! {
    #![proptest_config(one_case_in(5))]

    #[test]
    fn paths_are_the_shortest_of_all(edges in edges(), ends in (0..VERTICES, 0..VERTICES), count in 1..5_usize, longest in 0..16_u8) {
        for topology in TOPOLOGIES {
            let mut hops: Weights = Default::default();
            let mut roads: Weights = Default::default();
            let mut lanes: Weights = Default::default();
            for (from, to, length) in &edges {
                let pairs = [(*from as usize, *to as usize), (*to as usize, *from as usize)];
                for (from, to) in pairs.into_iter().take(if topology.is_undirected() { 2 } else { 1 }) {
                    hops[from][to] = Some(1.0);
                    let known = roads[from][to];
                    let lighter = length.map(f64::from).filter(|length| known.is_none_or(|known| *length < known));
                    roads[from][to] = lighter.or(known);
                    let fewer = (from + to) as f64;
                    lanes[from][to] = Some(lanes[from][to].map_or(fewer, |known: f64| known.min(fewer)));
                }
            }
            let expected = |weights: &Weights, longest: f64| {
                let mut found = Vec::new();
                lengths(weights, ends.0 as usize, ends.1 as usize, 0.0, &mut Vec::new(), &mut found);
                found.sort_by(f64::total_cmp);
                found.retain(|length| *length <= longest);
                found.truncate(count);
                found
            };
            for engine in ENGINES {
                let options = GraphOptions::new().topology(topology).engine(engine);
                let graph = Graph::in_memory(options.label::<()>("knows").label::<f64>("rates").parallel_label::<Road>("roads", "number")).unwrap();
                for key in 0..VERTICES {
                    graph.add_vertex(key).unwrap();
                }
                let knows: Vec<_> = edges.iter().map(|(from, to, _)| (*from, *to)).collect();
                graph.ingest(LabelId(0), &knows).unwrap();
                let numbered: Vec<_> = edges.iter().zip(0..).map(|((from, to, length), number)| (*from, *to, number, Road { length: length.map(f64::from), lanes: (from + to) as i64 })).collect();
                graph.ingest(graph.label::<Road>("roads").unwrap(), &numbered).unwrap();
                // Of equal edges the last counts, so put the lightest last.
                let mut rated: Vec<_> = edges.iter().filter_map(|(from, to, length)| Some((*from, *to, f64::from((*length)?)))).collect();
                rated.sort_by(|one, other| other.2.total_cmp(&one.2));
                graph.ingest(graph.label::<f64>("rates").unwrap(), &rated).unwrap();
                let snapshot = graph.snapshot().unwrap();
                let paths = |label, options: PathOptions<'_>| snapshot.paths(LabelId(label), ends.0, ends.1, &options.count(count)).unwrap();
                let most = f64::from(longest) / 2.0 - 0.5;
                for longest in [f64::INFINITY, most, -1.0] {
                    let new = || PathOptions::new().at_most(longest);
                    check(&paths(0, new()), &hops, ends, &expected(&hops, longest))?;
                    check(&paths(2, new()), &hops, ends, &expected(&hops, longest))?;
                    check(&paths(2, new().by_property("length")), &roads, ends, &expected(&roads, longest))?;
                    check(&paths(2, new().by_property("lanes")), &lanes, ends, &expected(&lanes, longest))?;
                    check(&paths(1, new().by_value()), &roads, ends, &expected(&roads, longest))?;
                }
                let one = snapshot.path(LabelId(0), ends.0, ends.1).unwrap();
                prop_assert_eq!(one.map(|path| path.length), expected(&hops, f64::INFINITY).first().copied());
            }
        }
    }
}

#[test]
fn weights_that_are_none_are_refused_by_name() {
    let options = GraphOptions::new().label::<()>("knows").label::<f64>("rates").label::<Note>("notes");
    let graph = Graph::in_memory(options).unwrap();
    graph.ingest(LabelId(1), &[(1, 2, 1.0), (2, 3, -1.0), (3, 4, 1.0)]).unwrap();
    let snapshot = graph.snapshot().unwrap();
    let refused = |label, from: u64, to: u64, options: PathOptions<'_>| {
        let error = snapshot.paths(LabelId(label), from, to, &options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        error.to_string()
    };
    assert!(refused(0, 1, 2, PathOptions::new().by_value()).contains("label \"knows\" have no values"));
    assert!(refused(0, 1, 2, PathOptions::new().by_property("x")).contains("\"knows\" have no properties"));
    assert!(
        refused(2, 1, 2, PathOptions::new().by_property("x")).contains("\"notes\" have no property \"x\"")
    );
    assert!(refused(2, 1, 2, PathOptions::new().by_property("text")).contains("\"text\" of type string"));
    assert!(refused(1, 1, 4, PathOptions::new().by_value()).contains("between 2 and 3 has the weight -1"));
    assert!(refused(9, 1, 2, PathOptions::new()).contains("label"));
    assert!(snapshot.path(LabelId(0), "text", 1).is_err(), "keys are numbers");
    assert_eq!(snapshot.path(LabelId(1), 1, 77).unwrap(), None);
    // An edge that the search does not meet does not matter.
    assert_eq!(snapshot.paths(LabelId(1), 1, 2, &PathOptions::new().by_value()).unwrap()[0].length, 1.0);
}

#[derive(Properties, Clone)]
struct Note {
    text: Option<String>,
}
