//! The file system as a store needs it: one flat directory of files, and no more.
//!
//! All file access of a store goes through [`FileSystem`]. [`RealFiles`] is the operating system's;
#![cfg_attr(any(test, feature = "simulation"), doc = "[`SimulatedFiles`](simulated::SimulatedFiles) is")]
#![cfg_attr(not(any(test, feature = "simulation")), doc = "`SimulatedFiles` (feature `simulation`) is")]
//! its twin in memory, which fails and loses power where a test asks it to.
//!
//! What a store may rely on is only this: what was written is durable once [`File::sync`] returned, and
//! entries of the directory (new files, renames, removals) are durable once [`FileSystem::sync_directory`]
//! returned. Until then any part of it, in any order, may survive a loss of power. After a sync that failed
//! nothing is known any more, and another sync proves nothing.

mod of_engine;
mod real;
#[cfg(any(test, feature = "simulation"))]
pub mod simulated;

pub use of_engine::EngineFiles;
pub(crate) use of_engine::LockHolder;
pub use real::RealFiles;

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One directory of files.
///
/// Names are plain file names without a separator.
pub trait FileSystem: Send + Sync + fmt::Debug {
    /// Where the directory is, for messages.
    fn location(&self) -> PathBuf;

    /// Whether nothing can be changed.
    fn is_read_only(&self) -> bool {
        false
    }

    /// Makes the directory, durably. Nothing happens if it exists.
    ///
    /// # Errors
    /// The operating system's.
    fn create_directory(&self) -> Result<(), FileError>;

    /// The names of all files, in no particular order.
    ///
    /// # Errors
    /// The operating system's; [`FileError::is_not_found`] if there is no such directory.
    fn list(&self) -> Result<Vec<String>, FileError>;

    /// Opens a file.
    ///
    /// # Errors
    /// The operating system's; [`FileError::is_not_found`] if there is no such file.
    fn open(&self, name: &str, access: Access) -> Result<Box<dyn File>, FileError>;

    /// Gives a file another name, in place of the file that had it. Atomic; durable after
    /// [`sync_directory`](FileSystem::sync_directory).
    ///
    /// # Errors
    /// The operating system's.
    fn rename(&self, from: &str, to: &str) -> Result<(), FileError>;

    /// Removes a file. Durable after [`sync_directory`](FileSystem::sync_directory).
    ///
    /// # Errors
    /// The operating system's.
    fn remove(&self, name: &str) -> Result<(), FileError>;

    /// Makes all changes of the directory so far durable.
    ///
    /// # Errors
    /// The operating system's. What was not durable before must then be taken for lost.
    fn sync_directory(&self) -> Result<(), FileError>;

    /// Takes the lock file `name` to write, which is made if there is none, and writes the process id into it.
    ///
    /// The lock is held until the value is dropped or the process ends, however it ends. Readers that hold the lock are waited for,
    /// for a moment.
    ///
    /// # Errors
    /// [`LockError::Held`] if another process, or another part of this one, has it; [`LockError::Shared`] if readers keep it.
    fn lock(&self, name: &str) -> Result<Box<dyn HeldLock>, LockError>;

    /// Takes the lock file `name` to read, beside other readers; `None` if there is no such file, and so no writer. Changes nothing.
    ///
    /// # Errors
    /// [`LockError::Held`] if a writer has it.
    fn lock_shared(&self, name: &str) -> Result<Option<Box<dyn HeldLock>>, LockError>;
}

/// An open file.
pub trait File: Send + Sync + fmt::Debug {
    /// Where the file was when it was opened, for messages.
    fn path(&self) -> &Path;

    /// Reads at `offset`; says how many bytes, which may be fewer than asked for. 0 only at the end of the file.
    ///
    /// # Errors
    /// The operating system's.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, FileError>;

    /// Writes at `offset`, beyond the end if asked to; says how many bytes, which may be fewer than given.
    ///
    /// # Errors
    /// The operating system's. Any part of the bytes may have been written.
    fn write_at(&self, bytes: &[u8], offset: u64) -> Result<usize, FileError>;

    /// Cuts the file, or extends it by zeros.
    ///
    /// # Errors
    /// The operating system's.
    fn set_length(&self, length: u64) -> Result<(), FileError>;

    /// Bytes in the file.
    ///
    /// # Errors
    /// The operating system's.
    fn length(&self) -> Result<u64, FileError>;

    /// Makes the content and the length durable.
    ///
    /// # Errors
    /// The operating system's. What was not durable before must then be taken for lost; to sync again proves nothing.
    fn sync(&self) -> Result<(), FileError>;
}

/// A lock file that is held. Dropping it releases the lock.
pub trait HeldLock: Send + Sync + fmt::Debug {
    /// Whether the file that is locked still has its name. If it was removed or replaced, another process may have locked the new one.
    ///
    /// # Errors
    /// The operating system's.
    fn is_held(&self) -> Result<bool, FileError>;
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To read what exists.
    Read,
    /// To read and write what exists.
    Write,
    /// To read and write a new, empty file, in place of the one that had the name.
    Create,
}

impl dyn File + '_ {
    /// Reads exactly `buffer.len()` bytes at `offset`.
    ///
    /// # Errors
    /// The operating system's; [`FileOperation::Read`] with `UnexpectedEof` if the file ends before.
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
    /// The operating system's. Any part of the bytes may have been written.
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

    /// The whole file from `offset` on.
    ///
    /// # Errors
    /// The operating system's.
    pub fn read_from(&self, offset: u64) -> Result<Vec<u8>, FileError> {
        self.read_range(offset..self.length()?.max(offset))
    }

    /// The bytes of `range`. Memory is taken as they come, so that a length that is wrong costs no more than there is in the file.
    ///
    /// # Errors
    /// The operating system's, or that there is not enough memory.
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

    /// The checksum of the bytes of `range`, continued from `checksum`, of which only a piece at a time is in memory.
    ///
    /// # Errors
    /// The operating system's.
    pub fn checksum_of(&self, range: Range<u64>, checksum: u32) -> Result<u32, FileError> {
        let mut checksum = checksum;
        for piece in pieces(range) {
            checksum = crc32c::crc32c_append(checksum, &self.read_range(piece)?);
        }
        Ok(checksum)
    }
}

/// Bytes that are read or written at once where there are many.
pub const PIECE: u64 = 1 << 20;

/// The parts of a range that are read or written at once.
pub(crate) fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    range.step_by(PIECE as usize).map(move |begin| begin..end.min(begin.saturating_add(PIECE)))
}

/// What was asked of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOperation {
    /// To make the directory.
    CreateDirectory,
    /// To list the directory.
    List,
    /// To open a file.
    Open,
    /// To make a file.
    Create,
    /// To read.
    Read,
    /// To write.
    Write,
    /// To cut or extend a file.
    SetLength,
    /// To tell how long a file is.
    Length,
    /// To make a file durable.
    Sync,
    /// To rename a file.
    Rename,
    /// To remove a file.
    Remove,
    /// To make changes of the directory durable.
    SyncDirectory,
    /// To lock a file.
    Lock,
    /// To tell whether a lock is still held.
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

/// The file system refused.
#[derive(Debug, thiserror::Error)]
#[error("cannot {operation} {}: {source}", path.display())]
pub struct FileError {
    /// What was asked for.
    pub operation: FileOperation,
    /// Of which file.
    pub path: PathBuf,
    /// What the operating system said.
    pub source: io::Error,
}

impl FileError {
    /// An error about `path`.
    pub fn new(operation: FileOperation, path: impl Into<PathBuf>, source: io::Error) -> Self {
        FileError { operation, path: path.into(), source }
    }

    /// Whether the file or the directory does not exist.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }
}

/// A lock file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A writer has it.
    #[error("{} is locked by {}", path.display(), holder_name(*holder))]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The process id that the holder wrote, if it has done so yet.
        holder: Option<u32>,
    },
    /// Readers have it, who leave no process id.
    #[error("{} is locked by processes that read", path.display())]
    Shared {
        /// The lock file.
        path: PathBuf,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

fn holder_name(holder: Option<u32>) -> String {
    holder.map_or_else(|| "another process".to_owned(), |id| format!("process {id}"))
}
