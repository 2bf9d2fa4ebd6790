//! The engines and their names.

use crate::BenchError;
use hedgerow::EngineKind;

/// An engine that the driver can measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// A description.
    pub description: &'static str,
    /// The engine of a graph; `None` is the static CSR, which cannot be written.
    pub kind: Option<EngineKind>,
}

/// The static graph, which is the reference, and the engines of the library.
pub const ENGINES: &[Engine] = &[
    Engine::CSR,
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
    #[cfg(feature = "hybrid")]
    Engine {
        name: "hybrid",
        description: "an edge log before rows of chained blocks (GraphOne)",
        kind: Some(EngineKind::Hybrid),
    },
];

impl Engine {
    /// The static graph.
    pub const CSR: Engine =
        Engine { name: "csr", description: "static compressed sparse rows, the reference", kind: None };

    /// The disk alone, measured next to stores. It cannot be selected as an engine.
    pub(crate) const DISK: Engine = Engine { name: "disk", description: "the disk by itself", kind: None };

    /// Finds the engine called `name` in `engines`.
    ///
    /// # Errors
    /// There is no such engine; the error lists all.
    pub fn named(name: &str, engines: &[Engine]) -> Result<Engine, BenchError> {
        engines.iter().find(|engine| engine.name == name).copied().ok_or_else(|| BenchError::UnknownEngine {
            name: name.to_owned(),
            known: engines.iter().map(|engine| engine.name).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_found_by_its_name_and_an_unknown_one_gets_the_list() {
        for engine in ENGINES {
            assert_eq!(Engine::named(engine.name, ENGINES).unwrap(), *engine);
            // Stores use the same name.
            assert!(engine.kind.is_none_or(|kind| kind.name() == engine.name));
        }
        let error = Engine::named("btree", ENGINES).unwrap_err().to_string();
        assert!(error.contains("btree") && error.contains("csr, rapid"), "{error}");
    }
}
