//! Where the rows of a run go: a file that is whole or not there, or stdout.

use std::io::{self, BufWriter, LineWriter, Stdout, Write};
use std::path::Path;

use anyhow::Context as _;

pub(crate) use crate::output_file::part_of;
use crate::output_file::{OutputFile, Unfinished};
use crate::terminal::{self, Progress};

/// An output that is being written.
pub(crate) enum Target<'a> {
    /// A file, or a device that is named like one.
    File(OutputFile),
    /// For another program.
    Pipe(BufWriter<Stdout>),
    /// For a person, beside the bar.
    Terminal(LineWriter<BesideBar<'a>>),
}

impl<'a> Target<'a> {
    /// Opens it.
    pub(crate) fn open(path: Option<&Path>, progress: &'a Progress) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(if terminal::stdout_is_terminal() {
                Self::Terminal(LineWriter::new(BesideBar(progress)))
            } else {
                Self::Pipe(BufWriter::new(io::stdout()))
            });
        };
        let file = OutputFile::create(path, Unfinished::Kept)
            .with_context(|| format!("cannot write to {}", part_of(path).display()))?;
        Ok(Self::File(file))
    }

    /// Brings everything to where it belongs; an output that is not whole stays beside its place.
    pub(crate) fn end(mut self, is_whole: bool) -> anyhow::Result<()> {
        self.flush().context("cannot write the output")?;
        if let (Self::File(file), true) = (self, is_whole) {
            let refused = format!("cannot write to {}", file.place().display());
            file.finish().context(refused)?;
        }
        Ok(())
    }
}

/// Whether the output would be written over the input.
pub(crate) fn is_over(input: &Path, output: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    let input = place(input);
    input.is_some() && (input == place(output) || input == place(&part_of(output)))
}

impl Write for Target<'_> {
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

/// Takes the bar out of the way of every line.
pub(crate) struct BesideBar<'a>(&'a Progress);

impl Write for BesideBar<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.beside(|| io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
