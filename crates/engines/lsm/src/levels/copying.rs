//! Files to copy, for a backup, and the checks of their checksums.

use crate::levels::edge_file::EdgeFile;
use crate::levels::manifest::{FileEntry, FlushPoint, Manifest};
use hedgerow_log::files::FileSystem;
use hedgerow_log::{EngineFile, EngineState};
use hedgerow_model::{ColumnType, EngineError, ReadError};
use hedgerow_sync::Arc;

/// Reads the newest state of the files. `columns` has the type of the values of each adjacency.
/// Changes nothing. O(files).
///
/// # Errors
/// The manifest could not be read, or is damaged: a process that writes may have replaced it
/// meanwhile.
pub fn state_to_copy(
    files: &Arc<dyn FileSystem>,
    columns: &[ColumnType],
) -> Result<EngineState, EngineError> {
    let manifest = Manifest::open(Arc::clone(files))?;
    let state = manifest.state();
    let file = |entry: &FileEntry| {
        let name = FileEntry::name_of(entry.number);
        let column = columns.get(entry.adjacency as usize).copied().ok_or_else(|| {
            let what = format!("it belongs to adjacency {}, which the graph does not have", entry.adjacency);
            ReadError::at(&*name, 0, what)
        })?;
        let records = (column == ColumnType::Record).then(|| EdgeFile::records_name(&name));
        Ok(EngineFile { name, records, column })
    };
    let files = state.files.values().map(file).collect::<Result<_, ReadError>>()?;
    let FlushPoint { durable_through: through, counts, note } = state.flushed.clone();
    Ok(EngineState { through, counts, note, manifest: manifest.content()?, files })
}

/// Reads a file and its records, and compares all parts with their checksums. Faster than
/// [`check_files`](super::check_files), because no edge is decoded. O(bytes).
///
/// # Errors
/// A file could not be read, or is damaged.
pub fn check_checksums(files: &dyn FileSystem, file: &EngineFile) -> Result<(), ReadError> {
    let edges = EdgeFile::open(files, &file.name, file.column)?;
    edges.owner_count()?;
    for number in 0..edges.blocks() {
        let bytes = edges.read_block(number)?;
        edges.check_chunk(&edges.parse(number, &bytes)?)?;
    }
    Ok(())
}
