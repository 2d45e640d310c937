//! `refract health`: asks a node whether it takes calls, for supervisors without an HTTP client. One
//! HTTP call to a node over a new connection, which the demo makes too.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use http::StatusCode;
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader,
};
use tokio::net::TcpStream;

use crate::{output, settings};

/// Upper bound on the answer: longer than the database ping behind `/readyz` may take.
const PATIENCE: Duration = Duration::from_secs(4);
/// The largest reply, in bytes.
const MOST: u64 = 1024 * 1024;

/// The arguments of `refract health`.
#[derive(Args)]
pub struct HealthCommand {
    /// Asks only whether the process is up, whatever its database does
    #[arg(long)]
    live: bool,

    /// Address of the node's `/healthz` and `/readyz`
    #[arg(
        long,
        env = "REFRACT_OPS_LISTEN",
        default_value = "127.0.0.1:9090",
        value_name = "ADDRESS"
    )]
    ops_listen: String,

    /// Prints one JSON object
    #[arg(long)]
    json: bool,
}

impl HealthCommand {
    /// Runs `refract health`.
    pub(crate) async fn run(self) -> anyhow::Result<()> {
        if self.ops_listen == "off" {
            bail!("REFRACT_OPS_LISTEN is off: a node without it cannot be asked");
        }
        let (path, state) = if self.live {
            ("/healthz", "up")
        } else {
            ("/readyz", "ready")
        };
        let address = settings::address("REFRACT_OPS_LISTEN", &self.ops_listen)?;
        let address = settings::as_reached(address);
        let call = format!("GET {path}");
        let asking = tokio::time::timeout(PATIENCE, send(address, &call, "", ""));
        let asked = asking.await.map_err(anyhow::Error::from);
        let reply = asked.and_then(|reply| Ok(reply?));
        let reply = reply.with_context(|| format!("no node answers at {address}"))?;
        ensure!(
            reply.status == StatusCode::OK,
            "the node is not {state}: {path} answers {}",
            reply.status.as_u16()
        );
        if self.json {
            return output::json(&serde_json::json!({ "state": state }));
        }
        output::text(&format!("{state}\n"))
    }
}

/// The reply to a call.
pub(super) struct NodeReply {
    /// The status.
    pub(super) status: StatusCode,
    /// The body.
    pub(super) body: String,
}

/// Sends a call with these headers in addition to the usual ones.
pub(super) async fn send(
    address: SocketAddr,
    method_and_path: &str,
    headers: &str,
    body: &str,
) -> io::Result<NodeReply> {
    let call = format!(
        "{method_and_path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         content-length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(call.as_bytes()).await?;
    let mut reply = BufReader::new(stream.take(MOST));
    let status = status_in(&line(&mut reply).await?)
        .ok_or_else(|| io::Error::other("what answers does not speak HTTP"))?;
    let mut length = 0;
    loop {
        let header = line(&mut reply).await?;
        match header.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(io::Error::other)?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = String::new();
    reply.take(length).read_to_string(&mut body).await?;
    Ok(NodeReply { status, body })
}

/// The next line of a reply's head, without its line end; an empty line ends the head.
async fn line(reply: &mut (impl AsyncBufRead + Unpin)) -> io::Result<String> {
    let mut line = String::new();
    if reply.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

/// The status in the first line of a reply.
fn status_in(line: &str) -> Option<StatusCode> {
    let (version, rest) = line.split_once(' ')?;
    let status = StatusCode::from_bytes(rest.get(..3)?.as_bytes()).ok()?;
    version.starts_with("HTTP/1.").then_some(status)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// The outcome of a call to a server that sends this reply and closes the connection.
    async fn reply_to(answer: &'static str) -> Result<(u16, String), String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answering = async {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut call = vec![0; 1024];
            let length = connection.read(&mut call).await.unwrap();
            connection.write_all(answer.as_bytes()).await.unwrap();
            String::from_utf8(call[..length].to_vec()).unwrap()
        };
        let (reply, call) = tokio::join!(send(address, "POST /a", "b: c\r\n", "text"), answering);
        assert_eq!(
            call,
            format!(
                "POST /a HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: 4\r\n\
                 b: c\r\n\r\ntext"
            )
        );
        let reply = reply.map_err(|error| error.to_string())?;
        Ok((reply.status.as_u16(), reply.body))
    }

    #[tokio::test]
    async fn a_reply_is_its_status_and_as_much_body_as_it_declares() {
        let replied = reply_to("HTTP/1.1 200 OK\r\nContent-Length: 2\r\na: b\r\n\r\nhi and more");
        assert_eq!(replied.await, Ok((200, "hi".to_owned())));
        let replied = reply_to("HTTP/1.1 503 Service Unavailable\r\n\r\n");
        assert_eq!(replied.await, Ok((503, String::new())));
    }

    #[tokio::test]
    async fn what_is_no_reply_is_an_error() {
        for answer in [
            "",
            "SSH-2.0-OpenSSH\r\n",
            "HTTP/1.1 twice\r\n\r\n",
            "HTTP/1.1 200 OK\r\nb: c\r\n",
        ] {
            assert!(reply_to(answer).await.is_err(), "{answer}");
        }
    }
}
