//! Values that are handles of records, in a heap that reuses a freed address at once.

use super::*;

/// Edges of owner 0; the row is short, and is rewritten whenever a record is replaced or deleted.
const NEIGHBORS: u32 = 3;

/// A record that an edge had from one commit to another.
struct DeadRecord {
    address: u64,
    born: u64,
    superseded: u64,
}

/// A heap of records, each known by its number: addresses are reused, numbers are not.
#[derive(Default)]
struct ReusingHeap {
    records: BTreeMap<u64, u64>,
    dead: Vec<DeadRecord>,
    numbers: u64,
}

impl ReusingHeap {
    /// Allocates a new record at the lowest free address.
    fn allocate(&mut self) -> u64 {
        let address = (1..).find(|address| !self.records.contains_key(address)).expect("there is a next one");
        self.numbers += 1;
        self.records.insert(address, self.numbers);
        address
    }

    /// Frees the records that no live timestamp sees (Invariant H).
    fn free(&mut self, live: &[u64]) {
        let records = &mut self.records;
        self.dead.retain(|dead| {
            let is_seen = live.iter().any(|at| (dead.born..dead.superseded).contains(at));
            if !is_seen {
                records.remove(&dead.address);
            }
            is_seen
        });
    }
}

#[derive(Clone, Copy, Debug)]
enum RecordStep {
    Put(u32),
    Delete(u32),
    Archive,
    Hold,
    Release(usize),
}

fn record_step() -> impl Strategy<Value = RecordStep> {
    prop_oneof![
        6 => (0..NEIGHBORS).prop_map(RecordStep::Put),
        3 => (0..NEIGHBORS).prop_map(RecordStep::Delete),
        4 => Just(RecordStep::Archive),
        1 => Just(RecordStep::Hold),
        1 => (0..4_usize).prop_map(RecordStep::Release),
    ]
}

/// A registered timestamp, with the numbers of its edges' records.
struct Reader {
    tail: Arc<LogTail>,
    at: u64,
    records: BTreeMap<u32, u64>,
}

/// The newest address of each edge, and the commit that put it.
type Newest = BTreeMap<u32, (u64, u64)>;

fn reader(store: &Store, heap: &ReusingHeap, newest: &Newest, at: u64) -> Reader {
    let records = newest.iter().map(|(neighbor, (address, _))| (*neighbor, heap.records[address]));
    Reader { tail: store.log.newest(), at, records: records.collect() }
}

fn check_records(store: &Store, heap: &ReusingHeap, reader: &Reader) {
    for neighbor in 0..NEIGHBORS {
        let found = find_fresh(&store.table, &reader.tail, CommitTimestamp(reader.at), (0, neighbor));
        let record = found.map(|handle| heap.records.get(&handle.0).copied());
        assert_eq!(record, reader.records.get(&neighbor).map(|record| Some(*record)), "at {}", reader.at);
    }
}

proptest! {
    /// Archiving takes a record for its predecessor if both have the same address, and no reader
    /// can tell.
    #[test]
    fn every_reader_finds_its_own_records_though_addresses_are_reused(
        steps in prop::collection::vec(record_step(), 0..80),
    ) {
        let (mut store, mut heap) = (Store::new(ColumnType::U64, BlockSizes::Growing), ReusingHeap::default());
        let (mut newest, mut readers, mut at) = (Newest::new(), Vec::<Reader>::new(), 0);
        for step in steps {
            match step {
                RecordStep::Put(neighbor) | RecordStep::Delete(neighbor) => {
                    let puts = matches!(step, RecordStep::Put(_));
                    at += 1;
                    let address = puts.then(|| heap.allocate());
                    let changes = Changes { owner: 0, value: address, first: neighbor, step: 1, count: 1 };
                    store.commit(at, &changes, true);
                    let old = match address {
                        Some(address) => newest.insert(neighbor, (address, at)),
                        None => newest.remove(&neighbor),
                    };
                    heap.dead.extend(old.map(|(address, born)| DeadRecord { address, born, superseded: at }));
                }
                RecordStep::Archive => store.archive(),
                RecordStep::Hold => readers.push(reader(&store, &heap, &newest, at)),
                RecordStep::Release(number) if number < readers.len() => drop(readers.swap_remove(number)),
                RecordStep::Release(_) => {}
            }
            let live: Vec<u64> = readers.iter().map(|reader| reader.at).collect();
            heap.free(&live);
            readers.iter().for_each(|reader| check_records(&store, &heap, reader));
            check_records(&store, &heap, &reader(&store, &heap, &newest, at));
        }
    }
}
