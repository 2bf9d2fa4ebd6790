//! Keys on the command line and in JSON.

use crate::error::CliError;
use hedgerow::{AsKey, Key, KeyKind, KeyRef};
use hedgerow_formats::VertexKey;
use serde::Serialize;
use std::borrow::Cow;

/// A key in JSON: a number or a string. As text it is a [`word`].
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
            JsonKey::Text(text) => f.write_str(&word(text)),
        }
    }
}

/// A key in text output: a JSON string if it is empty or has line ends or other control characters,
/// else the key itself.
pub fn text(key: &impl AsKey) -> String {
    match key.as_key() {
        KeyRef::Number(number) => number.to_string(),
        KeyRef::Text(text) => text_of(text).into_owned(),
        KeyRef::Negative(number) => number.to_string(),
    }
}

/// A key as one word of a line: a JSON string if it is empty, has blanks or control characters, or
/// begins with a quotation mark, else the key itself.
pub fn word(key: &impl AsKey) -> String {
    match key.as_key() {
        KeyRef::Text(text) if text.contains(char::is_whitespace) || text.starts_with('"') => {
            serde_json::Value::from(text).to_string()
        }
        _ => self::text(key),
    }
}

fn text_of(text: &str) -> Cow<'_, str> {
    // Unicode's line and paragraph separators are not control characters.
    let ends_lines = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    if text.is_empty() || text.contains(ends_lines) {
        serde_json::Value::from(text).to_string().into()
    } else {
        text.into()
    }
}

/// Parses a key from the command line, given by `option`, in the same digits as in a file.
pub fn parse(option: &'static str, text: &str, kind: KeyKind) -> Result<Key, CliError> {
    match kind {
        KeyKind::String => Ok(Key::Text(text.into())),
        KeyKind::Number | KeyKind::Dense => {
            let number = u64::parse(text.as_bytes()).map(Key::Number);
            let wrong = |_| CliError::WrongKey { option, key: text.into(), expected: "numbers below 2^64" };
            number.map_err(wrong)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_one_line_each() {
        for (key, expected) in [
            ("anna b", "anna b"),
            ("\"x\"", "\"x\""),
            ("zoë", "zoë"),
            ("", "\"\""),
            ("a\nb", "\"a\\nb\""),
            ("\r\"", "\"\\r\\\"\""),
        ] {
            assert_eq!(text(&key), expected);
        }
        assert_eq!(text(&7), "7");
    }

    #[test]
    fn words_have_no_blanks_outside_quotation_marks() {
        for (key, expected) in [
            ("anna", "anna"),
            ("anna b", "\"anna b\""),
            ("\"x\"", "\"\\\"x\\\"\""),
            ("5\"", "5\""),
            ("", "\"\""),
            ("a\u{a0}b", "\"a\u{a0}b\""),
        ] {
            assert_eq!(word(&key), expected);
            assert_eq!(JsonKey::Text(key.into()).to_string(), expected);
        }
        assert_eq!(word(&7), "7");
    }
}
