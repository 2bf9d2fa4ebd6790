//! Keys of every kind and type.

use hedgerow::LabelId;
use hedgerow::prelude::*;

/// The label of graphs without a schema.
const EDGE: LabelId = LabelId::DEFAULT;

fn graph(options: GraphOptions) -> Graph {
    Graph::in_memory(options).unwrap()
}

fn kind<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorKind {
    result.unwrap_err().kind()
}

#[test]
fn keys_of_another_kind_are_refused() {
    let numbers = graph(GraphOptions::new());
    assert_eq!(kind(numbers.put_edge(EDGE, "a", "b")), ErrorKind::InvalidInput);
    let texts = graph(GraphOptions::new().keys(KeyKind::String));
    assert_eq!(kind(texts.put_edge(EDGE, 1, 2)), ErrorKind::InvalidInput);
    texts.put_edge(EDGE, "a", "b").unwrap();
    assert_eq!(texts.neighbors(EDGE, "a").unwrap(), [Key::from("b")]);
    assert_eq!(kind(texts.ingest(EDGE, &[(1u64, 2u64)])), ErrorKind::InvalidInput);
    assert_eq!(texts.snapshot().unwrap().vertex_count(), 2);
}

#[test]
fn dense_ids_end_at_two_below_two_to_the_32() {
    let graph = graph(GraphOptions::new().keys(KeyKind::Dense));
    graph.put_edge(EDGE, 0, 4_294_967_294_u64).unwrap();
    for beyond in [4_294_967_295, u64::MAX] {
        let error = graph.put_edge(EDGE, 0, beyond).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&beyond.to_string()), "{error}");
    }
    let snapshot = graph.snapshot().unwrap();
    assert_eq!((snapshot.vertex_count(), snapshot.vertex_bound()), (2, u32::MAX));
    assert_eq!(snapshot.neighbors(EDGE, 0).unwrap(), [4_294_967_294]);
    assert!(graph.memory().total_bytes() < 1 << 20, "{:?}", graph.memory());
}

#[test]
fn number_keys_use_all_64_bits() {
    let graph = graph(GraphOptions::new());
    let keys = [0, 4_294_967_294, 4_294_967_295, 4_294_967_296, u64::MAX];
    let edges: Vec<(u64, u64)> = keys.iter().flat_map(|from| keys.map(|to| (*from, to))).collect();
    graph.ingest(EDGE, &edges).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert!(snapshot.vertex_count() == 5 && snapshot.vertex_bound() == 5 && snapshot.edge_count() == 25);
    for key in keys {
        assert_eq!(snapshot.neighbors(EDGE, key).unwrap(), keys.map(Key::Number));
    }
}

#[test]
fn every_integer_is_a_key_unless_it_is_negative() {
    for keys in [KeyKind::Number, KeyKind::Dense] {
        let graph = Graph::in_memory(GraphOptions::new().keys(keys).label::<()>("to")).unwrap();
        let to = graph.label::<()>("to").unwrap();
        graph.put_edge(to, 1_u8, 2_u16).unwrap();
        graph.put_edge(to, 2_u32, 3_usize).unwrap();
        graph.put_edge(to, 3_i8, 4_i16).unwrap();
        graph.put_edge(to, 4_i32, 5_i64).unwrap();
        graph.put_edge(to, 5_isize, 6_u64).unwrap();
        for key in 1..6 {
            assert_eq!(graph.neighbors(to, key).unwrap(), [u64::try_from(key + 1).unwrap()]);
        }
        for refused in [graph.put_edge(to, -1, 2).map(drop), graph.neighbors(to, -1).map(drop)] {
            let refused = refused.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidInput);
            assert_eq!(refused.to_string(), "-1 cannot be a key: numbers as keys are 0 or greater");
        }
        let refused = graph.transact(|transaction| transaction.put_edge(to, 7, -8)).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::InvalidInput);
        assert_eq!(graph.ingest(to, &[(1, 2), (-3, 4)]).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(graph.put_each(to, &[(1, 2), (-3, 4)]).unwrap_err().error.kind(), ErrorKind::InvalidInput);
        let declared = graph.transact_declared(&[-1], |_| Ok(())).unwrap_err();
        assert_eq!(declared.kind(), ErrorKind::InvalidInput);
        assert_eq!(graph.snapshot().unwrap().edge_count(), 5);
    }
}
