//! Where the rows of a run go: a file that appears only when it is complete, or stdout.

use std::fs::File;
use std::io::{self, BufWriter, LineWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::terminal::{self, Progress};

/// The destination of a run's rows.
pub(crate) enum RunTarget<'a> {
    /// A file `FILE.part`, which is renamed to `FILE` when it is complete.
    Part {
        file: BufWriter<File>,
        part: PathBuf,
        path: PathBuf,
    },
    /// A device or named pipe, which cannot be replaced by a file.
    Device(BufWriter<File>),
    /// Stdout that another program or a file takes.
    Pipe(BufWriter<Stdout>),
    /// Stdout on a terminal, shared with the progress bar.
    Terminal(LineWriter<BesideBar<'a>>),
}

impl<'a> RunTarget<'a> {
    /// Opens a file, or stdout when there is no path.
    pub(crate) fn open(path: Option<&Path>, progress: &'a Progress) -> anyhow::Result<Self> {
        let Some(path) = path else {
            return Ok(if terminal::stdout_is_terminal() {
                Self::Terminal(LineWriter::new(BesideBar(progress)))
            } else {
                Self::Pipe(BufWriter::new(io::stdout()))
            });
        };
        let refused = |path: &Path| format!("cannot write to {}", path.display());
        let found = std::fs::metadata(path).ok();
        if found.as_ref().is_some_and(|found| !found.is_file()) {
            let device = File::options().write(true).open(path);
            let device = device.with_context(|| refused(path))?;
            return Ok(Self::Device(BufWriter::new(device)));
        }
        let (path, part) = (place_of(path), part_of(path));
        let file = File::create(&part).with_context(|| refused(&part))?;
        if let Some(found) = found {
            // the file that is replaced may be one that others must not read
            file.set_permissions(found.permissions())
                .with_context(|| refused(&part))?;
        }
        Ok(Self::Part {
            file: BufWriter::with_capacity(64 * 1024, file),
            part,
            path,
        })
    }

    /// Flushes the rows and renames a complete `FILE.part` to `FILE`.
    pub(crate) fn end(mut self, is_complete: bool) -> anyhow::Result<()> {
        self.flush().context("cannot write the output")?;
        if let (Self::Part { file, part, path }, true) = (self, is_complete) {
            let refused = || format!("cannot write to {}", path.display());
            file.get_ref().sync_all().with_context(refused)?;
            std::fs::rename(&part, &path).with_context(refused)?;
        }
        Ok(())
    }
}

/// The path of the file that is replaced: where a symbolic link points, so that the link stays.
fn place_of(path: &Path) -> PathBuf {
    if path.is_symlink() {
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
}

/// The path of `FILE.part`.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let place = place_of(path);
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    place.with_file_name(name)
}

/// Whether writing the output would overwrite the input.
pub(crate) fn is_over(input: &Path, output: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    let input = place(input);
    input.is_some() && (input == place(output) || input == place(&part_of(output)))
}

impl Write for RunTarget<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Part { file, .. } | Self::Device(file) => file.write(bytes),
            Self::Pipe(stdout) => stdout.write(bytes),
            Self::Terminal(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Part { file, .. } | Self::Device(file) => file.flush(),
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
