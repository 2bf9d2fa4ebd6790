//! Parses a line: words as in a POSIX shell, then the arguments of the command line.

use super::args::{Line, LineCommand};
use crate::error::CliError;
use crate::usage;
use clap::{Command, CommandFactory, FromArgMatches};

/// Parses lines.
#[derive(Debug)]
pub struct Parser {
    grammar: Command,
}

/// The meaning of a line.
#[derive(Debug)]
pub enum Parsed {
    /// Blank, or a comment.
    Nothing,
    /// A request for help, and the text.
    Help(String),
    Command(LineCommand),
}

impl Parser {
    pub fn new() -> Self {
        let mut grammar = without_examples(Line::command());
        grammar.build();
        Parser { grammar }
    }

    /// The commands with their options.
    pub fn grammar(&self) -> &Command {
        &self.grammar
    }

    /// Parses a line. A line that begins with `#` is a comment.
    pub fn parse(&mut self, line: &str) -> Result<Parsed, CliError> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(Parsed::Nothing);
        }
        let words = shell_words::split(line).map_err(|error| CliError::Usage(error.to_string()))?;
        let matches = self.grammar.try_get_matches_from_mut(words);
        match matches.and_then(|mut matches| Line::from_arg_matches_mut(&mut matches)) {
            Ok(line) => Ok(Parsed::Command(line.command)),
            Err(error) if error.use_stderr() => Err(CliError::Usage(usage::problem(&error))),
            Err(help) => Ok(Parsed::Help(help.render().to_string())),
        }
    }
}

/// Removes the examples of the command line: they name a store, which lines of the shell do not.
fn without_examples(command: Command) -> Command {
    command.after_help(None::<&str>).mut_subcommands(without_examples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_consistent() {
        Line::command().debug_assert();
    }

    #[test]
    fn words_are_quoted_as_in_a_shell() {
        let mut parser = Parser::new();
        for line in ["put vertex 'a b'", "put vertex \"a b\"", "put vertex a\\ b"] {
            let Parsed::Command(LineCommand::Put { object }) = parser.parse(line).unwrap() else {
                panic!("{line}");
            };
            assert!(format!("{object:?}").contains("\"a b\""), "{object:?}");
        }
        let error = parser.parse("put vertex 'a").unwrap_err();
        assert!(error.to_string().contains("missing closing quote"), "{error}");
    }

    #[test]
    fn a_wrong_line_is_one_line_of_message() {
        let mut parser = Parser::new();
        for (line, part) in [
            ("put edge 1", "<TO>"),
            ("fly", "'fly'"),
            ("put edge 1 2 --store x", "'--store'"),
            ("run bfs graph.el", "'graph.el'"),
        ] {
            let error = parser.parse(line).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains('\n') && !error.contains("Usage"), "{error}");
        }
    }

    #[test]
    fn help_names_no_store() {
        let mut parser = Parser::new();
        for line in ["help", "help put edge", "neighbors --help", "run bfs -h"] {
            let Parsed::Help(text) = parser.parse(line).unwrap() else { panic!("{line}") };
            assert!(!text.contains("--store"), "{text}");
        }
        assert!(matches!(parser.parse("  # put edge 1 2").unwrap(), Parsed::Nothing));
    }
}
