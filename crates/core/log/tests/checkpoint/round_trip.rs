//! Reading returns what was written.

use crate::model::{COLUMNS, Graph, graphs};
use hedgerow_log::StoreError;
use hedgerow_log::checkpoint::{
    Checkpoint, CheckpointError, CheckpointSource, ChunkContent, UNFINISHED, VisitRecord, VisitRun,
    VisitVertex, WriteOptions, write,
};
use hedgerow_log::files::{FileSystem, OpenMode, RealFiles};
use hedgerow_model::{
    Catalog, Column, ColumnType, EdgeSchema, Field, Key, KeyKind, KeyRef, LabelId, LabelSchema, ReadError,
    Record, RecordSchema, Topology, Value, ValueType, VertexId,
};
use hedgerow_testing::simulated::SimulatedFiles;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

proptest! {
    #[test]
    fn any_graph_comes_back(graph in graphs(), shuffle in 0..1000_u64) {
        let read = Graph::read(&graph.written(), "checkpoint", shuffle * 2 + 1).unwrap();
        prop_assert_eq!(read, graph);
    }
}

fn bytes_of(files: &dyn FileSystem, name: &str) -> Vec<u8> {
    files.open(name, OpenMode::Read).unwrap().read_from(0).unwrap()
}

/// A hub with neighbors on both sides, enough for three chunks, and other vertices.
fn star(topology: Topology) -> Graph {
    let hub = 150_000;
    let spokes = (0..300_000).flat_map(|spoke| [(hub, spoke), (spoke / 1000 * 3, spoke)]);
    Graph::of_edges(topology, spokes)
}

#[test]
fn the_neighbors_of_one_vertex_lie_in_several_chunks() {
    for topology in [Topology::Directed, Topology::Undirected] {
        let graph = star(topology);
        let files = graph.written();
        let checkpoint = Checkpoint::open(&files, "checkpoint").unwrap();
        let of_hub = |position: u64| position >> 32 == 150_000;
        let chunks = checkpoint.edge_chunks(LabelId::DEFAULT).iter();
        let chunks = chunks.filter(|chunk| of_hub(chunk.first) || of_hub(chunk.last)).count();
        assert!(chunks >= 2, "{topology:?}: {chunks}");
        assert!(Graph::read(&files, "checkpoint", 7).unwrap() == graph);
        assert!(checkpoint.check(None).is_empty());
    }
}

#[test]
fn the_file_does_not_depend_on_threads() {
    let (graph, pool) = (star(Topology::Directed), ThreadPoolBuilder::new().num_threads(3).build().unwrap());
    let files = graph.written();
    let options = WriteOptions { pool: Some(&pool), ..WriteOptions::default() };
    let written = write(&files, "parallel", &graph.description, &graph, &options).unwrap();
    assert!(bytes_of(&files, "parallel") == bytes_of(&files, "checkpoint"));
    let checkpoint = Checkpoint::open(&files, "parallel").unwrap();
    assert!(checkpoint.check(Some(&pool)).is_empty());
    assert_eq!(written.chunks, checkpoint.chunks().len() as u64);
    assert_eq!(written.bytes, bytes_of(&files, "parallel").len() as u64);
    let edges = checkpoint.edge_chunks(LabelId::DEFAULT).iter();
    assert_eq!(written.edge_bytes, [edges.map(|chunk| u64::from(chunk.length) + 32).sum::<u64>()]);
}

#[test]
fn an_empty_graph_is_a_graph() {
    let graph = Graph::of_edges(Topology::Directed, []);
    let files = graph.written();
    assert_eq!(Graph::read(&files, "checkpoint", 1).unwrap(), graph);
    assert_eq!(Checkpoint::open(&files, "checkpoint").unwrap().chunks().len(), 1);
}

#[test]
fn chunks_are_bounded_and_know_their_ranges() {
    let graph = star(Topology::Undirected);
    let files = graph.written();
    let checkpoint = Checkpoint::open(&files, "checkpoint").unwrap();
    for chunk in checkpoint.chunks() {
        assert!(chunk.length <= 1 << 20 && chunk.entries <= 1 << 17, "{chunk:?}");
        let mut found = Vec::new();
        match chunk.content {
            ChunkContent::Description => continue,
            ChunkContent::Vertices => {
                checkpoint.read_vertices(chunk, |vertex, _, _| found.push(vertex.get().into())).unwrap();
            }
            ChunkContent::Edges(_) => checkpoint
                .read_edges::<()>(chunk, |source, run, _| {
                    assert!(run.len() <= 512);
                    found.extend(run.iter().map(|to| u64::from(source.get()) << 32 | u64::from(to.get())));
                })
                .unwrap(),
        }
        assert!(found.is_sorted());
        assert_eq!((found[0], found[found.len() - 1]), (chunk.first, chunk.last));
        assert_eq!(found.len(), chunk.entries as usize);
    }
}

/// Vertices with long texts that fill several chunks, and one text longer than a chunk.
#[test]
fn long_keys_and_records_come_back() {
    let long = |id: u32| if id == 7 { 3 << 20 } else { 1000 };
    let text =
        |id: u32| -> String { (0..long(id)).map(|i| char::from(b'a' + (i * id % 26) as u8)).collect() };
    let field = Field { name: "text".to_owned(), value_type: ValueType::String, nullable: true };
    let catalog = Catalog::new(Vec::new(), RecordSchema { fields: vec![field] }).unwrap();
    let record = |id| Record::new(vec![Value::String(text(id).into())]);
    let vertices: BTreeMap<_, _> =
        (0..3000).map(|id| (id, (Key::from(format!("{id} {}", text(id))), record(id + 1)))).collect();
    let graph = Graph::new(Topology::Directed, KeyKind::String, catalog, vertices, vec![BTreeMap::new()]);
    let files = graph.written();
    assert!(Checkpoint::open(&files, "checkpoint").unwrap().vertex_chunks().len() > 2);
    assert!(Graph::read(&files, "checkpoint", 3).unwrap() == graph);
}

/// Values of every type that compress well.
#[test]
fn weights_take_little_space() {
    let pairs: Vec<(u32, u32)> = (0..60_000).map(|i| (i / 30, i * 7919 % 2000)).collect();
    let topology = Graph::of_edges(Topology::Directed, pairs.iter().copied());
    let sizes = COLUMNS.map(|column| {
        let weight = |number: u32| match column {
            ColumnType::Unit => 0,
            ColumnType::F32 => Column::to_bits((number % 256) as f32).0,
            ColumnType::F64 => Column::to_bits(f64::from(number % 256)).0,
            _ => u64::from(number % 256),
        };
        let edges =
            (0..).zip(topology.edges[0].keys()).map(|(number, ends)| (*ends, weight(number * 31))).collect();
        let labels = vec![LabelSchema { name: "weight".to_owned(), edges: EdgeSchema::Value(column) }];
        let catalog = Catalog::new(labels, RecordSchema::default()).unwrap();
        let graph =
            Graph::new(Topology::Directed, KeyKind::Dense, catalog, topology.vertices.clone(), vec![edges]);
        let files = graph.written();
        assert!(Graph::read(&files, "checkpoint", 3).unwrap() == graph, "{column}");
        bytes_of(&files, "checkpoint").len() as f64
    });
    let entries = topology.edges[0].len() as f64;
    for size in &sizes[1..] {
        assert!(size - sizes[0] < 1.1 * entries, "{sizes:?} for {entries}");
    }
}

#[test]
fn a_label_is_read_as_its_type_or_as_topology() {
    let graph = Graph::of_edges(Topology::Undirected, [(3, 1), (1, 1)]);
    let files = graph.written();
    let checkpoint = Checkpoint::open(&files, "checkpoint").unwrap();
    let chunk = checkpoint.edge_chunks(LabelId::DEFAULT)[0];
    let wrong = || checkpoint.read_edges::<f64>(&chunk, |_, _, _| {});
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).is_err());
    let mut rows = Vec::new();
    checkpoint.read_edges::<()>(&chunk, |source, run, _| rows.push((source, run.to_vec()))).unwrap();
    assert_eq!(rows, [(VertexId::new(1), vec![VertexId::new(1), VertexId::new(3)])]);
}

#[test]
fn a_cancelled_checkpoint_leaves_nothing() {
    let graph = star(Topology::Directed);
    let files = graph.written();
    let before = bytes_of(&files, "checkpoint");
    for at in 1..8 {
        let asked = AtomicU64::new(0);
        let is_cancelled = || asked.fetch_add(1, Ordering::Relaxed) == at;
        let options = WriteOptions { is_cancelled: Some(&is_cancelled), ..WriteOptions::default() };
        let result = write(&files, "checkpoint", &graph.description, &graph, &options);
        assert!(matches!(result, Err(CheckpointError::Cancelled)), "{at}: {result:?}");
        assert_eq!(files.list().unwrap(), ["checkpoint"]);
        assert!(bytes_of(&files, "checkpoint") == before);
    }
}

#[test]
fn progress_ends_at_the_total() {
    let graph = star(Topology::Directed);
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let seen = AtomicU64::new(0);
    let progress = |progress: hedgerow_log::checkpoint::WriteProgress| {
        assert!(progress.entries >= seen.load(Ordering::Relaxed) && progress.entries <= progress.of);
        seen.store(progress.entries, Ordering::Relaxed);
    };
    let options = WriteOptions { progress: Some(&progress), share: Some(&|| 0.9), ..WriteOptions::default() };
    write(&files, "checkpoint", &graph.description, &graph, &options).unwrap();
    let counts = &graph.description.counts;
    assert_eq!(seen.into_inner(), counts.vertices + counts.total_edges().at_most());
}

/// A source that differs from its counts.
#[test]
fn a_graph_that_does_not_match_its_counts_is_not_written() {
    let mut graph = Graph::of_edges(Topology::Directed, [(1, 2), (2, 3)]);
    let files = graph.written();
    graph.description.counts.edges[0] = 3;
    let result = graph.write_to(&files, "checkpoint");
    let wrong = CheckpointError::WrongCount { what: "edges of a label", expected: 3, found: 2 };
    assert_eq!(result.unwrap_err().to_string(), wrong.to_string());
    graph.description.counts.edges[0] = 2;
    graph.description.counts.vertices = 4;
    assert!(matches!(graph.write_to(&files, "checkpoint"), Err(CheckpointError::WrongCount { .. })));
    graph.description.counts.vertices = 3;
    assert_eq!(Graph::read(&files, "checkpoint", 1).unwrap(), graph);
}

/// A source that a reader would refuse.
#[test]
fn a_graph_that_contradicts_itself_is_not_written() {
    let whole = Graph::of_edges(Topology::Directed, [(1, 2), (2, 3)]);
    let files = whole.written();
    let contradiction = |change: &dyn Fn(&mut Graph)| {
        let mut graph = whole.clone();
        change(&mut graph);
        match graph.write_to(&files, "checkpoint") {
            Err(CheckpointError::Contradiction(what)) => what,
            other => panic!("{other:?}"),
        }
    };
    let number = |key| (Key::Number(key), Record::EMPTY);
    let found = [
        contradiction(&|graph| drop(graph.vertices.insert(2, number(3)))),
        contradiction(&|graph| drop(graph.vertices.insert(2, (Key::from("2"), Record::EMPTY)))),
        contradiction(&|graph| graph.edges[0].extend([((2, 4), 0)])),
        contradiction(&|graph| graph.description.counts.vertex_bound = 3),
    ];
    let kind = "a key is of another kind";
    let bound = "an edge ends beyond the vertex bound";
    assert_eq!(found, [kind, kind, bound, bound]);
    assert_eq!(Graph::read(&files, "checkpoint", 1).unwrap(), whole);
}

/// A source whose rows are unsorted, or repeated.
#[test]
fn rows_out_of_order_are_not_written() {
    struct Rows(Vec<(u32, Vec<u32>)>);
    impl CheckpointSource for Rows {
        fn vertices(&self, range: Range<u32>, visit: &mut VisitVertex<'_>) -> Result<(), ReadError> {
            for id in range {
                let _ = visit(VertexId::new(id), KeyRef::Number(id.into()), &Record::EMPTY);
            }
            Ok(())
        }

        fn rows<W: Column>(
            &self,
            _label: LabelId,
            _range: Range<u32>,
            visit: &mut VisitRun<'_, W>,
        ) -> Result<(), ReadError> {
            for (owner, row) in &self.0 {
                let row: Vec<VertexId> = row.iter().copied().map(VertexId::new).collect();
                let _ = visit(VertexId::new(*owner), &row, &vec![W::default(); row.len()]);
            }
            Ok(())
        }

        fn records(
            &self,
            _label: LabelId,
            _range: Range<u32>,
            _visit: &mut VisitRecord<'_>,
        ) -> Result<(), ReadError> {
            Ok(())
        }

        fn cuts(&self, _label: LabelId, parts: usize) -> Result<Vec<Range<u32>>, ReadError> {
            Ok(vec![0..10; parts])
        }
    }
    let mut description = Graph::of_edges(Topology::Directed, (0..9).map(|i| (i, i + 1))).description;
    let files = SimulatedFiles::new(1);
    files.create_directory().unwrap();
    let mut result = |rows: &[(u32, Vec<u32>)]| {
        description.counts.edges[0] = rows.iter().map(|(_, row)| row.len() as u64).sum();
        let rows = Rows(rows.to_vec());
        write(&files, "checkpoint", &description, &rows, &WriteOptions::default()).map(|_| ())
    };
    for wrong in [
        vec![(1, vec![3, 2])],
        vec![(1, vec![2, 2])],
        vec![(2, vec![1]), (1, vec![1])],
        vec![(1, vec![2]); 2],
    ] {
        let error = result(&wrong).unwrap_err();
        assert!(
            matches!(error, CheckpointError::Contradiction("its edges don't ascend")),
            "{wrong:?}: {error}"
        );
    }
    result(&[(1, vec![2, 3]), (1, vec![4]), (2, vec![1])]).unwrap();
}

#[test]
fn real_files_are_like_simulated_ones() {
    let graph = star(Topology::Undirected);
    let folder = tempfile::tempdir().unwrap();
    let files = RealFiles::new(folder.path());
    graph.write_to(&files, "checkpoint").unwrap();
    assert!(bytes_of(&files, "checkpoint") == bytes_of(&graph.written(), "checkpoint"));
    assert!(Graph::read(&files, "checkpoint", 3).unwrap() == graph);
    assert_eq!(files.list().unwrap(), ["checkpoint"]);
    let missing = Checkpoint::open(&files, &format!("checkpoint{UNFINISHED}")).unwrap_err();
    assert!(matches!(missing, StoreError::File(error) if error.is_not_found()));
}

#[test]
fn cuts_cover_all_vertices() {
    // The source of these tests partitions vertices like views.
    let graph = star(Topology::Directed);
    let cuts = graph.cuts(LabelId::DEFAULT, 5).unwrap();
    assert!(cuts.windows(2).all(|pair| pair[0].end == pair[1].start));
    assert_eq!(cuts.last().unwrap().end, graph.description.counts.vertex_bound);
}
