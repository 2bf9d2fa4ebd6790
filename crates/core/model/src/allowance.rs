//! The memory limit of a graph, as it applies to one commit.

use crate::CapacityError;

/// The memory that a commit may take.
///
/// Limits only growth of the newest state, so that a graph at its limit can be shrunk: former
/// versions that snapshots keep are in memory already. Concurrent commits each see the memory used
/// before any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowance(Option<Limited>);

/// A limit and the memory that counts against it, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limited {
    limit: usize,
    /// Memory in use outside the engine.
    held: usize,
    /// Growth outside the engine.
    growth: isize,
    overdraft: usize,
}

impl Allowance {
    /// No limit.
    pub const UNLIMITED: Self = Allowance(None);

    /// No growth at all.
    pub const NO_GROWTH: Self = Allowance(Some(Limited { limit: 0, held: 0, growth: 0, overdraft: 0 }));

    /// The graph may use `limit` bytes. It uses `held` bytes outside its engine, which the commit
    /// grows by `growth`.
    #[must_use]
    pub fn up_to(limit: usize, held: usize, growth: isize) -> Self {
        Allowance(Some(Limited { limit, held, growth, overdraft: 0 }))
    }

    /// Allows twice the limit, for a graph that is being opened: its memory layout may differ from
    /// the layout before it was closed.
    #[must_use]
    pub fn with_overdraft(self) -> Self {
        Allowance(self.0.map(|limited| Limited { overdraft: limited.limit, ..limited }))
    }

    /// The allowance with `held` more bytes in use outside the engine, which the commit grows by
    /// `growth`.
    #[must_use]
    pub fn beside(self, held: usize, growth: isize) -> Self {
        Allowance(self.0.map(|limited| Limited {
            held: limited.held.saturating_add(held),
            growth: limited.growth.saturating_add(growth),
            ..limited
        }))
    }

    /// Returns true if there is a limit.
    #[inline]
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.0.is_some()
    }

    /// Checks a commit that grows the newest state by `growth` bytes in an engine that uses
    /// `engine_bytes`.
    ///
    /// # Errors
    /// If the newest state would grow, and the graph would exceed its limit.
    pub fn check(&self, engine_bytes: usize, growth: isize) -> Result<(), CapacityError> {
        let Some(limited) = self.0 else { return Ok(()) };
        let limit = limited.limit;
        let held = engine_bytes.saturating_add(limited.held);
        match usize::try_from(growth.saturating_add(limited.growth)) {
            Ok(needed @ 1..) if held.saturating_add(needed) > limit.saturating_add(limited.overdraft) => {
                Err(CapacityError::Memory { needed, held, limit })
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_refused_beyond_the_limit_and_shrinking_never() {
        let allowance = Allowance::up_to(100, 30, 10);
        let refused = Err(CapacityError::Memory { needed: 11, held: 90, limit: 100 });
        assert_eq!(allowance.check(60, 0), Ok(()));
        assert_eq!(allowance.check(60, 1), refused);
        assert_eq!(allowance.check(600, -10), Ok(()));
        assert_eq!(allowance.check(600, -9).is_err(), allowance.is_limited());
        let (most, more) =
            (allowance.with_overdraft().check(160, 0), allowance.with_overdraft().check(160, 1));
        assert_eq!((most, more), (Ok(()), Err(CapacityError::Memory { needed: 11, held: 190, limit: 100 })));
        assert_eq!(Allowance::UNLIMITED.check(usize::MAX, isize::MAX), Ok(()));
    }
}
