//! Positions in the commits of a graph, as text.

use hedgerow_model::CommitTimestamp;
use std::fmt;
use std::str::FromStr;

/// The position of a [`Subscription`](crate::Subscription): all changes up to a commit of a graph.
///
/// Opaque text, by [`Display`](fmt::Display) and [`FromStr`], which later versions of this software
/// read, too. Another graph refuses it, and so does a store that was restored from a backup without
/// the commit.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChangeToken {
    pub(super) graph: [u8; 16],
    pub(super) at: CommitTimestamp,
    /// The wall-clock time of the commit. Distinguishes it from one that took its timestamp after
    /// the store was restored.
    pub(super) wall_clock: u64,
}

/// A text is not a [`ChangeToken`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a position in the changes of a graph that this version knows: pass the whole text of a token"
)]
pub struct InvalidToken(String);

/// The form of the text: `1`, then in hexadecimal digits the id of the graph, the commit, and its
/// time.
const FORM: &str = "1";

impl ChangeToken {
    /// Returns the commit: all changes up to it were pulled.
    #[must_use]
    pub fn commit(&self) -> CommitTimestamp {
        self.at
    }

    /// Returns the wall-clock time of the commit, in microseconds since 1970-01-01 UTC; 0 if there
    /// is none, or the graph lives in memory.
    #[must_use]
    pub fn wall_clock(&self) -> u64 {
        self.wall_clock
    }
}

impl fmt::Display for ChangeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ChangeToken { graph, at, wall_clock } = self;
        write!(f, "{FORM}{:032x}{:016x}{wall_clock:016x}", u128::from_be_bytes(*graph), at.0)
    }
}

impl fmt::Debug for ChangeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ChangeToken {
    type Err = InvalidToken;

    fn from_str(text: &str) -> Result<Self, InvalidToken> {
        let read = || {
            let graph = u128::from_str_radix(text.get(1..33)?, 16).ok()?;
            let number = |range| u64::from_str_radix(text.get(range)?, 16).ok();
            let (at, wall_clock) = (CommitTimestamp(number(33..49)?), number(49..65)?);
            Some(ChangeToken { graph: graph.to_be_bytes(), at, wall_clock })
        };
        // Each token has one text.
        read().filter(|token| token.to_string() == text).ok_or_else(|| InvalidToken(text.to_owned()))
    }
}

/// Serialized as its text.
#[cfg(feature = "serde")]
impl serde::Serialize for ChangeToken {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for ChangeToken {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_back_and_other_texts_refused() {
        let token = ChangeToken { graph: [0xa5; 16], at: CommitTimestamp(77), wall_clock: u64::MAX - 3 };
        let text = token.to_string();
        assert_eq!(text.parse(), Ok(token));
        let refused =
            |text: &str| assert!(text.parse::<ChangeToken>().unwrap_err().to_string().contains(text));
        (0..text.len()).for_each(|length| refused(&text[..length]));
        refused(&(text.clone() + "0"));
        for (position, wrong) in [(0, "2"), (1, "+"), (1, "A"), (20, "g"), (40, "é"), (64, " ")] {
            let mut changed = text.clone();
            changed.replace_range(position..=position, wrong);
            refused(&changed);
        }
    }
}
