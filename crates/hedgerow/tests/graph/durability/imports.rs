//! An importer that is stopped at any time resumes at its noted position.

use hedgerow::{CheckpointOptions, Commit, Durability, Graph, GraphOptions, LabelId, WriteGraph};
use hedgerow_testing::simulated::{SimulatedFiles, Survival};
use std::sync::Arc;

const PIECES: u64 = 40;

fn edges(piece: u64) -> Vec<(u64, u64)> {
    // Every second piece has no new edges.
    (0..10).map(|number| (piece / 2, 100 + number)).collect()
}

fn next(graph: &Graph) -> u64 {
    let noted = graph.input_position().map(|input| u64::from_le_bytes(input[..].try_into().unwrap()));
    noted.map_or(0, |last| last + 1)
}

/// Imports a piece, by one of two methods.
fn import(graph: &Graph, piece: u64) -> Commit {
    let (edges, position) = (edges(piece), piece.to_le_bytes());
    if piece % 3 < 2 {
        return graph.ingest_from(LabelId::DEFAULT, &edges, &position).unwrap();
    }
    let transaction = graph.begin().unwrap();
    edges.iter().for_each(|(source, destination)| {
        transaction.put_edge(LabelId::DEFAULT, *source, *destination).unwrap();
    });
    transaction.note_input(&position);
    transaction.commit().unwrap()
}

#[test]
fn every_piece_is_imported_once_whenever_the_power_goes() {
    for durability in [Durability::Sync, Durability::Buffered] {
        let mut files = SimulatedFiles::new(1);
        let options =
            GraphOptions::new().durability(durability).segment_bytes(700).buffer_bytes(200).simulated();
        let mut graph = options.create_on(Arc::new(files.clone())).unwrap();
        let (mut imported, mut lost) = (0, 0);
        while next(&graph) < PIECES {
            let piece = next(&graph);
            let commit = import(&graph, piece);
            assert!(commit.changed != Some(false));
            imported += 1;
            if imported % 7 == 0 {
                graph.checkpoint(&CheckpointOptions::new()).unwrap();
            }
            if imported % 5 == 0 {
                let survival = Survival::ALL[imported / 5 % Survival::ALL.len()];
                let found = files.after_crash(survival, imported as u64);
                drop(graph);
                files = found;
                graph = options.open_on(Arc::new(files.clone())).unwrap();
                let kept = next(&graph);
                assert!(kept <= piece + 1 && (durability != Durability::Sync || kept == piece + 1));
                lost += piece + 1 - kept;
            }
        }
        assert_eq!(imported as u64, PIECES + lost);
        // Each piece is one commit, even if it changed nothing.
        let snapshot = graph.snapshot().unwrap();
        assert_eq!((snapshot.timestamp().0, snapshot.edge_count().at_most()), (PIECES, PIECES / 2 * 10));
    }
}
