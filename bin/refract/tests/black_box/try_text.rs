//! `refract try`: its output on a terminal, and the sources of its text.

use std::process::Stdio;

use refract_test_stack::http::within_patience;
use refract_test_stack::runs::service;
use refract_test_stack::service::{Backend, PRISM, Service, TEXT};
use refract_test_support::model_server::ScriptedReply;
use tokio::io::AsyncWriteExt as _;

use crate::program::{self, Ended};
use crate::terminal::OnTerminal;

fn try_on_terminal(service: &Service, columns: u16, settings: &[(&str, &str)]) -> OnTerminal {
    let url = service.model.url();
    let mut all = vec![
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    all.extend_from_slice(settings);
    let arguments = ["try", PRISM, "--text", TEXT, "--ref", "r 7"];
    OnTerminal::start(service.folder.path(), columns, &all, &arguments)
}

#[tokio::test]
async fn a_terminal_shows_every_probability_as_a_bar() {
    let service = service(Backend::Sqlite).await;
    let mut terminal = try_on_terminal(&service, 60, &[("NO_COLOR", "1")]);
    assert_eq!(terminal.end().await, Some(0));
    assert!(!terminal.seen.contains(ESCAPE), "{:?}", terminal.seen);
    let expected = [
        "support-triage · version 1 · ref r 7 ·",
        "",
        "topic  What is the message about?",
        "▸ Billing              █████████████████████             70%",
        "  Delivery             ██▎                              7.5%",
        "  Product              ██▎                              7.5%",
        "  Other                ██▎                              7.5%",
        "  Not enough informat… ██▎                              7.5%",
        "",
        "angry  Is the writer angry?",
        "▸ Yes                  ███████████████│████████          80%",
        "  No                   ██████                            20%",
        "                       yes from 50%",
        "",
        "urgency  How urgent is it?",
        "▸ Can wait             █████████████████████             70%",
        "  This week            ████▌                             15%",
        "  Today                ████▌                             15%",
    ];
    assert_eq!(lines(&terminal.seen), expected, "{}", terminal.seen);
}

#[tokio::test]
async fn colour_is_for_terminals_that_have_it() {
    let service = service(Backend::Sqlite).await;
    let mut coloured = try_on_terminal(&service, 80, &[]);
    assert_eq!(coloured.end().await, Some(0));
    assert!(coloured.seen.contains("\u{1b}[32m"), "{:?}", coloured.seen);
    for settings in [("NO_COLOR", "1"), ("CLICOLOR", "0")] {
        let mut plain = try_on_terminal(&service, 80, &[settings]);
        assert_eq!(plain.end().await, Some(0));
        assert!(
            !plain.seen.contains(ESCAPE),
            "{settings:?}: {:?}",
            plain.seen
        );
    }
}

#[tokio::test]
async fn a_failure_is_shown_with_its_result() {
    let service = service(Backend::Sqlite).await;
    service.model.then_once(ScriptedReply::status(400));
    let mut terminal = try_on_terminal(&service, 80, &[("NO_COLOR", "1")]);
    assert_eq!(terminal.end().await, Some(1));
    let shown = lines(&terminal.seen);
    assert_eq!(shown[1], "failed");
    assert_eq!(
        shown[2],
        "error: The model server answered with status 400."
    );
}

#[tokio::test]
async fn a_text_comes_from_a_file_or_from_stdin() {
    let service = service(Backend::Sqlite).await;
    service.write("letter.txt", "Dear all,\r\n\r\nbye\r\n");
    service
        .run(&["try", PRISM, "--file", "letter.txt"])
        .await
        .done();
    piped(&service, &["try", PRISM], b"from a pipe\n\n")
        .await
        .done();
    piped(&service, &["try", PRISM, "--file", "-"], b"")
        .await
        .done();
    let requests = service.model.requests();
    let texts: Vec<_> = requests
        .iter()
        .map(|request| request.json()["state"]["text"].clone())
        .collect();
    assert_eq!(texts, ["Dear all,\r\n\r\nbye", "from a pipe\n", ""]);
    let line = service.run(&["try", PRISM]).await.refused();
    assert!(
        line.starts_with("error: Missing fields: text: give --text TEXT"),
        "{line}"
    );
    service.write("letter.txt", b"\xff");
    let line = service
        .run(&["try", PRISM, "--file", "letter.txt"])
        .await
        .refused();
    assert_eq!(line, "error: letter.txt is not UTF-8");
    let both = ["try", PRISM, "--file", "letter.txt", "--text", "x"];
    assert_eq!(service.run(&both).await.code, Some(2));
}

async fn piped(service: &Service, arguments: &[&str], text: &[u8]) -> Ended {
    let url = service.model.url();
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let mut child = program::command(service.folder.path(), &settings, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text).await.unwrap();
    drop(stdin);
    let output = within_patience(child.wait_with_output()).await.unwrap();
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

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
