//! Lists the commits of a log, in either order, concurrently with a process that writes to it.

use super::{Manifest, SegmentEntry, StoreFiles};
use crate::body::{CommitSummary, LoggedCommit, LoggedEdges};
use crate::error::StoreError;
use crate::files::FileSystem;
use crate::segment::LogRecord;
use hedgerow_model::{CommitTimestamp, KeyKind, VertexId};
use hedgerow_sync::Arc;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Maximum number of attempts while another process replaces files of the log.
const LOOKS: usize = 16;

/// The commits to list. By default all of them, the newest first.
#[derive(Clone, Copy, Debug)]
pub struct CommitRange {
    /// Only later commits.
    pub after: CommitTimestamp,
    /// Only commits up to this one.
    pub through: CommitTimestamp,
    /// Only commits of this wall-clock time or later, in microseconds since 1970-01-01 UTC.
    pub since: u64,
    /// Only commits of this wall-clock time or earlier.
    pub until: u64,
    /// True to list the oldest commit first.
    pub oldest_first: bool,
}

impl Default for CommitRange {
    fn default() -> Self {
        CommitRange {
            after: CommitTimestamp::ZERO,
            through: CommitTimestamp(u64::MAX),
            since: 0,
            until: u64::MAX,
            oldest_first: false,
        }
    }
}

impl CommitRange {
    fn contains(&self, record: &LogRecord<'_>) -> bool {
        let LogRecord { at, wall_clock, .. } = *record;
        (self.after < at && at <= self.through) && (self.since..=self.until).contains(&wall_clock)
    }

    /// Returns true if a segment may have commits of the range, judged by its last and its first
    /// commit, if they are known. Timestamps and wall-clock times ascend.
    fn may_meet(&self, entry: &SegmentEntry, first: (CommitTimestamp, u64)) -> bool {
        let ends_before = |last, wall_clock| last <= self.after || wall_clock < self.since;
        let (at, wall_clock) = first;
        !entry.sealed.is_some_and(|sealed| ends_before(sealed.last, sealed.wall_clock))
            && at <= self.through
            && wall_clock <= self.until
    }

    /// Excludes the commits that come before `at` in the order of the listing, and `at`.
    fn continue_after(&mut self, at: CommitTimestamp) {
        match self.oldest_first {
            true => self.after = at,
            false => self.through = CommitTimestamp(at.0 - 1),
        }
    }
}

/// A commit of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ListedCommit {
    /// The commit's timestamp.
    pub at: CommitTimestamp,
    /// The wall-clock time, in microseconds since 1970-01-01 UTC.
    pub wall_clock: u64,
    /// The number of changes.
    pub summary: CommitSummary,
}

/// Passes the commits of a store's log that are in `range` to `visit`, until it breaks or fails.
/// Returns the manifest as it was read last, which tells where the log begins.
///
/// Takes no lock and changes nothing, so another process may write; commits that it makes meanwhile
/// may be missing. Reads each segment once, and only those with commits of the range. Holds the
/// listed commits of one segment in memory, of at most 16 MiB unless a single commit is larger.
/// O(bytes of these segments).
///
/// # Errors
/// [`StoreError::NoStore`]; errors in the manifest; damage of a segment, after the commits before
/// it were passed if the oldest come first.
pub fn list_commits<E: From<StoreError>>(
    files: &Arc<dyn FileSystem>,
    range: &CommitRange,
    mut visit: impl FnMut(ListedCommit) -> Result<ControlFlow<()>, E>,
) -> Result<Manifest, E> {
    let mut listed = |store: &StoreFiles, record: &LogRecord<'_>| {
        let options = &store.manifest.options;
        let mut commit = decode(store, record)?;
        commit.sort_appended(options.topology);
        let summary = CommitSummary::of(&commit, options.keys == KeyKind::Dense);
        Ok(ListedCommit { at: record.at, wall_clock: record.wall_clock, summary })
    };
    browse(files, *range, &mut listed, |commit| commit.at, &mut visit)
}

/// Returns the vertices that the commits after `after`, up to `through`, put or deleted, and the
/// ends of the edges that they put or deleted; `None` if the log no longer has all of these
/// commits. O(bytes of their segments).
///
/// # Errors
/// As [`list_commits`].
pub fn touched_vertices(
    files: &Arc<dyn FileSystem>,
    after: CommitTimestamp,
    through: CommitTimestamp,
) -> Result<Option<HashSet<VertexId>>, StoreError> {
    let (mut touched, mut commits) = (HashSet::new(), 0);
    let range = CommitRange { after, through, oldest_first: true, ..CommitRange::default() };
    let mut decoded = |store: &StoreFiles, record: &LogRecord<'_>| Ok((record.at, decode(store, record)?));
    browse::<_, StoreError>(files, range, &mut decoded, |(at, _)| *at, &mut |(_, commit)| {
        commits += 1;
        touched.extend(commit.effects.vertices.iter().map(|effect| effect.vertex));
        let edges = commit.effects.adjacencies.iter().flat_map(|edges| edges.changes.iter());
        let appended = commit.appended.iter().flat_map(LoggedEdges::changes);
        touched.extend(edges.chain(appended).flat_map(|change| [change.owner(), change.neighbor()]));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((commits == through.0.saturating_sub(after.0)).then_some(touched))
}

fn decode(store: &StoreFiles, record: &LogRecord<'_>) -> Result<LoggedCommit, StoreError> {
    record.decode(store.manifest.options.topology, || store.files.location())
}

/// Passes what `read` makes of the commits in `range` to `visit`.
fn browse<T, E: From<StoreError>>(
    files: &Arc<dyn FileSystem>,
    mut range: CommitRange,
    read: &mut dyn FnMut(&StoreFiles, &LogRecord<'_>) -> Result<T, StoreError>,
    at: impl Fn(&T) -> CommitTimestamp,
    visit: &mut dyn FnMut(T) -> Result<ControlFlow<()>, E>,
) -> Result<Manifest, E> {
    until_found_twice(|| {
        let store = StoreFiles::open_read_only(Arc::clone(files))?;
        let mut last = None;
        let browsed = store.browse_once(&range, read, &mut |item| {
            last = Some(at(&item));
            visit(item)
        });
        if let Some(last) = last {
            range.continue_after(last);
        }
        Ok(browsed?.map_or(Ok(store.manifest), Err))
    })
}

/// Looks at a log that another process may write to, which replaces files and removes them, until a
/// look succeeds or fails, or finds the problem of the look before.
pub(super) fn until_found_twice<T, E: From<StoreError>>(
    mut look: impl FnMut() -> Result<Result<T, StoreError>, E>,
) -> Result<T, E> {
    let mut before: Option<String> = None;
    for number in 1.. {
        let problem = match look()? {
            Ok(found) => return Ok(found),
            Err(problem) => problem,
        };
        let found = format!("{problem:?}");
        if number == LOOKS || before.replace(found.clone()) == Some(found) {
            return Err(problem.into());
        }
    }
    unreachable!("the last look returns")
}

impl StoreFiles {
    /// Browses the segments of this manifest. Returns the first problem of a segment.
    fn browse_once<T, E: From<StoreError>>(
        &self,
        range: &CommitRange,
        read: &mut dyn FnMut(&StoreFiles, &LogRecord<'_>) -> Result<T, StoreError>,
        visit: &mut dyn FnMut(T) -> Result<ControlFlow<()>, E>,
    ) -> Result<Option<StoreError>, E> {
        let mut segments: Vec<&SegmentEntry> = self.manifest.segments.iter().collect();
        if !range.oldest_first {
            segments.reverse();
        }
        for entry in segments {
            let header = match self.read_header(entry.number) {
                Ok(header) => header,
                Err(problem) => return Ok(Some(problem)),
            };
            let first = header.map(|header| (header.first, header.wall_clock));
            let first = first.or(entry.sealed.map(|sealed| (sealed.first, 0)));
            // Without a header, the segment is new and has no commits.
            let Some(first) = first.filter(|first| range.may_meet(entry, *first)) else { continue };
            let mut items = Vec::new();
            let reading = self.read_segment::<StoreError>(entry, first.0, |record, _| {
                if range.contains(&record) {
                    items.push(read(self, &record)?);
                }
                Ok(())
            });
            let problem = match reading {
                Ok(reading) => reading.problem,
                Err(problem) => Some(problem),
            };
            if !range.oldest_first && problem.is_some() {
                return Ok(problem);
            }
            if !range.oldest_first {
                items.reverse();
            }
            for item in items {
                if visit(item)?.is_break() {
                    return Ok(None);
                }
            }
            if problem.is_some() {
                return Ok(problem);
            }
        }
        Ok(None)
    }
}
