//! Payments on edges, checked and committed in one transaction.
//!
//! An account may not pay one that it is paid by through a chain of at most two others within the same minute: money that
//! comes back that fast is worth a look. The check and the payment are one serializable transaction, so that two payments
//! which only together close a cycle cannot both pass.
//!
//! `cargo run --release -p hedgerow --example fraud_check`

use hedgerow::{
    Direction, EdgeUpdate, Error, Graph, GraphOptions, Isolation, Key, LabelId, LabelSchema, RecordSchema,
    Topology, Value, ValueType, WriteTxn,
};

const MINUTE: i64 = 60_000_000;

/// The position of the time in the record of a payment.
const TIME: usize = 1;

fn main() -> Result<(), Error> {
    let payment = RecordSchema::new().field("amount", ValueType::F64).field("time", ValueType::Timestamp);
    let options = GraphOptions::new()
        .topology(Topology::DirectedWithReverse)
        .label(LabelSchema::with_record("pays", payment));
    let graph = Graph::in_memory(options)?;
    let pays = graph.label("pays")?;

    let start = 1_767_225_600_000_000;
    for (number, (from, to)) in [(1, 2), (2, 3), (3, 1), (3, 4)].into_iter().enumerate() {
        let time = start + number as i64 * 1_000_000;
        match pay(&graph, pays, (from, to), 99.5, time)? {
            true => println!("{from} pays {to}"),
            false => println!("{from} may not pay {to}: the money would come back"),
        }
    }
    assert!(graph.edge_record(pays, 3, 1)?.is_none());
    Ok(())
}

/// Commits a payment unless it closes a cycle; whether it was made.
fn pay(graph: &Graph, pays: LabelId, ends: (u64, u64), amount: f64, time: i64) -> Result<bool, Error> {
    let (from, to) = ends;
    graph.transact_with(Isolation::Serializable, |txn| {
        if comes_back(txn, pays, &Key::from(to), &Key::from(from), time, 3)? {
            return Ok(false);
        }
        let payment = EdgeUpdate::put().set("amount", amount).set("time", Value::Timestamp(time));
        txn.update_edge(pays, from, to, &payment)?;
        Ok(true)
    })
}

/// Whether a chain of at most `steps` payments within the last minute leads from one account to another.
fn comes_back(
    txn: &mut WriteTxn,
    pays: LabelId,
    from: &Key,
    to: &Key,
    time: i64,
    steps: usize,
) -> Result<bool, Error> {
    if steps == 0 {
        return Ok(false);
    }
    for (next, record) in txn.neighbor_records(pays, Direction::Out, from)? {
        let is_recent = matches!(record.values()[TIME], Value::Timestamp(paid) if time - paid <= MINUTE);
        if is_recent && (next == *to || comes_back(txn, pays, &next, to, time, steps - 1)?) {
            return Ok(true);
        }
    }
    Ok(false)
}
