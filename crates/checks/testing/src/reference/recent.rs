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
}

/// Approximate memory of a change.
pub(super) fn bytes_of(content: &Content) -> usize {
    ENTRY_BYTES + content.as_ref().map_or(0, |content| content.len())
}

impl Recent {
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a version. It replaces a version born at or after `editable_from`, which no reader
    /// sees, as the stamp proves.
    pub(super) fn put(&mut self, stamp: Stamp, key: Key, content: Content) {
        let newest = self.entries.range(Version::all_of(&key.alone())).next();
        if let Some(version) = newest.map(|(version, _)| *version)
            && version.at.0 >= stamp.editable_from()
        {
            self.bytes -= self.entries.remove(&version).map_or(0, |content| bytes_of(&content));
        }
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
        let mut rest = Recent::default();
        let newer = self.entries.iter().filter(|(version, _)| version.at.0 > at);
        newer.for_each(|(version, content)| rest.insert(*version, content.clone()));
        rest
    }
}
