//! Values that options of several commands take.

use clap::builder::{PathBufValueParser, TypedValueParser};
use hedgerow_formats::{STANDARD_OUTPUT, timestamp_of_text};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The largest number of threads: far more than help, few enough to start.
const MOST_THREADS: usize = 1024;

pub fn threads(text: &str) -> Result<NonZeroUsize, String> {
    match text.parse::<NonZeroUsize>() {
        Ok(threads) if threads.get() <= MOST_THREADS => Ok(threads),
        _ => Err(format!("expected a number from 1 to {MOST_THREADS}")),
    }
}

pub fn at_least_one(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "expected a whole number from 1".into())
}

/// Parses a time: microseconds since 1970, in UTC, as a number or as text. A date is its midnight
/// in UTC.
pub fn time(text: &str) -> Result<i64, String> {
    let midnight = || timestamp_of_text(&format!("{text}T00:00:00Z"));
    timestamp_of_text(text).or_else(|expected| midnight().map_err(|_| format!("expected {expected}")))
}

/// Parses the time of an edge: microseconds since 1970, in UTC, as a number or as text, or a number
/// up to 2^64 - 1.
pub fn edge_time(text: &str) -> Result<i128, String> {
    let number = text.parse::<u64>().map(i128::from);
    number.or_else(|_| time(text).map(i128::from))
}

/// Parses a time from 1970 on.
pub fn past_time(text: &str) -> Result<u64, String> {
    u64::try_from(time(text)?).map_err(|_| "expected a time from 1970 on".into())
}

/// Parses the name of a file for the result of a command; `-` is standard output.
pub fn result_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| match path.to_str() {
        Some("/dev/stdout") => PathBuf::from(STANDARD_OUTPUT),
        _ => path,
    })
}

/// Parses the name of a file to write; standard output is taken by the summary.
pub fn file_to_write() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match path.to_str() {
        Some("-" | "/dev/stdout") => Err("expected a file, standard output is taken by the summary"),
        _ => Ok(path),
    })
}
