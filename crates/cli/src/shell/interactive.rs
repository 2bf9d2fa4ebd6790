//! Lines from a terminal, with history and completion.

use super::completion::Completion;
use super::line::Parser;
use super::session::{Next, Session};
use crate::console::Console;
use crate::error::CliError;
use crate::interrupt::Listener;
use crate::signal::Signal;
use crate::text;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Terminals without a cursor to move, by their value of `TERM`: there is no editing of lines, and
/// Ctrl-C is a signal instead of a key.
const PLAIN_TERMINALS: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Runs every line until the user leaves. Errors are shown and do not end the shell. Ctrl-C
/// discards the line, or cancels the command that runs.
pub fn run(session: &mut Session, console: &Console, listener: &Listener) -> Result<(), CliError> {
    let mut parser = Parser::new();
    let config = Config::builder().auto_add_history(true).completion_type(CompletionType::List).build();
    let mut editor = Editor::<Completion, FileHistory>::with_config(config).map_err(failed)?;
    editor.set_helper(Some(Completion::new(parser.grammar().clone(), session.labels())));
    let history = history_file();
    // There is no history before the first shell ends.
    history.iter().for_each(|path| drop(editor.load_history(path)));
    console.note(&greeting(session)?);
    let is_plain = env::var("TERM")
        .is_ok_and(|term| PLAIN_TERMINALS.iter().any(|plain| plain.eq_ignore_ascii_case(&term)));
    let ended = loop {
        let prompt = prompt(session);
        listener.prompt(if is_plain { &prompt } else { "" });
        match editor.readline(&prompt) {
            Ok(line) => match session.run_line(&line, &mut parser, console, listener) {
                Ok(Next::Line) => {
                    // The line may have added labels.
                    editor.helper_mut().into_iter().for_each(|helper| helper.set_labels(session.labels()));
                }
                Ok(Next::End) => break Ok(()),
                Err(error) if error.signal().is_some_and(|signal| signal != Signal::CTRL_C) => {
                    break Err(error);
                }
                Err(error) => console.report(&error),
            },
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                console.report(&CliError::Usage("the line is not UTF-8, and was discarded".to_owned()));
            }
            Err(ReadlineError::Eof) => break Ok(()),
            Err(error) => break Err(failed(error)),
        }
    };
    if let Some(path) = &history
        && let Err(error) = save(&mut editor, path)
    {
        console.note(&format!("note: the history was not saved in {}: {error}", path.display()));
    }
    ended
}

fn greeting(session: &Session) -> Result<String, CliError> {
    let snapshot = session.state()?.snapshot;
    let vertices = text::counted(snapshot.vertex_count(), "vertex", "vertices");
    let edges = text::Edges(snapshot.edge_count()).with_noun();
    let store = session.store().display();
    Ok(format!("{store}: {vertices}, {edges}; help lists the commands, quit or Ctrl-D leaves the shell"))
}

fn prompt(session: &Session) -> String {
    let store = session.store();
    let name = store.file_name().unwrap_or(store.as_os_str()).display();
    match session.is_in_transaction() {
        true => format!("{name} (transaction)> "),
        false => format!("{name}> "),
    }
}

/// The file that keeps the lines of all shells, if the user has a home.
fn history_file() -> Option<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")));
    Some(state?.join("hedgerow/history"))
}

/// Adds the lines of this shell to the lines of other shells.
fn save(editor: &mut Editor<Completion, FileHistory>, path: &Path) -> Result<(), ReadlineError> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    editor.append_history(path)
}

fn failed(error: ReadlineError) -> CliError {
    CliError::Stdin(match error {
        ReadlineError::Io(error) => error,
        error => io::Error::other(error),
    })
}
