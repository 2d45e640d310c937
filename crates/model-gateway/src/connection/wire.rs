//! A TCP connection whose answers awc reads to their end.
//!
//! awc takes an answer with neither a length nor chunks for one without a body. In HTTP/1.0 it
//! reads such an answer until the connection ends, and in HTTP/1.1 the same is meant (RFC 9112,
//! 6.3). So the head of such an answer is handed on as one of HTTP/1.0; every other byte goes
//! through as it came. Behind TLS no head is seen here, and everything goes through.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use actix_rt::net::{ActixStream, Ready};
use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// How an answer of HTTP/1.1 begins, and where its minor version stands.
const BEGINNING: &[u8] = b"HTTP/1.1 ";
const MINOR: usize = 7;
/// A longer head goes through as it came.
const LONGEST_HEAD: usize = 64 * 1024;
/// Read at once of a head and of what comes with it.
const READ: usize = 4 * 1024;

/// A connection.
pub(super) struct Wire {
    tcp: TcpStream,
    answer: Answer,
}

/// Where the answer to the latest request is.
enum Answer {
    /// Of its head this has come.
    Head(Vec<u8>),
    /// Its head has come, and perhaps more, and is handed on.
    HandingOn(Bytes),
    /// The rest goes through until the next request.
    Through,
}

impl Wire {
    pub(super) fn new(tcp: TcpStream) -> Self {
        Self {
            tcp,
            answer: Answer::Through,
        }
    }

    /// A request is being written: what comes next is the head of its answer.
    fn asks(&mut self) {
        let is_over = match &self.answer {
            Answer::Head(_) => false,
            Answer::HandingOn(bytes) => bytes.is_empty(),
            Answer::Through => true,
        };
        if is_over {
            self.answer = Answer::Head(Vec::new());
        }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.answer {
                Answer::Through => return Pin::new(&mut this.tcp).poll_read(cx, buffer),
                Answer::HandingOn(bytes) if bytes.is_empty() => this.answer = Answer::Through,
                Answer::HandingOn(bytes) => {
                    let part = bytes.split_to(bytes.len().min(buffer.remaining()));
                    buffer.put_slice(&part);
                    return Poll::Ready(Ok(()));
                }
                Answer::Head(head) => {
                    let mut space = [0; READ];
                    let mut read = ReadBuf::new(&mut space);
                    ready!(Pin::new(&mut this.tcp).poll_read(cx, &mut read))?;
                    let is_end = read.filled().is_empty();
                    if is_end && head.is_empty() {
                        return Poll::Ready(Ok(()));
                    }
                    head.extend_from_slice(read.filled());
                    if is_end || is_known(head) {
                        let mut bytes = std::mem::take(head);
                        let _ = hand_on_as_1_0(&mut bytes);
                        this.answer = Answer::HandingOn(bytes.into());
                    }
                }
            }
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.asks();
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.asks();
        Pin::new(&mut self.tcp).poll_write_vectored(cx, slices)
    }
}

impl ActixStream for Wire {
    fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_read_ready(&self.tcp, cx)
    }

    fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        ActixStream::poll_write_ready(&self.tcp, cx)
    }
}

/// Without what goes over it.
impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

/// Whether it is clear what this is: a whole head, or none of HTTP/1.1.
fn is_known(head: &[u8]) -> bool {
    let begins = head.len().min(BEGINNING.len());
    head.get(..begins) != BEGINNING.get(..begins)
        || end_of(head).is_some()
        || head.len() > LONGEST_HEAD
}

/// Where the empty line behind the fields begins.
fn end_of(head: &[u8]) -> Option<usize> {
    head.windows(4).position(|bytes| bytes == b"\r\n\r\n")
}

/// Changes the version of an answer whose end is the connection's. `None` where it is left as it is.
fn hand_on_as_1_0(answer: &mut [u8]) -> Option<()> {
    let head = answer.get(..end_of(answer)?)?.to_ascii_lowercase();
    let status = head.strip_prefix(b"http/1.1 ")?;
    // these have no body, whatever they say
    let is_empty = [&b"1"[..], b"204", b"304"]
        .iter()
        .any(|none| status.starts_with(none));
    let mut fields = head.split(|byte| *byte == b'\n');
    let tells_its_end = fields.any(|field| {
        field.starts_with(b"content-length") || field.starts_with(b"transfer-encoding")
    });
    if !is_empty && !tells_its_end {
        *answer.get_mut(MINOR)? = b'0';
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The answer as it is handed on when it comes in two parts, cut at every place.
    fn handed_on(answer: &str) -> String {
        let mut bytes = answer.as_bytes().to_vec();
        for cut in 0..bytes.len() {
            let whole = end_of(&bytes).map(|end| end + 4);
            assert_eq!(
                is_known(&bytes[..cut]),
                whole.is_some_and(|whole| cut >= whole),
                "{cut}"
            );
        }
        let _ = hand_on_as_1_0(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn only_an_answer_whose_end_is_untold_changes_its_version() {
        for answer in [
            "HTTP/1.1 200 OK\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nContent-Length: 2\r\n",
            "HTTP/1.1 503 Busy\r\nX-Content-Length: 2\r\n\r\n",
        ] {
            assert_eq!(handed_on(answer), answer.replacen("1.1", "1.0", 1));
        }
        for answer in [
            "HTTP/1.1 200 OK\r\ncontent-LENGTH: 2\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\n",
        ] {
            assert_eq!(handed_on(answer), answer);
        }
    }

    #[test]
    fn what_does_not_begin_like_an_answer_of_1_1_goes_through_at_once() {
        for bytes in [
            "HTTP/1.0 200 OK\r\n",
            "HTTP/2",
            "SSH-2.0",
            "\u{16}\u{3}\u{1}",
            "h",
        ] {
            assert!(is_known(bytes.as_bytes()), "{bytes:?}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nA: {}", "a".repeat(LONGEST_HEAD));
        assert!(is_known(endless.as_bytes()));
        assert!(!is_known(b""));
        assert!(!is_known(b"HTTP/1."));
    }
}
