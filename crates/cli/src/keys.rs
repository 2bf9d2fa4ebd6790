//! Keys as they stand on the command line, and as JSON has them.

use crate::error::CliError;
use hedgerow::{Key, KeyKind};
use hedgerow_formats::VertexKey;
use serde::Serialize;

/// A key, as JSON has it: a number or a string.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum JsonKey {
    /// A number, or a dense id.
    Number(u64),
    /// Text.
    Text(String),
}

impl From<Key> for JsonKey {
    fn from(key: Key) -> Self {
        match key {
            Key::Number(number) => JsonKey::Number(number),
            Key::Text(text) => JsonKey::Text(text.into()),
        }
    }
}

impl std::fmt::Display for JsonKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JsonKey::Number(number) => number.fmt(f),
            JsonKey::Text(text) => text.fmt(f),
        }
    }
}

/// A key as it stands on the command line, where `option` says: the same digits as in a file.
pub fn parse(option: &'static str, text: &str, kind: KeyKind) -> Result<Key, CliError> {
    match kind {
        KeyKind::Text => Ok(Key::Text(text.into())),
        KeyKind::Number | KeyKind::Dense => {
            let number = u64::parse(text.as_bytes()).map(Key::Number);
            let wrong = |_| CliError::WrongKey { option, key: text.into(), expected: "numbers below 2^64" };
            number.map_err(wrong)
        }
    }
}
