//! The manifest: the files, and the commit up to which they are complete. A small file that is
//! replaced as a whole.

use super::file::{SortedFile, block_of, read_block, unreadable};
use super::{PREFIX, unwritten};
use hedgerow_encoding::wire::{DecodeError, Reader, put_varint};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::{CommitTimestamp, EngineError, ReadError};
use hedgerow_sync::Arc;

#[derive(Default)]
pub(super) struct Manifest {
    pub(super) durable_through: CommitTimestamp,
    /// As of that commit; the vertices that still exist do not determine it.
    pub(super) vertex_bound: u32,
    /// The number of each file, and its length in bytes.
    pub(super) files: Vec<(u64, u64)>,
}

pub(super) fn name() -> String {
    format!("{PREFIX}manifest")
}

impl Manifest {
    /// Reads the manifest; an engine without one gets an empty one.
    pub(super) fn read(files: &dyn FileSystem) -> Result<Manifest, ReadError> {
        let file = match files.open(&name(), OpenMode::Read) {
            Err(error) if error.is_not_found() => return Ok(Manifest::default()),
            file => file.map_err(|error| ReadError::new(name(), error))?,
        };
        let (bytes, _) = read_block(&*file, 0)?;
        Manifest::decode(&mut Reader::new(&bytes)).map_err(|error| unreadable(&*file, 0, error))
    }

    fn decode(reader: &mut Reader<'_>) -> Result<Manifest, DecodeError> {
        let (durable_through, vertex_bound) = (CommitTimestamp(reader.varint()?), reader.varint()? as u32);
        let files = (0..reader.count()?).map(|_| Ok((reader.varint()?, reader.varint()?)));
        Ok(Manifest { durable_through, vertex_bound, files: files.collect::<Result<_, _>>()? })
    }

    /// Replaces the manifest durably. After an error it is unknown whether it or the previous one
    /// is in place, so the files of both have to stay.
    pub(super) fn replace(
        files: &dyn FileSystem,
        durable_through: CommitTimestamp,
        vertex_bound: u32,
        named: &[Arc<SortedFile>],
    ) -> Result<(), EngineError> {
        let mut bytes = Vec::new();
        let head = [durable_through.0, u64::from(vertex_bound), named.len() as u64];
        let files_named = named.iter().flat_map(|file| [file.number, file.bytes]);
        head.into_iter().chain(files_named).for_each(|number| put_varint(&mut bytes, number));
        let (name, new) = (name(), format!("{PREFIX}manifest.new"));
        let write = || {
            // The names of the files must be durable before a manifest names them.
            files.sync_directory()?;
            let file = files.open(&new, OpenMode::Create)?;
            file.write_all_at(&block_of(&bytes), 0)?;
            file.sync()?;
            files.rename(&new, &name)?;
            files.sync_directory()
        };
        write().map_err(unwritten(name.clone()))
    }
}
