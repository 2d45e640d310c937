//! A file that is written beside its place and takes it when it is whole.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::NamedTempFile;

/// What a new file may be, before the process's mask takes away from it.
const NEW_FILE: u32 = 0o666;
/// Bytes that are written at once.
const BUFFER: usize = 64 * 1024;

/// A file that is being written. Whatever breaks off leaves the place as it was.
pub(crate) struct OutputFile {
    place: PathBuf,
    out: BufWriter<Target>,
}

enum Target {
    Beside(NamedTempFile),
    /// A device or a pipe, which has no place beside it.
    Direct(File),
}

impl OutputFile {
    /// Begins to write a file that is to stand at this place.
    pub(crate) fn create(place: &Path) -> anyhow::Result<Self> {
        let opened = open(place).with_context(|| format!("cannot write {}", place.display()));
        let (place, target) = opened?;
        Ok(Self {
            place,
            out: BufWriter::with_capacity(BUFFER, target),
        })
    }

    /// Puts the file in its place, on the disk.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self { place, out } = self;
        let ended = out.into_inner().map_err(io::IntoInnerError::into_error);
        let moved = ended.and_then(|target| match target {
            Target::Beside(file) => {
                file.as_file().sync_all()?;
                file.persist(&place)?;
                Ok(())
            }
            Target::Direct(_) => Ok(()),
        });
        moved.with_context(|| format!("cannot write {}", place.display()))
    }
}

/// Opens what is to be written to; a link is followed, so that it stays one.
fn open(place: &Path) -> io::Result<(PathBuf, Target)> {
    let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
    let permissions = match fs::metadata(&place) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let file = File::options().write(true).open(&place)?;
            return Ok((place, Target::Direct(file)));
        }
        Ok(found) => Some(found.permissions()),
        Err(_) => None,
    };
    let folder = place.parent().filter(|folder| *folder != Path::new(""));
    let file = tempfile::Builder::new()
        .prefix(".refract-")
        .suffix(".partial")
        .permissions(Permissions::from_mode(NEW_FILE))
        .tempfile_in(folder.unwrap_or(Path::new(".")))?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok((place, Target::Beside(file)))
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Write for Target {
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
