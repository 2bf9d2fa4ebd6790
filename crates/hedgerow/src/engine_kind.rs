//! The engines that users choose from, and what each can do.

#[cfg(feature = "erased")]
use hedgerow_erased::NamedEngine;
use hedgerow_log::OWN_FILES;
use hedgerow_model::UnknownName;

/// The engine that stores a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineKind {
    /// In memory: versions per partition of 64 vertices, copy-on-write, lock-free readers
    /// (RapidStore, PVLDB 18(10), 2025). Needs the feature `rapid`.
    Rapid,
    /// In memory, or in a memory-mapped file: a log of versioned edges per vertex, lock-free
    /// readers, neighbors in insertion order (LiveGraph, PVLDB 13(7), 2020). Needs the feature
    /// `tel`.
    Tel,
    /// On disk, for graphs larger than memory: recent changes in memory over sorted levels of edge
    /// files, which are compacted in the background (LSMGraph, SIGMOD 2024). Needs the feature
    /// `lsm`, and a store: [`GraphOptions::create`](crate::GraphOptions::create).
    Lsm,
    /// In memory, for streams of updates: commits are appended to an edge log, which is archived in
    /// batches to rows of chained blocks (GraphOne, ACM Transactions on Storage 15(4), 2020). Needs
    /// the feature `hybrid`.
    Hybrid,
    /// An engine behind virtual calls, for tests and for the laboratory.
    #[cfg(feature = "erased")]
    #[doc(hidden)]
    Erased(&'static NamedEngine),
}

/// `rapid`, unless only `tel` is compiled.
impl Default for EngineKind {
    fn default() -> Self {
        if cfg!(feature = "rapid") { EngineKind::Rapid } else { EngineKind::Tel }
    }
}

/// Engines of tests and of research that stores may have been made with. The default engine opens
/// these stores.
const OTHER_ENGINES: [&str; 8] =
    ["adjacency-list", "art-fine", "art", "cart", "cart-vec", "cart-ci", "example", "reference"];

impl EngineKind {
    /// The engines of the library, compiled or not.
    pub const ALL: &'static [EngineKind] =
        &[EngineKind::Rapid, EngineKind::Tel, EngineKind::Lsm, EngineKind::Hybrid];

    /// Returns the name of the engine in stores and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Rapid => "rapid",
            EngineKind::Tel => "tel",
            EngineKind::Lsm => "lsm",
            EngineKind::Hybrid => "hybrid",
            #[cfg(feature = "erased")]
            EngineKind::Erased(engine) => engine.name,
        }
    }

    /// Describes the engine in a few words.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            EngineKind::Rapid => "versioned partitions, copy-on-write, lock-free readers",
            EngineKind::Tel => "a log of versioned edges per vertex, lock-free readers (LiveGraph)",
            EngineKind::Lsm => "sorted edges on disk, recent changes in memory (LSMGraph)",
            EngineKind::Hybrid => "an edge log before rows of chained blocks (GraphOne)",
            #[cfg(feature = "erased")]
            EngineKind::Erased(_) => "an engine behind virtual calls",
        }
    }

    /// Returns true if the engine keeps edges in files of its own, so that no other engine opens
    /// its stores, and a graph needs a store.
    #[must_use]
    pub fn owns_files(self) -> bool {
        match self {
            #[cfg(feature = "erased")]
            EngineKind::Erased(engine) => engine.make.owns_files(),
            _ => self == EngineKind::Lsm,
        }
    }

    /// Returns true if the engine does not look up edges that are put: the numbers of edges are
    /// ranges ([`Count`](crate::Count)) until it has counted.
    #[must_use]
    pub fn counts_later(self) -> bool {
        matches!(self, EngineKind::Lsm | EngineKind::Hybrid)
    }

    /// Returns true if the engine keeps the order of commits, for
    /// [`Newest::by_commit`](crate::Newest::by_commit).
    #[must_use]
    pub fn keeps_commit_order(self) -> bool {
        self == EngineKind::Tel
    }

    /// Returns true if the engine can keep edges in a [scratch file](crate::GraphOptions::scratch).
    #[must_use]
    pub fn has_scratch_files(self) -> bool {
        self == EngineKind::Tel
    }

    /// Returns true if the engine writes edges to a log first, which it archives: see
    /// [`GraphOptions::archiving_threshold`](crate::GraphOptions::archiving_threshold).
    #[must_use]
    pub fn has_edge_log(self) -> bool {
        self == EngineKind::Hybrid
    }

    /// Returns the names of the engines with an ability, for messages.
    pub(crate) fn names_with(has_ability: fn(Self) -> bool) -> String {
        let engines = Self::ALL.iter().filter(|engine| has_ability(**engine));
        engines.map(|engine| format!("`{engine}`")).collect::<Vec<_>>().join(" or ")
    }

    /// Returns the name of the engine in the manifest of a store.
    pub(crate) fn stored_name(self) -> String {
        let prefix = if self.owns_files() { OWN_FILES } else { "" };
        format!("{prefix}{}", self.name())
    }

    /// Returns the engine that opens a store whose manifest names `name`. The content of a store
    /// does not depend on the engine, unless the engine has files of its own.
    pub(crate) fn of_manifest(name: &str) -> Option<Self> {
        if OTHER_ENGINES.contains(&name) {
            return Some(EngineKind::default());
        }
        let engine: EngineKind = name.trim_start_matches(OWN_FILES).parse().ok()?;
        (engine.owns_files() == name.starts_with(OWN_FILES)).then_some(engine)
    }
}

impl std::fmt::Display for EngineKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

hedgerow_model::serde_by_name!(EngineKind);

/// The engines of the library, compiled or not.
impl std::str::FromStr for EngineKind {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let names: Vec<_> = Self::ALL.iter().map(|engine| engine.name()).collect();
        let position = names.iter().position(|known| *known == name);
        position.map(|position| Self::ALL[position]).ok_or_else(|| UnknownName::new("engine", name, &names))
    }
}
