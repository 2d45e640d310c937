//! A file that is written beside its place and moved there once it is complete.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// The mode of a new file, before the process's umask.
const NEW_FILE_MODE: u32 = 0o666;
/// Bytes per write to the disk.
const BUFFER: usize = 64 * 1024;

/// What happens to the rows written so far when the file is never finished.
#[derive(Clone, Copy)]
pub(crate) enum Unfinished {
    /// The rows are removed: half an export is of no use.
    Removed,
    /// The rows stay in the file that [`part_of`] names: the answers in half a run were paid for.
    Kept,
}

/// A file that is being written. Until [`finish`](Self::finish) the file at its place stays unchanged.
pub(crate) struct OutputFile {
    place: PathBuf,
    out: BufWriter<File>,
    /// Where the bytes stand until they are complete; `None` for a device or a pipe, which is
    /// written to directly.
    draft: Option<TempPath>,
}

impl OutputFile {
    /// Opens a file that is to stand at `place`. A new file gets the permissions of the file that
    /// it replaces.
    ///
    /// # Errors
    /// When [`part_of`] the place, or a file beside the place, cannot be opened for writing.
    pub(crate) fn create(place: &Path, unfinished: Unfinished) -> io::Result<Self> {
        let place = followed(place);
        let replaced = fs::metadata(&place).ok();
        let (file, draft) = match &replaced {
            Some(found) if !found.is_file() => (File::options().write(true).open(&place)?, None),
            Some(_) | None => {
                let (file, draft) = create_draft(&place, unfinished)?;
                (file, Some(draft))
            }
        };
        if let (Some(replaced), Some(_)) = (replaced, &draft) {
            file.set_permissions(replaced.permissions())?;
        }
        Ok(Self {
            place,
            out: BufWriter::with_capacity(BUFFER, file),
            draft,
        })
    }

    /// Where the file is to stand.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    /// Moves the complete file to its place, after its bytes have reached the disk.
    ///
    /// # Errors
    /// When the disk refuses the last bytes or the move.
    pub(crate) fn finish(self) -> io::Result<()> {
        let Self { place, out, draft } = self;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(draft) = draft {
            file.sync_all()?;
            draft.persist(place)?;
        }
        Ok(())
    }
}

/// Where the rows of an unfinished file are kept: `PLACE.part`, or the place itself when that is a
/// device or a pipe.
pub(crate) fn part_of(place: &Path) -> PathBuf {
    let place = followed(place);
    if place.exists() && !place.is_file() {
        return place;
    }
    let mut name = place.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    place.with_file_name(name)
}

fn create_draft(place: &Path, unfinished: Unfinished) -> io::Result<(File, TempPath)> {
    match unfinished {
        Unfinished::Removed => {
            let folder = place.parent().filter(|folder| *folder != Path::new(""));
            let draft = tempfile::Builder::new()
                .prefix(".refract-")
                .suffix(".partial")
                .permissions(Permissions::from_mode(NEW_FILE_MODE))
                .tempfile_in(folder.unwrap_or(Path::new(".")))?;
            Ok(draft.into_parts())
        }
        Unfinished::Kept => {
            let part = part_of(place);
            let file = File::create(&part)?;
            let mut draft = TempPath::try_from_path(part)?;
            draft.disable_cleanup(true);
            Ok((file, draft))
        }
    }
}

/// The file that a symbolic link points to, so that the link itself is not replaced.
fn followed(path: &Path) -> PathBuf {
    if path.is_symlink() {
        path.canonicalize().unwrap_or_else(|_| path.to_owned())
    } else {
        path.to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_its_place_only_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("rows.csv");
        fs::write(&place, "old").unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o640)).unwrap();
        let mut broken_off = OutputFile::create(&place, Unfinished::Removed).unwrap();
        broken_off.write_all(b"half").unwrap();
        broken_off.flush().unwrap();
        drop(broken_off);
        assert_eq!(fs::read(&place).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mut whole = OutputFile::create(&place, Unfinished::Removed).unwrap();
        whole.write_all(b"new").unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"old");
        whole.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let mode = fs::metadata(&place).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "the permissions stay");
    }

    #[test]
    fn the_part_of_an_unfinished_file_is_kept_where_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("rows.csv");
        let part = part_of(&place);
        assert_eq!(part, folder.path().join("rows.csv.part"));
        let mut broken_off = OutputFile::create(&place, Unfinished::Kept).unwrap();
        broken_off.write_all(b"half").unwrap();
        drop(broken_off);
        assert!(!place.exists());
        assert_eq!(fs::read(&part).unwrap(), b"half");
        let mut whole = OutputFile::create(&place, Unfinished::Kept).unwrap();
        whole.write_all(b"new").unwrap();
        whole.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_one_and_a_device_is_written_to() {
        for unfinished in [Unfinished::Removed, Unfinished::Kept] {
            let folder = tempfile::tempdir().unwrap();
            let (place, link) = (folder.path().join("rows"), folder.path().join("link"));
            fs::write(&place, "old").unwrap();
            std::os::unix::fs::symlink(&place, &link).unwrap();
            let mut file = OutputFile::create(&link, unfinished).unwrap();
            file.write_all(b"new").unwrap();
            file.finish().unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read(&place).unwrap(), b"new");
            let null = Path::new("/dev/null");
            OutputFile::create(null, unfinished)
                .unwrap()
                .finish()
                .unwrap();
            assert!(!fs::metadata(null).unwrap().is_file());
            assert_eq!(part_of(null), null);
            assert!(OutputFile::create(folder.path(), unfinished).is_err());
            assert!(OutputFile::create(&folder.path().join("none/rows"), unfinished).is_err());
        }
    }
}
