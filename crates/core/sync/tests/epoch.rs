//! Unlinked memory: when it is freed, and how its bytes are counted.
#![cfg(not(hedgerow_shuttle))]

use hedgerow_sync::Arc;
use hedgerow_sync::epoch::{Domain, Waiting};

fn add(waiting: &Waiting<u32>, domain: &Domain, piece: u32) {
    waiting.add(domain, piece, 100, |_, _| ());
}

#[test]
fn pieces_wait_for_the_guards_of_their_domain_that_were_there_before() {
    let (domain, other, waiting) = (Domain::default(), Domain::default(), Waiting::default());
    let of_other = other.pin();
    let (outer, mut inner) = (domain.pin(), domain.pin());
    add(&waiting, &domain, 1);
    assert_eq!(waiting.take_passed(&domain), (0, Vec::new()));
    drop(outer);
    assert_eq!(waiting.take_passed(&domain), (0, Vec::new()));
    inner.repin();
    add(&waiting, &domain, 2);
    assert_eq!(waiting.bytes(), 200);
    assert_eq!(waiting.take_passed(&domain), (100, vec![1]), "it was pinned anew after the first");
    assert_eq!(waiting.take_passed(&domain), (0, Vec::new()));
    let later = domain.pin();
    drop(inner);
    assert_eq!(
        waiting.take_passed(&domain),
        (100, vec![2]),
        "the last guard came after it, and after a look"
    );
    assert_eq!(waiting.bytes(), 0);
    drop((later, of_other));
}

#[test]
fn any_number_of_guards_hold_pieces_back_and_come_and_go_on_any_thread() {
    let (domain, waiting) = (Domain::default(), Waiting::default());
    let mut guards: Vec<_> = (0..1_000).map(|_| domain.pin()).collect();
    add(&waiting, &domain, 7);
    while let Some(guard) = guards.pop() {
        assert_eq!(waiting.take_passed(&domain).0, 0, "{} guards are left", guards.len() + 1);
        std::thread::scope(|scope| scope.spawn(|| drop(guard)).join().expect("it does not panic"));
        (0..2).for_each(|_| drop(domain.pin()));
    }
    assert_eq!(waiting.take_passed(&domain), (100, vec![7]));
}

#[test]
fn boxes_are_dropped_when_no_reader_is_left_or_with_their_domain() {
    let (domain, content) = (Domain::default(), Arc::new(()));
    let defer = || {
        let pointer = Box::into_raw(Box::new(Arc::clone(&content)));
        // SAFETY: from `Box::into_raw`, never linked, and passed once.
        unsafe { domain.pin().defer_drop(pointer, 40_000) };
    };
    defer();
    assert!((domain.waiting_bytes(), domain.is_due()) == (40_000, false));
    defer();
    assert!((domain.waiting_bytes(), domain.is_due()) == (80_000, true));
    assert!((domain.free_passed(), Arc::strong_count(&content)) == (80_000, 1));
    let pinned = domain.pin();
    defer();
    assert!((domain.free_passed(), Arc::strong_count(&content)) == (0, 2));
    assert!(!domain.is_due(), "there was a look");
    drop(pinned);
    drop(domain);
    assert_eq!(Arc::strong_count(&content), 1);
}
