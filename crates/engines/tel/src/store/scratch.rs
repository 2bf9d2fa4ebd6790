//! A memory-mapped file, for graphs larger than memory: the kernel caches the part that fits.
//!
//! The file has no name, so that nothing is left of it however the process ends, and no other
//! process can change it. Addresses are reserved once, for the maximum size of the file; those
//! beyond its end are not accessible. The disk space of memory is reserved before the memory is
//! handed out, so that a full disk is an error here, and not a signal at a later access.

use super::classes::GIVEN_BACK_FROM;
use crate::layout::bytes_of;
use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::ptr::NonNull;

/// Address space to reserve: 4 TiB. A process has 128 TiB.
const MOST_BYTES: usize = 1 << 42;

/// Minimum address space to reserve: 1 GiB.
const LEAST_BYTES: usize = 1 << 30;

/// Unit in which disk space is reserved: the smallest block that gives it back.
const RESERVED_UNIT: usize = bytes_of(GIVEN_BACK_FROM);

/// The memory of blocks, in a file.
pub(super) struct ScratchFile {
    map: system::Map,
    state: Mutex<ScratchState>,
    is_full: AtomicBool,
}

#[derive(Default)]
struct ScratchState {
    /// Length of the address range that is or was in use.
    length: usize,
    /// Per unit of the addresses in use, true if its disk space is reserved.
    reserved: Vec<bool>,
    /// The number of units with reserved disk space.
    reserved_units: usize,
}

impl ScratchState {
    fn set_length(&mut self, length: usize) {
        self.length = length;
        self.reserved.resize(length.div_ceil(RESERVED_UNIT), false);
    }

    /// Returns, per unit of a piece, true if its disk space is reserved.
    fn reserved(&self, offset: usize, bytes: usize) -> &[bool] {
        &self.reserved[units(offset, bytes)]
    }

    fn set_reserved(&mut self, offset: usize, bytes: usize, is_reserved: bool) {
        for unit in &mut self.reserved[units(offset, bytes)] {
            self.reserved_units -= usize::from(*unit);
            self.reserved_units += usize::from(is_reserved);
            *unit = is_reserved;
        }
    }
}

/// The units of a piece.
fn units(offset: usize, bytes: usize) -> Range<usize> {
    offset / RESERVED_UNIT..(offset + bytes).div_ceil(RESERVED_UNIT)
}

/// The file cannot grow.
#[derive(Debug)]
pub(crate) struct Full {
    /// Bytes by which the file should have grown.
    pub(crate) needed: usize,
    pub(crate) reason: io::ErrorKind,
}

impl ScratchFile {
    /// Creates an empty file in a directory, which may grow up to a limit.
    ///
    /// # Errors
    /// The directory is missing or not writable, the process may not reserve enough address space,
    /// or the file system cannot reserve disk space.
    pub(super) fn new(directory: &Path, limit: Option<usize>) -> io::Result<Self> {
        let map = match limit {
            Some(limit) => system::Map::new(directory, limit.max(1))?,
            None => {
                let mut bytes = MOST_BYTES;
                loop {
                    match system::Map::new(directory, bytes) {
                        // The process may not reserve that much.
                        Err(error) if error.kind() == io::ErrorKind::OutOfMemory && bytes > LEAST_BYTES => {
                            bytes /= 2;
                        }
                        made => break made?,
                    }
                }
            }
        };
        // Reject now a file system that cannot reserve disk space. This byte becomes part of the
        // first extent.
        map.reserve(0, map.bytes().min(1))?;
        Ok(ScratchFile { map, state: Mutex::default(), is_full: AtomicBool::new(false) })
    }

    /// Grows the file, and reserves the disk space: by `wanted` bytes, or a half, a quarter, ... of
    /// that, but at least by `least`. Grows by whole units if both are whole units.
    pub(super) fn extend(&self, wanted: usize, least: usize) -> Result<(NonNull<u8>, usize), Full> {
        let mut state = self.state.lock();
        let offset = state.length;
        let mut bytes = wanted;
        loop {
            let reserved = match offset + bytes <= self.map.bytes() {
                true => self.map.reserve(offset, bytes),
                false => Err(io::ErrorKind::StorageFull.into()),
            };
            match reserved {
                Ok(()) => {
                    state.set_length(offset + bytes);
                    state.set_reserved(offset, bytes, true);
                    self.is_full.store(false, Ordering::Relaxed);
                    return Ok((self.map.at(offset), bytes));
                }
                Err(error) => {
                    // Part of it may have been reserved.
                    self.map.give_back(offset, bytes);
                    if bytes / 2 < least {
                        return Err(self.full(bytes, &error));
                    }
                    bytes /= 2;
                }
            }
        }
    }

    /// Grows the file to the next multiple of `bytes`, without reserving disk space.
    pub(super) fn align(&self, bytes: usize) -> Result<(NonNull<u8>, usize), Full> {
        let mut state = self.state.lock();
        let (offset, length) = (state.length, (state.length + 1).next_multiple_of(bytes));
        if length > self.map.bytes() {
            return Err(self.full(bytes, &io::ErrorKind::StorageFull.into()));
        }
        state.set_length(length);
        Ok((self.map.at(offset), length - offset))
    }

    /// Reserves the disk space of a piece, in whole units, unless it is reserved.
    pub(super) fn reserve(&self, memory: NonNull<u8>, bytes: usize) -> Result<(), Full> {
        let mut state = self.state.lock();
        let offset = self.offset(memory);
        if !state.reserved(offset, bytes).contains(&false) {
            return Ok(());
        }
        let units = units(offset, bytes);
        let (offset, bytes) = (units.start * RESERVED_UNIT, units.len() * RESERVED_UNIT);
        self.map.reserve(offset, bytes).map_err(|error| self.full(bytes, &error))?;
        state.set_reserved(offset, bytes, true);
        self.is_full.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Frees the memory and disk space of an unused piece, which consists of whole units. Its
    /// contents are lost.
    pub(super) fn give_back(&self, memory: NonNull<u8>, bytes: usize) {
        let offset = self.offset(memory);
        let mut state = self.state.lock();
        if state.reserved(offset, bytes).contains(&true) {
            self.map.give_back(offset, bytes);
            state.set_reserved(offset, bytes, false);
        }
    }

    /// Returns the bytes of reserved disk space. O(1).
    pub(super) fn reserved_bytes(&self) -> usize {
        self.state.lock().reserved_units * RESERVED_UNIT
    }

    /// The first address.
    pub(super) fn first(&self) -> NonNull<u8> {
        self.map.at(0)
    }

    /// Returns the length of the address range that is or was in use.
    #[cfg(test)]
    pub(super) fn length(&self) -> usize {
        self.state.lock().length
    }

    /// Returns true if a piece lies in this file.
    pub(super) fn has(&self, memory: NonNull<u8>) -> bool {
        let first = self.map.at(0).addr().get();
        (first..first + self.map.bytes()).contains(&memory.addr().get())
    }

    /// Returns true if the last attempt to grow the file failed. O(1).
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Returns the disk space that the file takes, in bytes.
    #[cfg(test)]
    pub(super) fn disk_bytes(&self) -> usize {
        self.map.disk_bytes()
    }

    fn full(&self, needed: usize, error: &io::Error) -> Full {
        self.is_full.store(true, Ordering::Relaxed);
        Full { needed, reason: error.kind() }
    }

    fn offset(&self, memory: NonNull<u8>) -> usize {
        memory.addr().get() - self.map.at(0).addr().get()
    }
}

#[cfg(target_os = "linux")]
mod system {
    use memmap2::{MmapOptions, MmapRaw};
    use rustix::fs::{FallocateFlags, fallocate};
    use std::fs::File;
    use std::io;
    use std::path::Path;
    use std::ptr::NonNull;

    /// A file without a name, and the addresses reserved for it.
    pub(super) struct Map {
        file: File,
        addresses: MmapRaw,
    }

    impl Map {
        pub(super) fn new(directory: &Path, bytes: usize) -> io::Result<Self> {
            let file = tempfile::tempfile_in(directory)?;
            let addresses = MmapOptions::new().len(bytes).map_raw(&file)?;
            Ok(Map { file, addresses })
        }

        pub(super) fn bytes(&self) -> usize {
            self.addresses.len()
        }

        pub(super) fn at(&self, offset: usize) -> NonNull<u8> {
            let memory = self.addresses.as_mut_ptr().wrapping_add(offset);
            NonNull::new(memory).expect("no map begins at 0")
        }

        pub(super) fn reserve(&self, offset: usize, bytes: usize) -> io::Result<()> {
            Ok(fallocate(&self.file, FallocateFlags::empty(), offset as u64, bytes as u64)?)
        }

        pub(super) fn give_back(&self, offset: usize, bytes: usize) {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // If that fails, the disk space stays taken.
            let _ = fallocate(&self.file, flags, offset as u64, bytes as u64);
        }

        #[cfg(test)]
        pub(super) fn disk_bytes(&self) -> usize {
            use std::os::unix::fs::MetadataExt;
            self.file.metadata().map_or(0, |metadata| metadata.blocks() as usize * 512)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::convert::Infallible;
    use std::io;
    use std::path::Path;
    use std::ptr::NonNull;

    /// Not supported on this system.
    pub(super) struct Map(Infallible);

    impl Map {
        pub(super) fn new(_directory: &Path, _bytes: usize) -> io::Result<Self> {
            Err(io::Error::new(io::ErrorKind::Unsupported, "blocks in a file need Linux"))
        }

        pub(super) fn bytes(&self) -> usize {
            match self.0 {}
        }

        pub(super) fn at(&self, _offset: usize) -> NonNull<u8> {
            match self.0 {}
        }

        pub(super) fn reserve(&self, _offset: usize, _bytes: usize) -> io::Result<()> {
            match self.0 {}
        }

        pub(super) fn give_back(&self, _offset: usize, _bytes: usize) {
            match self.0 {}
        }

        #[cfg(test)]
        pub(super) fn disk_bytes(&self) -> usize {
            match self.0 {}
        }
    }
}
