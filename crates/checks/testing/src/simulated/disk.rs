//! The state of a simulated disk: the durable state, the current state, and the pending changes
//! between them.

use super::Survival;
use super::content::{FileContent, PAGE};
use super::random::Random;
use hedgerow_sync::Arc;
use std::collections::{BTreeMap, HashMap};

/// Bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// A file, independent of its names.
pub(super) type Node = u64;

/// Maps names to files.
type DirectoryEntries = BTreeMap<String, Node>;

/// A directory with its files.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    /// True if the directory exists.
    pub(super) exists: bool,
    durable_entries: Arc<DirectoryEntries>,
    entries: Arc<DirectoryEntries>,
    files: BTreeMap<Node, FileStates>,
    /// Changes that are not synced, in order.
    pending: Vec<Pending>,
    next_node: Node,
}

#[derive(Clone, Debug, Default)]
struct FileStates {
    durable: Arc<FileContent>,
    current: Arc<FileContent>,
}

#[derive(Clone, Debug)]
struct Pending {
    change: DiskChange,
    /// True if a sync of the change failed: no later sync makes it durable.
    lost: bool,
}

#[derive(Clone, Debug)]
enum DiskChange {
    Write { node: Node, offset: u64, bytes: Arc<[u8]> },
    SetLength { node: Node, length: u64 },
    Link { name: String, node: Node },
    Rename { from: String, to: String, node: Node },
    Unlink { name: String },
}

impl DiskChange {
    /// Returns the changed file; `None` for a change of the directory.
    fn file(&self) -> Option<Node> {
        match self {
            DiskChange::Write { node, .. } | DiskChange::SetLength { node, .. } => Some(*node),
            DiskChange::Link { .. } | DiskChange::Rename { .. } | DiskChange::Unlink { .. } => None,
        }
    }

    fn apply_to_content(&self, content: &mut FileContent) {
        match self {
            DiskChange::Write { offset, bytes, .. } => content.write(bytes, *offset),
            DiskChange::SetLength { length, .. } => content.set_length(*length),
            DiskChange::Link { .. } | DiskChange::Rename { .. } | DiskChange::Unlink { .. } => {}
        }
    }

    fn apply_to_entries(&self, entries: &mut DirectoryEntries) {
        match self {
            DiskChange::Link { name, node } => {
                entries.insert(name.clone(), *node);
            }
            DiskChange::Rename { from, to, node } => {
                if entries.get(from) == Some(node) {
                    entries.remove(from);
                }
                entries.insert(to.clone(), *node);
            }
            DiskChange::Unlink { name } => {
                entries.remove(name);
            }
            DiskChange::Write { .. } | DiskChange::SetLength { .. } => {}
        }
    }
}

impl Disk {
    pub(super) fn names(&self) -> Vec<String> {
        self.entries.keys().cloned().collect()
    }

    pub(super) fn node(&self, name: &str) -> Option<Node> {
        self.entries.get(name).copied()
    }

    pub(super) fn read(&self, node: Node, buffer: &mut [u8], offset: u64) -> usize {
        self.files.get(&node).map_or(0, |file| file.current.read(buffer, offset))
    }

    pub(super) fn length(&self, node: Node) -> u64 {
        self.files.get(&node).map_or(0, |file| file.current.length())
    }

    pub(super) fn create(&mut self, name: &str) -> Node {
        let node = self.next_node;
        self.next_node += 1;
        self.files.insert(node, FileStates::default());
        self.change(DiskChange::Link { name: name.to_owned(), node });
        node
    }

    pub(super) fn write(&mut self, node: Node, bytes: &[u8], offset: u64) {
        self.change(DiskChange::Write { node, offset, bytes: bytes.into() });
    }

    pub(super) fn set_length(&mut self, node: Node, length: u64) {
        self.change(DiskChange::SetLength { node, length });
    }

    pub(super) fn rename(&mut self, node: Node, from: &str, to: &str) {
        self.change(DiskChange::Rename { from: from.to_owned(), to: to.to_owned(), node });
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.change(DiskChange::Unlink { name: name.to_owned() });
    }

    fn change(&mut self, change: DiskChange) {
        match change.file() {
            Some(node) => {
                let file = self.files.entry(node).or_default();
                change.apply_to_content(Arc::make_mut(&mut file.current));
            }
            None => change.apply_to_entries(Arc::make_mut(&mut self.entries)),
        }
        self.pending.push(Pending { change, lost: false });
    }

    /// Makes a file or the directory durable, except changes that a failed sync has lost.
    pub(super) fn sync(&mut self, file: Option<Node>) {
        let (synced, pending) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition::<Vec<_>, _>(|pending| pending.change.file() == file);
        self.pending = pending;
        let changes = synced.iter().filter(|pending| !pending.lost).map(|pending| &pending.change);
        match file.and_then(|node| self.files.get_mut(&node)) {
            Some(file) => {
                changes.for_each(|change| change.apply_to_content(Arc::make_mut(&mut file.durable)));
            }
            None => {
                changes.for_each(|change| change.apply_to_entries(Arc::make_mut(&mut self.durable_entries)));
            }
        }
    }

    /// Fails a sync: its changes never become durable.
    pub(super) fn fail_sync(&mut self, file: Option<Node>) {
        for pending in self.pending.iter_mut().filter(|pending| pending.change.file() == file) {
            pending.lost = true;
        }
    }

    /// Returns the disk after a power failure: the durable state, and the surviving part of the
    /// pending changes.
    pub(super) fn after_crash(&self, survival: Survival, random: &mut Random) -> Disk {
        let mut entries = DirectoryEntries::clone(&self.durable_entries);
        let mut contents: BTreeMap<Node, FileContent> =
            self.files.iter().map(|(node, file)| (*node, FileContent::clone(&file.durable))).collect();
        match survival {
            Survival::Nothing => {}
            Survival::Everything => self.keep_prefix(self.pending.len(), &mut entries, &mut contents),
            Survival::Prefix => {
                let cut = random.below(self.pending.len() as u64 + 1) as usize;
                self.keep_prefix(cut, &mut entries, &mut contents);
                if let Some(Pending { change: DiskChange::Write { node, offset, bytes }, .. }) =
                    self.pending.get(cut)
                {
                    let end = torn_end(*offset, bytes.len(), random);
                    contents.entry(*node).or_default().write(&bytes[..end], *offset);
                }
            }
            Survival::Sectors => self.keep_some(SECTOR, &mut entries, &mut contents, random),
            Survival::Pages => self.keep_some(PAGE, &mut entries, &mut contents, random),
        }
        let mut files = BTreeMap::new();
        for node in entries.values() {
            let content = Arc::new(contents.remove(node).unwrap_or_default());
            files.insert(*node, FileStates { durable: Arc::clone(&content), current: content });
        }
        let entries = Arc::new(entries);
        Disk {
            exists: self.exists,
            durable_entries: Arc::clone(&entries),
            entries,
            files,
            pending: Vec::new(),
            next_node: self.next_node,
        }
    }

    /// Applies the first `count` changes, in order.
    fn keep_prefix(
        &self,
        count: usize,
        entries: &mut DirectoryEntries,
        contents: &mut BTreeMap<Node, FileContent>,
    ) {
        for Pending { change, .. } in &self.pending[..count] {
            match change.file() {
                Some(node) => change.apply_to_content(contents.entry(node).or_default()),
                None => change.apply_to_entries(entries),
            }
        }
    }

    /// Restores each unit of each file to its content at some time since its last sync, and keeps
    /// any changes of the directory.
    fn keep_some(
        &self,
        unit: usize,
        entries: &mut DirectoryEntries,
        contents: &mut BTreeMap<Node, FileContent>,
        random: &mut Random,
    ) {
        for Pending { change, .. } in &self.pending {
            if change.file().is_none() && random.below(2) == 0 {
                change.apply_to_entries(entries);
            }
        }
        for (node, content) in contents {
            let changes = self.pending.iter().map(|pending| &pending.change);
            let changes: Vec<&DiskChange> = changes.filter(|change| change.file() == Some(*node)).collect();
            if !changes.is_empty() {
                keep_units(unit, &changes, content, random);
            }
        }
    }
}

/// Applies the changes of one file unit by unit, each up to a random change.
fn keep_units(unit: usize, changes: &[&DiskChange], content: &mut FileContent, random: &mut Random) {
    // The length after some change; half of the time after the last change.
    let whole = changes.len() as u64;
    let length_after = if random.below(2) == 0 { whole } else { random.below(whole + 1) };
    let mut survives: HashMap<u64, u64> = HashMap::new();
    let mut length = content.length();
    for (number, change) in (1..).zip(changes) {
        let counted = number <= length_after;
        match change {
            DiskChange::Write { offset, bytes, .. } => {
                for (start, part) in units(*offset, bytes, unit) {
                    let last = survives.entry(start / unit as u64).or_insert_with(|| last_of(whole, random));
                    if number <= *last {
                        content.write(part, start);
                    }
                }
                let end = offset + bytes.len() as u64;
                length = if counted { length.max(end) } else { length };
            }
            DiskChange::SetLength { length: set, .. } if counted => {
                content.set_length((*set).min(content.length()));
                length = *set;
            }
            _ => {}
        }
    }
    content.set_length(length);
}

/// Returns the number of the change, of `count`, after which a unit was written: none, all, or in
/// between.
fn last_of(count: u64, random: &mut Random) -> u64 {
    match random.below(3) {
        0 => 0,
        1 => count,
        _ => random.below(count + 1),
    }
}

/// Splits a write into units, each with its offset.
fn units(offset: u64, bytes: &[u8], unit: usize) -> impl Iterator<Item = (u64, &[u8])> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let start = offset + done as u64;
        let room = unit - (start % unit as u64) as usize;
        let part = &bytes[done..bytes.len().min(done + room)];
        done += part.len();
        (!part.is_empty()).then_some((start, part))
    })
}

/// Returns the number of bytes of a torn write that reached the disk: up to the end of a sector.
fn torn_end(offset: u64, length: usize, random: &mut Random) -> usize {
    let sectors = (offset + length as u64) / SECTOR as u64 - offset / SECTOR as u64;
    let end = (offset / SECTOR as u64 + random.below(sectors + 1)) * SECTOR as u64;
    usize::try_from(end.saturating_sub(offset)).map_or(length, |end| end.min(length))
}
