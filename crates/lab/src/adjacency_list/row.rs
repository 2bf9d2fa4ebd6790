//! The neighbours of one vertex, with a version chain per entry.

use super::entries::{Entries, Head};
use super::garbage::Superseded;
use super::version::{Begin, Version};
use hedgerow_model::token::Stamp;
use hedgerow_model::{Column, ColumnType, EdgeChange, EdgeValue, Timestamp, VertexId};

/// Entries whose versions are checked together before they are copied one by one.
const STRETCH: usize = 32;

/// The bytes of a superseded version and of the note that files it.
pub(super) const VERSION_BYTES: usize = size_of::<Version<EdgeValue>>() + size_of::<Superseded>();

/// The neighbours of a vertex, deleted ones included that somebody may still see.
///
/// An entry that is absent, a deletion without older versions, is taken out by whoever makes one.
pub(super) struct Row {
    pub(super) entries: Entries,
}

/// What changes would do to a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    /// Whether any of the changes does anything.
    pub(super) makes_a_difference: bool,
    /// How many entries larger arrays have to hold, if the present ones don't suffice.
    pub(super) capacity: Option<usize>,
    /// How many more entries those hold.
    pub(super) larger_by: usize,
}

impl Default for Row {
    /// Without room. The column gets its type when there is some.
    fn default() -> Self {
        Row { entries: Entries::with_capacity(ColumnType::Unit, 0) }
    }
}

impl Row {
    // --- reading -------------------------------------------------------------------------------

    /// The value of the edge to `neighbour` at `at`. O(log entries + versions newer than `at`).
    #[inline]
    pub(super) fn find(&self, neighbour: VertexId, at: Timestamp) -> Option<EdgeValue> {
        let position = self.entries.position(neighbour).ok()?;
        let head = &self.entries.heads[position];
        if head.begin.shows_at(at) { Some(self.entries.values.get(position)) } else { head.earlier(at) }
    }

    /// How many neighbours there are at `at`. O(entries).
    pub(super) fn degree(&self, at: Timestamp) -> usize {
        self.entries.heads.iter().filter(|head| head.shows_at(at)).count()
    }

    /// Appends the neighbours at `at` to `neighbours` and `values`. O(entries).
    pub(super) fn copy_visible<W: Column>(
        &self,
        at: Timestamp,
        neighbours: &mut Vec<VertexId>,
        values: &mut Vec<W>,
    ) {
        if self.entries.len() == 0 {
            return;
        }
        let column = W::slice(&self.entries.values, 0..self.entries.len());
        let stretches = self.entries.neighbours.chunks(STRETCH).zip(self.entries.heads.chunks(STRETCH));
        for ((ids, heads), column) in stretches.zip(column.chunks(STRETCH)) {
            // Without a branch per entry, so that the processor compares several at once.
            if heads.iter().fold(true, |all, head| all & head.begin.shows_at(at)) {
                neighbours.extend_from_slice(ids);
                values.extend_from_slice(column);
                continue;
            }
            for ((neighbour, head), value) in ids.iter().zip(heads).zip(column) {
                let visible =
                    if head.begin.shows_at(at) { Some(*value) } else { head.earlier(at).map(W::from_bits) };
                if let Some(value) = visible {
                    neighbours.push(*neighbour);
                    values.push(value);
                }
            }
        }
    }

    // --- writing -------------------------------------------------------------------------------

    /// What `changes`, which ascend by neighbour, would do. `visit` is told of each edge that
    /// begins or ceases to exist. O(changes · log entries).
    pub(super) fn plan(&self, changes: &[EdgeChange], mut visit: impl FnMut(&EdgeChange)) -> Plan {
        let (mut plan, mut entries) = (Plan::default(), self.entries.len());
        for change in changes {
            let found = self.entries.position(change.neighbour);
            entries += usize::from(found.is_err() && change.value.is_some());
            let old = found.ok().and_then(|position| self.newest(position));
            plan.makes_a_difference |= old != change.value;
            if old.is_some() != change.value.is_some() {
                visit(change);
            }
        }
        plan.capacity = self.entries.larger_capacity(entries);
        plan.larger_by = plan.capacity.map_or(0, |capacity| capacity - self.entries.capacity());
        plan
    }

    /// Makes changes, which ascend by neighbour, at a stamp. The capacity suffices, see
    /// [`Row::plan`]. `kept` is told of each version that is superseded and kept: the neighbour and
    /// the birth. O(entries behind the first new one + changes · log entries).
    pub(super) fn apply(
        &mut self,
        changes: &[EdgeChange],
        stamp: Stamp,
        mut kept: impl FnMut(VertexId, Timestamp),
    ) {
        let (mut new, mut some_absent) = (Vec::new(), false);
        for change in changes {
            match (self.entries.position(change.neighbour), change.value) {
                (Ok(position), _) => {
                    let superseded = self.change(position, change.value, stamp);
                    superseded.into_iter().for_each(|born| kept(change.neighbour, born));
                    some_absent |= self.entries.heads[position].is_absent();
                }
                (Err(position), Some(value)) if changes.len() == 1 => {
                    self.entries.insert(position, (change.neighbour, value), Begin::new(stamp.at(), true));
                }
                (Err(_), Some(value)) => new.push((change.neighbour, value)),
                (Err(_), None) => {}
            }
        }
        if some_absent {
            self.drop_absent(changes.iter().map(|change| change.neighbour));
        }
        if !new.is_empty() {
            self.entries.insert_all(&new, Begin::new(stamp.at(), true));
        }
    }

    /// Frees the superseded version of `neighbour` born at `born`. Whoever calls this calls
    /// [`Row::drop_absent`] afterwards.
    pub(super) fn remove_version(&mut self, neighbour: VertexId, born: Timestamp) {
        let position = self.entries.position(neighbour).expect("a filed version has an entry");
        let removed = self.entries.heads[position].older.remove(born);
        assert!(removed.is_some(), "a filed version is linked");
    }

    /// Takes out which of the entries of `neighbours` are deletions that nobody has to see.
    ///
    /// O(entries behind it) for one, O(entries) for several.
    pub(super) fn drop_absent(&mut self, neighbours: impl Iterator<Item = VertexId>) {
        let found = neighbours.filter_map(|neighbour| self.entries.position(neighbour).ok());
        let mut absent = found.filter(|position| self.entries.heads[*position].is_absent());
        match (absent.next(), absent.next()) {
            (None, _) => {}
            (Some(position), None) => self.entries.remove(position),
            (Some(first), Some(_)) => self.entries.compact(first),
        }
    }

    /// The newest value of an entry; `None` if it is deleted.
    fn newest(&self, position: usize) -> Option<EdgeValue> {
        self.entries.heads[position].begin.exists().then(|| self.entries.values.get(position))
    }

    /// Gives an entry a new newest version. The birth of the former one, if it is kept.
    fn change(&mut self, position: usize, value: Option<EdgeValue>, stamp: Stamp) -> Option<Timestamp> {
        if self.newest(position) == value {
            return None;
        }
        let old = self.entries.values.get(position);
        let head = &mut self.entries.heads[position];
        let born = head.begin.at();
        // What nobody sees or will is overwritten.
        let kept = (born < stamp.editable_from()).then_some(born);
        if kept.is_some() {
            head.older.push(head.begin, old);
        }
        head.begin = Begin::new(stamp.at(), value.is_some());
        self.entries.values.set(position, value.unwrap_or_default());
        kept
    }
}

impl Head {
    #[inline]
    fn shows_at(&self, at: Timestamp) -> bool {
        self.begin.shows_at(at) || self.earlier(at).is_some()
    }

    /// The value at a timestamp at which the newest version does not show.
    fn earlier(&self, at: Timestamp) -> Option<EdgeValue> {
        let is_newer = self.begin.at() > at;
        self.older.at(at).filter(|_| is_newer).copied()
    }
}

#[cfg(test)]
impl Row {
    /// How many superseded versions there are.
    pub(super) fn versions(&self) -> usize {
        self.entries.heads.iter().map(|head| head.older.states().count()).sum()
    }

    /// Whether what the documentation of the fields promises holds.
    pub(super) fn assert_is_sound(&self) {
        assert!(self.entries.neighbours.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(
            self.entries.heads.len() == self.entries.len()
                && self.entries.heads.iter().all(|head| !head.is_absent())
        );
        assert!(
            self.entries.values.heap_bytes() == 0
                || self.entries.values.heap_bytes() >= 4 * self.entries.len()
        );
    }
}
