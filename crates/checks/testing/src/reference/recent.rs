//! The entries that are in no file yet.

use super::entry::{Content, Entry, Key, Version};
use hedgerow_model::CommitTimestamp;
use hedgerow_model::token::Stamp;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Approximate memory of an entry without its content.
const ENTRY_BYTES: usize = 64;

#[derive(Default)]
pub(super) struct Recent {
    entries: BTreeMap<Version, Content>,
    bytes: usize,
    /// Bytes of the versions that newer ones of the same key follow, and of deletions.
    superseded_bytes: usize,
}

/// Collects entries in the order of their versions, the newest of each key first.
impl FromIterator<Entry> for Recent {
    fn from_iter<I: IntoIterator<Item = Entry>>(entries: I) -> Self {
        let (mut recent, mut newer) = (Recent::default(), None);
        for Entry { version, content } in entries {
            let is_superseded = newer.replace(version.key) == Some(version.key) || content.is_none();
            recent.superseded_bytes += if is_superseded { bytes_of(&content) } else { 0 };
            recent.insert(version, content);
        }
        recent
    }
}

/// Approximate memory of a change.
pub(super) fn bytes_of(content: &Content) -> usize {
    ENTRY_BYTES + content.as_ref().map_or(0, |content| content.len())
}

impl Recent {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn superseded_bytes(&self) -> usize {
        self.superseded_bytes
    }

    /// Adds a version. It replaces a version born at or after `editable_from`, which no reader
    /// sees, as the stamp proves.
    pub(super) fn put(&mut self, stamp: Stamp, key: Key, content: Content) {
        let newest = self.entries.range(Version::all_of(&key.alone())).next();
        let newest = newest.map(|(version, content)| (*version, bytes_of(content), content.is_none()));
        if let Some((version, bytes, is_deletion)) = newest {
            if version.at.0 >= stamp.editable_from() {
                self.entries.remove(&version);
                self.bytes -= bytes;
                self.superseded_bytes -= if is_deletion { bytes } else { 0 };
            } else if !is_deletion {
                self.superseded_bytes += bytes;
            }
        }
        self.superseded_bytes += if content.is_none() { bytes_of(&content) } else { 0 };
        self.insert(Version { key, at: Reverse(stamp.at()) }, content);
    }

    fn insert(&mut self, version: Version, content: Content) {
        self.bytes += bytes_of(&content);
        self.entries.insert(version, content);
    }

    /// Copies the entries, so that a reader holds no lock while it continues.
    pub(super) fn entries(&self, keys: &Range<Key>) -> Vec<Entry> {
        let entries = self.entries.range(Version::all_of(keys));
        entries.map(|(version, content)| Entry { version: *version, content: content.clone() }).collect()
    }

    /// Returns the changes that remain after a flush up to `at`.
    pub(super) fn after(&self, at: CommitTimestamp) -> Recent {
        let newer = self.entries.iter().filter(|(version, _)| version.at.0 > at);
        newer.map(|(version, content)| Entry { version: *version, content: content.clone() }).collect()
    }
}
