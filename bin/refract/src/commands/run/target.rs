//! Where the rows of a run go: a file that is replaced only by a complete one, or stdout.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use anyhow::Context as _;

use crate::output_file::{OutputFile, part_of};
use crate::terminal::{self, EscapingWriter, Progress};

/// The destination of a run's rows.
pub(crate) enum RunTarget<'a> {
    /// A file, which is written as `FILE.part`.
    File(OutputFile),
    /// Stdout, for another program or a file.
    Pipe(BufWriter<Stdout>),
    /// Stdout on a terminal, shared with the progress bar; escaped, line by line.
    Terminal(EscapingWriter<BesideBar<'a>>),
}

impl<'a> RunTarget<'a> {
    /// Opens a file, or stdout when there is no path.
    pub(crate) fn open(path: Option<&Path>, progress: &'a Progress) -> anyhow::Result<Self> {
        match path {
            Some(path) => Ok(Self::File(OutputFile::create_part(path)?)),
            None if terminal::stdout_is_terminal() => {
                Ok(Self::Terminal(EscapingWriter::new(BesideBar(progress))))
            }
            None => Ok(Self::Pipe(BufWriter::new(io::stdout()))),
        }
    }

    /// Flushes the rows, and puts a complete file in its place.
    pub(crate) fn end(mut self, is_complete: bool) -> anyhow::Result<()> {
        self.flush().context("cannot write the output")?;
        match self {
            Self::File(file) if is_complete => file.finish(),
            Self::File(_) | Self::Pipe(_) | Self::Terminal(_) => Ok(()),
        }
    }
}

/// Whether writing the output would overwrite the input.
pub(crate) fn is_over(input: &Path, output: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let input = real(input);
    input.is_some() && (input == real(output) || input == real(&part_of(output)))
}

impl Write for RunTarget<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Pipe(stdout) => stdout.write(bytes),
            Self::Terminal(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.flush(),
            Self::Pipe(stdout) => stdout.flush(),
            Self::Terminal(stdout) => stdout.flush(),
        }
    }
}

/// Writes to stdout and hides the progress bar for each write.
pub(crate) struct BesideBar<'a>(&'a Progress);

impl Write for BesideBar<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.beside(|| io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
