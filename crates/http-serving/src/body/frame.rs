//! Finds which bytes of a connection belong to a request's body, by the same rules as the HTTP
//! server.
//!
//! The server still reads every byte in order, and it alone interprets them: a wrong end of a body
//! here could only pass bytes on too early or make the body wait for its deadline. For a head or a
//! chunk that is not understood here, the server refuses the request and closes the connection.

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};

/// The part of a request's body that has not been read yet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyFrame {
    /// This many bytes.
    Length(usize),
    /// Chunks, up to the last one.
    Chunks(ChunkPlace),
    /// Everything until the connection ends.
    Rest,
}

/// A position in the chunks of a body.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChunkPlace {
    /// In a chunk's size; the value of its digits so far.
    Size(usize),
    /// On a size's line after the digits; the size.
    AfterSize(usize),
    /// In a chunk; the bytes that remain of it and of its line break.
    Chunk(usize),
    /// At the beginning of a line after the last chunk.
    Trailer,
    /// In a line after the last chunk.
    InTrailer,
    /// After the carriage return of a line after the last chunk.
    TrailerReturn,
    /// After the carriage return of an empty line.
    LastReturn,
    /// After the body.
    End,
}

impl BodyFrame {
    /// The body of a request, before any of it is read.
    pub(crate) fn of(request: &HttpRequest) -> Self {
        let headers = request.headers();
        if headers.contains_key(TRANSFER_ENCODING) {
            return Self::Chunks(ChunkPlace::Size(0));
        }
        let length = headers.get(CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.trim().parse().ok());
        match length.unwrap_or(0) {
            0 if request.method() == Method::CONNECT => Self::Rest,
            length => Self::Length(length),
        }
    }

    /// Whether part of the body is still unread.
    pub(crate) fn is_open(self) -> bool {
        !matches!(self, Self::Length(0) | Self::Chunks(ChunkPlace::End))
    }

    /// A lower bound on how many of the next bytes belong to the body.
    pub(crate) fn surely(self) -> usize {
        match self {
            Self::Length(left) | Self::Chunks(ChunkPlace::Chunk(left)) => left,
            Self::Chunks(_) => 0,
            Self::Rest => usize::MAX,
        }
    }

    /// Takes the bytes at the beginning of `bytes` that belong to the body, and returns their
    /// number.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> usize {
        match self {
            Self::Length(left) => {
                let taken = bytes.len().min(*left);
                *left -= taken;
                taken
            }
            Self::Chunks(place) => place.take(bytes),
            Self::Rest => bytes.len(),
        }
    }
}

impl ChunkPlace {
    fn take(&mut self, bytes: &[u8]) -> usize {
        let mut rest = bytes;
        while let ([byte, after @ ..], false) = (rest, matches!(self, Self::End)) {
            if let Self::Chunk(left) = *self {
                let taken = left.min(rest.len());
                rest = rest.get(taken..).unwrap_or_default();
                *self = match left - taken {
                    0 => Self::Size(0),
                    left => Self::Chunk(left),
                };
            } else {
                *self = self.after(*byte);
                rest = after;
            }
        }
        bytes.len() - rest.len()
    }

    /// The position after a byte that is not in a chunk's content.
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Size(0) | Self::AfterSize(0), b'\n') | (Self::TrailerReturn, _) => Self::Trailer,
            (Self::Size(size) | Self::AfterSize(size), b'\n') => {
                Self::Chunk(size.saturating_add("\r\n".len()))
            }
            (Self::Size(size), byte) => match hex_digit(byte) {
                Some(digit) => Self::Size(size.saturating_mul(16).saturating_add(digit)),
                None => Self::AfterSize(size),
            },
            (Self::Trailer, b'\r') => Self::LastReturn,
            (Self::InTrailer, b'\r') => Self::TrailerReturn,
            (Self::Trailer | Self::InTrailer, _) => Self::InTrailer,
            (Self::LastReturn, _) => Self::End,
            (Self::AfterSize(_) | Self::Chunk(_) | Self::End, _) => self,
        }
    }
}

fn hex_digit(byte: u8) -> Option<usize> {
    let digit = char::from(byte).to_digit(16)?;
    usize::try_from(digit).ok()
}

#[cfg(test)]
mod tests {
    use actix_web::test::TestRequest;

    use super::*;

    /// Takes bytes that arrive in pieces of this length.
    fn taken(mut frame: BodyFrame, text: &str, piece: usize) -> (usize, bool) {
        let mut taken = 0;
        while frame.is_open() && taken < text.len() {
            let offered = text.as_bytes()[taken..].iter().take(piece);
            let offered: Vec<u8> = offered.copied().collect();
            taken += frame.take(&offered);
        }
        (taken, frame.is_open())
    }

    #[test]
    fn a_body_in_chunks_is_taken_to_its_end_however_it_is_cut() {
        for body in [
            "0\r\n\r\n",
            "5\r\nhello\r\n0\r\n\r\n",
            "00b;a=b\r\n0\r\n\r\nhello\n\r\n1 \r\nx\r\n000;c\r\n\r\n",
            "1a\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost:\r\n0\r\n\r\n",
            "1\r\na\r\n0\r\nx: y\r\nz: 0\nq\n\r\n\r\n",
        ] {
            let text = format!("{body}GET / HTTP/1.1\r\n\r\n");
            for piece in 1..=text.len() {
                let frame = BodyFrame::Chunks(ChunkPlace::Size(0));
                assert_eq!(
                    taken(frame, &text, piece),
                    (body.len(), false),
                    "{body:?} {piece}"
                );
            }
            let frame = BodyFrame::Chunks(ChunkPlace::Size(0));
            let begun = body.strip_suffix('\n').unwrap();
            assert!(taken(frame, begun, 7).1);
        }
    }

    #[test]
    fn a_body_is_framed_as_its_head_declares() {
        let frame = |method: Method, headers: &[(&'static str, &'static str)]| {
            let request = TestRequest::default().method(method);
            let request = headers
                .iter()
                .fold(request, |request, header| request.insert_header(*header));
            taken(
                BodyFrame::of(&request.to_http_request()),
                "0\r\n\r\nrest",
                3,
            )
        };
        assert_eq!(frame(Method::GET, &[]), (0, false));
        assert_eq!(frame(Method::POST, &[("content-length", "7")]), (7, false));
        assert_eq!(frame(Method::POST, &[("content-length", "70")]), (9, true));
        let chunked = ("transfer-encoding", "chunked");
        assert_eq!(frame(Method::POST, &[chunked]), (5, false));
        let length = ("content-length", "2");
        assert_eq!(frame(Method::CONNECT, &[]), (9, true));
        assert_eq!(frame(Method::CONNECT, &[length]), (2, false));
    }
}
