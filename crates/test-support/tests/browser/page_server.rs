//! A server of a few fixed pages on the loopback interface.

use std::net::Ipv4Addr;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// One page: its path, extra header lines (each ends with `\r\n`), and its content.
pub(crate) type Page = (&'static str, &'static str, &'static str);

/// Serves the pages until the test ends; other paths get an empty 204. Returns the address without
/// a final `/`.
pub(crate) async fn serve(pages: &'static [Page]) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream, pages));
        }
    });
    address
}

async fn answer(stream: TcpStream, pages: &[Page]) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    stream.read_line(&mut first).await.ok()?;
    let mut line = String::new();
    while stream.read_line(&mut line).await.ok()? > 2 {
        line.clear();
    }
    let target = first.split(' ').nth(1)?;
    let path = target.split('?').next()?;
    let reply = match pages.iter().find(|page| page.0 == path) {
        Some((_, headers, content)) => format!(
            "HTTP/1.1 200 OK\r\nConnection: close\r\n{headers}Content-Length: {}\r\n\r\n{content}",
            content.len()
        ),
        None => "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n".to_owned(),
    };
    stream.write_all(reply.as_bytes()).await.ok()
}
