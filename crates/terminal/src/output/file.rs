//! A file that is written next to its path and moved there when complete.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::{NamedTempFile, TempPath};

use crate::streams;

/// The mode of a new file: readable only by its owner, since it may contain texts.
const NEW_FILE: u32 = 0o600;
/// The argument for stdout instead of a file.
const STDOUT: &str = "-";
/// Size of the write buffer in bytes.
const BUFFER: usize = 64 * 1024;

/// A file that is being written. Its path keeps the old content until the file is complete.
pub(crate) struct OutputFile {
    path: PathBuf,
    out: BufWriter<Destination>,
}

enum Destination {
    /// A temporary or part file in the path's folder.
    Beside(NamedTempFile),
    /// A device or named pipe, which a file cannot replace.
    Direct(File),
    /// Standard output.
    Stdout(Box<dyn Write>),
}

impl OutputFile {
    /// Starts writing a file, which is deleted unless it is finished.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::open(path, unnamed).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Starts writing a file as `FILE.part`, which stays if it is not finished. It is locked: no
    /// other process can write it meanwhile, and the lock of a killed process is released.
    pub(crate) fn create_part(path: &Path) -> anyhow::Result<Self> {
        let has_part = path.is_file() || !path.exists();
        let opened = if has_part {
            part_of(path)
        } else {
            path.to_owned()
        };
        Self::open(path, part_file).with_context(|| format!("cannot write to {}", opened.display()))
    }

    fn open(
        path: &Path,
        create_beside: impl Fn(&Path) -> io::Result<NamedTempFile>,
    ) -> io::Result<Self> {
        if path == Path::new(STDOUT) {
            return Ok(Self::over(
                path.to_owned(),
                Destination::Stdout(streams::stdout()),
            ));
        }
        let path = path_behind_links(path);
        if let Some(folder) = path.parent()
            && !folder.as_os_str().is_empty()
            && !folder.exists()
        {
            let missing = format!("there is no folder {}", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, missing));
        }
        let permissions = match fs::metadata(&path) {
            Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => {
                let device = File::options().write(true).open(&path)?;
                return Ok(Self::over(path, Destination::Direct(device)));
            }
            Ok(found) => Some(found.permissions()),
            Err(_) => None,
        };
        let file = create_beside(&path)?;
        if let Some(permissions) = permissions {
            file.as_file().set_permissions(permissions)?;
        }
        Ok(Self::over(path, Destination::Beside(file)))
    }

    fn over(path: PathBuf, destination: Destination) -> Self {
        Self {
            path,
            out: BufWriter::with_capacity(BUFFER, destination),
        }
    }

    /// Flushes the file to disk and moves it to its path.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { path, out } = self;
        let ended = out.into_inner().map_err(io::IntoInnerError::into_error);
        let moved = ended.and_then(|destination| match destination {
            Destination::Beside(file) => {
                file.as_file().sync_all()?;
                file.persist(&path)?;
                Ok(())
            }
            Destination::Direct(_) | Destination::Stdout(_) => Ok(()),
        });
        moved.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The path of `FILE.part` for a file.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    beside(path, ".part")
}

/// The path of `FILE.refused.csv` for a file.
pub(crate) fn refused_of(path: &Path) -> PathBuf {
    beside(path, ".refused.csv")
}

/// The path of `FILE.answers.jsonl` for a file.
pub(crate) fn answers_of(path: &Path) -> PathBuf {
    beside(path, ".answers.jsonl")
}

/// The path with this suffix, in the folder of the file that a symbolic link points to.
fn beside(path: &Path, end: &str) -> PathBuf {
    let path = path_behind_links(path);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(end);
    path.with_file_name(name)
}

/// The target of a symbolic link, so that the link stays when the file is replaced.
fn path_behind_links(path: &Path) -> PathBuf {
    if path.is_symlink() {
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
    }
}

fn unnamed(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    tempfile::Builder::new()
        .prefix(".refract-")
        .suffix(".partial")
        .permissions(Permissions::from_mode(NEW_FILE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))
        .map_err(without_path)
}

/// The error of the operating system alone: `tempfile` adds the path of the temporary file.
fn without_path(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(std::error::Error::source);
    let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    let number = cause.and_then(io::Error::raw_os_error);
    number.map_or(error, io::Error::from_raw_os_error)
}

fn part_file(path: &Path) -> io::Result<NamedTempFile> {
    let part = part_of(path);
    let file = locked(&part)?;
    file.set_len(0)?;
    // a part file of an earlier run may have another mode
    file.set_permissions(Permissions::from_mode(NEW_FILE))?;
    let mut file = NamedTempFile::from_parts(file, TempPath::try_from_path(part)?);
    file.disable_cleanup(true);
    Ok(file)
}

/// Opens a file with an exclusive lock, and creates it if missing.
fn locked(part: &Path) -> io::Result<File> {
    loop {
        let file = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(NEW_FILE)
            .open(part)?;
        // a file system without locks must not prevent a run
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let words = "another run writes it: wait for its end, or name another --output";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, words));
        }
        // the run that held the lock may just have moved the file to its path
        if is_at(&file, part)? {
            return Ok(file);
        }
    }
}

/// Whether a path still leads to an open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (opened.dev(), opened.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Destination {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Beside(file) => file.as_file_mut().write(bytes),
            Self::Direct(file) => file.write(bytes),
            Self::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file) => file.as_file_mut().flush(),
            Self::Direct(file) => file.flush(),
            Self::Stdout(stdout) => stdout.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_its_place_only_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("rows.csv");
        fs::write(&place, "old").unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o640)).unwrap();
        let mut broken_off = OutputFile::create(&place).unwrap();
        broken_off.write_all(b"half").unwrap();
        broken_off.flush().unwrap();
        drop(broken_off);
        assert_eq!(fs::read(&place).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut whole = OutputFile::create(&place).unwrap();
        whole.write_all(b"new").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"old");
        whole.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mode = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "it is as it was but for what it says");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("missing/rows.csv");
        let refused = OutputFile::create(&place).err().unwrap();
        let missing = folder.path().join("missing");
        let words = format!(
            "cannot write {}: there is no folder {}",
            place.display(),
            missing.display()
        );
        assert_eq!(format!("{refused:#}"), words);
    }

    #[test]
    fn one_process_writes_a_part_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("rows.csv");
        let mut first = OutputFile::create_part(&place).unwrap();
        first.write_all(b"first").unwrap();
        first.flush().unwrap();
        let refused = OutputFile::create_part(&place).err().unwrap();
        assert!(
            format!("{refused:#}").contains("another run writes it"),
            "{refused:#}"
        );
        assert_eq!(fs::read(part_of(&place)).unwrap(), b"first");
        first.finish().unwrap();
        // a part file opened before the first was moved to its path is stale
        let second = OutputFile::create_part(&place).unwrap();
        drop(second);
        assert_eq!(fs::read(&place).unwrap(), b"first");
        let third = OutputFile::create_part(&place).unwrap();
        third.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"");
    }

    #[test]
    fn a_new_file_is_for_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let place = folder.path().join("rows.csv");
        OutputFile::create(&place).unwrap().finish().unwrap();
        assert_eq!(mode(&place), 0o600);
        let run = folder.path().join("run.csv");
        fs::write(part_of(&run), "left behind").unwrap();
        fs::set_permissions(part_of(&run), Permissions::from_mode(0o644)).unwrap();
        let file = OutputFile::create_part(&run).unwrap();
        assert_eq!(mode(&part_of(&run)), 0o600);
        file.finish().unwrap();
        assert_eq!(mode(&run), 0o600);
    }

    #[test]
    fn a_link_stays_one_and_a_device_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (place, link) = (folder.path().join("rows"), folder.path().join("link"));
        fs::write(&place, "old").unwrap();
        std::os::unix::fs::symlink(&place, &link).unwrap();
        let mut file = OutputFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.finish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&place).unwrap(), b"new");
        let null = Path::new("/dev/null");
        OutputFile::create(null).unwrap().finish().unwrap();
        assert!(!fs::metadata(null).unwrap().is_file());
        assert!(OutputFile::create(folder.path()).is_err());
        assert!(OutputFile::create(&folder.path().join("none/rows")).is_err());
    }
}
