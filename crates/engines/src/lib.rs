//! The engines that graphs are tested with. Not published.
//!
//! The tests of this crate run kernels, their own and the library's, on every engine. A kernel is compiled for each of
//! them where it is used, which takes minutes with any optimisation, so that these tests are compiled without. Those of
//! other operations are in `crates/hedgerow`, which has them compiled already.

use hedgerow::EngineKind;

/// Every engine that exists.
pub const ENGINES: [EngineKind; 8] = [
    EngineKind::Rapid,
    EngineKind::Tel,
    EngineKind::AdjacencyList,
    EngineKind::FineGrainedArt,
    EngineKind::Art,
    EngineKind::CompressedArt,
    EngineKind::VectorArt,
    EngineKind::ClusteredArt,
];

/// One engine of each way to keep versions: on these the models of whole graphs run.
pub const MODELLED: [EngineKind; 3] = [EngineKind::Rapid, EngineKind::Tel, EngineKind::AdjacencyList];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_names_of_their_own() {
        for kind in ENGINES {
            assert_eq!(EngineKind::of_name(kind.name()), Some(kind));
        }
        assert_eq!(EngineKind::of_name(""), None);
    }
}
