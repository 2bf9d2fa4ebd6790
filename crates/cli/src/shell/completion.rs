//! Completes commands, options, and their values.

use clap::{Arg, Command};
use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

/// Completes the word before the cursor.
pub struct Completion {
    grammar: Command,
    labels: Vec<String>,
}

impl Completion {
    /// Completes commands of the grammar, and labels of the store.
    pub fn new(grammar: Command, labels: Vec<String>) -> Self {
        Completion { grammar, labels }
    }

    /// Completes these labels from now on.
    pub fn set_labels(&mut self, labels: Vec<String>) {
        self.labels = labels;
    }

    /// The words that `word` may become after the words `before`.
    fn candidates(&self, before: &[&str], word: &str) -> Vec<String> {
        let command = before.iter().fold(&self.grammar, |command, word| {
            if *word == "help" { &self.grammar } else { command.find_subcommand(word).unwrap_or(command) }
        });
        let last = before.last().and_then(|word| word.strip_prefix("--"));
        let option = last.and_then(|name| command.get_arguments().find(|arg| arg.get_long() == Some(name)));
        let all = match option {
            Some(option) if option.get_action().takes_values() => self.values(option),
            _ if word.starts_with('-') => options(command),
            _ => command.get_subcommands().map(|command| command.get_name().to_owned()).collect(),
        };
        all.into_iter().filter(|candidate| candidate.starts_with(word)).collect()
    }

    fn values(&self, option: &Arg) -> Vec<String> {
        match option.get_long() {
            Some("label") => self.labels.clone(),
            _ => option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
        }
    }
}

fn options(command: &Command) -> Vec<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    shown.filter_map(|arg| arg.get_long().map(|name| format!("--{name}"))).collect()
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = &line[..position];
        let start = line.rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
        let before: Vec<_> = line[..start].split_whitespace().collect();
        let candidates = self.candidates(&before, &line[start..]).into_iter();
        let pair = |display: String| Pair { replacement: format!("{display} "), display };
        Ok((start, candidates.map(pair).collect()))
    }
}

impl Helper for Completion {}
impl Highlighter for Completion {}
impl Validator for Completion {}

impl Hinter for Completion {
    type Hint = String;
}

#[cfg(test)]
mod tests {
    use super::super::line::Parser;
    use super::*;

    #[test]
    fn commands_options_and_values_are_completed() {
        let grammar = Parser::new().grammar().clone();
        let completion = Completion::new(grammar, vec!["knows".into(), "pays".into()]);
        for (before, word, expected) in [
            ("", "ne", &["neighbors"][..]),
            ("put", "", &["vertex", "edge"]),
            ("help put", "e", &["edge"]),
            ("", "c", &["commit", "checkpoint", "compact"]),
            ("", "ro", &["rollback"]),
            ("run", "pa", &["pagerank"]),
            ("neighbors 1", "--li", &["--limit"]),
            ("neighbors 1 --label", "", &["knows", "pays"]),
            ("neighbors 1 --direction", "o", &["out"]),
            ("run bfs --engine", "c", &["csr"]),
            ("get vertex", "1", &[]),
        ] {
            let before: Vec<_> = before.split_whitespace().collect();
            let mut candidates = completion.candidates(&before, word);
            candidates.retain(|candidate| candidate != "help");
            assert_eq!(candidates, expected, "{before:?} {word}");
        }
    }
}
