//! The allocator's retention of freed memory.

use std::env;

/// Options that mimalloc reads from the environment before `main`: they return freed memory at once
/// instead of after a second, and in small pages.
const KEEP_NOTHING: [(&str, &str); 2] = [("MIMALLOC_PURGE_DELAY", "0"), ("MIMALLOC_ALLOW_THP", "0")];

/// Restarts the command with an allocator that keeps no freed memory, for commands that must stay
/// within a memory limit. Returns if the process was started that way, if the environment sets an
/// option of the allocator, or if the restart fails.
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
        // If this fails, the command takes more memory, but its results are right.
        let _ = Command::new(program).args(env::args_os().skip(1)).envs(KEEP_NOTHING).exec();
    }
}

#[cfg(not(unix))]
fn begin_anew() {}
