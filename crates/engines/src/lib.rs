//! The engines that graph tests run on. Not published.
//!
//! The tests of this crate run the library's kernels, and kernels of their own, on every engine. A
//! kernel is compiled for each engine where it is used, which takes minutes with any optimization,
//! so these tests are compiled without optimization. The tests of other operations are in
//! `crates/hedgerow`, which compiles these operations anyway.

use hedgerow::{Count, EngineKind};
use hedgerow_erased::{EngineOptions, ErasedEngine, Make, NamedEngine};
use hedgerow_hybrid::{Hybrid, HybridOptions};

/// The reference engine: in memory, without a fast path.
pub const REFERENCE: EngineKind = EngineKind::Erased(&hedgerow_testing::reference::REFERENCE);

/// Engine `hybrid` with a log that is archived every few commits.
pub static HYBRID: NamedEngine = NamedEngine {
    name: "hybrid",
    make: Make::InMemory(|EngineOptions { topology, catalog, .. }| {
        let options = HybridOptions { archived_from: 16, ..HybridOptions::new(topology, catalog) };
        ErasedEngine::new(Hybrid::new(options))
    }),
};

/// The engines of the library that need no files, and the reference.
pub const ENGINES: [EngineKind; 4] =
    [EngineKind::Rapid, EngineKind::Tel, EngineKind::Erased(&HYBRID), REFERENCE];

/// The engines for model tests of whole graphs.
pub const MODELLED: [EngineKind; 3] = [EngineKind::Rapid, EngineKind::Tel, REFERENCE];

/// Returns true if an engine defers counting: it does not look up edges that are put, or deleted in
/// a stream, and counts such a commit as a change.
#[must_use]
pub fn counts_later(engine: EngineKind) -> bool {
    ["reference-files", "lsm", "hybrid"].contains(&engine.name())
}

/// Returns true if a count is this number, or may be if the engine defers counting.
#[must_use]
pub fn is_count(engine: EngineKind, count: Count, number: u64) -> bool {
    if counts_later(engine) { count.may_be(number) } else { count == number }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_names_of_their_own_and_the_library_knows_its_own() {
        for (position, engine) in ENGINES.iter().enumerate() {
            assert!(ENGINES[..position].iter().all(|other| other.name() != engine.name()));
        }
        assert_eq!(
            ["rapid", "tel", "hybrid", "cart"].map(|name| name.parse().ok()),
            [Some(ENGINES[0]), Some(ENGINES[1]), Some(EngineKind::Hybrid), None]
        );
    }
}
