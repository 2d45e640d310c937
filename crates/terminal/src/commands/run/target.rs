//! The destinations of a run. Rows go to stdout or to a file, which is replaced only by a complete
//! one; refused rows go to a list.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use refract_file_runs::{RowLayout, RunFiles};

use crate::output::file::{OutputFile, part_of, refused_of};
use crate::streams;
use crate::terminal::{EscapingWriter, Progress};

/// The destinations of a run's rows and refused rows.
pub(crate) struct RunTarget<'a> {
    /// The file for the rows, written as `FILE.part`.
    file: Option<OutputFile>,
    /// Stdout, for the rows if there is no file. On a terminal it is escaped line by line and
    /// shared with the progress bar.
    stdout: Box<dyn Write + 'a>,
    /// The list of refused rows, if the output is a file.
    refused: Option<RefusedList>,
}

/// The list of refused rows, in the output's folder.
struct RefusedList {
    path: PathBuf,
    /// The file of the list; `None` if no row is refused.
    file: Option<OutputFile>,
}

impl<'a> RunTarget<'a> {
    /// Opens a file, or stdout if there is no path.
    pub(crate) fn open(
        path: Option<&Path>,
        has_refused: bool,
        progress: &'a Progress,
    ) -> anyhow::Result<Self> {
        let stdout: Box<dyn Write> = if streams::stdout_is_terminal() {
            Box::new(EscapingWriter::new(BesideBar(progress)))
        } else {
            Box::new(BufWriter::new(streams::stdout()))
        };
        let file = path.map(OutputFile::create_part).transpose()?;
        // a device has no list
        let path = path.filter(|path| path.is_file() || !path.exists());
        let refused = path.map(|path| RefusedList::open(refused_of(path), has_refused));
        Ok(Self {
            file,
            stdout,
            refused: refused.transpose()?,
        })
    }

    /// The writers for the run.
    pub(crate) fn files(&mut self, layout: RowLayout) -> RunFiles<'_> {
        let refused = self.refused.as_mut().and_then(|list| list.file.as_mut());
        RunFiles {
            layout,
            rows: out(self.file.as_mut(), &mut self.stdout),
            refused: refused.map(|file| -> &mut dyn Write { file }),
        }
    }

    /// Flushes the rows, and moves complete files to their paths. Returns the path of the list of
    /// refused rows, if there is one.
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

/// The destination of the rows: the file, or stdout if there is none.
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

    /// Moves the list to its path and returns that, or removes the list of an earlier run.
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
        self.0.beside(|| streams::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        streams::stdout().flush()
    }
}
