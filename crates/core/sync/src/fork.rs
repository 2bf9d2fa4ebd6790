//! Detects a fork of the process, and keeps file locks out of forked children.
//!
//! A forked child has a copy of its parent's memory, but only the thread that forked: a lock that
//! another thread held is never released in the child, and background threads do no work. The child
//! shares its parent's open files and their locks.
//!
//! Works for every `fork` of the C library, which runs the handlers of this module. A program that
//! makes the system call itself bypasses them.

use std::cell::Cell;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// Number of forks between the process that first called [`Process::current`] and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// The identity of a process, as distinguished from its forked children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// This process.
    #[must_use]
    pub fn current() -> Self {
        static HANDLERS: Once = Once::new();
        HANDLERS.call_once(install_handlers);
        Process(FORKS.load(Ordering::Relaxed))
    }

    /// True if this is the running process; false in a child that was forked since. One load.
    #[inline]
    #[must_use]
    pub fn is_current(self) -> bool {
        self.0 == FORKS.load(Ordering::Relaxed)
    }
}

/// An open file whose lock forked children do not share: in a child, its descriptor refers to
/// another file.
#[derive(Debug)]
pub struct ParentFile {
    file: OwnedFd,
    stand_in: Arc<OwnedFd>,
}

impl ParentFile {
    /// Opens a file. In later forked children, its descriptor refers to `stand_in`. O(1).
    ///
    /// # Errors
    /// The errors of `open`, which must not open another `ParentFile`.
    pub fn open<E>(stand_in: Arc<OwnedFd>, open: impl FnOnce() -> Result<OwnedFd, E>) -> Result<Self, E> {
        // Installs the handlers.
        let _ = Process::current();
        // No thread forks while the list is locked, so no child gets the file before it is listed.
        let mut listed = parent_files();
        let file = ParentFile { file: open()?, stand_in };
        listed.push(file.descriptors());
        Ok(file)
    }

    fn descriptors(&self) -> Descriptors {
        Descriptors { file: self.file.as_raw_fd(), stand_in: self.stand_in.as_raw_fd() }
    }
}

impl AsFd for ParentFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for ParentFile {
    /// Removes the file from the list before its descriptor is closed and reused. O(open files with
    /// locks).
    fn drop(&mut self) {
        let (mut listed, descriptors) = (parent_files(), self.descriptors());
        if let Some(position) = listed.iter().position(|listed| *listed == descriptors) {
            listed.swap_remove(position);
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Descriptors {
    file: RawFd,
    stand_in: RawFd,
}

type Listed = MutexGuard<'static, Vec<Descriptors>>;

/// The descriptors of all open `ParentFile`s. This is the standard mutex: the only thread of a
/// child can release it, whatever the parent's other threads were doing.
static PARENT_FILES: Mutex<Vec<Descriptors>> = Mutex::new(Vec::new());

std::thread_local! {
    /// The locked list, while the thread forks.
    static WHILE_FORKING: Cell<Option<Listed>> = const { Cell::new(None) };
}

fn parent_files() -> Listed {
    PARENT_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn install_handlers() {
    if cfg!(miri) {
        // There is no other process.
        return;
    }
    // SAFETY: the handlers are functions without arguments that never unwind. They do only what a
    // child may do before it loads another program: they neither allocate nor wait for a lock that
    // another thread may hold in the child.
    let failed = unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    assert_eq!(failed, 0, "no memory for the handlers of forks");
}

extern "C" fn before_fork() {
    WHILE_FORKING.set(Some(parent_files()));
}

extern "C" fn in_parent() {
    WHILE_FORKING.take();
}

extern "C" fn in_child() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    for Descriptors { file, stand_in } in WHILE_FORKING.take().iter().flat_map(|listed| listed.iter()) {
        // SAFETY: a listed descriptor is open and belongs to a `ParentFile`. It stays open, and
        // refers to another open file.
        unsafe { libc::dup2(*stand_in, *file) };
        // SAFETY: sets a flag of an open descriptor.
        unsafe { libc::fcntl(*file, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    /// Runs `child` in a forked child. Returns the child's exit code.
    fn forked(child: impl FnOnce() -> u8) -> i32 {
        // SAFETY: the child reads memory, makes system calls, and exits.
        let id = unsafe { libc::fork() };
        if id == 0 {
            let code = child();
            // SAFETY: ends the process at once.
            unsafe { libc::_exit(i32::from(code)) }
        }
        let mut status = 0;
        // SAFETY: writes to the variable only.
        unsafe { libc::waitpid(id, &raw mut status, 0) };
        libc::WEXITSTATUS(status)
    }

    /// The inode of the file that a descriptor refers to.
    fn inode(file: &impl AsFd) -> u64 {
        // SAFETY: all zeros are a valid value of this structure of numbers.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: writes to the variable only.
        unsafe { libc::fstat(file.as_fd().as_raw_fd(), &raw mut status) };
        status.st_ino
    }

    #[test]
    fn a_child_is_another_process_than_its_parent() {
        let parent = Process::current();
        let in_child = || u8::from(parent.is_current()) + 2 * u8::from(Process::current().is_current());
        assert_eq!(forked(in_child), 2);
        assert!(parent.is_current());
    }

    #[test]
    fn a_child_has_the_stand_in_of_a_parent_file() {
        let (file, stand_in) = std::io::pipe().unwrap();
        let (other, _writer) = std::io::pipe().unwrap();
        let stand_in = Arc::new(OwnedFd::from(stand_in));
        let kept = ParentFile::open(Arc::clone(&stand_in), || Ok::<_, ()>(other.into())).unwrap();
        assert_eq!(forked(|| u8::from(inode(&kept) == inode(&stand_in))), 1);
        assert_ne!(inode(&kept), inode(&stand_in));
        assert_ne!(inode(&kept), inode(&file));
    }
}
