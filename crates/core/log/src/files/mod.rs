//! The file system interface of a store: one flat directory of files.
//!
//! All file access of a store goes through [`FileSystem`]. [`RealFiles`] accesses the operating
//! system's files; its counterpart in memory, which fails and loses power on demand, is in
//! `crates/checks/testing`.
//!
//! A store relies only on this: written data is durable once [`File::sync`] has returned, and
//! entries of the directory (new files, renames, removals) are durable once
//! [`FileSystem::sync_directory`] has returned. Until then any part of the changes, in any order,
//! may survive a loss of power. After a failed sync the state is unknown, and a later successful
//! sync proves nothing.

mod of_engine;
mod real;

pub use of_engine::EngineFiles;
pub(crate) use of_engine::LockHolder;
pub use real::RealFiles;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A directory of files.
///
/// Names are plain file names without separators. Methods return the operating system's errors, and
/// document any further meaning.
pub trait FileSystem: Send + Sync + fmt::Debug {
    /// The path of the directory, for messages.
    fn location(&self) -> PathBuf;

    /// Returns true if the files can only be read.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Creates the directory, durably. Does nothing if it exists.
    fn create_directory(&self) -> Result<(), FileError>;

    /// The names of all files, in no particular order.
    ///
    /// # Errors
    /// The operating system's error; [`FileError::is_not_found`] if the directory does not exist.
    fn list(&self) -> Result<Vec<String>, FileError>;

    /// Opens a file.
    ///
    /// # Errors
    /// The operating system's error; [`FileError::is_not_found`] if the file does not exist.
    fn open(&self, name: &str, access: OpenMode) -> Result<Box<dyn File>, FileError>;

    /// Renames a file, and replaces an existing file of the new name. Atomic; durable after
    /// [`sync_directory`](FileSystem::sync_directory).
    fn rename(&self, from: &str, to: &str) -> Result<(), FileError>;

    /// Removes a file. Durable after [`sync_directory`](FileSystem::sync_directory).
    fn remove(&self, name: &str) -> Result<(), FileError>;

    /// Makes all earlier changes of the directory durable.
    ///
    /// # Errors
    /// The operating system's error. Changes that were not durable must then be considered lost.
    fn sync_directory(&self) -> Result<(), FileError>;

    /// Locks the lock file `name` for writing. Creates it if needed, and writes the process id into
    /// it.
    ///
    /// The lock is held until the value is dropped or the process ends in any way. Waits briefly
    /// for readers that hold the lock.
    ///
    /// # Errors
    /// [`LockError::Held`] if another process, or another part of this one, holds the lock for
    /// writing; [`LockError::Shared`] if readers keep it.
    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError>;

    /// Locks the lock file `name` for reading, shared with other readers; `None` if the file does
    /// not exist, and thus no writer. Changes nothing.
    ///
    /// # Errors
    /// [`LockError::Held`] if a writer holds the lock.
    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError>;
}

/// An open file. Methods return the operating system's errors, and document any further meaning.
pub trait File: Send + Sync + fmt::Debug {
    /// The path of the file when it was opened, for messages.
    fn path(&self) -> &Path;

    /// Reads at `offset`. Returns the number of bytes read, which may be less than requested; 0
    /// only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError>;

    /// Writes at `offset`, which may be past the end. Returns the number of bytes written, which
    /// may be less than given.
    ///
    /// # Errors
    /// The operating system's error. Any part of the bytes may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError>;

    /// Truncates the file, or extends it with zeros.
    fn set_length(&self, length: u64) -> Result<(), FileError>;

    /// The length of the file in bytes.
    fn length(&self) -> Result<u64, FileError>;

    /// Makes the content and the length durable.
    ///
    /// # Errors
    /// The operating system's error. Data that was not durable must then be considered lost; a
    /// later successful sync proves nothing.
    fn sync(&self) -> Result<(), FileError>;

    /// Hints that reads will come in random order, so that read-ahead is a waste. Changes no
    /// result; does nothing by default.
    fn expect_random_reads(&self) {}

    /// Hints that these bytes will be read soon. Begins to read them, without waiting. Changes no
    /// result; does nothing by default.
    fn prefetch(&self, range: Range<u64>) {
        let _ = range;
    }

    /// Hints that these bytes, which are durable, will not be read soon: they need not stay in
    /// memory. Changes no result; does nothing by default.
    fn evict(&self, range: Range<u64>) {
        let _ = range;
    }
}

/// A held lock on a lock file. Dropping it releases the lock. Methods return the operating system's
/// errors.
pub trait HeldLock: Send + Sync + fmt::Debug {
    /// Returns true if the locked file still has its name. If the file was removed or replaced,
    /// another process may have locked the new one.
    fn is_held(&self) -> Result<bool, FileError>;
}

/// The mode of opening a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// Read an existing file.
    Read,
    /// Read and write an existing file.
    Write,
    /// Read and write a new, empty file, which replaces an existing one.
    Create,
}

impl dyn File + '_ {
    /// Reads exactly `buffer.len()` bytes at `offset`.
    ///
    /// # Errors
    /// The operating system's error; [`FileOperation::Read`] with `UnexpectedEof` if the file ends
    /// early.
    pub fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> Result<(), FileError> {
        while !buffer.is_empty() {
            match self.read_at(buffer, offset)? {
                0 => {
                    return Err(FileError::new(
                        FileOperation::Read,
                        self.path(),
                        io::ErrorKind::UnexpectedEof.into(),
                    ));
                }
                count => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }

    /// Writes all bytes at `offset`.
    ///
    /// # Errors
    /// The operating system's error. Any part of the bytes may have been written.
    pub fn write_all_at(&self, mut bytes: &[u8], mut offset: u64) -> Result<(), FileError> {
        while !bytes.is_empty() {
            match self.write_at(bytes, offset)? {
                0 => {
                    return Err(FileError::new(
                        FileOperation::Write,
                        self.path(),
                        io::ErrorKind::WriteZero.into(),
                    ));
                }
                count => {
                    bytes = &bytes[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }

    /// Reads the whole file from `offset` on.
    pub fn read_from(&self, offset: u64) -> Result<Vec<u8>, FileError> {
        self.read_range(offset..self.length()?.max(offset))
    }

    /// Reads the bytes of `range`. Allocates memory as the bytes arrive, so that a wrong length
    /// costs no more memory than the file's content.
    ///
    /// # Errors
    /// The operating system's error, or out of memory.
    pub fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        for piece in pieces(range) {
            let (begin, length) = (bytes.len(), (piece.end - piece.start) as usize);
            bytes.try_reserve(length).map_err(|error| {
                let source = io::Error::new(io::ErrorKind::OutOfMemory, error);
                FileError::new(FileOperation::Read, self.path(), source)
            })?;
            bytes.resize(begin + length, 0);
            self.read_exact_at(&mut bytes[begin..], piece.start)?;
        }
        Ok(bytes)
    }

    /// The checksum of the bytes of `range`, continued from `checksum`. Reads piece by piece.
    pub fn checksum_of(&self, range: Range<u64>, checksum: u32) -> Result<u32, FileError> {
        let mut checksum = checksum;
        for piece in pieces(range) {
            checksum = crc32c::crc32c_append(checksum, &self.read_range(piece)?);
        }
        Ok(checksum)
    }
}

/// Bytes per read or write of large ranges.
pub const PIECE: u64 = 1 << 20;

/// Splits a range into pieces that are read or written at a time.
pub(crate) fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(PIECE as usize).map(move |begin| begin..end.min(begin.saturating_add(PIECE)))
}

/// An operation on the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOperation {
    /// Create the directory.
    CreateDirectory,
    /// List the directory.
    List,
    /// Open a file.
    Open,
    /// Create a file.
    Create,
    /// Read.
    Read,
    /// Write.
    Write,
    /// Truncate or extend a file.
    SetLength,
    /// Get the length of a file.
    Length,
    /// Make a file durable.
    Sync,
    /// Rename a file.
    Rename,
    /// Remove a file.
    Remove,
    /// Make changes of the directory durable.
    SyncDirectory,
    /// Lock a file.
    Lock,
    /// Check whether a lock is still held.
    CheckLock,
}

impl fmt::Display for FileOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileOperation::CreateDirectory => "make the directory",
            FileOperation::List => "list",
            FileOperation::Open => "open",
            FileOperation::Create => "create",
            FileOperation::Read => "read",
            FileOperation::Write => "write to",
            FileOperation::SetLength => "set the length of",
            FileOperation::Length => "tell the length of",
            FileOperation::Sync => "sync",
            FileOperation::Rename => "rename",
            FileOperation::Remove => "remove",
            FileOperation::SyncDirectory => "sync the directory",
            FileOperation::Lock => "lock",
            FileOperation::CheckLock => "tell who has locked",
        })
    }
}

/// An error of the file system.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct FileError {
    /// The operation.
    pub operation: FileOperation,
    /// The file.
    pub path: PathBuf,
    /// The operating system's error.
    pub source: io::Error,
}

impl FileError {
    /// Creates an error about `path`.
    pub fn new(operation: FileOperation, path: impl Into<PathBuf>, source: io::Error) -> Self {
        FileError { operation, path: path.into(), source }
    }

    /// Returns true if the file or the directory does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// A failure to lock a lock file.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A writer holds the lock.
    #[error("{} is locked by {}", path.display(), holder_name(*holder))]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The process id that the holder wrote, if it has written one yet.
        holder: Option<u32>,
    },
    /// Readers hold the lock; they write no process id.
    #[error("{} is locked by processes that read", path.display())]
    Shared {
        /// The lock file.
        path: PathBuf,
    },
    /// The file system returned an error.
    #[error(transparent)]
    File(#[from] FileError),
}

fn holder_name(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}
