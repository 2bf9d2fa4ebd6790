//! Readers concurrent with threads that unlink and free memory, under many schedules.
#![cfg(hedgerow_shuttle)]

use hedgerow_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use hedgerow_sync::epoch::{Domain, Readers, Waiting, check_live};
use hedgerow_sync::{Arc, Mutex};
use hedgerow_testing::models;
use shuttle::thread;

const NODES: usize = 4;

/// A link to one of several nodes, and the unlinked nodes with their tags.
#[derive(Default)]
struct Graph {
    readers: Readers,
    link: AtomicUsize,
    is_freed: [AtomicBool; NODES],
    waiting: Mutex<Vec<(u64, usize)>>,
}

impl Graph {
    fn read(&self, refreshes: usize) {
        let mut entered = self.readers.enter();
        for _ in 0..=refreshes {
            let node = self.link.load(Ordering::Acquire);
            for _ in 0..2 {
                assert!(!self.is_freed[node].load(Ordering::Acquire), "a node is read after it was freed");
            }
            entered.refresh();
        }
    }

    fn replace(&self) {
        for node in 1..NODES {
            let unlinked = self.link.swap(node, Ordering::AcqRel);
            let mut waiting = self.waiting.lock();
            waiting.push((self.readers.now(), unlinked));
        }
    }

    /// Frees the nodes that no reader can reach. Returns the number of nodes that still wait.
    fn free(&self) -> usize {
        let mut waiting = self.waiting.lock();
        let oldest = self.readers.oldest();
        waiting.retain(|(tag, node)| {
            let has_passed = *tag < oldest;
            if has_passed {
                self.is_freed[*node].store(true, Ordering::Release);
            }
            !has_passed
        });
        waiting.len()
    }
}

#[test]
fn nothing_is_freed_that_a_reader_may_have_found() {
    models::check(
        || {
            let graph = Arc::new(Graph::default());
            let spawn = |work: fn(&Graph)| {
                let graph = Arc::clone(&graph);
                thread::spawn(move || work(&graph))
            };
            let threads = [
                spawn(Graph::replace),
                spawn(|graph| graph.read(2)),
                spawn(|graph| {
                    // A nested reader.
                    let _outer = graph.readers.enter();
                    graph.read(1);
                }),
                spawn(|graph| {
                    for _ in 0..3 {
                        graph.free();
                    }
                }),
            ];
            threads.into_iter().for_each(|thread| thread.join().expect("it does not panic"));
            assert_eq!(graph.free(), 0, "nothing waits without readers");
        },
        2000,
    );
}

/// Tests the model of domains that the models of engines run with.
#[test]
#[should_panic(expected = "used after it was dropped")]
fn a_reader_that_pins_another_domain_is_caught() {
    models::check_random(
        || {
            let (domain, other, waiting) = (Domain::default(), Domain::default(), Waiting::default());
            let piece = Box::new(1_u8);
            let address = std::ptr::from_ref(&*piece);
            let _pinned = other.pin();
            waiting.add(&domain, piece, 1, |piece, mark| mark(std::ptr::from_ref(&**piece)));
            check_live(address);
        },
        1,
    );
}
