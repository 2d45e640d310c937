//! The standard streams of a command: those of the process, or those that [`captured`] gives it.

use std::io::{self, Cursor, IsTerminal as _, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

tokio::task_local! {
    /// The streams of a command that runs inside [`captured`].
    static CAPTURED: CapturedStreams;
}

/// Buffers that a command reads and writes instead of the streams of the process.
#[derive(Clone)]
struct CapturedStreams {
    input: Arc<[u8]>,
    stdout: Buffer,
    stderr: Buffer,
}

/// The bytes written to a buffer. Clones share one buffer.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The value and the output of a finished command.
#[derive(Clone, Debug)]
pub struct Captured<T> {
    /// The value of the command's future.
    pub value: T,
    /// All bytes that the command wrote to stdout.
    pub stdout: Vec<u8>,
    /// All bytes that the command wrote to stderr.
    pub stderr: Vec<u8>,
}

/// Runs a command with `input` as stdin, and collects its output. None of its streams is a
/// terminal.
///
/// Concurrent commands in the process are unaffected. Tasks and threads that the command starts
/// write to the streams of the process.
pub async fn captured<T>(input: Vec<u8>, command: impl Future<Output = T>) -> Captured<T> {
    let streams = CapturedStreams {
        input: input.into(),
        stdout: Buffer::default(),
        stderr: Buffer::default(),
    };
    let value = CAPTURED.scope(streams.clone(), command).await;
    Captured {
        value,
        stdout: streams.stdout.take(),
        stderr: streams.stderr.take(),
    }
}

/// The streams of the running command, if they are captured.
fn of_command() -> Option<CapturedStreams> {
    CAPTURED.try_with(Clone::clone).ok()
}

/// Whether the streams of the running command are captured. Captured streams are not terminals and
/// have no colours.
pub(crate) fn are_captured() -> bool {
    of_command().is_some()
}

/// The stdout of the running command.
pub(crate) fn stdout() -> Box<dyn Write> {
    match of_command() {
        Some(streams) => Box::new(streams.stdout),
        None => Box::new(io::stdout()),
    }
}

/// The stderr of the running command.
pub(crate) fn stderr() -> Box<dyn Write> {
    match of_command() {
        Some(streams) => Box::new(streams.stderr),
        None => Box::new(io::stderr()),
    }
}

/// The stdin of the running command.
pub(crate) fn stdin() -> Box<dyn Read> {
    match of_command() {
        Some(streams) => Box::new(Cursor::new(streams.input)),
        None => Box::new(io::stdin().lock()),
    }
}

/// Whether stdin is a terminal, so that a person types the input.
pub(crate) fn stdin_is_terminal() -> bool {
    !are_captured() && io::stdin().is_terminal()
}

/// Whether stdout is a terminal, so that a person reads the output.
pub(crate) fn stdout_is_terminal() -> bool {
    !are_captured() && io::stdout().is_terminal()
}

/// Whether stderr is a terminal, so that a progress bar can be drawn.
pub(crate) fn stderr_is_terminal() -> bool {
    !are_captured() && io::stderr().is_terminal()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn commands_at_once_have_streams_of_their_own() {
        let echo = |name: &'static str| {
            captured(name.into(), async move {
                let mut input = String::new();
                stdin().read_to_string(&mut input).unwrap();
                tokio::task::yield_now().await;
                writeln!(stdout(), "{input}").unwrap();
                write!(stderr(), "{name} is done").unwrap();
                assert!(!stdout_is_terminal() && !stderr_is_terminal() && !stdin_is_terminal());
                name
            })
        };
        let (one, two) = tokio::join!(echo("one"), echo("two"));
        for (ended, name) in [(one, "one"), (two, "two")] {
            assert_eq!(ended.value, name);
            assert_eq!(ended.stdout, format!("{name}\n").into_bytes());
            assert_eq!(ended.stderr, format!("{name} is done").into_bytes());
        }
    }
}
