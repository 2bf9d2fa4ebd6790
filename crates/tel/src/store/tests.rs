//! Blocks of every size, in memory and in a file.

use super::*;
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
    let small = |class: u8| if class > LARGEST { 0 } else { bytes_of(class) };
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
        // Only the end of the last extent is lost, which is not split.
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

/// Pages of large free blocks are not on the disk either.
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
    // Only the part of a large block that is used takes room again.
    let small = store.allocate(LARGE).expect("room");
    assert!(allocated() < bytes_of(class), "{}", allocated());
    // SAFETY: `bytes_of(LARGE)` bytes were just handed out.
    unsafe { small.write_bytes(1, bytes_of(LARGE)) };
    // SAFETY: from the store.
    unsafe { store.free(small, LARGE) };
}

#[test]
#[cfg(target_os = "linux")]
fn a_missing_directory_is_an_error() {
    let missing = std::env::temp_dir().join("there is no such directory");
    let error = BlockStore::in_file(&missing, None).err().expect("no file can be made");
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}
