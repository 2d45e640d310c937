//! `refract try`: its output on a terminal, and the sources of its text.

use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, LENS_FILE, PRISM, Service, Setup, TEXT};
use refract_test_support::model_server::ChatModel;

const ESCAPE: char = '\u{1b}';

/// The lines on a terminal, without the result's id and time.
fn lines(seen: &str) -> Vec<String> {
    let mut lines: Vec<_> = seen
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    let head = lines[0].rsplit_once(" ms · ").expect("the head").0;
    lines[0] = head.rsplit_once(' ').unwrap().0.into();
    lines
}

#[tokio::test]
async fn the_cutoffs_of_the_lens_stand_on_the_bar() {
    let service = service(Backend::Sqlite).await;
    service.run(&["lens", "set", PRISM, LENS_FILE]).await.done();
    let table = ["try", PRISM, "--text", TEXT, "--format", "table"];
    let shown = service.run(&table).await.done();
    assert!(!shown.contains(ESCAPE), "no colour in a pipe: {shown:?}");
    let lines = lines(&shown);
    let at = lines
        .iter()
        .position(|line| line.starts_with("▸ Yes"))
        .unwrap();
    assert_eq!(lines[at].matches('│').count(), 2, "{shown}");
    assert!(lines[at + 1].starts_with("  No "), "{shown}");
    assert_eq!(
        lines[at + 2].trim(),
        "is_angry: no below 40% · yes from 60%"
    );
}

#[tokio::test]
async fn what_a_server_refused_once_is_not_sent_by_the_next_command() {
    let model = ChatModel {
        refuses_more: true,
        ..ChatModel::new(vec![3.0, 1.0])
    };
    let setup = Setup {
        nodes: 0,
        script: model.reply().into(),
        ..Setup::default()
    };
    let service = Service::with(Backend::Sqlite, setup).await;
    let ask = async || {
        let before = service.model.counts().requests;
        let asking = ["try", PRISM, "--text", TEXT, "--model-protocol", "chat"];
        service.run(&asking).await.done();
        let requests = service.model.requests();
        let asked = requests[before..].iter();
        let asked = asked.map(|request| request.json()["top_logprobs"].as_u64().unwrap());
        asked.collect::<Vec<_>>()
    };
    assert!(ask().await.contains(&100));
    assert_eq!(ask().await, [20, 20, 20]);
}

#[tokio::test]
async fn a_text_may_begin_with_a_hyphen() {
    let service = service(Backend::Sqlite).await;
    for text in ["- it rattles", "-5 degrees", "--"] {
        let asking = ["try", PRISM, "--text", text, "--context", text];
        service.run(&asking).await.done();
        let sent = service.model.requests().pop().unwrap().json();
        assert_eq!(sent["state"]["text"], text);
    }
}
