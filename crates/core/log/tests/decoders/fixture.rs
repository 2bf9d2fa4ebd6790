//! Stores written by each version of the format, kept forever.

use crate::targets::STORE;
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_log::{
    Body, CheckpointEntry, Durability, Log, LogOptions, LoggedCommit, Manifest, Recovered, StoreError,
    StoreFiles, StoreOptions, StreamEntry,
};
use hedgerow_model::{
    AdjacencyEffects, Catalog, ColumnType, CommitTimestamp, Direction, EdgeChange, EdgeSchema, EdgeValue,
    Effects, Field, KeyKind, LabelId, LabelSchema, Record, RecordSchema, Topology, Value, ValueType,
    VertexChange, VertexEffect, VertexId,
};
use hedgerow_testing::simulated::SimulatedFiles;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SEGMENT_BYTES: u64 = 450;

/// The folder of the store that a version of the manifest wrote.
fn folder(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/version-{version}"))
}

/// The types of properties that a version of the manifest has.
fn types(version: u32) -> Vec<ValueType> {
    let mut types = vec![
        ValueType::Bool,
        ValueType::I64,
        ValueType::F64,
        ValueType::String,
        ValueType::Bytes,
        ValueType::Timestamp,
    ];
    types.extend((version >= 3).then_some(ValueType::U64));
    types
}

fn catalog(version: u32) -> Catalog {
    let fields = types(version).into_iter().map(|value_type| Field {
        name: value_type.name().to_owned(),
        value_type,
        nullable: true,
    });
    let vertices = RecordSchema { fields: fields.collect() };
    let label = |name: &str, edges| LabelSchema { name: name.to_owned(), edges };
    let labels = vec![
        label("plain", EdgeSchema::Topology),
        label("weight", EdgeSchema::Value(ColumnType::F64)),
        label("record", EdgeSchema::Record(vertices.clone())),
    ];
    Catalog::new(labels, vertices).unwrap()
}

fn options(version: u32) -> StoreOptions {
    StoreOptions {
        engine: "rapid".to_owned(),
        keys: KeyKind::String,
        topology: Topology::Undirected,
        strict: true,
        catalog: if version >= 3 { catalog(version) } else { Catalog::default() },
    }
}

fn id(number: u32) -> VertexId {
    VertexId::new(number)
}

/// Both entries of each edge.
fn edges(label: u16, edges: &[(u32, u32, Option<u64>)]) -> AdjacencyEffects {
    let both = edges.iter().flat_map(|(one, other, value)| [(*one, *other, *value), (*other, *one, *value)]);
    let change = |(owner, neighbor, value): (u32, u32, Option<u64>)| {
        EdgeChange::new(id(owner), id(neighbor), value.map(EdgeValue))
    };
    let mut changes: Vec<EdgeChange> = both.map(change).collect();
    changes.sort_by_key(EdgeChange::position);
    changes.dedup_by_key(|change| change.position());
    AdjacencyEffects {
        label: LabelId(label),
        direction: Direction::Out,
        changes: changes.into_iter().collect(),
    }
}

/// The commits of the fixture, with everything that a body can contain.
fn commits(version: u32) -> Vec<LoggedCommit> {
    let mut values = vec![
        Value::Bool(true),
        Value::I64(-5),
        Value::F64(1.5),
        Value::String("text".into()),
        Value::Bytes([0, 255].into()),
        Value::Timestamp(1_700_000_000_000_000),
    ];
    values.extend((version >= 3).then_some(Value::U64(u64::MAX)));
    let put =
        |number, values| VertexEffect { vertex: id(number), change: VertexChange::Put(Record::new(values)) };
    let nulls = || vec![Value::Null; types(version).len()];
    let first = LoggedCommit {
        effects: Effects {
            vertices: vec![put(0, values), put(1, nulls()), put(300, nulls())],
            adjacencies: [].into_iter().collect(),
            ..Effects::default()
        },
        keys: vec![(id(0), "zero".into()), (id(1), "".into()), (id(300), "three hundred".into())],
        catalog: Some(catalog(version)),
        ..LoggedCommit::default()
    };
    let second = LoggedCommit {
        effects: Effects {
            vertices: vec![],
            adjacencies: [
                edges(0, &[(0, 1, Some(0)), (0, 300, Some(0)), (1, 1, Some(0))]),
                edges(1, &[(0, 1, Some(1.25_f64.to_bits())), (1, 300, None)]),
                edges(2, &[(0, 300, None)]),
            ]
            .into_iter()
            .collect(),
            ..Effects::default()
        },
        input: Some((*b"edges.csv 4096").into()),
        ..LoggedCommit::default()
    };
    let third = LoggedCommit {
        effects: Effects {
            vertices: vec![VertexEffect { vertex: id(300), change: VertexChange::Delete }],
            adjacencies: [edges(0, &[(0, 300, None)])].into_iter().collect(),
            ..Effects::default()
        },
        ..LoggedCommit::default()
    };
    let small = (0..12_u32).map(|number| LoggedCommit {
        effects: Effects {
            vertices: vec![],
            adjacencies: [edges(0, &[(number, 4_294_967_294 - number, Some(u64::from(number) % 2 * 7))])]
                .into_iter()
                .collect(),
            ..Effects::default()
        },
        ..LoggedCommit::default()
    });
    [first, second, third].into_iter().chain(small).collect()
}

fn wall_clock(at: CommitTimestamp) -> u64 {
    1_700_000_000_000_000 + at.0 * 1_000_000
}

fn body(commit: &LoggedCommit) -> Body {
    let mut body = Body::default();
    body.encode(&commit.to_log(), Topology::Undirected);
    body
}

#[test]
fn version_1_is_read() {
    let manifest = read(1);
    assert_eq!(manifest.durable, CommitTimestamp::ZERO);
    assert!(manifest.segments.iter().all(|segment| segment.length == 0));
}

#[test]
fn version_2_is_read() {
    let manifest = read(2);
    assert_eq!(manifest.durable, CommitTimestamp(15));
    assert!(manifest.segments.iter().all(|segment| segment.length == SEGMENT_BYTES));
}

/// A store without properties of type `u64` is written as in version 2.
#[test]
fn version_3_has_unsigned_properties_and_is_written_only_for_them() {
    let manifest = read(3);
    assert_eq!(manifest.durable, CommitTimestamp(15));
    for version in [2_u8, 3] {
        let bytes = std::fs::read(folder(version.into()).join("MANIFEST")).unwrap();
        assert_eq!(bytes[8], version);
        assert_eq!(Manifest::decode(&bytes, Path::new("MANIFEST")).unwrap().encode(), bytes);
    }
}

/// A stream has limits and the state of its reader.
#[test]
fn version_4_has_the_state_of_streams() {
    assert_eq!(read(4).streams, [stream()]);
    let bytes = std::fs::read(folder(4).join("MANIFEST")).unwrap();
    assert_eq!((bytes[8], Manifest::decode(&bytes, Path::new("MANIFEST")).unwrap().encode()), (4, bytes));
}

fn stream() -> StreamEntry {
    StreamEntry {
        wall_clock: wall_clock(CommitTimestamp(4)),
        most_bytes: 1 << 30,
        most_age: 3_600_000_000,
        state: (*b"sum 42").into(),
        ..StreamEntry::new("feed", CommitTimestamp(4))
    }
}

/// Without its last segment, a store of version 2 is damaged; with version 1 the loss cannot be
/// detected.
#[test]
fn version_2_says_what_was_durable() {
    for (version, is_detected) in [(1, false), (2, true)] {
        let files: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
        files.create_directory().unwrap();
        for entry in std::fs::read_dir(folder(version)).unwrap() {
            let entry = entry.unwrap();
            let mut bytes = std::fs::read(entry.path()).unwrap();
            if entry.file_name() == "log-0000000003" {
                bytes.fill(0);
            }
            let file = files.open(entry.file_name().to_str().unwrap(), OpenMode::Create).unwrap();
            file.write_all_at(&bytes, 0).unwrap();
        }
        let store = StoreFiles::open_read_only(files).unwrap();
        let replayed = store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(()));
        assert_eq!(matches!(replayed, Err(StoreError::Damaged { .. })), is_detected, "{replayed:?}");
    }
}

/// Reads a store with the commits above.
fn read(version: u32) -> Manifest {
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::read_only(folder(version)));
    let store = StoreFiles::open_read_only(files).unwrap();
    let manifest = store.manifest();
    assert_eq!((manifest.store, &manifest.options), (STORE, &options(version)));
    assert_eq!(
        manifest.checkpoint,
        Some(CheckpointEntry { number: 1, at: CommitTimestamp(3), length: 12_345 })
    );
    assert_eq!(manifest.streams[0].name, "feed");
    assert_eq!(
        (manifest.streams[0].position, manifest.history),
        (CommitTimestamp(4), Some(CommitTimestamp(2)))
    );
    assert_eq!(manifest.segments.iter().filter(|segment| segment.sealed.is_some()).count(), 2);
    let mut expected = (1..).map(CommitTimestamp).zip(commits(version));
    let replayed = store.replay(CommitTimestamp::ZERO, |record, _| {
        let commit = LoggedCommit::decode(record.body, Topology::Undirected).unwrap();
        assert_eq!(Some((record.at, commit)), expected.next());
        assert_eq!(record.wall_clock, wall_clock(record.at));
        Ok::<(), StoreError>(())
    });
    assert_eq!(expected.next(), None);
    let recovered = replayed.unwrap();
    assert_eq!((recovered.last, recovered.torn), (CommitTimestamp(15), None));
    manifest.clone()
}

/// Files of a later version are refused as such, not as damage.
#[test]
fn later_versions_are_named() {
    let read = |name: &str| std::fs::read(folder(2).join(name)).unwrap();
    let mut manifest = read("MANIFEST");
    manifest[8] = 5;
    let content = manifest.len() - 4;
    let checksum = crc32c::crc32c(&manifest[..content]).to_le_bytes();
    manifest[content..].copy_from_slice(&checksum);
    let refused = Manifest::decode(&manifest, Path::new("MANIFEST"));
    assert!(matches!(refused, Err(StoreError::NewerFormat { version: 5, .. })), "{refused:?}");

    let mut segment = read("log-0000000001");
    segment[8] = 2;
    let checksum = crc32c::crc32c(&segment[..60]).to_le_bytes();
    segment[60..64].copy_from_slice(&checksum);
    let files: Arc<dyn FileSystem> = Arc::new(SimulatedFiles::new(1));
    files.create_directory().unwrap();
    for (name, bytes) in [("MANIFEST", read("MANIFEST")), ("log-0000000001", segment)] {
        files.open(name, OpenMode::Create).unwrap().write_all_at(&bytes, 0).unwrap();
    }
    let store = StoreFiles::open_read_only(files).unwrap();
    let refused = store.replay(CommitTimestamp::ZERO, |_, _| Ok::<(), StoreError>(()));
    assert!(matches!(refused, Err(StoreError::NewerFormat { version: 2, .. })), "{refused:?}");
}

/// Writes the fixture and the seeds of the fuzz targets. Only for a new version of the format:
/// existing files stay.
#[test]
#[ignore = "writes files of the project"]
fn write_fixture_and_seeds() {
    let (folder, version) = (folder(4), "version-4");
    let files: Arc<dyn FileSystem> = Arc::new(RealFiles::new(&folder));
    let store = StoreFiles::create(Arc::clone(&files), options(4), STORE).unwrap();
    let log_options = LogOptions { segment_bytes: SEGMENT_BYTES, ..LogOptions::default() };
    let log = Log::start(store, &Recovered::default(), log_options).unwrap();
    for (at, commit) in (1..).map(CommitTimestamp).zip(commits(4)) {
        let appended = log.append(at, wall_clock(at), &mut body(&commit)).unwrap();
        let durability = if at.0 % 2 == 0 { Durability::Sync } else { Durability::None };
        if durability == Durability::Sync || at.0 == 15 {
            log.wait_durable(appended.at()).unwrap();
        }
    }
    log.install_checkpoint(CheckpointEntry { number: 1, at: CommitTimestamp(3), length: 12_345 }).unwrap();
    log.set_stream(stream()).unwrap();
    log.set_history(Some(CommitTimestamp(2))).unwrap();
    // As after the end of the process: the last segment is not sealed.
    std::mem::forget(log);
    std::fs::remove_file(folder.join("LOCK")).unwrap();
    let seeds = folder.join("../../../../../../fuzz/seeds/log_manifest");
    std::fs::copy(folder.join("MANIFEST"), seeds.join(format!("{version}-full"))).unwrap();
    let mut manifest = Manifest::decode(&std::fs::read(folder.join("MANIFEST")).unwrap(), &folder).unwrap();
    (manifest.checkpoint, manifest.history, manifest.streams) = (None, None, Vec::new());
    std::fs::write(seeds.join(format!("{version}-small")), manifest.encode()).unwrap();
}
