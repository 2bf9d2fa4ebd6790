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
    Engine::of(EngineKind::Rapid),
    Engine::of(EngineKind::Tel),
    #[cfg(feature = "hybrid")]
    Engine::of(EngineKind::Hybrid),
    #[cfg(feature = "lsm")]
    Engine::of(EngineKind::Lsm),
];

impl Engine {
    const fn of(kind: EngineKind) -> Self {
        Engine { name: kind.name(), description: kind.description(), kind: Some(kind) }
    }

    /// Returns true if a graph on the engine needs a store.
    pub(crate) fn needs_store(self) -> bool {
        self.kind.is_some_and(EngineKind::owns_files)
    }

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
