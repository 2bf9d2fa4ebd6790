//! **Unstable:** what an engine is written with. Needs the feature `custom-engines`.
//!
//! Everything here is exempt from semantic versioning: any release may change it. Programs that
//! only use graphs need none of it.
//!
//! An engine implements [`model::Engine`] and the traits of its views; a [`CustomEngine`] names it
//! and makes it, and [`EngineKind::Custom`](crate::EngineKind::Custom) makes graphs of it.
//! `docs/writing-an-engine.md` walks through a small one.
//!
//! | module | what |
//! |---|---|
//! | [`model`] | traits of engines and views; effects, tokens |
//! | [`encoding`] | records and parallel edges as bytes; cursors for engines that read by copying |
//! | [`files`] | the file system of a store, for engines that keep edges in files of their own |

#[doc(no_inline)]
pub use hedgerow_encoding as encoding;
#[doc(inline)]
pub use hedgerow_erased::{CustomEngine, EngineOptions, ErasedEngine, Make};
#[doc(no_inline)]
pub use hedgerow_log::files;
#[doc(no_inline)]
pub use hedgerow_model as model;
