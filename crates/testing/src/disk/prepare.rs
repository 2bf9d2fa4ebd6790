//! From the effects of a commit to entries.

use super::engine::{DiskEngine, check_lock};
use super::entry::{Content, Key, Table};
use super::recent::bytes_of;
use super::view::malformed;
use hedgerow_encoding::{EdgeList, EdgeListWriter, encode_record, list_as_record, list_of_record};
use hedgerow_model::token::HeldLocks;
use hedgerow_model::{
    Allowance, EdgeSchema, EdgeValue, Effects, Engine, EngineError, Outcome, Prepared, ReadError,
    VertexChange,
};
use std::collections::{BTreeMap, HashMap};

/// The entries that a commit makes. They get its timestamp when they are applied.
#[derive(Debug)]
pub struct DiskChanges(pub(super) Vec<(Key, Content)>);

impl DiskEngine {
    pub(super) fn prepare_changes(
        &self,
        locks: &HeldLocks<'_>,
        effects: &Effects,
        allowance: Allowance,
    ) -> Result<Prepared<DiskChanges>, EngineError> {
        let (mut entries, mut outcome) = (Vec::with_capacity(effects.len()), Outcome::default());
        for effect in &effects.vertices {
            check_lock(locks, effect.vertex, "changed");
            let content = match &effect.change {
                VertexChange::Put(record) => Some(encode_record(record).into()),
                VertexChange::Delete => None,
            };
            entries.push((Key::vertex(effect.vertex), content));
        }
        let Ok(newest) = self.latest(locks);
        // By the numbers of their changes: both entries of an edge have the same list.
        let mut lists = HashMap::new();
        for adjacency in &effects.adjacencies {
            let (label, direction) = (adjacency.label, adjacency.direction);
            let schema = self.options.catalogue.label(label).expect("effects name labels of the catalogue");
            for change in &adjacency.changes {
                check_lock(locks, change.owner, "changed");
                let key = Key::edge(Table::of(label, direction), change.owner, change.neighbour);
                // The entry that its edge is counted by; it comes before the other one.
                let is_canonical =
                    self.options.topology.is_canonical_entry(direction, change.owner, change.neighbour);
                let is_parallel = matches!(schema.edges, EdgeSchema::Parallel(_));
                if is_canonical && is_parallel {
                    let change_of_list = change.value.map(|number| record(effects, number)).transpose()?;
                    let (list, before, after) =
                        changed_list(newest.content(key)?.as_deref(), change_of_list)?;
                    if (before == 0) != (after == 0) {
                        outcome.count(label, u64::from(before == 0), u64::from(after == 0));
                    }
                    outcome.count_parallel(label, after as i64 - before as i64);
                    lists.insert(change.value, list);
                } else if is_canonical {
                    // Whether the edge exists would have to be read: it is counted later.
                    let puts = u64::from(change.value.is_some());
                    outcome.defer(label, puts, 1 - puts);
                }
                let content = match (&schema.edges, change.value) {
                    (_, None) => None,
                    (EdgeSchema::Topology, _) => Some([].into()),
                    (EdgeSchema::Value(_), Some(value)) => Some(value.0.to_le_bytes().into()),
                    (EdgeSchema::Record(_), Some(number)) => Some(record(effects, number)?.into()),
                    (EdgeSchema::Parallel(_), number) => lists.get(&number).cloned().flatten(),
                };
                entries.push((key, content));
            }
        }
        let growth: usize = entries.iter().map(|(_, content)| bytes_of(content)).sum();
        allowance.check(self.memory().total_bytes(), growth as isize)?;
        let changed = !entries.is_empty();
        Ok(Prepared { changes: DiskChanges(entries), outcome, changed })
    }
}

fn record(effects: &Effects, number: EdgeValue) -> Result<&[u8], ReadError> {
    let record = effects.records.get(number);
    record.ok_or_else(|| ReadError::new("the effects of a commit", "a record is missing"))
}

/// The parallel edges between two vertices after a change, which says only what is different, and their number before and after. Without a change
/// none are left.
fn changed_list(present: Option<&[u8]>, change: Option<&[u8]>) -> Result<(Content, usize, usize), ReadError> {
    let mut edges = BTreeMap::new();
    change_edges(&mut edges, present)?;
    let before = edges.len();
    match change {
        Some(_) => change_edges(&mut edges, change)?,
        None => edges.clear(),
    }
    let mut list = EdgeListWriter::default();
    edges.iter().for_each(|(key, record)| list.push(*key, Some(record)));
    let content: Content = (!edges.is_empty()).then(|| list_as_record(&list.into_bytes()).into());
    Ok((content, before, edges.len()))
}

/// Makes the changes that a list says; a list of edges says that they are put.
fn change_edges<'b>(edges: &mut BTreeMap<u64, &'b [u8]>, list: Option<&'b [u8]>) -> Result<(), ReadError> {
    let list = list.map(list_of_record).transpose().map_err(malformed)?;
    for change in EdgeList::new(list.unwrap_or_default()) {
        match change.map_err(malformed)? {
            (key, Some(record)) => drop(edges.insert(key, record)),
            (key, None) => drop(edges.remove(&key)),
        }
    }
    Ok(())
}
