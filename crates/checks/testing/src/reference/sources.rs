//! The sources of a state, merged: the recent changes and the files.

use super::entry::{Entry, Key, Table, Version};
use super::file::SortedFile;
use super::recent::Recent;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{CommitTimestamp, ReadError};
use hedgerow_sync::{Arc, Mutex};
use std::cmp::Reverse;
use std::ops::Range;

/// A flush or a merge makes new sources. Readers of the old ones continue to use them: their files
/// stay, and their recent changes do not grow.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) recent: Mutex<Recent>,
    pub(super) files: Vec<Arc<SortedFile>>,
}

type Entries<'s> = Box<dyn Iterator<Item = Result<Entry, ReadError>> + 's>;

fn boxed<'s>(entries: impl Iterator<Item = Result<Entry, ReadError>> + 's) -> Entries<'s> {
    Box::new(entries)
}

/// An object that exists at a timestamp.
pub(super) type Visible = (Key, Arc<[u8]>);

impl Sources {
    /// Returns all versions in key order, the newest of each key first. Stop reading after an
    /// error.
    pub(super) fn versions(
        &self,
        keys: Range<Key>,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> + use<'_> {
        let recent = self.recent.lock().entries(&keys).into_iter().map(Ok);
        let files = self.files.iter().map(|file| boxed(file.entries(keys.clone())));
        let mut sources: Vec<_> = files.chain([boxed(recent)]).map(Iterator::peekable).collect();
        std::iter::from_fn(move || {
            let heads = sources.iter_mut().enumerate().filter_map(|(number, source)| {
                // An error comes before all entries.
                Some((source.peek()?.as_ref().ok().map(|entry| entry.version), number))
            });
            let (_, number) = heads.min()?;
            sources[number].next()
        })
    }

    /// Returns the objects with these keys that exist at a timestamp.
    pub(super) fn visible(
        &self,
        keys: Range<Key>,
        at: CommitTimestamp,
    ) -> impl Iterator<Item = Result<Visible, ReadError>> + use<'_> {
        let mut decided = None;
        self.versions(keys).filter_map(move |entry| match entry {
            Err(error) => Some(Err(error)),
            Ok(Entry { version, .. }) if version.at.0 > at || decided == Some(version.key) => None,
            Ok(Entry { version, content }) => {
                decided = Some(version.key);
                content.map(|content| Ok((version.key, content)))
            }
        })
    }

    /// Returns all versions that a live timestamp may see, and counts the others.
    pub(super) fn needed(
        &self,
        live: &LiveTimestamps,
        dropped: &mut usize,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> {
        let (mut entries, mut newer) = (self.versions(Table::all()).peekable(), None::<Version>);
        std::iter::from_fn(move || {
            loop {
                let entry = match entries.next()? {
                    Ok(entry) => entry,
                    error => return Some(error),
                };
                let Version { key, at: Reverse(born) } = entry.version;
                let newer = newer.replace(entry.version).filter(|newer| newer.key == key);
                let unseen = newer.is_some_and(|Version { at: Reverse(superseded), .. }| {
                    live.decides(superseded) && live.holder(born..superseded).is_none()
                });
                let older =
                    |next: &Result<Entry, _>| next.as_ref().map_or(true, |next| next.version.key == key);
                // A deletion without an older version is redundant.
                let says_nothing = entry.content.is_none() && !entries.peek().is_some_and(older);
                if !unseen && !says_nothing {
                    return Some(Ok(entry));
                }
                *dropped += 1;
            }
        })
    }
}
