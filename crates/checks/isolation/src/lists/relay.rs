//! Relays between the checker, which starts a process per client, and the single process with the
//! store.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Time limit for a restart of the server.
const PATIENCE: Duration = Duration::from_secs(30);

/// Passes each line of the input to the server, and the server's answer to the output, until the
/// input ends.
///
/// A transaction that was not sent has failed; the outcome of a transaction that was sent but not
/// answered is unknown.
///
/// # Errors
/// The checker is gone.
pub fn relay(socket: &Path) -> Result<(), Box<dyn Error>> {
    let mut connection = None;
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request = line? + "\n";
        let answer = match connection.take().map_or_else(|| connect(socket), Ok) {
            Err(error) => format!(r#"{{"type":"fail","error":"no server: {error}"}}"#) + "\n",
            Ok(mut server) => match ask(&mut server, &request) {
                Some(answer) => {
                    connection = Some(server);
                    answer
                }
                None => r#"{"type":"info","error":"the server was killed"}"#.to_owned() + "\n",
            },
        };
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

fn connect(socket: &Path) -> io::Result<BufReader<UnixStream>> {
    let since = Instant::now();
    loop {
        match UnixStream::connect(socket) {
            Ok(stream) => return Ok(BufReader::new(stream)),
            Err(error) if since.elapsed() > PATIENCE => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Returns the server's whole answer; `None` if the server is gone.
fn ask(server: &mut BufReader<UnixStream>, request: &str) -> Option<String> {
    server.get_mut().write_all(request.as_bytes()).ok()?;
    let mut answer = String::new();
    server.read_line(&mut answer).ok()?;
    answer.ends_with('\n').then_some(answer)
}
