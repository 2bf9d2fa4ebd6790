//! The engines by name.

use crate::BenchError;
use hedgerow::EngineKind;

/// An engine that the driver can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// What it is called on the command line and in reports.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// The engine of a graph; `None` is the static CSR, which cannot be written.
    pub kind: Option<EngineKind>,
}

/// Every engine; the first is the static graph that all others are set against.
pub const ENGINES: &[Engine] = &[
    Engine { name: "csr", description: "static compressed sparse rows, the reference", kind: None },
    Engine {
        name: "rapid",
        description: "versioned partitions, copy-on-write, lock-free readers",
        kind: Some(EngineKind::Rapid),
    },
    Engine {
        name: "tel",
        description: "a log of versioned edges per vertex, lock-free readers (LiveGraph)",
        kind: Some(EngineKind::Tel),
    },
    Engine {
        name: "adjacency-list",
        description: "a sorted array per vertex with a version per edge and short locks (the study's AdjLst)",
        kind: Some(EngineKind::AdjacencyList),
    },
    Engine {
        name: "art-fine",
        description: "RapidStore's ablation: a plain radix tree per vertex, a version per edge (ART)",
        kind: Some(EngineKind::FineGrainedArt),
    },
    Engine {
        name: "art",
        description: "RapidStore's ablation: a plain radix tree per vertex (ART + SC)",
        kind: Some(EngineKind::Art),
    },
    Engine {
        name: "cart",
        description: "RapidStore's ablation: a compressed tree per vertex (C-ART + SC)",
        kind: Some(EngineKind::CompressedArt),
    },
    Engine {
        name: "cart-vec",
        description: "RapidStore's ablation: compressed trees, vectors for small sets",
        kind: Some(EngineKind::VectorArt),
    },
    Engine {
        name: "cart-ci",
        description: "RapidStore whole: compressed trees, a clustered index",
        kind: Some(EngineKind::ClusteredArt),
    },
];

impl Engine {
    /// The static graph.
    pub const CSR: Engine = ENGINES[0];

    /// The disk by itself, which is measured beside stores. No engine that could be asked for.
    pub(crate) const DISK: Engine = Engine { name: "disk", description: "the disk by itself", kind: None };

    /// The engine called `name`.
    ///
    /// # Errors
    /// There is none; the error names those that there are.
    pub fn named(name: &str) -> Result<Engine, BenchError> {
        let engine = ENGINES.iter().find(|engine| engine.name == name);
        engine.copied().ok_or_else(|| BenchError::UnknownEngine(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_an_unknown_one_gets_the_list() {
        for engine in ENGINES {
            assert_eq!(Engine::named(engine.name).unwrap(), *engine);
            // In stores it is called the same.
            assert!(engine.kind.is_none_or(|kind| kind.name() == engine.name));
        }
        let error = Engine::named("btree").unwrap_err().to_string();
        assert!(error.contains("btree") && error.contains("csr, rapid"), "{error}");
        assert_eq!(Engine::CSR.kind, None);
    }
}
