//! Pieces of an uploaded file: how the database stores its bytes, and how they are read.

use std::io::{self, BufRead, Read, Write as _};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use refract_domain::ids::UploadId;
use refract_persistence::{Database, PersistenceError};
use tokio::runtime::Handle;

use super::Runs;

/// How long a read waits for a database that is away.
const PATIENCE: Duration = Duration::from_secs(45);
/// The pause before a read is tried again.
const PAUSE: Duration = Duration::from_millis(500);
/// Most bytes of a file in one piece, before compression.
pub(super) const PIECE_BYTES: usize = 256 * 1024;

/// The bytes of an uploaded file, which can be read any number of times, from the start. Clones are
/// cheap.
#[derive(Clone)]
pub struct StoredBytes {
    database: Database,
    runtime: Handle,
    upload: UploadId,
}

/// A reader of an uploaded file, with one piece in memory. It blocks: read on a thread that no
/// runtime needs.
///
/// A read that fails for a passing reason is tried again for 45 seconds; the error is of the kind
/// [`io::ErrorKind::TimedOut`] then. It is [`io::ErrorKind::NotFound`] when the file was deleted.
pub struct StoredBytesReader {
    source: StoredBytes,
    /// Size of the file, once it was looked up.
    size: Option<u64>,
    /// Bytes of all pieces so far.
    loaded: u64,
    next_piece: i32,
    /// Bytes at the beginning of the next piece that are not read.
    skipped: u64,
    piece: io::Cursor<Vec<u8>>,
}

impl Runs<'_> {
    /// The bytes of an uploaded file.
    ///
    /// # Panics
    /// Outside of a runtime, which the queries are awaited on.
    pub fn upload_reader(self, upload: UploadId) -> StoredBytes {
        StoredBytes {
            database: self.refract.database.without_lanes(),
            runtime: Handle::current(),
            upload,
        }
    }
}

impl StoredBytes {
    /// A reader from the start of the file, without a query.
    pub fn open(&self) -> StoredBytesReader {
        self.open_at(0)
    }

    /// A reader from this place of the file, without a query.
    pub fn open_at(&self, position: u64) -> StoredBytesReader {
        let piece_bytes = u64::try_from(PIECE_BYTES).unwrap_or(u64::MAX);
        // pieces are whole but for the last one
        let before = position / piece_bytes;
        StoredBytesReader {
            source: self.clone(),
            size: None,
            loaded: before * piece_bytes,
            // a piece beyond all numbers does not exist either
            next_piece: i32::try_from(before).unwrap_or(i32::MAX),
            skipped: position % piece_bytes,
            piece: io::Cursor::default(),
        }
    }

    /// Size of the file, in bytes.
    ///
    /// # Errors
    /// When the database is away for 45 seconds, or the file was deleted.
    pub fn size(&self) -> io::Result<u64> {
        let upload = self.upload;
        let found = self.wait(&async |database: &Database| database.find_upload_size(upload).await);
        found?.ok_or_else(deleted)
    }

    /// Waits for a query, which is made again for a while where it fails for a passing reason.
    fn wait<T>(
        &self,
        query: &impl AsyncFn(&Database) -> Result<T, PersistenceError>,
    ) -> io::Result<T> {
        let began = Instant::now();
        loop {
            match self.runtime.block_on(query(&self.database)) {
                Ok(found) => return Ok(found),
                Err(error) if !error.is_passing() => return Err(io::Error::other(error)),
                Err(error) if began.elapsed() >= PATIENCE => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, error));
                }
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }
}

impl StoredBytesReader {
    /// Size of the file, in bytes.
    fn size(&mut self) -> io::Result<u64> {
        if let Some(size) = self.size {
            return Ok(size);
        }
        let size = self.source.size()?;
        self.size = Some(size);
        Ok(size)
    }
}

impl BufRead for StoredBytesReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let is_read = self.piece.fill_buf()?.is_empty();
        if is_read && self.loaded < self.size()? {
            let (upload, number) = (self.source.upload, self.next_piece);
            let found = self.source.wait(&async |database: &Database| {
                database.find_upload_piece(upload, number).await
            });
            let piece = decompress(&found?.ok_or_else(deleted)?)?;
            self.loaded += u64::try_from(piece.len()).unwrap_or(u64::MAX);
            self.next_piece += 1;
            self.piece = io::Cursor::new(piece);
            self.piece.set_position(std::mem::take(&mut self.skipped));
        }
        self.piece.fill_buf()
    }

    fn consume(&mut self, bytes: usize) {
        self.piece.consume(bytes);
    }
}

impl Read for StoredBytesReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut available = self.fill_buf()?;
        let length = available.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

fn deleted() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the uploaded file was deleted")
}

/// Compresses a piece.
pub(super) fn compress(piece: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(piece)?;
    encoder.finish()
}

/// The bytes of a compressed piece.
fn decompress(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let most = u64::try_from(PIECE_BYTES).unwrap_or(u64::MAX);
    ZlibDecoder::new(content)
        .take(most)
        .read_to_end(&mut piece)?;
    Ok(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_the_same_after_compression() {
        let varied: Vec<u8> = (0..=250_u8).cycle().take(PIECE_BYTES).collect();
        for piece in [b"".as_slice(), b"a", &varied, &vec![b'a'; PIECE_BYTES]] {
            let content = compress(piece).unwrap();
            assert_eq!(decompress(&content).unwrap(), piece);
        }
        let content = compress(&vec![b'a'; PIECE_BYTES]).unwrap();
        assert!(content.len() < PIECE_BYTES / 100, "{}", content.len());
        assert!(decompress(&content[1..]).is_err(), "a damaged piece");
    }
}
