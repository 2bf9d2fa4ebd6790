//! Tests PageRank with weights and personalization: against NetworkX 3.6.1 (`pagerank` with `tol`
//! 1e-15), and against multiplication by a dense matrix.

use crate::support::{Graph, Unhelpful, execution, graphs, id, pool, scrambled};
use hedgerow_kernels::{EdgeWeight, Kernel, KernelError, KernelErrorKind, PageRank, Precision, WeightError};
use hedgerow_model::{ColumnType, Topology, VertexId};
use proptest::prelude::*;

const VALUES: EdgeWeight = EdgeWeight::Value(ColumnType::F64);

/// Vertices 4 and 7 have no out-edges, 1 and 6 have self loops, and an edge has the weight 0.
const EDGES: [(u32, u32, f64); 12] = [
    (0, 1, 2.0),
    (0, 2, 0.5),
    (1, 2, 1.0),
    (1, 1, 3.0),
    (2, 0, 1.5),
    (2, 3, 4.0),
    (3, 4, 0.25),
    (5, 0, 1.0),
    (5, 4, 7.0),
    (6, 6, 2.0),
    (2, 4, 0.0),
    (6, 3, 0.125),
];

fn graph(topology: Topology) -> Graph {
    let edges = EDGES.iter().map(|(from, to, _)| (*from, *to)).collect();
    Graph { topology, bound: 8, vertices: (0..8).collect(), edges }
}

fn weight(from: u32, to: u32) -> f64 {
    let edge = EDGES.iter().find(|(source, destination, _)| (*source, *destination) == (from, to));
    edge.expect("it is an edge").2
}

fn check(topology: Topology, kernel: PageRank<'_>, expected: [f64; 8]) {
    let csr = graph(topology).weighted_csr(weight);
    let kernel = PageRank { iterations: 10_000, tolerance: Some(1e-15), ..kernel };
    for ranks in [kernel.run(&csr).unwrap().ranks, kernel.run(&Unhelpful::new(csr)).unwrap().ranks] {
        for (vertex, (rank, expected)) in ranks.iter().zip(expected).enumerate() {
            assert!((rank - expected).abs() < 1e-12, "{topology:?}: {vertex}: {rank}, not {expected}");
        }
    }
}

#[test]
fn ranks_are_those_of_networkx() {
    let (one_and_seven, two_and_four) = ([(id(7), 3.0), (id(1), 1.0)], [(id(2), 1.0), (id(4), 1.0)]);
    let weighted = PageRank::default().weight(VALUES);
    let weighted_to_some = weighted.personalized(&one_and_seven);
    let to_some = PageRank { damping: 0.6, ..PageRank::default() }.personalized(&two_and_four);
    for topology in [Topology::Directed, Topology::DirectedWithReverse] {
        check(
            topology,
            weighted,
            [
                0.07025077582516051,
                0.245928794297525,
                0.1055811610502442,
                0.11699167956846494,
                0.17159696665642143,
                0.04137866037174248,
                0.2068933018586988,
                0.04137866037174248,
            ],
        );
        check(
            topology,
            weighted_to_some,
            [
                0.020444434173755455,
                0.39866410832201005,
                0.08819167682796518,
                0.054518491130015355,
                0.04634071746051292,
                0.0,
                1.2911249390434458e-14,
                0.3918405720857282,
            ],
        );
        check(
            topology,
            to_some,
            [
                0.07352941176470583,
                0.03151260504201574,
                0.3676470588235293,
                0.07352941176470591,
                0.45378151260504307,
                0.0,
                8.578797170610369e-17,
                0.0,
            ],
        );
        check(
            topology,
            PageRank::default(),
            [
                0.11705286943142462,
                0.17043764683695195,
                0.17043764683695195,
                0.13221097516535582,
                0.22943219832197748,
                0.04825417742289252,
                0.08392030856155308,
                0.04825417742289252,
            ],
        );
    }
    check(
        Topology::Undirected,
        weighted,
        [
            0.11310267816452954,
            0.14850152295424252,
            0.16580105407379114,
            0.11804593928445765,
            0.1493926594892181,
            0.16494787038937436,
            0.1192292546653657,
            0.020979020979020983,
        ],
    );
    check(
        Topology::Undirected,
        weighted_to_some,
        [
            0.1091957390597396,
            0.27919662944157714,
            0.12111459499212955,
            0.06513982076229043,
            0.047494470412193346,
            0.0596040823675722,
            0.007909835378290656,
            0.31034482758620685,
        ],
    );
    check(
        Topology::Undirected,
        to_some,
        [
            0.08616518834235624,
            0.08063587144338195,
            0.3151710632415623,
            0.11584686864032594,
            0.29320738778174515,
            0.07587451522482083,
            0.03309910532580759,
            0.0,
        ],
    );
    check(
        Topology::Undirected,
        PageRank::default(),
        [
            0.14436484005213718,
            0.1413412489986637,
            0.18546903273058563,
            0.1484639538435843,
            0.14638293975819827,
            0.10335755859194856,
            0.10964140504586126,
            0.020979020979020983,
        ],
    );
}

/// The verifier: a dense matrix of transitions, in which vertices without weights lead to the
/// personalization.
fn ranks_by_matrix(
    graph: &Graph,
    weight: impl Fn(u32, u32) -> f64,
    personalization: &[f64],
    damping: f64,
    iterations: u32,
) -> Vec<f64> {
    let (sets, count) = (graph.sets(), graph.vertices.len() as f64);
    let transitions = |from: &u32| -> Vec<f64> {
        let mut row = vec![0.0; graph.bound as usize];
        sets[from].iter().for_each(|to| row[*to as usize] = weight(*from, *to));
        let sum: f64 = row.iter().sum();
        if sum == 0.0 { personalization.to_vec() } else { row.iter().map(|weight| weight / sum).collect() }
    };
    let matrix: Vec<_> = sets.keys().map(|from| (*from, transitions(from))).collect();
    let exists = |vertex| f64::from(u8::from(sets.contains_key(&vertex)));
    let mut ranks: Vec<_> = (0..graph.bound).map(|vertex| exists(vertex) / count).collect();
    for _ in 0..iterations {
        let mut next: Vec<_> = personalization.iter().map(|share| (1.0 - damping) * share).collect();
        for (from, row) in &matrix {
            for (to, share) in row.iter().enumerate() {
                next[to] += damping * ranks[*from as usize] * share;
            }
        }
        ranks = next;
    }
    ranks
}

proptest! {
    #[test]
    fn ranks_are_those_of_a_dense_matrix(
        graph in graphs(),
        given in prop::collection::vec((any::<prop::sample::Index>(), 0.0..9.0), 0..4),
        damping in 0.0..=1.0,
        iterations in 0..8_u32,
        threads in 0..3_usize,
        single in any::<bool>(),
    ) {
        let weight = |from: u32, to: u32| {
            f64::from(scrambled(u64::from(from.min(to)) << 32 | u64::from(from.max(to))) % 5)
        };
        let vertices: Vec<_> = graph.vertices.iter().copied().collect();
        let given: Vec<_> = given.iter().map(|(pick, share)| (id(*pick.get(&vertices)), *share)).collect();
        let total: f64 = given.iter().map(|(_, share)| share).sum();
        let is_given = total > 0.0;
        let mut personalization = vec![0.0; graph.bound as usize];
        match is_given {
            true => given.iter().for_each(|(vertex, share)| personalization[vertex.index()] += share / total),
            false => vertices.iter().for_each(|vertex| {
                personalization[*vertex as usize] = 1.0 / vertices.len() as f64;
            }),
        }
        let pool = pool(threads);
        let precision = if single { Precision::Single } else { Precision::Double };
        let kernel = PageRank {
            damping,
            iterations,
            precision,
            personalization: is_given.then_some(&given[..]),
            execution: execution(pool.as_ref()),
            ..PageRank::default()
        };
        let csr = graph.weighted_csr(weight);
        for (is_weighted, kernel) in [(true, kernel.weight(VALUES)), (false, kernel)] {
            let weight = |from, to| if is_weighted { weight(from, to) } else { 1.0 };
            let expected = ranks_by_matrix(&graph, weight, &personalization, damping, iterations);
            let unhelpful = kernel.run(&Unhelpful::new(csr.clone())).unwrap();
            for ranks in [kernel.run(&csr).unwrap().ranks, unhelpful.ranks] {
                let tolerance = if single && !is_weighted { 1e-6 } else { 1e-12 };
                for (rank, expected) in ranks.iter().zip(&expected) {
                    prop_assert!((rank - expected).abs() < tolerance, "{rank}, not {expected}");
                }
            }
        }
    }
}

#[test]
fn weights_and_shares_that_make_no_sense_are_refused() {
    let graph =
        Graph { topology: Topology::Directed, bound: 4, vertices: (0..3).collect(), edges: vec![(2, 1)] };
    let rank = |weight: f64| PageRank::default().weight(VALUES).run(&graph.weighted_csr(move |_, _| weight));
    for bad in [-1.0, f64::NAN] {
        let error = rank(bad).unwrap_err();
        assert_eq!(error.kind(), KernelErrorKind::InvalidInput);
        let KernelError::Weight(WeightError { source, destination, weight }) = error else {
            panic!("{error}")
        };
        assert_eq!((source, destination), (id(2), id(1)));
        assert_eq!(weight.unwrap().to_bits(), bad.to_bits());
    }
    for bad in [f64::INFINITY, f64::MAX, f64::MIN_POSITIVE] {
        assert_eq!(rank(bad), Err(KernelError::WeightSum { vertex: id(2), sum: bad }));
    }
    let personalized =
        |shares: &[(VertexId, f64)]| PageRank::default().personalized(shares).run(&graph.csr());
    assert_eq!(personalized(&[(id(0), 1.0), (id(3), 1.0)]), Err(KernelError::NoSuchVertex(id(3))));
    for shares in [&[][..], &[(id(0), 0.0)], &[(id(0), 2.0), (id(1), -1.0)], &[(id(0), f64::NAN)]] {
        let error = personalized(shares).unwrap_err();
        assert!(
            matches!(error, KernelError::InvalidParameter { parameter: "personalization", .. }),
            "{error}"
        );
    }
    assert!(personalized(&[(id(0), f64::INFINITY)]).is_err());
}
