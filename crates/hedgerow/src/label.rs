//! Typed handles of labels, and directions to follow their edges.

use hedgerow_model::{Direction, LabelId};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// A label of a graph, with the type of the data on its edges.
///
/// [`Graph::label`](crate::Graph::label) looks one up by name and checks the type. A handle is two
/// bytes and can be copied; it is valid for the graph that it came from, its snapshots and its
/// transactions. `T` is
/// - `()` for edges without data, or to read edges of any label without their data,
/// - `u32`, `u64`, `i64`, `f32` or `f64` for a value on each edge,
/// - a type that implements [`Properties`](crate::Properties) for a record on each edge,
/// - [`Record`](crate::Record) for a record whose properties are only known at run time.
///
/// ```
/// use hedgerow::prelude::*;
///
/// let graph = Graph::in_memory(GraphOptions::new().label::<()>("follows").label::<f64>("rates"))?;
/// let follows = graph.label::<()>("follows")?;
/// let rates = graph.label::<f64>("rates")?;
/// graph.put_edge(follows, 1, 2)?;
/// graph.put_edge_with(rates, 1, 2, 4.5)?;
/// assert_eq!(graph.get_edge(rates, 1, 2)?, Some(4.5));
/// assert!(graph.label::<u64>("rates").is_err(), "its edges carry f64");
/// # Ok::<(), hedgerow::Error>(())
/// ```
pub struct Label<T = ()> {
    id: LabelId,
    data: PhantomData<fn() -> T>,
}

/// The edges of a label in one direction: one hop of a traversal.
///
/// A [`Label`] or a [`LabelId`] converts to the hop from source to destination; [`Label::incoming`]
/// or a pair of a label id and a [`Direction`] gives the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hop {
    /// The label.
    pub label: LabelId,
    /// The direction to follow: from source to destination, or back.
    pub direction: Direction,
}

/// A [`Hop`] with the type of the data on its edges.
pub struct HopOf<T> {
    hop: Hop,
    data: PhantomData<fn() -> T>,
}

impl<T> Label<T> {
    /// Returns the id of the label: its position in the [`Catalog`](crate::Catalog).
    #[must_use]
    pub fn id(&self) -> LabelId {
        self.id
    }

    /// Returns the hop along the edges of this label from destination to source, for graphs that
    /// store them: undirected graphs, and directed graphs with reverse adjacency.
    ///
    /// ```
    /// use hedgerow::prelude::*;
    ///
    /// let options = GraphOptions::new().topology(Topology::DirectedWithReverse).label::<()>("follows");
    /// let graph = Graph::in_memory(options)?;
    /// let follows = graph.label::<()>("follows")?;
    /// graph.put_edge(follows, "ann", "bob").unwrap_err(); // This graph has numbers as keys.
    /// graph.put_edge(follows, 1, 2)?;
    /// assert_eq!(graph.neighbors(follows, 1)?, [2]);
    /// assert_eq!(graph.neighbors(follows.incoming(), 2)?, [1]);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    #[must_use]
    pub fn incoming(&self) -> HopOf<T> {
        HopOf::new(Hop { label: self.id, direction: Direction::In })
    }
}

impl<T> HopOf<T> {
    fn new(hop: Hop) -> Self {
        HopOf { hop, data: PhantomData }
    }

    /// Returns the hop without the type.
    pub(crate) fn untyped(&self) -> Hop {
        self.hop
    }
}

impl<T> Copy for Label<T> {}

impl<T> Clone for Label<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> PartialEq for Label<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Label<T> {}

impl<T> Hash for Label<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl<T> fmt::Debug for Label<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Label<{}>({})", std::any::type_name::<T>(), self.id.0)
    }
}

impl<T> fmt::Debug for HopOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hop.fmt(f)
    }
}

/// Converts without a check: the type is checked where the label is used.
impl<T> From<LabelId> for Label<T> {
    fn from(id: LabelId) -> Self {
        Label { id, data: PhantomData }
    }
}

impl<T> From<&Label<T>> for Label<T> {
    fn from(label: &Label<T>) -> Self {
        *label
    }
}

impl<T> From<&Label<T>> for LabelId {
    fn from(label: &Label<T>) -> Self {
        label.id
    }
}

impl<T> From<Label<T>> for LabelId {
    fn from(label: Label<T>) -> Self {
        label.id
    }
}

macro_rules! hop_from {
    ($([$($generics:tt)*] $source:ty, $value:ident => ($label:expr, $direction:expr);)*) => {
        $(
            impl<$($generics)*> From<$source> for Hop {
                fn from($value: $source) -> Self {
                    Hop { label: $label, direction: $direction }
                }
            }
        )*
    };
}

hop_from! {
    [T] &Label<T>, label => (label.id, Direction::Out);
    [T] Label<T>, label => (label.id, Direction::Out);
    [T] HopOf<T>, typed => (typed.hop.label, typed.hop.direction);
    [] LabelId, label => (label, Direction::Out);
    [] (LabelId, Direction), pair => (pair.0, pair.1);
}

impl<T> From<&Label<T>> for HopOf<T> {
    fn from(label: &Label<T>) -> Self {
        HopOf::new(label.into())
    }
}

impl<T> From<Label<T>> for HopOf<T> {
    fn from(label: Label<T>) -> Self {
        HopOf::new(label.into())
    }
}

impl<T> From<LabelId> for HopOf<T> {
    fn from(label: LabelId) -> Self {
        HopOf::new(label.into())
    }
}

impl<T> From<(LabelId, Direction)> for HopOf<T> {
    fn from(pair: (LabelId, Direction)) -> Self {
        HopOf::new(pair.into())
    }
}
