//! Blocks of every size, in memory and in a file.

use super::classes::GIVEN_BACK_FROM;
use super::*;
use crate::layout::CLASSES;
use hedgerow_testing::cases::one_case_in;
use proptest::prelude::*;

fn in_file(limit: Option<usize>) -> BlockStore {
    BlockStore::in_file(&std::env::temp_dir(), limit).expect("a temporary directory")
}

/// Allocates and frees blocks as `steps` say: what was written to them stays, and freed memory is
/// reused.
fn blocks_do_not_overlap(store: &BlockStore, steps: Vec<(usize, u8)>) {
    let mut blocks: Vec<(NonNull<u8>, u8, u8)> = Vec::new();
    for (number, (choice, class)) in steps.into_iter().enumerate() {
        if choice < blocks.len() {
            let (memory, class, mark) = blocks.swap_remove(choice);
            // SAFETY: from the store, with this class, and written whole below.
            let bytes = unsafe { std::slice::from_raw_parts(memory.as_ptr(), bytes_of(class)) };
            assert!(bytes.iter().all(|byte| *byte == mark));
            // SAFETY: as above, and not used again.
            unsafe { store.free(memory, class) };
            continue;
        }
        let mark = number as u8;
        let memory = store.allocate(class).expect("there is room");
        assert_eq!(memory.addr().get() % 64, 0);
        // SAFETY: `bytes_of(class)` bytes were just handed out.
        unsafe { memory.write_bytes(mark, bytes_of(class)) };
        blocks.push((memory, class, mark));
    }
    // Large free blocks take no room in a file.
    let from = if store.scratch.is_some() { GIVEN_BACK_FROM } else { LARGEST + 1 };
    let small = |class: u8| if class >= from { 0 } else { bytes_of(class) };
    let free = store.free_bytes();
    let used: usize = blocks.iter().map(|(_, class, _)| small(*class)).sum();
    // SAFETY: from the store, each once.
    blocks.into_iter().for_each(|(memory, class, _)| unsafe { store.free(memory, class) });
    assert_eq!(store.free_bytes(), free + used);
}

proptest! {
    #![proptest_config(one_case_in(8))]

    #[test]
    fn blocks_in_memory_do_not_overlap(steps in prop::collection::vec((0..40_usize, 0..14_u8), 1..300)) {
        blocks_do_not_overlap(&BlockStore::default(), steps);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn blocks_in_a_file_do_not_overlap(
        steps in prop::collection::vec((0..40_usize, prop_oneof![0..14_u8, 11..17_u8]), 1..200),
    ) {
        blocks_do_not_overlap(&in_file(None), steps);
    }
}

/// Allocates and frees large blocks as `steps` say, and then frees all. Returns the number of free
/// blocks of each class.
fn free_blocks_after(store: &BlockStore, steps: Vec<(usize, u8)>) -> Vec<usize> {
    let mut blocks: Vec<(NonNull<u8>, u8)> = Vec::new();
    for (choice, class) in steps {
        if choice < blocks.len() {
            let (memory, class) = blocks.swap_remove(choice);
            // SAFETY: from the store, with this class.
            unsafe { store.free(memory, class) };
        } else {
            blocks.push((store.allocate(class).expect("there is room"), class));
        }
    }
    // SAFETY: as above, each once.
    blocks.into_iter().for_each(|(memory, class)| unsafe { store.free(memory, class) });
    let shared = store.shared.lock();
    (0..CLASSES as u8).map(|class| shared.free_blocks(class)).collect()
}

proptest! {
    #![proptest_config(one_case_in(8))]

    #[test]
    fn freed_blocks_are_joined_to_whole_extents(
        steps in prop::collection::vec((0..40_usize, LARGE..=LARGEST), 1..300),
    ) {
        let free = free_blocks_after(&BlockStore::default(), steps);
        let total: usize = free.iter().sum();
        // Extents have 1, 2, 4, ... MiB.
        let extents: Vec<usize> = (0..CLASSES).map(|class| usize::from((14..14 + total).contains(&class))).collect();
        prop_assert_eq!(free, extents);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn freed_blocks_of_a_file_are_joined(
        steps in prop::collection::vec((0..40_usize, prop_oneof![LARGE..=LARGEST, 11..18_u8]), 1..200),
    ) {
        let store = in_file(None);
        let free = free_blocks_after(&store, steps);
        // The largest blocks that fit, from the front.
        let fits = |class: u8| usize::from(store.bytes() & bytes_of(class) != 0);
        let whole: Vec<usize> = (0..CLASSES as u8).map(fits).collect();
        prop_assert_eq!(free, whole);
    }
}

/// Blocks of each class in turn fill the same memory.
fn memory_for_all_classes(store: &BlockStore, classes: std::ops::RangeInclusive<u8>) {
    let total = 4 * bytes_of(*classes.end());
    let most = 2 * total;
    for class in classes.clone().chain(classes.rev()) {
        let allocate = |_| store.allocate(class).expect("there is room");
        let blocks: Vec<NonNull<u8>> = (0..total / bytes_of(class)).map(allocate).collect();
        // SAFETY: from the store, each once.
        blocks.into_iter().for_each(|memory| unsafe { store.free(memory, class) });
        assert!(store.bytes() <= most, "{} bytes for blocks of class {class}", store.bytes());
    }
}

#[test]
fn blocks_of_any_class_are_made_of_those_of_others() {
    memory_for_all_classes(&BlockStore::default(), LARGE..=LARGEST);
}

#[test]
#[cfg(target_os = "linux")]
fn blocks_of_any_class_are_made_of_those_of_others_in_a_file() {
    memory_for_all_classes(&in_file(None), LARGE..=LARGEST + 5);
}

#[test]
fn memory_freed_by_one_thread_is_reused_by_another() {
    let store = BlockStore::default();
    let churn = |class: u8| {
        let blocks: Vec<NonNull<u8>> = (0..100_000).map(|_| store.allocate_surely(class)).collect();
        // SAFETY: from the store, each once.
        blocks.into_iter().for_each(|memory| unsafe { store.free(memory, class) });
    };
    churn(0);
    let after_one = store.free_bytes();
    for _ in 0..4 {
        std::thread::scope(|scope| scope.spawn(|| churn(0)).join().expect("no panic"));
    }
    assert!(store.free_bytes() < 2 * after_one, "{} after {after_one}", store.free_bytes());
}

#[test]
fn a_large_block_is_split_for_smaller_ones() {
    let store = BlockStore::default();
    let large = store.allocate_surely(LARGEST);
    // SAFETY: from the store.
    unsafe { store.free(large, LARGEST) };
    let before = store.free_bytes();
    let one = store.allocate_surely(LARGE);
    assert_eq!(store.free_bytes(), before - bytes_of(LARGE));
    // SAFETY: from the store.
    unsafe { store.free(one, LARGE) };
}

/// A full file is an error, callers that cannot fail still get memory, and freed memory is reused.
#[test]
#[cfg(target_os = "linux")]
fn allocations_fail_while_the_file_is_full() {
    for class in [0, LARGE, LARGEST, LARGEST + 1] {
        let limit = 4 << 20;
        let store = in_file(Some(limit));
        let mut blocks = Vec::new();
        let full = loop {
            match store.allocate(class) {
                Ok(memory) => blocks.push(memory),
                Err(full) => break full,
            }
        };
        assert_eq!(full.reason, io::ErrorKind::StorageFull);
        assert!(full.needed >= bytes_of(class) && store.is_full());
        // At most the end of the last extent is lost.
        assert!(
            blocks.len() * bytes_of(class) > limit - bytes_of(LARGEST + 1),
            "class {class}: {}",
            blocks.len()
        );
        let surely = store.allocate_surely(class);
        // SAFETY: `bytes_of(class)` bytes were just handed out.
        unsafe { surely.write_bytes(1, bytes_of(class)) };
        assert!(!blocks.contains(&surely) && store.is_full());
        // SAFETY: from the store, each once.
        unsafe { store.free(surely, class) };
        let last = blocks.pop().expect("some fit");
        // SAFETY: as above.
        unsafe { store.free(last, class) };
        let again = store.allocate(class).expect("one was given back");
        blocks.push(again);
        // SAFETY: as above.
        blocks.into_iter().for_each(|memory| unsafe { store.free(memory, class) });
    }
}

/// Large free blocks take no room on the disk.
#[test]
#[cfg(target_os = "linux")]
fn the_file_shrinks_when_large_blocks_go() {
    let store = in_file(None);
    let class = 18;
    let blocks: Vec<NonNull<u8>> = (0..4).map(|_| store.allocate(class).expect("room for 64 MiB")).collect();
    let allocated = || store.scratch.as_ref().map_or(0, |scratch| scratch.disk_bytes());
    assert!(allocated() >= 4 * bytes_of(class));
    // SAFETY: from the store, each once.
    blocks.into_iter().for_each(|memory| unsafe { store.free(memory, class) });
    assert!(allocated() < bytes_of(class), "{}", allocated());
    // Only the used part of a large block takes room again.
    let small = store.allocate(LARGE).expect("room");
    assert!(allocated() < bytes_of(class), "{}", allocated());
    // SAFETY: `bytes_of(LARGE)` bytes were just handed out.
    unsafe { small.write_bytes(1, bytes_of(LARGE)) };
    // SAFETY: from the store.
    unsafe { store.free(small, LARGE) };
}

/// Blocks too small to give back their room do so once they are joined, if the disk is full.
#[test]
#[cfg(target_os = "linux")]
fn joined_blocks_give_back_their_room() {
    let store = in_file(None);
    let blocks: Vec<NonNull<u8>> = (0..512).map(|_| store.allocate(LARGE).expect("room for 4 MiB")).collect();
    let allocated = || store.scratch.as_ref().map_or(0, |scratch| scratch.disk_bytes());
    // SAFETY: from the store, each once.
    blocks.into_iter().for_each(|memory| unsafe { store.free(memory, LARGE) });
    assert!(allocated() >= 512 * bytes_of(LARGE));
    store.shared.lock().give_back_free();
    assert!(allocated() <= 1 << 16 && store.free_bytes() == 0, "{}", allocated());
}

#[test]
#[cfg(target_os = "linux")]
fn a_missing_directory_is_an_error() {
    let missing = std::env::temp_dir().join("there is no such directory");
    let error = BlockStore::in_file(&missing, None).err().expect("no file can be made");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
