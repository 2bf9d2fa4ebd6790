//! Values that options of several commands take.

use clap::builder::{PathBufValueParser, TypedValueParser};
use hedgerow_formats::STANDARD_OUTPUT;
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
