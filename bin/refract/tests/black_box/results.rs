//! `refract results`: listing saved results, showing one, and retrying failed ones.

use std::process::Stdio;

use refract_test_stack::http::within_patience;
use refract_test_stack::service::{Backend, PRISM, TEXT};
use refract_test_support::model_server::ScriptedReply;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::program;
use crate::program::start;

#[tokio::test]
async fn a_stop_waits_for_what_was_asked() {
    let service = start(Backend::Sqlite).await;
    for _ in 0..8 {
        service.failed(&json!({"text": TEXT})).await;
    }
    service.model.then_always(ScriptedReply::answers().held());
    let (url, asked) = (service.model.url(), service.asked());
    let settings = [
        ("DATABASE_URL", service.database_url.as_str()),
        ("REFRACT_MODEL_URL", url.as_str()),
    ];
    let retry = ["results", "retry", PRISM, "--failed", "--concurrency", "3"];
    let mut child = program::command(service.folder.path(), &settings, &retry)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    within_patience(
        service
            .model
            .wait_until(|counts| counts.requests == asked + 3),
    )
    .await;
    program::signal(&child, "INT").await;
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = within_patience(lines.next_line()).await.unwrap();
    let words = "Stopping when the calls under way have ended.";
    assert_eq!(line.as_deref(), Some(words));
    service.model.release(3);
    let ended = within_patience(child.wait_with_output()).await.unwrap();
    let last = within_patience(lines.next_line()).await.unwrap().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{last}");
    assert_eq!(
        last,
        "error: stopped: the same command goes on with the rest"
    );
    assert_eq!(
        String::from_utf8(ended.stdout).unwrap(),
        "{\"retried\":3,\"ok\":3,\"failed\":0}\n"
    );
    service.model.release_all();
    let rest = service.run(&retry).await.object();
    assert_eq!(rest, json!({"retried": 5, "ok": 5, "failed": 0}));
}
