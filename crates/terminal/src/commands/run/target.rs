//! Where the rows of a run go: a file that is replaced only by a complete one, or stdout; and where
//! its refused rows are listed.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use refract_file_runs::RunFiles;
use refract_lens_rendering::RowFormat;

use crate::output::file::{OutputFile, part_of, refused_of};
use crate::terminal::{self, EscapingWriter, Progress};

/// The destinations of what a run writes.
pub(crate) struct RunTarget<'a> {
    /// A file for the rows, which is written as `FILE.part`.
    file: Option<OutputFile>,
    /// Stdout, for the rows where there is no file: for another program or a file, or on a terminal,
    /// shared with the progress bar and escaped line by line.
    stdout: Box<dyn Write + 'a>,
    /// Where refused rows are listed, when there is an output to list them beside.
    refused: Option<RefusedList>,
}

/// The list of refused rows beside an output.
struct RefusedList {
    path: PathBuf,
    /// `None` when no row is refused: then there is no list.
    file: Option<OutputFile>,
}

impl<'a> RunTarget<'a> {
    /// Opens a file, or stdout when there is no path.
    pub(crate) fn open(
        path: Option<&Path>,
        has_refused: bool,
        progress: &'a Progress,
    ) -> anyhow::Result<Self> {
        let stdout: Box<dyn Write> = if terminal::stdout_is_terminal() {
            Box::new(EscapingWriter::new(BesideBar(progress)))
        } else {
            Box::new(BufWriter::new(io::stdout()))
        };
        let file = path.map(OutputFile::create_part).transpose()?;
        // nothing is listed beside a device
        let path = path.filter(|path| path.is_file() || !path.exists());
        let refused = path.map(|path| RefusedList::open(refused_of(path), has_refused));
        Ok(Self {
            file,
            stdout,
            refused: refused.transpose()?,
        })
    }

    /// Where the run writes.
    pub(crate) fn files(&mut self, format: RowFormat) -> RunFiles<'_> {
        let refused = self.refused.as_mut().and_then(|list| list.file.as_mut());
        RunFiles {
            format,
            rows: out(self.file.as_mut(), &mut self.stdout),
            refused: refused.map(|file| -> &mut dyn Write { file }),
        }
    }

    /// Flushes the rows, and puts complete files in their places. Returns where refused rows are
    /// listed, if anywhere.
    pub(crate) fn end(mut self, is_complete: bool) -> anyhow::Result<Option<PathBuf>> {
        let flushed = out(self.file.as_mut(), &mut self.stdout).flush();
        flushed.context("cannot write the output")?;
        if !is_complete {
            return Ok(None);
        }
        let list = match self.refused {
            Some(list) => list.end()?,
            None => None,
        };
        if let Some(file) = self.file {
            file.finish()?;
        }
        Ok(list)
    }
}

/// Where the rows go: to the file, where there is one.
fn out<'t>(file: Option<&'t mut OutputFile>, stdout: &'t mut dyn Write) -> &'t mut dyn Write {
    match file {
        Some(file) => file,
        None => stdout,
    }
}

impl RefusedList {
    fn open(path: PathBuf, has_refused: bool) -> anyhow::Result<Self> {
        let file = has_refused.then(|| OutputFile::create(&path)).transpose()?;
        Ok(Self { path, file })
    }

    /// Puts the list in its place and returns that, or removes the list of an earlier run.
    fn end(self) -> anyhow::Result<Option<PathBuf>> {
        if let Some(file) = self.file {
            file.finish()?;
            return Ok(Some(self.path));
        }
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let path = self.path.display();
                Err(error)
                    .with_context(|| format!("cannot remove {path}, which lists refused rows"))
            }
            Ok(()) | Err(_) => Ok(None),
        }
    }
}

/// Whether writing the output would overwrite the input.
pub(crate) fn is_over(input: &Path, output: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let written = [output.to_owned(), part_of(output), refused_of(output)];
    let input = real(input);
    input.is_some() && written.iter().any(|written| input == real(written))
}

/// Writes to stdout and hides the progress bar for each write.
struct BesideBar<'a>(&'a Progress);

impl Write for BesideBar<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.beside(|| io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}
