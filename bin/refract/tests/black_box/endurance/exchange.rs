//! One connection of the fuzzer: requests in one or several writes, and one of several endings.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use crate::endurance::fuzzer::{Chance, Known, MutatedRequest};

/// The time within which every request is answered or its connection closed.
const ANSWERED: Duration = Duration::from_secs(10);

/// The end of the client's side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// A valid call that asks for the close: every request before it must be answered too.
    LastCall,
    /// A half-close, then reading to the end.
    HalfClose,
    /// Hanging up in the middle, without reading.
    HangUp,
    /// A reset in the middle.
    Reset,
}

/// The requests of one connection.
#[derive(Debug)]
pub(crate) struct Exchange {
    pub(crate) bytes: Vec<u8>,
    /// The number of requests, including a last call.
    pub(crate) requests: usize,
    pub(crate) ending: Ending,
    /// The number of writes.
    pieces: usize,
}

/// The received bytes.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) received: Vec<u8>,
    pub(crate) was_reset: bool,
}

impl Exchange {
    /// Some requests, most of them broken.
    pub(crate) fn any(chance: &mut Chance, known: &Known) -> Self {
        // the first request that is not HTTP ends the connection, so most connections are short
        let most = chance.of(&[1, 1, 2, 3, 8]);
        let mut requests = 1 + chance.below(most);
        let (mut bytes, mut are_framed) = (Vec::new(), true);
        for _ in 0..requests {
            let request = MutatedRequest::any(chance, known);
            are_framed &= request.is_framed();
            bytes.extend(request.bytes(chance));
        }
        let ending = match chance.below(24) {
            0 => Ending::HangUp,
            1 => Ending::Reset,
            2.. if are_framed => Ending::LastCall,
            _ => Ending::HalfClose,
        };
        let is_cut = match ending {
            Ending::LastCall => false,
            Ending::HalfClose => chance.one_in(6),
            Ending::HangUp | Ending::Reset => chance.one_in(2),
        };
        if is_cut {
            bytes.truncate(chance.below(bytes.len() + 1));
        }
        if ending == Ending::LastCall {
            bytes.extend(MutatedRequest::last(known).bytes(chance));
            requests += 1;
        }
        let pieces = if chance.one_in(4) {
            2 + chance.below(6)
        } else {
            1
        };
        Self {
            bytes,
            requests,
            ending,
            pieces,
        }
    }

    /// Sends the requests and reads to the end, unless the exchange ends in the middle; an error
    /// means that the node does not finish.
    pub(crate) async fn carry_out(&self, api: SocketAddr) -> Result<Option<Outcome>, &'static str> {
        let stream = tokio::time::timeout(ANSWERED, TcpStream::connect(api)).await;
        let stream = stream.map_err(|_| "no connection within 10 s")?.unwrap();
        stream.set_nodelay(true).unwrap();
        if matches!(self.ending, Ending::HangUp | Ending::Reset) {
            let (reader, mut writer) = stream.into_split();
            // the node may answer and close before it has read everything
            let sent = tokio::time::timeout(ANSWERED, self.send(&mut writer)).await;
            sent.map_err(|_| "nothing is read for 10 s")?.ok();
            if self.ending == Ending::Reset {
                let stream = reader.reunite(writer).unwrap();
                stream.set_zero_linger().unwrap();
            }
            return Ok(None);
        }
        let (mut reader, mut writer) = stream.into_split();
        let sending = async {
            let sent = self.send(&mut writer).await;
            if sent.is_ok() && self.ending == Ending::HalfClose {
                writer.shutdown().await.ok();
            }
        };
        let mut received = Vec::new();
        let reading = async { reader.read_to_end(&mut received).await.is_err() };
        let both = async { tokio::join!(sending, reading) };
        let ended = tokio::time::timeout(ANSWERED, both).await;
        let Ok(((), was_reset)) = ended else {
            return Err("neither answers nor an end within 10 s");
        };
        Ok(Some(Outcome {
            received,
            was_reset,
        }))
    }

    async fn send(&self, writer: &mut OwnedWriteHalf) -> io::Result<()> {
        let piece = self.bytes.len().div_ceil(self.pieces).max(1);
        for piece in self.bytes.chunks(piece) {
            writer.write_all(piece).await?;
            if self.pieces > 1 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        Ok(())
    }
}
