//! Reading all files of the levels to find all damage.

use crate::adjacency::VERTICES;
use crate::levels::block::Version;
use crate::levels::edge_file::{EdgeFile, EntryCounts};
use crate::levels::manifest::{FileEntry, LevelState, Manifest};
use crate::levels::merge::{VersionBatch, VersionSource as _};
use crate::levels::records::record_at;
use hedgerow_log::files::{FileError, FileOperation, FileSystem, OpenMode};
use hedgerow_model::{
    ColumnType, CommitTimestamp, EngineError, FileProblem, FileTotals, FilesCheck, ReadError, VersionInFile,
    VertexId,
};
use hedgerow_sync::Arc;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads every block of every file, and compares it with its checksum, with the order of edges, and
/// with the manifest; finds files that belong to nothing. Passes every version in the files to
/// `visit`, deletions and replaced versions included. `columns` has the type of the values of each
/// adjacency. Changes nothing, and takes memory for a block. O(bytes of the files).
///
/// If the manifest is damaged, no other file is read: the files that belong to the levels are
/// unknown then.
///
/// # Errors
/// The file system failed. Damage is not an error, but a problem in the result.
pub fn check_files(
    files: &Arc<dyn FileSystem>,
    columns: &[ColumnType],
    visit: &mut dyn FnMut(VersionInFile<'_>),
) -> Result<FilesCheck, EngineError> {
    let mut check = Check { files, columns, visit, found: FilesCheck::default() };
    match Manifest::open(Arc::clone(files)) {
        Ok(manifest) => check.check_all(&manifest)?,
        Err(EngineError::Read(error)) => {
            let problem = problem_of(error)?;
            check.add(problem);
        }
        Err(error) => return Err(error),
    }
    Ok(check.found)
}

struct Check<'c> {
    files: &'c Arc<dyn FileSystem>,
    columns: &'c [ColumnType],
    visit: &'c mut dyn FnMut(VersionInFile<'_>),
    found: FilesCheck,
}

impl Check<'_> {
    fn check_all(&mut self, manifest: &Manifest) -> Result<(), EngineError> {
        if let Some(name) = manifest.file_name() {
            self.found.files += FileTotals { files: 1, bytes: self.length(&name)?.unwrap_or(0) };
        }
        let mut owners = BTreeMap::<(u32, u32), Vec<Owners>>::new();
        for entry in manifest.state().files.values() {
            let range = self.check_file(*entry, manifest.state())?;
            if let Some(range) = range.filter(|_| entry.level > 0) {
                owners.entry((entry.adjacency, entry.level)).or_default().push(range);
            }
        }
        for of_level in owners.values_mut() {
            of_level.sort_unstable_by_key(|owners| owners.first);
            for pair in of_level.windows(2).filter(|pair| pair[1].first <= pair[0].last) {
                let what = format!("its vertices overlap those of {}, on the same level", pair[0].file);
                self.add(FileProblem { file: pair[1].file.clone(), offset: Some(0), what });
            }
        }
        self.found.unlisted = manifest.unlisted()?;
        for name in self.found.unlisted.clone() {
            self.found.unlisted_bytes += self.length(&name)?.unwrap_or(0);
        }
        Ok(())
    }

    /// Checks an edge file and its records. Returns the range of its owners.
    fn check_file(&mut self, entry: FileEntry, state: &LevelState) -> Result<Option<Owners>, EngineError> {
        let name = FileEntry::name_of(entry.number);
        let Some(column) = self.columns.get(entry.adjacency as usize).copied() else {
            let what = format!("it belongs to adjacency {}, which the graph does not have", entry.adjacency);
            self.add(FileProblem { file: name, offset: Some(0), what });
            return Ok(None);
        };
        let opened = match EdgeFile::open(&**self.files, &name, column) {
            Ok(opened) => opened,
            Err(error) => {
                self.add(problem_of(error)?);
                return Ok(None);
            }
        };
        let records = (column == ColumnType::Record).then(|| EdgeFile::records_name(&name));
        let mut bytes = 0;
        for file in [Some(&name), records.as_ref()].into_iter().flatten() {
            let length = self.length(file)?.unwrap_or(0);
            self.found.files += FileTotals { files: 1, bytes: length };
            bytes += length;
        }
        if bytes != entry.bytes {
            let what =
                format!("it has {bytes} bytes with its records, but the manifest says {}", entry.bytes);
            self.add(FileProblem { file: name.clone(), offset: Some(0), what });
        }
        self.check_blocks((&name, entry.adjacency), &opened, state.flushed.durable_through)?;
        Ok(opened.owners().map(|(first, last)| Owners { first, last, file: name }))
    }

    /// Reads all blocks with their records, and checks their order and the places of rows in the
    /// indexes.
    fn check_blocks(
        &mut self,
        (name, adjacency): (&str, u32),
        opened: &EdgeFile,
        through: CommitTimestamp,
    ) -> Result<(), EngineError> {
        if let Err(error) = opened.owner_count() {
            self.add(problem_of(error)?);
        }
        let mut source = opened.versions_of(0..u32::MAX);
        let mut order = VersionOrder { through, ..VersionOrder::default() };
        let (mut batch, mut versions, mut damaged) = (VersionBatch::default(), 0, 0);
        for number in 0..opened.blocks() {
            batch.clear();
            let block = self.found.blocks + 1;
            let read = source.read(&mut batch).and_then(|()| {
                batch
                    .iter()
                    .try_for_each(|(owner, neighbor, version)| order.check((owner, neighbor), version))
                    .map_err(|what| opened.damaged_block(number, what))
            });
            let read = read.and_then(|()| opened.check_rows(number));
            if let Err(error) = read {
                damaged += 1;
                order.last = None;
                match damaged <= FilesCheck::MOST_OF_FILE {
                    true => self.add(problem_of(error)?),
                    false => self.found.more_problems += 1,
                }
            }
            let has_records = opened.column() == ColumnType::Record;
            for (owner, neighbor, Version { value, .. }) in batch.iter() {
                let record = value.filter(|_| has_records);
                let record = record.and_then(|value| record_at(batch.records(), value).ok());
                let neighbor = (adjacency != VERTICES).then_some(neighbor);
                let is_deletion = value.is_none();
                (self.visit)(VersionInFile { file: name, owner, neighbor, record, is_deletion });
            }
            self.found.blocks = block;
            versions += batch.len() as u64;
        }
        if damaged == 0 && (versions, order.counts) != (opened.versions(), opened.counts()) {
            let what = format!(
                "it has {versions} versions of edges, {:?}, but its footer says {}, {:?}",
                order.counts,
                opened.versions(),
                opened.counts()
            );
            self.add(FileProblem { file: name.to_owned(), offset: Some(0), what });
        }
        self.found.versions += versions;
        self.found.deletions += order.deletions;
        self.found.replaced += order.replaced;
        Ok(())
    }

    fn add(&mut self, problem: FileProblem) {
        self.found.problems.push(problem);
    }

    /// Returns the length of a file; `None` if it is gone.
    fn length(&self, name: &str) -> Result<Option<u64>, EngineError> {
        match self.files.open(name, OpenMode::Read).and_then(|file| file.length()) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(ReadError::new(name.to_owned(), error).into()),
        }
    }
}

/// The first and the last owner of a file.
struct Owners {
    first: VertexId,
    last: VertexId,
    file: String,
}

/// The order of the versions of a file.
#[derive(Default)]
struct VersionOrder {
    /// The last commit that a version may belong to.
    through: CommitTimestamp,
    last: Option<(VertexId, VertexId, CommitTimestamp)>,
    counts: EntryCounts,
    deletions: u64,
    replaced: u64,
}

impl VersionOrder {
    /// Checks a version. Returns a description of the fault if it is wrong.
    fn check(&mut self, edge: (VertexId, VertexId), Version { at, value }: Version) -> Result<(), String> {
        let (owner, neighbor) = edge;
        if at > self.through {
            return Err(format!(
                "the edge {owner} {neighbor} has a version of commit {at}, but the files end with commit {}",
                self.through
            ));
        }
        let mut is_same = false;
        if let Some((last_owner, last_neighbor, last_at)) = self.last {
            is_same = (last_owner, last_neighbor) == edge;
            if (last_owner, last_neighbor) > edge || is_same && last_at <= at {
                return Err(format!("the edge {owner} {neighbor} is out of order"));
            }
        }
        match is_same {
            true => self.replaced += 1,
            false => self.counts.add(owner, neighbor, value.is_some()),
        }
        self.deletions += u64::from(value.is_none());
        self.last = Some((owner, neighbor, at));
        Ok(())
    }
}

/// Returns the problem of a file that could not be read.
///
/// # Errors
/// The file is not damaged: the file system failed.
pub(crate) fn problem_of(error: ReadError) -> Result<FileProblem, ReadError> {
    let (place, offset) = error.file_and_offset();
    let name = Path::new(place).file_name().map(|name| name.to_string_lossy().into_owned());
    let file = name.unwrap_or_else(|| place.to_owned());
    match error.cause().downcast_ref::<FileError>() {
        None => Ok(FileProblem { file, offset: offset.or(Some(0)), what: error.cause().to_string() }),
        Some(failed) if failed.is_not_found() => {
            Ok(FileProblem { file, offset: None, what: "the file is missing".to_owned() })
        }
        Some(failed) if ends_early(failed) => {
            Ok(FileProblem { file, offset: offset.or(Some(0)), what: "the file ends early".to_owned() })
        }
        Some(_) => Err(error),
    }
}

fn ends_early(error: &FileError) -> bool {
    error.operation == FileOperation::Read && error.source.kind() == std::io::ErrorKind::UnexpectedEof
}
