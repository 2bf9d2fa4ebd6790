//! Translates the effects of a commit into new contents of the entries that
//! [`ReadRows`](crate::ReadRows) reads.

use crate::{EntryKey, MergedEdges};
use hedgerow_model::{
    AdjacencyEffects, Direction, EdgeSchema, Effects, LabelId, LabelSchema, Outcome, ReadError, Topology,
};
use std::collections::HashMap;

/// Visits the adjacency entries that a commit changes, in the order of its effects, each with its
/// new content; `None` removes the neighbor.
///
/// Serves engines that do not read the entries that they replace: the counts of all edges are
/// [deferred](Outcome::defer), except the counts of parallel edges. `schema_of` returns the schema
/// of a label. `present` reads the current content of an entry with parallel edges, into which the
/// differences are merged. Both entries of an edge get the same list.
///
/// # Errors
/// If `present` fails, a record is missing, or a record of parallel edges is not a list.
///
/// # Panics
/// If the effects name a label for which `schema_of` returns `None`.
pub fn changed_entries<'c, P: AsRef<[u8]>>(
    effects: &Effects,
    topology: Topology,
    schema_of: impl Fn(LabelId) -> Option<&'c LabelSchema>,
    mut present: impl FnMut(LabelId, Direction, EntryKey) -> Result<Option<P>, ReadError>,
    mut visit: impl FnMut(LabelId, Direction, EntryKey, Option<&[u8]>),
) -> Result<Outcome, ReadError> {
    let mut outcome = Outcome::default();
    // By the record number of the differences.
    let mut lists = HashMap::new();
    for AdjacencyEffects { label, direction, changes } in &effects.adjacencies {
        let schema = &schema_of(*label).expect("effects name labels of the catalog").edges;
        let is_parallel = matches!(schema, EdgeSchema::Parallel(_));
        for change in changes.iter() {
            let key = EntryKey::new(change.owner(), change.neighbor());
            // True for the entry by which its edge is counted, which precedes the other entry.
            let is_canonical = topology.is_canonical_entry(*direction, change.owner(), change.neighbor());
            if is_canonical && is_parallel {
                let present = present(*label, *direction, key)?;
                let differences = change.value.map(|number| effects.record(number)).transpose()?;
                let merged = MergedEdges::of_records(present.as_ref().map(AsRef::as_ref), differences)?;
                let list = merged.to_record();
                let (before, after) = (present.is_some(), list.is_some());
                if before != after {
                    outcome.count(*label, u64::from(after), u64::from(before));
                }
                outcome.count_parallel(*label, merged.net());
                lists.insert(change.value, list);
            } else if is_canonical {
                let puts = u64::from(change.value.is_some());
                outcome.defer(*label, puts, 1 - puts);
            }
            let bits = change.value.unwrap_or_default().0.to_le_bytes();
            let content = match (schema, change.value) {
                (_, None) => None,
                (EdgeSchema::Topology | EdgeSchema::Value(_), _) => Some(&bits[..schema.column().width()]),
                (EdgeSchema::Record(_), Some(number)) => Some(effects.record(number)?),
                (EdgeSchema::Parallel(_), number) => lists.get(&number).and_then(Option::as_deref),
            };
            visit(*label, *direction, key, content);
        }
    }
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EdgeListWriter, ParallelList, list_as_record};
    use hedgerow_model::{
        Catalog, ColumnType, DeferredOutcome, EdgeChange, EdgeOutcome, EdgeValue, ParallelEdges,
        ParallelOutcome, ParallelSchema, RecordSchema, VertexId,
    };
    use std::collections::BTreeMap;

    type Contents = BTreeMap<(u16, Direction, EntryKey), Vec<u8>>;

    fn catalog() -> Catalog {
        let record = RecordSchema::default();
        let parallel = ParallelSchema { key: "key".into(), record: record.clone() };
        let schemas = [
            EdgeSchema::Topology,
            EdgeSchema::Value(ColumnType::U32),
            EdgeSchema::Record(record),
            EdgeSchema::Parallel(parallel),
        ];
        let named =
            (0..).zip(schemas).map(|(number, edges)| LabelSchema { name: format!("label {number}"), edges });
        Catalog::new(named.collect(), RecordSchema::default()).unwrap()
    }

    /// An undirected edge between 1 and 2 in each label, with both entries.
    fn effects(values: [Option<u64>; 4], records: &[&[u8]]) -> Effects {
        let mut effects = Effects::default();
        for (number, value) in (0..).zip(values) {
            let changes = [(1, 2), (2, 1)].map(|(owner, neighbor)| {
                EdgeChange::new(VertexId::new(owner), VertexId::new(neighbor), value.map(EdgeValue))
            });
            let changes = changes.into_iter().collect();
            effects.adjacencies.push(AdjacencyEffects {
                label: LabelId(number),
                direction: Direction::Out,
                changes,
            });
        }
        for record in records {
            effects.records.push(record);
        }
        effects
    }

    fn apply(contents: &mut Contents, effects: &Effects) -> Result<Outcome, ReadError> {
        let (before, catalog) = (contents.clone(), catalog());
        changed_entries(
            effects,
            Topology::Undirected,
            |label| catalog.label(label),
            |label, direction, key| Ok(before.get(&(label.0, direction, key))),
            |label, direction, key, content| match content {
                Some(content) => drop(contents.insert((label.0, direction, key), content.to_vec())),
                None => drop(contents.remove(&(label.0, direction, key))),
            },
        )
    }

    fn differences(keys: &[(u64, Option<&[u8]>)]) -> Vec<u8> {
        let mut list = EdgeListWriter::default();
        keys.iter().for_each(|(key, record)| list.push(*key, *record));
        list_as_record(&list.into_bytes())
    }

    #[test]
    fn contents_are_those_of_the_label_and_parallel_edges_are_counted() {
        let mut contents = Contents::new();
        let two = differences(&[(3, Some(b"three")), (7, Some(b"seven"))]);
        let put = effects([Some(0), Some(258), Some(0), Some(1)], &[b"record", &two]);
        let outcome = apply(&mut contents, &put).unwrap();
        assert_eq!(contents.len(), 8);
        for (owner, neighbor) in [(1, 2), (2, 1)] {
            let of = |label| &contents[&(label, Direction::Out, EntryKey { owner, neighbor })][..];
            assert_eq!([of(0), of(1), of(2)], [&[][..], &[2, 1, 0, 0], b"record"]);
            assert_eq!(ParallelList::of_record(of(3)).unwrap().find(7), Ok(Some(&b"seven"[..])));
        }
        let deferred = |puts| {
            [0, 1, 2]
                .map(|label| DeferredOutcome { label: LabelId(label), puts, deletions: 1 - puts })
                .to_vec()
        };
        let label = LabelId(3);
        assert_eq!(outcome.deferred.to_vec(), deferred(1));
        assert_eq!(outcome.edges[..], [EdgeOutcome { label, added: 1, removed: 0 }]);
        assert_eq!(outcome.parallel, [ParallelOutcome { label, net: 2 }]);

        let one = differences(&[(3, None), (5, None)]);
        let outcome = apply(&mut contents, &effects([None, None, None, Some(0)], &[&one])).unwrap();
        assert_eq!((contents.len(), outcome.deferred.to_vec()), (2, deferred(0)));
        assert!(outcome.edges.is_empty(), "an edge is left between the two");
        assert_eq!(outcome.parallel, [ParallelOutcome { label, net: -1 }]);

        let outcome = apply(&mut contents, &effects([None; 4], &[])).unwrap();
        assert!(contents.is_empty());
        assert_eq!(outcome.edges[..], [EdgeOutcome { label, added: 0, removed: 1 }]);
        assert_eq!(outcome.parallel, [ParallelOutcome { label, net: -1 }]);
    }

    #[test]
    fn missing_records_are_refused() {
        let missing = effects([None, None, Some(4), None], &[]);
        assert_eq!(apply(&mut Contents::new(), &missing).unwrap_err().place(), "the effects of a commit");
        let no_list = effects([None, None, None, Some(0)], &[b"?"]);
        assert_eq!(apply(&mut Contents::new(), &no_list).unwrap_err().place(), "a list of parallel edges");
    }
}
