//! Commands in a terminal.

use crate::common::{Folder, PROGRAM};
use pty_process::Size;
use pty_process::blocking::{Command, open};
use std::io::{BufReader, Read, Write};
use std::sync::{Arc, mpsc};
use std::time::Duration;
use std::{iter, thread};

impl Folder {
    /// Runs a command in a terminal of this kind, and types each of the keys after the terminal has
    /// shown the text before them. Returns all output; the command must succeed.
    pub fn types(&self, kind: &str, arguments: &str, keys: &[(&str, &[u8])]) -> String {
        let (terminal, command_side) = open().unwrap();
        terminal.resize(Size::new(24, 80)).unwrap();
        let command = Command::new(PROGRAM).args(arguments.split_whitespace()).current_dir(self.root());
        let command = command.env("XDG_STATE_HOME", self.root()).env("TERM", kind);
        let mut child = command.spawn(command_side).unwrap();
        let terminal = Arc::new(terminal);
        let (sender, receiver) = mpsc::channel();
        let output = Arc::clone(&terminal);
        // Reading fails when the command has closed its side.
        thread::spawn(move || {
            BufReader::new(&*output).bytes().map_while(Result::ok).try_for_each(|byte| sender.send(byte))
        });
        let next = || receiver.recv_timeout(Duration::from_secs(60));
        let mut shown = Vec::new();
        for (text, keys) in keys {
            let before = shown.len();
            while !shown[before..].ends_with(text.as_bytes()) {
                shown.push(next().unwrap_or_else(|error| panic!("{error}: {}", text_of(&shown))));
            }
            (&*terminal).write_all(keys).unwrap();
        }
        shown.extend(iter::from_fn(|| next().ok()));
        let status = child.wait().unwrap();
        assert!(status.success(), "{status}: {}", text_of(&shown));
        text_of(&shown)
    }
}

fn text_of(shown: &[u8]) -> String {
    String::from_utf8_lossy(shown).into_owned()
}
