//! Conflicts with bulk writes, which are recorded as lists, even if there are too many lists.

use crate::{EDGE, HYBRID, options};
use hedgerow::{Graph, KeyKind, Topology, WriteGraph};
use hedgerow_testing::models;
use shuttle::thread;

/// Four edges of two owners: enough to be recorded as a list.
fn edges_of(owners: [u64; 2]) -> [(u64, u64); 4] {
    let [one, other] = owners;
    [(one, 1), (one, 2), (other, 1), (other, 2)]
}

/// No other commit to its edge came between the beginning and the commit of a committed
/// transaction, even if the record of such a commit was dropped.
#[test]
fn no_conflict_with_a_bulk_write_is_missed() {
    let model = || {
        let options = options(Topology::Directed, KeyKind::Dense);
        let graph = Graph::in_memory(options.engine(HYBRID)).unwrap();
        graph.ingest(EDGE, &[(0u64, 3u64), (4, 3), (8, 3), (9, 2)]).unwrap();
        let transaction = graph.begin().unwrap();
        transaction.put_edge(EDGE, 0, 1).unwrap();
        let began = transaction.began_at();
        let writing = |owners, times: usize| {
            let graph = graph.clone();
            thread::spawn(move || {
                let ingest = || graph.ingest(EDGE, &edges_of(owners)).unwrap().at;
                (1..times).for_each(|_| _ = ingest());
                ingest()
            })
        };
        // The second writer alone records more than the limit.
        let (same, other) = (writing([0, 4], 1), writing([8, 9], 3));
        let committed = transaction.commit();
        let (at, _) = (same.join().unwrap(), other.join().unwrap());
        if let Ok(commit) = committed {
            assert!(!(began..=commit.at).contains(&at), "{began} < {at} < {}", commit.at);
        }
    };
    models::check(model, 1000);
}

/// Like [`no_conflict_with_a_bulk_write_is_missed`], with streams that append the same edge and
/// record it in any order.
#[test]
fn no_conflict_with_a_stream_is_missed() {
    let model = || {
        let options = options(Topology::Directed, KeyKind::Dense);
        let graph = Graph::in_memory(options.engine(HYBRID)).unwrap();
        graph.ingest(EDGE, &[(0u64, 1u64)]).unwrap();
        // While this transaction is open, commits record their changes.
        let open = graph.begin().unwrap();
        let streams = [(); 2].map(|()| {
            let graph = graph.clone();
            thread::spawn(move || graph.put_each(EDGE, &[(0u64, 1u64)]).unwrap().at)
        });
        let transaction = graph.begin().unwrap();
        transaction.put_edge(EDGE, 0, 1).unwrap();
        let began = transaction.began_at();
        let committed = transaction.commit();
        for at in streams.map(|stream| stream.join().unwrap()) {
            if let Ok(commit) = &committed {
                assert!(at <= began || at > commit.at, "{began} < {at} < {}", commit.at);
            }
        }
        drop(open);
    };
    models::check(model, 1000);
}
