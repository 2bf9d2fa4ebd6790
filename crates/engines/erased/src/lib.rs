//! Engines behind one type: [`ErasedEngine`] is an [`Engine`](hedgerow_model::Engine) that wraps
//! any other.
//!
//! The commit pipeline holds its engine this way: what runs once per commit or less is compiled
//! once, for all engines. Engines of tests and of research are read this way, too; the engines of
//! the library are read at their own types. Generics in the traits of the model become virtual
//! calls:
//!
//! - a commit costs two or three more allocations; a view, an adjacency or a cursor none, unless it
//!   is large;
//! - [`Cursor::scan`](hedgerow_model::Cursor::scan) copies short rows into batches: one virtual
//!   call passes the rows of many vertices. A long row is a batch by itself and is not copied;
//! - all other methods of a cursor cost one virtual call, and methods that visit runs cost one more
//!   per run;
//! - neighbors ascend, whatever the engine's own order: the rows of an unsorted engine are copied
//!   and sorted;
//! - a degree counts as expensive, so that kernels count all degrees once;
//! - parallel edges are copied when they are read;
//! - commit order is not available: only the core of the engine traits is passed on, and the
//!   capabilities that [`ErasedEngine`] is given.
//!
//! `docs/notes/2026-11-virtual-calls.md` has measurements of the cost.
//!
//! ```
//! use hedgerow_erased::{NamedEngine, ErasedEngine, Make};
//! use hedgerow_rapid::Rapid;
//! use hedgerow_model::EngineOptions;
//!
//! static MINE: NamedEngine = NamedEngine {
//!     name: "mine",
//!     make: Make::InMemory(|options| {
//!         let (topology, catalog) = (options.topology, options.catalog);
//!         ErasedEngine::new(Rapid::new(EngineOptions { topology, catalog }))
//!     }),
//! };
//! assert_eq!(format!("{MINE:?}"), "mine");
//! ```

mod batch;
mod cursor;
mod engine;
mod named;
mod records;
mod view;

pub use cursor::ErasedCursor;
pub use engine::{ErasedEngine, ErasedRoom, ErasedSnapshot, ErasedStaged};
pub use named::{Make, NamedEngine};
pub use records::ErasedRecords;
pub use view::{ErasedAdjacency, ErasedView};

/// A value of an engine's own type, behind virtual calls: without an allocation, unless it takes
/// more than eight words. With four words transactions allocate more, with sixteen they copy more:
/// both take up to a tenth longer.
type Inline<T> = smallbox::SmallBox<T, smallbox::space::S8>;
