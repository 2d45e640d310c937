//! A file that is written beside the path where it is to stand, and moved there when it is complete.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::{NamedTempFile, TempPath};

/// The mode of a new file, which may hold texts: for its owner only.
const NEW_FILE: u32 = 0o600;
/// Size of the write buffer in bytes.
const BUFFER: usize = 64 * 1024;

/// A file that is being written. What stands at its path stays as it is until the file is complete.
pub(crate) struct OutputFile {
    path: PathBuf,
    out: BufWriter<Destination>,
}

enum Destination {
    /// A file in the folder of the path.
    Beside(NamedTempFile),
    /// A device or named pipe, which a file cannot replace.
    Direct(File),
}

impl OutputFile {
    /// Begins to write a file. One that is not finished is deleted.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        Self::open(path, unnamed).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Begins to write a file as `FILE.part`. One that is not finished stays there.
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
        let path = path_behind_links(path);
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

    /// Writes the file to the disk and moves it to its path.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { path, out } = self;
        let ended = out.into_inner().map_err(io::IntoInnerError::into_error);
        let moved = ended.and_then(|destination| match destination {
            Destination::Beside(file) => {
                file.as_file().sync_all()?;
                file.persist(&path)?;
                Ok(())
            }
            Destination::Direct(_) => Ok(()),
        });
        moved.with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The path of `FILE.part` for a file.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let path = path_behind_links(path);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    path.with_file_name(name)
}

/// Where a symbolic link points, so that the link stays when the file is replaced.
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
}

fn part_file(path: &Path) -> io::Result<NamedTempFile> {
    let part = part_of(path);
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    let file = options.mode(NEW_FILE).open(&part)?;
    // one that was left behind may have another mode
    file.set_permissions(Permissions::from_mode(NEW_FILE))?;
    let mut file = NamedTempFile::from_parts(file, TempPath::try_from_path(part)?);
    file.disable_cleanup(true);
    Ok(file)
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
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Beside(file) => file.as_file_mut().flush(),
            Self::Direct(file) => file.flush(),
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
