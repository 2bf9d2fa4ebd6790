//! Tests loops over chunks of work, on pools and on the calling thread.

#![cfg(not(hedgerow_shuttle))]

use hedgerow_sync::{Mutex, map_chunks};
use std::convert::Infallible;

#[test]
fn results_come_in_the_order_of_the_chunks() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads start");
    for pool in [None, Some(&pool)] {
        for count in [0, 1, 2, 100] {
            let results = map_chunks(pool, (0..count).collect(), |chunk| Ok::<u32, Infallible>(chunk * 2));
            assert_eq!(results, Ok((0..count).map(|chunk| chunk * 2).collect()));
        }
    }
}

#[test]
fn an_error_is_returned_and_ends_the_work() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().expect("threads start");
    for pool in [None, Some(&pool)] {
        let begun = Mutex::new(0);
        let result = map_chunks(pool, (0..10_000).collect(), |chunk: u32| {
            *begun.lock() += 1;
            if chunk.is_multiple_of(5) { Err(chunk) } else { Ok(()) }
        });
        assert!(result.is_err_and(|chunk| chunk.is_multiple_of(5)));
        assert!(*begun.lock() < 10_000);
    }
}
