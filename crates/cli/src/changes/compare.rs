//! Compares two states of graphs by key.

use super::content::{Content, Row, of_vertex, row_of};
use super::item::Item;
use crate::error::{CliError, StoredError};
use crate::interrupt::Interrupt;
use crate::objects::neighbors::exists;
use hedgerow::{Catalog, Key, LabelId, Snapshot, VertexId};
use serde::Serialize;
use std::collections::HashSet;

/// Vertices compared between two checks for Ctrl-C.
const BETWEEN_CHECKS: u64 = 1 << 12;

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Added,
    Deleted,
    Changed,
}

/// A difference between two states: a vertex, or an edge.
#[derive(Debug, Serialize)]
pub struct Difference<'a> {
    pub change: Kind,
    #[serde(flatten)]
    pub item: Item<'a>,
}

/// The number of differences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub vertices_added: u64,
    pub vertices_deleted: u64,
    pub vertices_changed: u64,
    pub edges_added: u64,
    pub edges_deleted: u64,
    pub edges_changed: u64,
}

impl Counts {
    fn add(&mut self, difference: &Difference<'_>) {
        let count = match (difference.item.label.is_some(), difference.change) {
            (false, Kind::Added) => &mut self.vertices_added,
            (false, Kind::Deleted) => &mut self.vertices_deleted,
            (false, Kind::Changed) => &mut self.vertices_changed,
            (true, Kind::Added) => &mut self.edges_added,
            (true, Kind::Deleted) => &mut self.edges_deleted,
            (true, Kind::Changed) => &mut self.edges_changed,
        };
        *count += 1;
    }
}

/// A label, with its ids in both states; `None` where there is no such label.
pub struct ComparedLabel {
    name: String,
    ids: [Option<LabelId>; 2],
}

impl ComparedLabel {
    /// The labels of two catalogs, matched by name.
    pub fn of(before: &Catalog, after: &Catalog) -> Vec<ComparedLabel> {
        let names = before.labels().iter().chain(after.labels()).map(|label| label.name.as_str());
        let mut seen = HashSet::new();
        let names = names.filter(|name| seen.insert(*name));
        let ids = |name| [before, after].map(|catalog| catalog.label_id(name).ok());
        names.map(|name| ComparedLabel { name: name.to_owned(), ids: ids(name) }).collect()
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// Two states, and the parts of them to compare.
pub struct Comparison<'a> {
    /// The state before, and the state after.
    pub states: [&'a Snapshot; 2],
    pub catalogs: &'a [Catalog; 2],
    /// The labels of edges.
    pub labels: &'a [ComparedLabel],
    /// False to compare edges only.
    pub vertices: bool,
    /// The ids of vertices that may differ, or whose edges may, if both states are of one store;
    /// `None` for all.
    pub touched: Option<HashSet<VertexId>>,
}

impl Comparison<'_> {
    /// Passes every difference to `visit`, by vertex: those before first, then the new ones, in the
    /// order of their ids. An undirected edge is a difference at the smaller key. O(vertices and
    /// edges), or O(touched vertices and their edges).
    pub fn run(
        &self,
        interrupt: &Interrupt,
        mut visit: impl FnMut(&Difference<'_>) -> Result<(), CliError>,
    ) -> Result<Counts, CliError> {
        let (mut counts, mut compared) = (Counts::default(), 0_u64);
        let mut visit = |difference: Difference<'_>| {
            counts.add(&difference);
            visit(&difference)
        };
        let [before, after] = self.states;
        for (snapshot, is_new) in [(before, false), (after, true)] {
            self.for_each_key(snapshot, |key| {
                compared += 1;
                if compared.is_multiple_of(BETWEEN_CHECKS) {
                    interrupt.check()?;
                }
                match is_new {
                    false => self.compare(key, [true, exists(after, key)?], &mut visit),
                    true if exists(before, key)? => Ok(()),
                    true => self.compare(key, [false, true], &mut visit),
                }
            })?;
        }
        Ok(counts)
    }

    /// Visits the keys of the vertices that may differ.
    fn for_each_key(
        &self,
        snapshot: &Snapshot,
        mut visit: impl FnMut(&Key) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let Some(touched) = &self.touched else {
            return snapshot.try_for_each_vertex(|_, key| visit(&key));
        };
        let mut touched: Vec<VertexId> = touched.iter().copied().collect();
        touched.sort_unstable();
        for vertex in touched {
            if let Some(key) = snapshot.key(vertex).map_err(StoredError::from)? {
                visit(&key)?;
            }
        }
        Ok(())
    }

    /// Compares a vertex that exists in some of the states, and the edges that start there.
    fn compare(
        &self,
        key: &Key,
        exists: [bool; 2],
        visit: &mut dyn FnMut(Difference<'_>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let (states, catalogs) = (self.states, self.catalogs);
        let content = |state: usize| {
            let schema = catalogs[state].vertices();
            exists[state].then(|| of_vertex(states[state], schema, key)).transpose()
        };
        if let Some((change, contents)) = differs([content(0)?, content(1)?]).filter(|_| self.vertices) {
            visit(Difference { change, item: Item::vertex(key.clone(), contents) })?;
        }
        for label in self.labels {
            let row = |state: usize| -> Result<Row, StoredError> {
                let (Some(id), true) = (label.ids[state], exists[state]) else { return Ok(Row::new()) };
                let schema = catalogs[state].label(id).map(|label| &label.edges);
                schema.map_or(Ok(Row::new()), |schema| row_of(states[state], id, schema, key))
            };
            let (mut before, mut after) = (row(0)?, row(1)?);
            let new: Vec<_> = after.keys().filter(|edge| !before.contains_key(edge)).cloned().collect();
            let edges: Vec<_> = before.keys().cloned().chain(new).collect();
            for edge in edges {
                let contents = [before.remove(&edge), after.remove(&edge)];
                let Some((change, contents)) = differs(contents) else { continue };
                let (neighbor, number) = edge;
                let item = Item::edge(label.name(), (key.clone(), neighbor), number, contents);
                visit(Difference { change, item })?;
            }
        }
        Ok(())
    }
}

/// The difference between two contents, of which one at least exists, if they differ.
fn differs(contents: [Option<Content>; 2]) -> Option<(Kind, [Option<Content>; 2])> {
    let change = match &contents {
        [Some(before), Some(after)] if before.is_same(after) => return None,
        [Some(_), Some(_)] => Kind::Changed,
        [Some(_), None] => Kind::Deleted,
        [None, Some(_)] => Kind::Added,
        [None, None] => return None,
    };
    Some((change, contents))
}

impl Kind {
    /// The sign at the beginning of a line.
    pub fn sign(self) -> &'static str {
        match self {
            Kind::Added => "+",
            Kind::Deleted => "-",
            Kind::Changed => "~",
        }
    }
}
