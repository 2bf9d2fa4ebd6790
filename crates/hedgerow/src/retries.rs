//! Retries of a transaction after a conflict: a bounded number, after longer and longer waits.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// Upper bound on the first wait. The bound doubles with each later wait.
const FIRST_WAIT: Duration = Duration::from_micros(50);

/// Upper bound on every wait.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// The remaining retries of a transaction.
pub(crate) struct Retries {
    left: u32,
    longest: Duration,
}

impl Retries {
    /// The number of retries if the options of the graph set none: about a second of waits.
    pub(crate) const DEFAULT: u32 = 100;

    pub(crate) fn new(retries: u32) -> Self {
        Retries { left: retries, longest: FIRST_WAIT }
    }

    /// Waits before the next try; returns `false`, at once, if none is left.
    ///
    /// The wait is a random part of a bound that doubles, so that transactions that collided do not
    /// collide again.
    pub(crate) fn wait(&mut self) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let longest = self.longest;
        self.longest = LONGEST_WAIT.min(2 * longest);
        if cfg!(hedgerow_shuttle) {
            hedgerow_sync::thread::yield_now();
        } else {
            // Seeded anew for each wait.
            let random = RandomState::new().hash_one(left) >> 32;
            std::thread::sleep(longest.mul_f64(random as f64 / 2f64.powi(32)));
        }
        true
    }
}

#[cfg(all(test, not(hedgerow_shuttle)))]
mod tests {
    use super::*;
    use crate::{ErrorKind, Graph, GraphOptions, LabelId, ReadGraph, WriteGraph};

    #[test]
    fn waits_are_counted_and_bounded() {
        let mut retries = Retries::new(12);
        let longest: Vec<Duration> = (0..12)
            .map(|_| {
                let longest = retries.longest;
                assert!(retries.wait());
                longest
            })
            .collect();
        assert_eq!(longest[..3], [1, 2, 4].map(|times| times * FIRST_WAIT));
        assert_eq!(longest[9..], [LONGEST_WAIT; 3]);
        assert!(!retries.wait());
    }

    #[test]
    fn a_transaction_in_conflict_is_tried_again_so_often_and_then_given_up() {
        for retries in [0, 3] {
            let graph = Graph::in_memory(GraphOptions::new().retries(retries)).unwrap();
            let mut runs = 0;
            let given_up = graph.transact(|transaction| {
                runs += 1;
                // Another commit changes the same edge each time.
                match runs % 2 {
                    1 => assert!(graph.put_edge(LabelId::DEFAULT, 1, 2)?.changed != Some(false)),
                    _ => assert!(graph.delete_edge(LabelId::DEFAULT, 1, 2)?.changed != Some(false)),
                }
                transaction.put_edge(LabelId::DEFAULT, 1, 2)?;
                transaction.put_edge(LabelId::DEFAULT, 1, 3)
            });
            assert_eq!(given_up.unwrap_err().kind(), ErrorKind::Conflict);
            assert_eq!(runs, 1 + retries);
            assert!(!graph.contains_edge(LabelId::DEFAULT, 1, 3).unwrap());
        }
    }
}
