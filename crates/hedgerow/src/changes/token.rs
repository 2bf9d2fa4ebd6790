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
#[error("{0:?} is not a position in the changes of a graph: it {1}")]
pub struct InvalidToken(String, &'static str);

/// The form of the text: `1`, then in hexadecimal digits the id of the graph, the commit, its time
/// and a CRC32C of the bytes before.
const FORM: &str = "1";

const BYTES: usize = 16 + 8 + 8;

impl ChangeToken {
    /// Returns the commit: all changes up to it were pulled.
    #[must_use]
    pub fn commit(&self) -> CommitTimestamp {
        self.at
    }

    fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..16].copy_from_slice(&self.graph);
        bytes[16..24].copy_from_slice(&self.at.0.to_be_bytes());
        bytes[24..].copy_from_slice(&self.wall_clock.to_be_bytes());
        bytes
    }
}

impl fmt::Display for ChangeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.to_bytes();
        f.write_str(FORM)?;
        bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        write!(f, "{:08x}", crc32c::crc32c(&bytes))
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
        let invalid = |what| InvalidToken(text.to_owned(), what);
        let digits =
            text.strip_prefix(FORM).ok_or_else(|| invalid("is of a form that this version does not know"))?;
        if digits.len() != 2 * (BYTES + 4)
            || !digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
        {
            return Err(invalid("is not whole"));
        }
        let mut bytes = [0; BYTES + 4];
        for (byte, digits) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
            let value = |digit: u8| if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 };
            *byte = value(digits[0]) << 4 | value(digits[1]);
        }
        let (content, checksum) = bytes.split_at(BYTES);
        if crc32c::crc32c(content).to_be_bytes() != checksum {
            return Err(invalid("was changed"));
        }
        let number = |at: usize| {
            let mut number = [0; 8];
            number.copy_from_slice(&content[at..at + 8]);
            u64::from_be_bytes(number)
        };
        let mut graph = [0; 16];
        graph.copy_from_slice(&content[..16]);
        Ok(ChangeToken { graph, at: CommitTimestamp(number(16)), wall_clock: number(24) })
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
    fn tokens_are_read_back_and_changed_ones_refused() {
        let token =
            ChangeToken { graph: *b"0123456789abcdef", at: CommitTimestamp(77), wall_clock: u64::MAX - 3 };
        let text = token.to_string();
        assert_eq!(text.parse(), Ok(token));
        for (position, digit) in text.char_indices() {
            for other in "0123456789abcdefg".chars().filter(|other| *other != digit) {
                let mut changed = text.clone();
                changed.replace_range(position..=position, &other.to_string());
                let error = changed.parse::<ChangeToken>().unwrap_err();
                assert!(error.to_string().contains(&changed), "{error}");
            }
            assert!(text[..position].parse::<ChangeToken>().is_err());
        }
        assert!((text + "0").parse::<ChangeToken>().is_err());
    }
}
