//! Writes keys and weights as text that readers accept.

use crate::characters::{is_control, is_separator};
use crate::error::{FormatError, Remedy, excerpt};
use hedgerow_model::KeyRef;
use std::io::Write;
use std::path::Path;

/// Whole numbers below this are exact as 64-bit floats.
const EXACT: f64 = (1u64 << 53) as f64;

/// Appends a key.
#[inline]
pub(super) fn push_key(key: KeyRef<'_>, buffer: &mut Vec<u8>) {
    match key {
        KeyRef::Number(number) => buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        KeyRef::Text(text) => buffer.extend_from_slice(text.as_bytes()),
        KeyRef::Negative(number) => buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}

/// Returns true if a weight is written as digits alone, with or without a minus sign.
pub(super) fn is_whole(weight: f64) -> bool {
    weight.fract() == 0.0 && weight.abs() < EXACT && (weight != 0.0 || weight.is_sign_positive())
}

/// Returns true if a weight is a whole number of 32 bits with a sign. A negative zero, which would
/// come back as zero, is not.
pub(super) fn comes_back(weight: f64) -> bool {
    f64::from(weight as i32).to_bits() == weight.to_bits()
}

/// Appends the shortest digits that parse to the same weight; a whole number has no point.
pub(super) fn push_weight(weight: f64, buffer: &mut Vec<u8>) {
    if is_whole(weight) {
        buffer.extend_from_slice(itoa::Buffer::new().format(weight as i64).as_bytes());
    } else {
        write!(buffer, "{weight:?}").expect("writing to memory does not fail");
    }
}

/// Refuses a key at the start of a line that a reader would not accept.
#[inline]
pub(super) fn check_first(key: KeyRef<'_>, path: &Path) -> Result<(), FormatError> {
    if let KeyRef::Text(text) = key
        && text.starts_with(['#', '%', '\u{feff}'])
    {
        return Err(no_place(path, text, "a line that starts so holds no key"));
    }
    check(key, path)
}

/// Refuses a key that a reader would not accept.
#[inline]
pub(super) fn check(key: KeyRef<'_>, path: &Path) -> Result<(), FormatError> {
    match key {
        KeyRef::Number(_) => Ok(()),
        KeyRef::Negative(number) => Err(negative(path, number)),
        KeyRef::Text(text) => check_text(text, path),
    }
}

fn check_text(text: &str, path: &Path) -> Result<(), FormatError> {
    if text.is_empty() {
        return Err(no_place(path, text, "a key in this format must not be empty"));
    }
    if text.len() > crate::MAX_EDGE_LINE / 4 {
        return Err(no_place(path, text, "its line would be longer than readers take"));
    }
    if text.bytes().any(|byte| is_separator(byte) || is_control(byte)) {
        let reason = "a key in this format must not have blanks, commas or control characters";
        return Err(no_place(path, text, reason));
    }
    Ok(())
}

/// Refuses a weight that a reader would not accept.
#[inline]
pub(super) fn check_weight(weight: f64, path: &Path) -> Result<(), FormatError> {
    if weight.is_finite() {
        return Ok(());
    }
    Err(no_place(path, &weight.to_string(), "a weight in this format must be finite"))
}

/// The error for a key that no graph has.
#[cold]
pub(crate) fn negative(path: &Path, number: i64) -> FormatError {
    unwritable(path, &number.to_string(), "numbers as keys are 0 or greater")
}

/// The error for a key or a weight that the format cannot represent.
#[cold]
fn no_place(path: &Path, value: &str, reason: &'static str) -> FormatError {
    let value = format!("\"{}\"", excerpt(value.as_bytes()));
    FormatError::NoPlace { path: path.into(), value, reason }
}

/// The error for a file of this name, with the part of it that is wrong.
#[cold]
pub(super) fn bad_name(path: &Path, end: &str, reason: &'static str) -> FormatError {
    FormatError::BadName { path: path.into(), end: format!("{end:?}"), reason }
}

/// The error for a value that would not be read back.
#[cold]
pub(crate) fn unwritable(path: &Path, value: &str, reason: &'static str) -> FormatError {
    let value = format!("\"{}\"", excerpt(value.as_bytes()));
    FormatError::Unwritable { path: path.into(), value, reason, remedy: None }
}

/// Like [`unwritable`], with the option that would avoid the error.
#[cold]
pub(super) fn unwritable_without(
    remedy: Remedy,
    path: &Path,
    value: &str,
    reason: &'static str,
) -> FormatError {
    let value = format!("\"{}\"", excerpt(value.as_bytes()));
    FormatError::Unwritable { path: path.into(), value, reason, remedy: Some(remedy) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_weights_have_no_point_and_all_come_back() {
        for (weight, expected) in [
            (5.0, "5"),
            (-3.0, "-3"),
            (0.0, "0"),
            (-0.0, "-0.0"),
            (0.5, "0.5"),
            (9_007_199_254_740_991.0, "9007199254740991"),
            (1e300, "1e300"),
        ] {
            let mut text = Vec::new();
            push_weight(weight, &mut text);
            let text = String::from_utf8(text).unwrap();
            assert_eq!((&*text, text.parse()), (expected, Ok(weight)));
        }
    }
}
