use super::*;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The versions of edges by owner and neighbor, newest first.
type Edges = BTreeMap<(u32, u32), Vec<Version>>;

const COLUMNS: [ColumnType; 3] = [ColumnType::Unit, ColumnType::U32, ColumnType::F64];

fn edges() -> impl Strategy<Value = (ColumnType, Edges)> {
    let versions = vec((prop_oneof![3 => Just(0), 1 => 1..2000u64], any::<Option<u32>>()), 1..4);
    let owner = prop_oneof![0..9u32, 0..9000u32];
    let edges = btree_map((owner, prop_oneof![0..200u32, 0..u32::MAX]), versions, 1..300);
    (0..COLUMNS.len(), edges, any::<bool>(), 0..400u32).prop_map(|(column, mut edges, is_settled, dense)| {
        let column = COLUMNS[column];
        // Consecutive neighbors take no bytes.
        edges.extend((0..dense).map(|neighbor| ((9, neighbor), vec![(0, Some(1))])));
        let version = |(at, value): (u64, Option<u32>)| {
            let value = if is_settled { value.or(Some(7)) } else { value };
            let bits = |value: u32| EdgeValue(if column == ColumnType::Unit { 0 } else { u64::from(value) });
            Version { at: CommitTimestamp(if is_settled { 0 } else { at }), value: value.map(bits) }
        };
        let newest_first = |versions: Vec<(u64, Option<u32>)>| {
            let mut versions: Vec<_> = versions.into_iter().map(version).collect();
            versions.sort_by_key(|version| std::cmp::Reverse(version.at));
            versions.dedup_by_key(|version| version.at);
            versions
        };
        (column, edges.into_iter().map(|(edge, versions)| (edge, newest_first(versions))).collect())
    })
}

fn built(column: ColumnType, edges: &Edges) -> Vec<u8> {
    let (mut builder, mut bytes) = (BlockBuilder::new(column), Vec::new());
    for ((owner, neighbor), versions) in edges {
        for version in versions {
            builder.push(VertexId::new(*owner), VertexId::new(*neighbor), *version);
        }
    }
    assert_eq!(builder.versions(), edges.values().map(Vec::len).sum::<usize>());
    builder.finish(&mut bytes);
    assert_eq!(builder.versions(), 0);
    bytes
}

/// Returns the entries of a row that a snapshot sees.
fn seen(row: &BlockRow<'_>, at: CommitTimestamp) -> Vec<(u32, Option<EdgeValue>)> {
    let mut seen = Vec::new();
    let flow = row.visit_at(at, &mut Unpacked::default(), |neighbor, value| {
        seen.push((neighbor.get(), value));
        ControlFlow::<()>::Continue(())
    });
    assert_eq!(flow, Ok(ControlFlow::Continue(())));
    seen
}

proptest! {
    #[test]
    fn all_versions_come_back((column, edges) in edges()) {
        let bytes = built(column, &edges);
        let block = Block::parse(&bytes, column).unwrap();
        let mut found = Edges::new();
        let all = block.scan(|owner, row| {
            row.for_each_version(|neighbor, version| {
                found.entry((owner.get(), neighbor.get())).or_default().push(version);
            })
            .unwrap();
            ControlFlow::<()>::Continue(())
        });
        prop_assert_eq!(all, Ok(ControlFlow::Continue(())));
        prop_assert_eq!(found, edges);
    }

    #[test]
    fn a_snapshot_sees_the_newest_version_that_is_not_too_new(
        (column, edges) in edges(),
        at in 0..2100u64,
        missing in 0..9000u32,
    ) {
        let (bytes, at) = (built(column, &edges), CommitTimestamp(at));
        let block = Block::parse(&bytes, column).unwrap();
        let mut expected: BTreeMap<u32, Vec<(u32, Option<EdgeValue>)>> = BTreeMap::new();
        for ((owner, neighbor), versions) in &edges {
            let row = expected.entry(*owner).or_default();
            let visible = versions.iter().find(|version| version.at <= at);
            row.extend(visible.map(|version| (*neighbor, version.value)));
            let found = block.row(VertexId::new(*owner)).unwrap().unwrap();
            prop_assert_eq!(found.find_at(VertexId::new(*neighbor), at), Ok(visible.copied()));
        }
        prop_assert_eq!(block.rows(), expected.len());
        for (owner, row) in &expected {
            prop_assert_eq!(&seen(&block.row(VertexId::new(*owner)).unwrap().unwrap(), at), row);
        }
        let found = block.row(VertexId::new(missing)).unwrap();
        prop_assert_eq!(found.is_some(), expected.contains_key(&missing));
    }

    #[test]
    fn rows_are_settled_when_nothing_is_dated_or_deleted((column, edges) in edges()) {
        let bytes = built(column, &edges);
        let block = Block::parse(&bytes, column).unwrap();
        let newest = || edges.values().map(|versions| versions[0]);
        let is_settled = newest().all(|version| version.at == CommitTimestamp::ZERO && version.value.is_some());
        let owner = VertexId::new(edges.keys().next().unwrap().0);
        let row = block.row(owner).unwrap().unwrap();
        prop_assert_eq!(row.settled().map(|row| row.degree()), is_settled.then(|| row.entries()));
    }

    #[test]
    fn a_damaged_block_is_read_or_an_error(
        (column, edges) in edges(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        owner in 0..9000u32,
    ) {
        let mut bytes = built(column, &edges);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            let Ok(block) = Block::parse(bytes, column) else { continue };
            let _ = block.scan(|_, row| {
                let _ = row.for_each_version(|_, _| ());
                ControlFlow::<()>::Continue(())
            });
            if let Ok(Some(row)) = block.row(VertexId::new(owner)) {
                let _ = row.find_at(VertexId::new(owner), CommitTimestamp(1000));
            }
            let places_are_right = block.check_places().is_ok();
            for number in 0..block.rows().min(200) {
                prop_assert!(!places_are_right || block.row_at(number).is_ok());
            }
        }
    }

    #[test]
    fn rows_are_found_by_their_numbers((column, edges) in edges(), bit in any::<prop::sample::Index>()) {
        let mut bytes = built(column, &edges);
        let block = Block::parse(&bytes, column).unwrap();
        prop_assert_eq!(block.check_places(), Ok(()));
        let mut number = 0;
        let flow = block.scan(|_, row| {
            let found = block.row_at(number).unwrap();
            assert_eq!((found.first, found.entries()), (row.first, row.entries()));
            number += 1;
            ControlFlow::<()>::Continue(())
        });
        prop_assert_eq!(flow, Ok(ControlFlow::Continue(())));
        prop_assert!(block.row_at(number).is_err());
        // A wrong place is found.
        let width = [block.packed.len(), block.entries].map(|number| number.ilog2() as usize + 1);
        let bits = (block.rows - 1) / STEP * (width[0] + width[1]);
        if bits > 0 {
            let mut reader = Reader::new(&bytes[1..]);
            (0..4).for_each(|_| _ = reader.varint().unwrap());
            let bit = 8 * (1 + reader.position()) + bit.index(bits);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Block::parse(&bytes, column).unwrap().check_places().is_err());
        }
    }
}
