//! The manifest: the files, and the commit up to which they are complete. A small file that is
//! replaced as a whole.

use super::file::{PREFIX, SortedFile, block_of, read_block, unreadable, unwritten};
use hedgerow_encoding::wire::{DecodeError, Reader, put_bytes, put_varint};
use hedgerow_log::files::{FileSystem, OpenMode};
use hedgerow_model::{CommitTimestamp, EngineError, ReadError};
use hedgerow_sync::Arc;

/// The state of the graph at the last flush.
#[derive(Clone, Default)]
pub(super) struct Flushed {
    pub(super) durable_through: CommitTimestamp,
    /// The bound as of that commit, which existing vertices do not determine.
    pub(super) vertex_bound: u32,
    /// Data of the store other than the graph.
    pub(super) note: Vec<u8>,
}

#[derive(Default)]
pub(super) struct Manifest {
    pub(super) flushed: Flushed,
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
        let flushed = Flushed {
            durable_through: CommitTimestamp(reader.varint()?),
            vertex_bound: reader.varint()? as u32,
            note: reader.bytes()?.to_vec(),
        };
        let files = (0..reader.count()?).map(|_| Ok((reader.varint()?, reader.varint()?)));
        Ok(Manifest { flushed, files: files.collect::<Result<_, _>>()? })
    }

    /// Replaces the manifest durably. After an error either the new or the previous manifest is in
    /// place, so the files of both have to stay.
    pub(super) fn replace(
        files: &dyn FileSystem,
        flushed: &Flushed,
        named: &[Arc<SortedFile>],
    ) -> Result<(), EngineError> {
        let mut bytes = Vec::new();
        put_varint(&mut bytes, flushed.durable_through.0);
        put_varint(&mut bytes, u64::from(flushed.vertex_bound));
        put_bytes(&mut bytes, &flushed.note);
        put_varint(&mut bytes, named.len() as u64);
        named
            .iter()
            .flat_map(|file| [file.number, file.bytes])
            .for_each(|number| put_varint(&mut bytes, number));
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
