//! `refract results export`: rows equal to the API's, in bounded memory, into a file or a pipe.

use std::path::Path;
use std::process::Stdio;

use refract_test_stack::http::{HttpConnection, within_patience};
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_stack::varied::{make_results, varied_service};
use refract_test_support::on_both;
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::program;
use crate::program::start;

on_both!(the_memory_does_not_grow_with_the_results);

#[tokio::test]
async fn who_reads_no_more_is_left_in_peace() {
    let service = varied_service(Backend::Sqlite).await;
    make_results(&service, 800).await;
    for format in ["csv", "jsonl"] {
        let mut child = command(&service, &["results", "export", PRISM, "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 100];
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut first).await.unwrap();
        drop(stdout);
        let ended = within_patience(child.wait_with_output()).await.unwrap();
        assert_eq!(
            (ended.status.code(), ended.stderr.as_slice()),
            (Some(0), &b""[..])
        );
    }
}

async fn the_memory_does_not_grow_with_the_results(backend: Backend) {
    let service = start(backend).await;
    make_large_results(&service, 100).await;
    let with_few = peak_memory(&service).await;
    make_large_results(&service, 500).await;
    let with_many = peak_memory(&service).await;
    // the second export is 35 MB larger
    assert!(
        with_many < with_few + 12 * 1024,
        "{with_few} and {with_many} KiB"
    );
    // most of it is the unoptimised program itself
    assert!(with_many < 72 * 1024, "{with_many} KiB");
}

/// The peak memory, in KiB, of an export shortly before its end.
async fn peak_memory(service: &Service) -> u64 {
    let arguments = ["results", "export", PRISM, "--output", "whole.csv"];
    service.run(&arguments).await.done();
    let whole = std::fs::metadata(service.folder.path().join("whole.csv"));
    let whole = usize::try_from(whole.unwrap().len()).unwrap();
    let mut child = command(service, &["results", "export", PRISM])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    // the rest is more than a pipe and a buffer hold, so the process is still running
    let mut read = vec![0; whole - 400_000];
    within_patience(stdout.read_exact(&mut read)).await.unwrap();
    let status = format!("/proc/{}/status", child.id().unwrap());
    let status = std::fs::read_to_string(Path::new(&status)).unwrap();
    let mut rest = Vec::new();
    within_patience(stdout.read_to_end(&mut rest))
        .await
        .unwrap();
    assert_eq!(rest.len(), 400_000);
    assert!(child.wait().await.unwrap().success());
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.unwrap().trim().trim_end_matches(" kB");
    peak.parse().unwrap()
}

fn command(service: &Service, arguments: &[&str]) -> tokio::process::Command {
    let settings = [("DATABASE_URL", service.database_url.as_str())];
    program::command(service.folder.path(), &settings, arguments)
}

async fn make_large_results(service: &Service, count: usize) {
    let mut connection = HttpConnection::open(service.api()).await;
    for _ in 0..count {
        let body = json!({"text": "word ".repeat(14_000)});
        let request = service.create_request(PRISM, &body);
        assert_eq!(connection.call(&request).await.status, 200);
    }
}
