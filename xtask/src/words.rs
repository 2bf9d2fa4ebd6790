//! Words that the project does not use, and their replacements.
//!
//! docs/glossary.md has the preferred words.

use crate::run::root;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Banned words, each with its replacement.
const BANNED: &[(&str, &str)] = &[
    ("whoever", ROLE),
    ("somebody", ROLE),
    ("someone", ROLE),
    ("nobody", ROLE),
    ("everybody", ROLE),
    ("he", "it, or the thread"),
    ("his", "its"),
    ("so many", "a number: n, at most n"),
    ("asks the processor for", "prefetches"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("catalogue", "catalog"),
    ("behaviour", "behavior"),
    ("colour", "color"),
];

const ROLE: &str = "the reader, writer, leader, caller, application or thread that does it";

/// Beginnings that a doc comment must not have: rustdoc and editors show it alone.
const DANGLING: &[&str] = &["/// The same", "//! The same", "/// As above", "/// Likewise"];

/// Openings of a definition that is built as a relative clause or an indirect question. A noun with
/// attributes, or a subject with a verb, takes its place.
const CLAUSES: &[&str] =
    &["What ", "That of ", "Those ", "Whether ", "As many ", "The one ", "Each that ", "How ", "Where "];

/// The longest line of a comment, in columns.
const LONGEST_COMMENT: usize = 100;

/// Markdown files and folders of them.
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "docs"];

/// Returns all Markdown files of the project.
pub fn documents() -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for name in DOCUMENTS {
        collect_documents(Path::new(name), &mut files)?;
    }
    files.sort();
    Ok(files)
}

/// Adds a Markdown file, or all Markdown files below a folder.
fn collect_documents(name: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let path = root().join(name);
    if path.is_dir() {
        for entry in std::fs::read_dir(&path).with_context(|| path.display().to_string())? {
            collect_documents(&name.join(entry?.file_name()), files)?;
        }
    } else if name.extension().is_some_and(|extension| extension == "md") {
        files.push(name.to_owned());
    }
    Ok(())
}

/// Returns a complaint for each banned word or beginning in a line of code or text.
pub fn complaints_about(line: &str) -> impl Iterator<Item = String> {
    let lowercase = line.to_lowercase();
    let banned = BANNED.iter().filter(move |(word, _)| contains_word(&lowercase, word));
    let banned = banned.map(|(word, instead)| format!("write {instead}, not \"{word}\""));
    let start = line.trim_start();
    let is_dangling = DANGLING.iter().any(|dangling| start.starts_with(dangling));
    let dangling = "say what the item does: its documentation is read without that of others".to_owned();
    banned.chain(is_dangling.then_some(dangling))
}

/// Returns a complaint for each comment of a Rust file that opens with a clause, and for each line
/// of a comment that is too long, with the number of the line.
pub fn complaints_about_comments(text: &str) -> Vec<(usize, String)> {
    let mut complaints = Vec::new();
    let (mut is_opening, mut is_code) = (true, false);
    for (number, line) in (1..).zip(text.lines()) {
        let Some(comment) = comment_in(line) else {
            (is_opening, is_code) = (true, false);
            continue;
        };
        if comment.starts_with("```") {
            is_code = !is_code;
        }
        // A line of code, of a table, or of a link cannot be broken.
        let is_whole = is_code || comment.starts_with('|') || !comment.contains(' ');
        if line.chars().count() > LONGEST_COMMENT && !is_whole {
            complaints.push((number, format!("a line of a comment has at most {LONGEST_COMMENT} columns")));
        }
        if is_opening && CLAUSES.iter().any(|clause| comment.starts_with(clause)) {
            complaints.push((number, "open with a noun or a verb, not with a clause".to_owned()));
        }
        is_opening = comment.is_empty();
    }
    complaints
}

/// Returns the text of a line that is a comment.
fn comment_in(line: &str) -> Option<&str> {
    let comment = line.trim_start().strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim())
}

/// Returns true if a text contains a word that is not part of a longer one.
fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banned_words_are_found_as_words() {
        let count = |line: &str| complaints_about(line).count();
        assert_eq!(count("/// Whoever takes a stamp"), 1);
        assert_eq!(count("fn a_graph_that_nobody_reads() {"), 1);
        assert_eq!(count("// At most so many, and he waits."), 2);
        assert_eq!(count("/// The header, where the thread adheres to this."), 0);
        assert_eq!(count("    /// The same for all labels."), 1);
        assert_eq!(count("let text = \"the same\"; // The same bytes."), 0);
    }

    #[test]
    fn clauses_and_long_lines_are_found_in_comments() {
        let numbers = |text: &str| -> Vec<usize> {
            complaints_about_comments(text).into_iter().map(|(number, _)| number).collect()
        };
        let text = "/// What it is.\nfn one() {}\n/// A set.\n///\n/// Whether it is full.\n";
        assert_eq!(numbers(text), [1, 5]);
        assert_eq!(numbers("/// Reads rows, which is\n/// What a scan does.\n"), []);
        let long = "word ".repeat(30);
        let text = format!("/// {long}\n/// | {long} |\n/// ```\n/// {long}\n/// ```\n");
        assert_eq!(numbers(&text), [1]);
        assert_eq!(numbers(&format!("let long = \"{long}\";\n")), []);
    }

    #[test]
    fn the_documents_are_found() {
        let documents = documents().unwrap();
        assert!(documents.contains(&PathBuf::from("README.md")), "{documents:?}");
        assert!(documents.contains(&PathBuf::from("docs/format.md")), "{documents:?}");
        assert!(documents.contains(&PathBuf::from("docs/notes/README.md")), "{documents:?}");
    }
}
