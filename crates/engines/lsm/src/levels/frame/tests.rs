use super::*;
use proptest::prelude::*;

/// Returns ascending ids from `next` on, with gaps of at most `width` bits.
fn ids(next: Next, gaps: &[u64], width: u32) -> Vec<VertexId> {
    let mut next = next;
    let mut ids = Vec::new();
    for gap in gaps {
        // The last id may be closer than its gap.
        let id = (next + (gap & ((1 << width) - 1))).min(u64::from(VertexId::MAX.get()));
        if id < next {
            break;
        }
        ids.push(VertexId::new(id as u32));
        next = id + 1;
    }
    ids
}

/// Returns the result of each way of unpacking a frame.
fn unpacked(bytes: &[u8], count: usize, width: u32, next: Next) -> Vec<Result<Vec<u32>, DecodeError>> {
    let mut found: Frame = [0; FRAME];
    let any = unpack(bytes, count, width, next, &mut found).map(|_| found[..count].to_vec());
    let next = portable::unpack(bytes, count, width, next, &mut found);
    let is_valid = next <= u64::from(VertexId::MAX.get()) + 1;
    vec![any, is_valid.then(|| found[..count].to_vec()).ok_or_else(too_large)]
}

proptest! {
    #[test]
    fn a_frame_comes_back(
        gaps in prop::collection::vec(any::<u64>(), 1..=FRAME),
        width in 0..=MAX_WIDTH,
        next in prop_oneof![Just(0), 0..1u64 << 32],
    ) {
        let ids = ids(next, &gaps, width);
        prop_assume!(!ids.is_empty());
        let width = width_of(&ids, next);
        let mut bytes = Vec::new();
        put_frame(&mut bytes, &ids, next, width);
        prop_assert_eq!(bytes.len(), frame_bytes(ids.len(), width));
        for found in unpacked(&bytes, ids.len(), width, next) {
            prop_assert_eq!(found.unwrap(), bytemuck::cast_slice::<_, u32>(&ids));
        }
    }

    #[test]
    fn any_bytes_are_read_alike_on_every_processor(
        bytes in prop::collection::vec(any::<u8>(), FRAME * 4),
        count in 1..=FRAME,
        width in 0..=MAX_WIDTH,
        next in prop_oneof![0..1u64 << 32, (1u64 << 32) - 300..1 << 32],
    ) {
        let found = unpacked(&bytes[..frame_bytes(count, width)], count, width, next);
        prop_assert_eq!(&found[0], &found[1]);
        if let Ok(ids) = &found[0] {
            prop_assert!(ids.is_sorted_by(|one, other| one < other));
            prop_assert!(u64::from(ids[0]) >= next && ids[count - 1] <= VertexId::MAX.get());
        }
    }
}

#[test]
fn the_largest_gaps_of_each_width_come_back() {
    for width in 0..=MAX_WIDTH {
        let ids = ids(0, &[u64::MAX; FRAME], width);
        let mut bytes = Vec::new();
        put_frame(&mut bytes, &ids, 0, width_of(&ids, 0));
        for found in unpacked(&bytes, ids.len(), width_of(&ids, 0), 0) {
            assert_eq!(found.unwrap(), bytemuck::cast_slice::<_, u32>(&ids), "{width}");
        }
    }
}
