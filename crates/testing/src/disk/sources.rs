//! All that a state is read from, merged: the recent changes and the files.

use super::entry::{Entry, Key};
use super::file::SortedFile;
use super::recent::Recent;
use hedgerow_model::token::LiveTimestamps;
use hedgerow_model::{ReadError, Timestamp};
use hedgerow_sync::{Arc, Mutex};
use std::ops::Range;

/// A flush or a merge makes new sources. Who reads the old ones goes on to do so: their files stay, and their recent changes get no more.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) recent: Mutex<Recent>,
    pub(super) files: Vec<Arc<SortedFile>>,
}

type Entries<'s> = Box<dyn Iterator<Item = Result<Entry, ReadError>> + 's>;

fn boxed<'s>(entries: impl Iterator<Item = Result<Entry, ReadError>> + 's) -> Entries<'s> {
    Box::new(entries)
}

/// Something that exists at a timestamp.
pub(super) type Visible = (Key, Arc<[u8]>);

impl Sources {
    /// All versions, in the order of their keys, the newest of each first. After an error nothing more is to be read.
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

    /// What exists of these keys at a timestamp.
    pub(super) fn visible(
        &self,
        keys: Range<Key>,
        at: Timestamp,
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

    /// All versions but those that no live timestamp sees, which are counted.
    pub(super) fn needed(
        &self,
        live: &LiveTimestamps,
        dropped: &mut usize,
    ) -> impl Iterator<Item = Result<Entry, ReadError>> {
        let mut entries = self.versions(Key::ALL).peekable();
        let mut of_key = Vec::new().into_iter();
        std::iter::from_fn(move || {
            while of_key.len() == 0 {
                let newest = match entries.next()? {
                    Ok(newest) => newest,
                    error => return Some(error),
                };
                let (key, mut superseded) = (newest.version.key, newest.version.at.0);
                let mut kept = vec![newest];
                let same =
                    |entry: &Result<Entry, _>| entry.as_ref().is_ok_and(|entry| entry.version.key == key);
                while let Some(Ok(older)) = entries.next_if(same) {
                    let born = older.version.at.0;
                    if !live.decides(superseded) || live.holder(born..superseded).is_some() {
                        kept.push(older);
                    } else {
                        *dropped += 1;
                    }
                    superseded = born;
                }
                // That something exists no more need not be said where nothing older is left.
                while kept.pop_if(|oldest| oldest.content.is_none()).is_some() {
                    *dropped += 1;
                }
                of_key = kept.into_iter();
            }
            of_key.next().map(Ok)
        })
    }
}
