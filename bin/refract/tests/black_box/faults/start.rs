//! Nodes that start before their database is up, or with a wrong address or password.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use refract_test_stack::http::within_patience;
use refract_test_support::cluster::Shutdown;
use refract_test_support::postgres_proxy::{PostgresProxy, SESSION, StatementFault};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr};
use tokio::task::block_in_place;

use crate::faults::load::cluster;
use crate::program;

/// Starts a node that may fail to start, and returns its log lines.
fn start(folder: &Path, url: &str) -> (Child, Lines<BufReader<ChildStderr>>) {
    let settings = [
        ("DATABASE_URL", url),
        ("REFRACT_MODEL_URL", "builtin:lexical"),
        ("REFRACT_LISTEN", "127.0.0.1:0"),
        ("REFRACT_OPS_LISTEN", "off"),
        ("REFRACT_APP_LISTEN", "off"),
        (
            "REFRACT_LOG",
            "warn,refract=info,refract_terminal::commands::context=debug",
        ),
    ];
    let mut command = program::command(folder, &settings, &["serve"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    (child, stderr.lines())
}

/// The next log line; `None` at the end.
async fn next(lines: &mut Lines<BufReader<ChildStderr>>) -> Option<String> {
    within_patience(lines.next_line()).await.unwrap()
}

/// Waits until the node has made its tables and listens; it must not log twice that it waits.
async fn until_listening(lines: &mut Lines<BufReader<ChildStderr>>) {
    let line = next(lines).await.unwrap();
    assert!(line.contains("migrations run on the database"), "{line}");
    let line = next(lines).await.unwrap();
    assert!(line.contains("listening"), "{line}");
    let line = next(lines).await.unwrap();
    assert!(line.contains("the built-in scorer answers"), "{line}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_waits_for_a_server_that_is_not_up_yet() {
    let cluster = cluster(&[]);
    block_in_place(|| cluster.stop(Shutdown::Fast));
    let folder = tempfile::tempdir().unwrap();
    let (_node, mut lines) = start(folder.path(), &cluster.url());
    let line = next(&mut lines).await.unwrap();
    let server = format!(
        "cannot connect to PostgreSQL at 127.0.0.1:{}",
        cluster.port()
    );
    assert!(
        line.contains(&server) && line.contains("waiting up to 10 s"),
        "{line}"
    );
    assert!(!line.contains(cluster.password()), "{line}");
    block_in_place(|| cluster.start_again());
    until_listening(&mut lines).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_waits_for_a_server_that_recovers_and_commands_say_so_at_once() {
    let cluster = cluster(&[]);
    let sessions = AtomicUsize::new(0);
    let proxy = PostgresProxy::start(cluster.port(), move |sql, _| {
        let is_early = sql == SESSION && sessions.fetch_add(1, Ordering::SeqCst) < 3;
        is_early.then_some(StatementFault::Refuse("57P03"))
    })
    .await;
    let folder = tempfile::tempdir().unwrap();
    let url = cluster.url_at(proxy.port());
    let settings = [("DATABASE_URL", url.as_str())];
    let line = program::run(folder.path(), &settings, &["key", "list"]).await;
    assert!(line.refused().contains("cannot connect to PostgreSQL"));
    let (_node, mut lines) = start(folder.path(), &url);
    let line = next(&mut lines).await.unwrap();
    assert!(
        line.contains("WARN") && line.contains("waiting up to 60 s"),
        "{line}"
    );
    until_listening(&mut lines).await;
    assert_eq!(proxy.faults(), 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_waits_for_a_server_whose_connections_are_all_taken() {
    let cluster = cluster(&["max_connections = 10", "superuser_reserved_connections = 0"]);
    // a client that is asked for its password already has a connection
    let mut hello = 196_608_u32.to_be_bytes().to_vec();
    hello.extend(b"user\0refract\0database\0postgres\0\0");
    let length = u32::try_from(hello.len() + 4).unwrap();
    let mut taken = Vec::new();
    for _ in 0..10 {
        let mut client = TcpStream::connect(("127.0.0.1", cluster.port()))
            .await
            .unwrap();
        client.write_all(&length.to_be_bytes()).await.unwrap();
        client.write_all(&hello).await.unwrap();
        assert_eq!(client.read_u8().await.unwrap(), b'R');
        taken.push(client);
    }
    let folder = tempfile::tempdir().unwrap();
    let (_node, mut lines) = start(folder.path(), &cluster.url());
    let line = next(&mut lines).await.unwrap();
    assert!(
        line.contains("too many clients") && line.contains("waiting up to 60 s"),
        "{line}"
    );
    drop(taken);
    until_listening(&mut lines).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_away_ends_the_start_in_one_line() {
    let cluster = cluster(&[]);
    block_in_place(|| cluster.stop(Shutdown::Fast));
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let (mut node, mut lines) = start(folder.path(), &cluster.url());
    assert!(
        next(&mut lines)
            .await
            .unwrap()
            .contains("waiting up to 10 s")
    );
    let line = next(&mut lines).await.unwrap();
    let words = format!(
        "error: cannot connect to PostgreSQL at 127.0.0.1:{}",
        cluster.port()
    );
    assert!(line.starts_with(&words), "{line}");
    assert_eq!(next(&mut lines).await, None);
    assert_eq!(within_patience(node.wait()).await.unwrap().code(), Some(1));
    assert!((10..20).contains(&begin.elapsed().as_secs()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waiting_does_not_mend_ends_the_start_at_once() {
    let cluster = cluster(&[]);
    let folder = tempfile::tempdir().unwrap();
    let url = cluster.url();
    let wrong_password = url.replace(cluster.password(), "wrong");
    let wrong_database = url.replace("/postgres?", "/nowhere?");
    for (url, words) in [
        (wrong_password, "password authentication failed"),
        (wrong_database, "database \"nowhere\" does not exist"),
    ] {
        let begin = Instant::now();
        let (mut node, mut lines) = start(folder.path(), &url);
        let line = next(&mut lines).await.unwrap();
        assert!(
            line.starts_with("error: ") && line.contains(words),
            "{line}"
        );
        assert_eq!(next(&mut lines).await, None);
        assert_eq!(within_patience(node.wait()).await.unwrap().code(), Some(1));
        assert!(begin.elapsed().as_secs() < 8, "{:?}", begin.elapsed());
    }
}
