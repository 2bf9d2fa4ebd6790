//! The owners of an edge file: an exact filter, so that a file without edges of a vertex costs a look-up
//! no read (LSMGraph, 4.2.2: the index says which files have edges of a vertex).

use super::reader::unreadable;
use hedgerow_log::files::File;
use hedgerow_model::{ReadError, VertexId};
use hedgerow_sync::OnceLock;
use roaring::RoaringBitmap;
use std::ops::Range;

/// The set of owners, in memory from the first look-up on.
#[derive(Debug)]
pub(super) struct OwnerSet {
    /// Where it lies in the file.
    place: Range<u64>,
    checksum: u32,
    loaded: OnceLock<Loaded>,
}

#[derive(Debug)]
struct Loaded {
    owners: RoaringBitmap,
    /// About what they take in memory.
    bytes: usize,
}

impl OwnerSet {
    pub(super) fn new(place: Range<u64>, checksum: u32) -> Self {
        OwnerSet { place, checksum, loaded: OnceLock::new() }
    }

    /// Whether a vertex is an owner. O(log(owners / 2^16)), and a read of the disk at the first call.
    ///
    /// # Errors
    /// The set could not be read, or is damaged.
    #[inline]
    pub(super) fn contains(&self, owner: VertexId, file: &dyn File) -> Result<bool, ReadError> {
        let loaded = match self.loaded.get() {
            Some(loaded) => loaded,
            None => self.load(file)?,
        };
        Ok(loaded.owners.contains(owner.get()))
    }

    /// The number of owners.
    ///
    /// # Errors
    /// As [`OwnerSet::contains`].
    pub(super) fn count(&self, file: &dyn File) -> Result<u64, ReadError> {
        Ok(self.load(file)?.owners.len())
    }

    #[cold]
    fn load(&self, file: &dyn File) -> Result<&Loaded, ReadError> {
        let failed = |source| unreadable(file, self.place.start, source);
        let bytes = file.read_range(self.place.clone());
        let bytes = bytes.map_err(|error| unreadable(file, self.place.start, error))?;
        if crc32c::crc32c(&bytes) != self.checksum {
            return Err(unreadable(file, self.place.start, "the checksum of the set of owners is wrong"));
        }
        let mut rest = &bytes[..];
        let owners = RoaringBitmap::deserialize_from(&mut rest).map_err(failed)?;
        if !rest.is_empty() {
            return Err(unreadable(file, self.place.start, "something follows the set of owners"));
        }
        Ok(self.loaded.get_or_init(|| Loaded { owners, bytes: bytes.len() }))
    }

    /// Bytes in memory. O(1).
    pub(super) fn bytes(&self) -> usize {
        self.loaded.get().map_or(0, |loaded| loaded.bytes)
    }
}

/// Appends a set of owners. Returns its number of bytes.
pub(super) fn put_owners(owners: &RoaringBitmap, bytes: &mut Vec<u8>) -> u64 {
    let begin = bytes.len();
    // A `Vec` takes all that is written to it.
    owners.serialize_into(&mut *bytes).expect("writing to memory does not fail");
    (bytes.len() - begin) as u64
}
