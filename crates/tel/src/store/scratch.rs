//! A memory-mapped file, for graphs larger than memory: the kernel caches as much of it as fits.
//!
//! The file has no name, so that nothing is left of it however the process ends, and no other
//! process can change it. Addresses are reserved once, for the maximum size of the file; those
//! beyond its end are not accessible. Memory that is handed out has its room on the disk reserved
//! first, so that a full disk is an error here, and not a signal at a later access.

use hedgerow_sync::Mutex;
use hedgerow_sync::atomic::{AtomicBool, Ordering};
use std::io;
use std::path::Path;
use std::ptr::NonNull;

/// Address space to reserve: 4 TiB. A process has 128 TiB.
const MOST_BYTES: usize = 1 << 42;

/// Less address space is useless: 1 GiB.
const LEAST_BYTES: usize = 1 << 30;

/// The memory of blocks, in a file.
pub(super) struct ScratchFile {
    map: system::Map,
    /// The length of the file.
    length: Mutex<usize>,
    is_full: AtomicBool,
}

/// The file cannot grow.
#[derive(Debug)]
pub(crate) struct Full {
    /// By how many bytes it should have grown.
    pub(crate) needed: usize,
    pub(crate) reason: io::ErrorKind,
}

impl ScratchFile {
    /// An empty file in a directory, which may grow up to a limit.
    ///
    /// # Errors
    /// The directory is missing or not writable, the process may not reserve that much address
    /// space, or the file system cannot reserve room.
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
        // Reject a file system that cannot reserve room now. This byte becomes part of the first
        // extent.
        map.reserve(0, map.bytes().min(1))?;
        Ok(ScratchFile { map, length: Mutex::new(0), is_full: AtomicBool::new(false) })
    }

    /// Grows the file: by `wanted` bytes, or a half, a quarter, ... of that, but at least by
    /// `least`. Whole pages if `wanted` is.
    pub(super) fn extend(&self, wanted: usize, least: usize) -> Result<(NonNull<u8>, usize), Full> {
        let mut length = self.length.lock();
        let mut bytes = wanted;
        loop {
            let reserved = match *length + bytes <= self.map.bytes() {
                true => self.map.reserve(*length, bytes),
                false => Err(io::ErrorKind::StorageFull.into()),
            };
            match reserved {
                Ok(()) => {
                    let memory = self.map.at(*length);
                    *length += bytes;
                    self.is_full.store(false, Ordering::Relaxed);
                    return Ok((memory, bytes));
                }
                Err(error) => {
                    // Part of it may have been reserved.
                    self.map.give_back(*length, bytes);
                    if bytes / 2 < least {
                        return Err(self.full(bytes, &error));
                    }
                    bytes /= 2;
                }
            }
        }
    }

    /// Reserves room on the disk for a piece that was given back, or that already has it.
    pub(super) fn reserve(&self, memory: NonNull<u8>, bytes: usize) -> Result<(), Full> {
        let reserved = self.map.reserve(self.offset(memory), bytes);
        reserved.map_err(|error| self.full(bytes, &error))?;
        self.is_full.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Frees the memory and disk room of an unused piece. Its contents are lost.
    pub(super) fn give_back(&self, memory: NonNull<u8>, bytes: usize) {
        self.map.give_back(self.offset(memory), bytes);
    }

    /// Whether a piece lies in this file.
    pub(super) fn has(&self, memory: NonNull<u8>) -> bool {
        let first = self.map.at(0).addr().get();
        (first..first + self.map.bytes()).contains(&memory.addr().get())
    }

    /// Whether the file could not grow at the last attempt. O(1).
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// The room that the file takes on the disk.
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
            // If that fails, the room stays taken.
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
