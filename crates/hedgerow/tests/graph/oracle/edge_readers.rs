//! Checks of repeated look-ups against the oracle.

use super::{LABELS, Oracle, PARALLEL, RECORDS};
use hedgerow::prelude::*;
use hedgerow::{Column, Direction, EdgeData, LabelId};
use hedgerow_model::EdgeValue;
use std::collections::BTreeMap;

impl Oracle {
    /// Panics unless readers of every label's edges show exactly this state.
    pub fn check_edge_readers(&self, snapshot: &Snapshot, domain: &[Key]) {
        for label in LABELS {
            for direction in [Direction::Out, Direction::In] {
                if self.topology.stored(direction).is_none() {
                    snapshot.with_edges::<(), _>((label, direction), |_| Ok(())).unwrap_err();
                    continue;
                }
                let hop = (label, direction);
                self.check_reader(snapshot, hop, domain, |()| EdgeValue::default());
                match label.0 {
                    1 => self.check_reader(snapshot, hop, domain, <f64 as Column>::to_bits),
                    2 => self.check_reader(snapshot, hop, domain, <u32 as Column>::to_bits),
                    _ => {}
                }
            }
        }
        let parallel = snapshot.with_edges::<Record, _>((PARALLEL, Direction::Out), |_| Ok(()));
        assert_eq!(parallel.unwrap_err().kind(), ErrorKind::InvalidInput);
        self.check_reader_of_records(snapshot, domain);
    }

    fn check_reader<T: EdgeData>(
        &self,
        snapshot: &Snapshot,
        (label, direction): (LabelId, Direction),
        domain: &[Key],
        bits: impl Fn(T) -> EdgeValue,
    ) {
        let has_values = std::mem::size_of::<T>() > 0;
        let read = snapshot.with_edges::<T, _>((label, direction), |edges| {
            for vertex in domain {
                let expected = self.neighbors(label, direction, vertex);
                let mut found = BTreeMap::new();
                edges.for_each(vertex, |neighbor, data| {
                    found.insert(neighbor, bits(data));
                })?;
                assert!(found.keys().eq(expected.keys()), "{label:?} {direction:?} of {vertex}");
                assert!(!has_values || found == expected, "values of {vertex}");
                assert_eq!(edges.degree(vertex)?, expected.len(), "degree of {vertex}");
                for neighbor in domain {
                    assert_eq!(edges.contains(vertex, neighbor)?, expected.contains_key(neighbor));
                    assert_eq!(edges.get(vertex, neighbor)?.map(&bits), found.get(neighbor).copied());
                }
            }
            Ok(())
        });
        read.unwrap();
    }

    fn check_reader_of_records(&self, snapshot: &Snapshot, domain: &[Key]) {
        let read = snapshot.with_edges::<Record, _>(RECORDS, |edges| {
            for vertex in domain {
                let mut found = BTreeMap::new();
                edges.for_each(vertex, |neighbor, record| {
                    found.insert(neighbor, record.values().to_vec());
                })?;
                assert_eq!(edges.degree(vertex)?, found.len(), "degree of {vertex}");
                for neighbor in domain {
                    let record = edges.get(vertex, neighbor)?.map(|record| record.values().to_vec());
                    assert_eq!(record, self.record(vertex, neighbor), "{vertex} -> {neighbor}");
                    assert_eq!(found.get(neighbor), record.as_ref());
                    assert_eq!(edges.contains(vertex, neighbor)?, record.is_some());
                }
            }
            Ok(())
        });
        read.unwrap();
    }
}
