//! What the allocator of the command keeps of memory that was freed.

use std::env;

/// Options that mimalloc reads from the environment before `main`: freed memory is returned at once instead
/// of after a second, and in small pages.
const KEEP_NOTHING: [(&str, &str); 2] = [("MIMALLOC_PURGE_DELAY", "0"), ("MIMALLOC_ALLOW_THP", "0")];

/// Begins the command anew with an allocator that keeps nothing, for commands that are to stay within some
/// memory. Returns if that is how the process began, if its environment says what the allocator keeps, or
/// if it cannot begin anew.
pub fn keep_nothing() {
    if KEEP_NOTHING.iter().all(|(name, _)| env::var_os(name).is_none()) {
        begin_anew();
    }
}

#[cfg(unix)]
fn begin_anew() {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    if let Ok(program) = env::current_exe() {
        // Where this fails, the command takes more memory, and is right.
        let _ = Command::new(program).args(env::args_os().skip(1)).envs(KEEP_NOTHING).exec();
    }
}

#[cfg(not(unix))]
fn begin_anew() {}
