//! Application keys, by which users of a graph name vertices.

use std::fmt;

/// The kind of a graph's keys; fixed when the graph is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// Any `u64`; a dictionary assigns dense vertex ids.
    #[default]
    Number,
    /// Any string; a dictionary assigns dense vertex ids.
    String,
    /// The vertex ids themselves, chosen by the application: no dictionary, at most 2^32 - 2.
    Dense,
}

crate::names!(KeyKind, "kind of keys": Number => "number", String => "text", Dense => "dense");

/// An owned key. Prints as the number or the text itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Key {
    /// A number, or a dense id.
    Number(u64),
    /// A string.
    Text(Box<str>),
}

/// A borrowed key, which the methods of a graph take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyRef<'a> {
    /// A number, or a dense id.
    Number(u64),
    /// A string.
    Text(&'a str),
    /// A negative number, which is refused: no graph has such a key, but signed integers can be
    /// passed as keys.
    Negative(i64),
}

impl Key {
    /// Borrows the key.
    #[must_use]
    pub fn as_ref(&self) -> KeyRef<'_> {
        match self {
            Key::Number(number) => KeyRef::Number(*number),
            Key::Text(text) => KeyRef::Text(text),
        }
    }

    /// The number of a [`Key::Number`]; `None` for a string.
    ///
    /// ```
    /// use hedgerow_model::Key;
    ///
    /// assert_eq!(Key::from(7).as_u64(), Some(7));
    /// assert_eq!(Key::from(7), 7);
    /// assert_eq!(Key::from("ann").as_str(), Some("ann"));
    /// ```
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        if let Key::Number(number) = self { Some(*number) } else { None }
    }

    /// The string of a [`Key::Text`]; `None` for a number.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Key::Text(text) = self { Some(text) } else { None }
    }
}

impl PartialEq<u64> for Key {
    fn eq(&self, number: &u64) -> bool {
        self.as_u64() == Some(*number)
    }
}

impl PartialEq<str> for Key {
    fn eq(&self, text: &str) -> bool {
        self.as_str() == Some(text)
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(*text)
    }
}

impl KeyRef<'_> {
    /// Copies the key. A negative number, which occurs in messages only, becomes text.
    #[must_use]
    pub fn to_key(self) -> Key {
        match self {
            KeyRef::Number(number) => Key::Number(number),
            KeyRef::Text(text) => Key::Text(text.into()),
            KeyRef::Negative(number) => Key::Text(number.to_string().into()),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Number(number) => fmt::Debug::fmt(number, f),
            Key::Text(text) => fmt::Debug::fmt(text, f),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl fmt::Display for KeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyRef::Number(number) => number.fmt(f),
            KeyRef::Text(text) => text.fmt(f),
            KeyRef::Negative(number) => number.fmt(f),
        }
    }
}

impl From<u64> for Key {
    fn from(number: u64) -> Self {
        Key::Number(number)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::Text(text.into())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Key::Text(text.into())
    }
}

/// A type that can name a vertex: an integer of any type, a string, a [`Key`], a vertex id of a
/// graph with dense ids as keys.
///
/// Methods refuse negative numbers, which are no keys.
pub trait AsKey: Sync {
    /// Borrows the key.
    fn as_key(&self) -> KeyRef<'_>;
}

macro_rules! integer_keys {
    ($($unsigned:ty),*; $($signed:ty),*) => {
        $(impl AsKey for $unsigned {
            #[inline]
            fn as_key(&self) -> KeyRef<'_> {
                KeyRef::Number(*self as u64)
            }
        })*
        $(impl AsKey for $signed {
            #[inline]
            fn as_key(&self) -> KeyRef<'_> {
                match *self {
                    0.. => KeyRef::Number(*self as u64),
                    _ => KeyRef::Negative(*self as i64),
                }
            }
        })*
    };
}

integer_keys!(u8, u16, u32, u64, usize; i8, i16, i32, i64, isize);

impl AsKey for crate::VertexId {
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Number(u64::from(self.get()))
    }
}

impl AsKey for str {
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Text(self)
    }
}

impl AsKey for String {
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Text(self)
    }
}

impl AsKey for Box<str> {
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Text(self)
    }
}

impl AsKey for Key {
    fn as_key(&self) -> KeyRef<'_> {
        self.as_ref()
    }
}

impl AsKey for KeyRef<'_> {
    fn as_key(&self) -> KeyRef<'_> {
        *self
    }
}

impl<K: AsKey + ?Sized> AsKey for &K {
    fn as_key(&self) -> KeyRef<'_> {
        (**self).as_key()
    }
}
