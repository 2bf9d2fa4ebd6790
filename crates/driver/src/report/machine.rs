//! The machine and the build of a run.

use serde::Serialize;
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

/// The machine of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Machine {
    /// The model of its processor; empty where the operating system does not report it.
    pub cpu: String,
    /// The maximum number of concurrently running threads.
    pub cores: usize,
    /// Its memory; 0 where the operating system does not report it.
    pub memory_bytes: u64,
    /// Its operating system and architecture.
    pub system: String,
}

impl Machine {
    pub(super) fn detect() -> Self {
        let asked = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let system = System::new_with_specifics(asked).ok();
        let first = system.as_ref().and_then(|system| system.cpus().first());
        Machine {
            cpu: first.map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory_bytes: system.as_ref().map_or(0, System::total_memory),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        }
    }
}

/// The build that was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Build {
    /// The version of Hedgerow.
    pub version: &'static str,
    /// The profile of the build and its optimization.
    pub profile: &'static str,
    /// The compiler.
    pub rustc: &'static str,
}

impl Build {
    pub(super) const CURRENT: Build = Build {
        version: env!("CARGO_PKG_VERSION"),
        profile: env!("HEDGEROW_PROFILE"),
        rustc: env!("HEDGEROW_RUSTC"),
    };

    /// Returns true if the build is optimized: otherwise its figures are meaningless.
    #[must_use]
    pub fn is_optimized(&self) -> bool {
        !cfg!(debug_assertions)
    }
}
