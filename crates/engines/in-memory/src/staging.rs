//! Changes that an engine has staged, of either form in which they come
//! ([`Changes`](hedgerow_model::Changes)), and the room for them.

use crate::records::StagedEffects;

/// Reusable room for what is staged.
#[derive(Debug, Default)]
pub struct StagingRoom<E> {
    /// Room for a commit of effects. Most commits are of single edges, and do without.
    pub effects: Option<Box<StagedEffects>>,
    /// Room for commits of one edge each.
    pub edges: E,
}

/// Staged changes.
#[derive(Debug)]
pub enum EachOrCommit<E, C> {
    /// Commits of one edge each.
    Each(E),
    /// A commit of effects, boxed so that a commit of one edge moves little.
    Commit(Box<C>),
}
