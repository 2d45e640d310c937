//! Pieces of an uploaded file: how the database stores its bytes.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

/// Most bytes of a file in one piece, before compression.
pub(super) const PIECE_BYTES: usize = 256 * 1024;

/// Compresses a piece.
pub(super) fn compress(piece: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(piece)?;
    encoder.finish()
}

/// The bytes of a compressed piece.
pub(super) fn decompress(content: &[u8]) -> io::Result<Vec<u8>> {
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
