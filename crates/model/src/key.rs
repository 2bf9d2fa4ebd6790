//! Application keys, by which users of a graph name vertices.

use std::fmt;

/// The kind of a graph's keys; fixed when the graph is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// Any `u64`; a dictionary assigns dense vertex ids.
    #[default]
    Number,
    /// Any string; a dictionary assigns dense vertex ids.
    Text,
    /// The vertex ids themselves, chosen by the application: no dictionary, at most 2^32 - 2.
    Dense,
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyKind::Number => "number",
            KeyKind::Text => "text",
            KeyKind::Dense => "dense id",
        })
    }
}

/// An owned key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
}

impl KeyRef<'_> {
    /// Copies the key.
    #[must_use]
    pub fn to_key(self) -> Key {
        match self {
            KeyRef::Number(number) => Key::Number(number),
            KeyRef::Text(text) => Key::Text(text.into()),
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

/// A type that can name a vertex: a number, a dense id, a string, a [`Key`].
pub trait AsKey: Sync {
    /// Borrows the key.
    fn as_key(&self) -> KeyRef<'_>;
}

impl AsKey for u64 {
    fn as_key(&self) -> KeyRef<'_> {
        KeyRef::Number(*self)
    }
}

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
