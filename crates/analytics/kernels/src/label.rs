//! Setters of the label that a kernel follows, by any handle of the label.

use crate::{
    Betweenness, Bfs, Communities, Cores, LocalClustering, Neighborhood, PageRank, Sssp, TriangleCount, Wcc,
    Weight,
};
use hedgerow_model::LabelId;

macro_rules! label {
    ($([$($generics:tt)*] $kernel:ty;)*) => {
        $(impl<$($generics)*> $kernel {
            /// Follows the edges of this label instead of the default label.
            #[must_use]
            pub fn label(mut self, label: impl Into<LabelId>) -> Self {
                self.label = label.into();
                self
            }
        })*
    };
}

label! {
    ['a] Betweenness<'a>;
    ['a] Bfs<'a>;
    ['a] Communities<'a>;
    ['a] Cores<'a>;
    ['a] LocalClustering<'a>;
    ['a] Neighborhood<'a>;
    ['a] PageRank<'a>;
    ['a, W: Weight] Sssp<'a, W>;
    ['a] TriangleCount<'a>;
    ['a] Wcc<'a>;
}
