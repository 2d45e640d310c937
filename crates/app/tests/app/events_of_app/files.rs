//! The events of examples, of file runs and of retests.

use std::time::Duration;

use refract_test_stack::browser::PlainBrowser;
use refract_test_stack::service::PRISM;
use refract_test_support::model_server::ScriptedReply;

use super::Walk;
use crate::examples::uploaded;
use crate::runs::{READY, page_with, upload};

const ADA: &str = "ada@example.com";

/// Walks over the actions on examples.
pub(super) async fn walk_over_examples(walk: &mut Walk<'_>, ada: &mut PlainBrowser<'_>) {
    let examples = format!("/prisms/{PRISM}/examples");
    let mut typed = [("fields.text", "a text"), ("expected.angry", "yes")];
    for (expected, event) in [("yes", "example_added"), ("no", "example_changed")] {
        typed[1].1 = expected;
        let answer = ada.post(&examples, &typed).await;
        walk.did("/prisms/{slug}/examples", ADA, &answer, &[event])
            .await;
    }
    let again = ada.post(&examples, &typed).await;
    walk.did("/prisms/{slug}/examples", ADA, &again, &[]).await;
    let upload = format!("{examples}/upload");
    let file = "text,expected_angry\nanother,yes\n";
    for expected in [&["examples_uploaded"][..], &[]] {
        let answer = uploaded(ada, &upload, "gold.csv", file).await;
        walk.did("/prisms/{slug}/examples/upload", ADA, &answer, expected)
            .await;
    }
    let list = ada.get(&examples).await;
    let (_, id) = list.body.split_once("id=\"example-").unwrap();
    let own = format!("{examples}/{}", id.split('"').next().unwrap());
    for expected in [&["example_changed"][..], &[]] {
        let answer = ada.post(&own, &[("expected.topic", "billing")]).await;
        walk.did("/prisms/{slug}/examples/{example}", ADA, &answer, expected)
            .await;
    }
    let answer = ada.post(&format!("{own}/remove"), &[]).await;
    let removed = ["example_removed"];
    walk.did(
        "/prisms/{slug}/examples/{example}/remove",
        ADA,
        &answer,
        &removed,
    )
    .await;
}

/// Walks over the actions on file runs.
pub(super) async fn walk_over_runs(walk: &mut Walk<'_>, ada: &mut PlainBrowser<'_>) {
    const CHANGED: &str = "file_run_changed";
    // so many rows that the run is under way until it is cancelled
    let rows = (1..=5_000).map(|row| format!("text {row}\n"));
    let file = format!("text\n{}", rows.collect::<String>());
    let answer = ada.send(upload("in.csv", file.as_bytes())).await;
    let made = ["file_uploaded", "file_run_made"];
    walk.did("/prisms/{slug}/runs", ADA, &answer, &made).await;
    let run = answer.header("location").unwrap().to_owned();
    let answer = ada.post(&format!("{run}/again"), &[("version", "1")]).await;
    walk.did("/runs/{id}/again", ADA, &answer, &made[1..]).await;
    let answer = ada.post(&format!("{run}/check"), &[]).await;
    walk.did("/runs/{id}/check", ADA, &answer, &[CHANGED; 2])
        .await;
    page_with(ada, &run, READY).await;
    let answer = ada.post(&format!("{run}/preview"), &[]).await;
    walk.did("/runs/{id}/preview", ADA, &answer, &[CHANGED])
        .await;
    page_with(ada, &run, "Five rows, answered").await;
    for (pattern, event) in [
        ("/runs/{id}/start", "file_run_started"),
        ("/runs/{id}/pause", CHANGED),
        ("/runs/{id}/resume", CHANGED),
        ("/runs/{id}/pause", CHANGED),
        ("/runs/{id}/retry", CHANGED),
        ("/runs/{id}/cancel", "file_run_ended"),
        ("/runs/{id}/delete-file", "file_deleted"),
    ] {
        let (_, action) = pattern.rsplit_once('/').unwrap();
        let mut answer = ada.post(&format!("{run}/{action}"), &[]).await;
        // the rows in flight of a cancelled run are finished before its file can be deleted
        while answer.status == 409 {
            tokio::time::sleep(Duration::from_millis(100)).await;
            answer = ada.post(&format!("{run}/{action}"), &[]).await;
        }
        walk.did(pattern, ADA, &answer, &[event]).await;
    }
}

/// Walks over the actions on retests, whose texts are in flight meanwhile.
pub(super) async fn walk_over_retests(walk: &mut Walk<'_>, ada: &mut PlainBrowser<'_>) {
    let model = &walk.service.model;
    model.then_always(ScriptedReply::answers().held());
    let list = format!("/prisms/{PRISM}/retests");
    let typed = [("texts", "10"), ("model", ""), ("version", "")];
    let answer = ada.post(&list, &typed).await;
    let started = ["retest_started"];
    walk.did("/prisms/{slug}/retests", ADA, &answer, &started)
        .await;
    let retest = answer.header("location").unwrap().to_owned();
    for (pattern, event) in [
        ("/prisms/{slug}/retests/{id}/stop", "retest_stopped"),
        ("/prisms/{slug}/retests/{id}/continue", "retest_continued"),
        ("/prisms/{slug}/retests/{id}/stop", "retest_stopped"),
    ] {
        let (_, action) = pattern.rsplit_once('/').unwrap();
        let answer = ada.post(&format!("{retest}/{action}"), &[]).await;
        walk.did(pattern, ADA, &answer, &[event]).await;
    }
    let file = ada.get(&format!("{retest}/download")).await;
    assert_eq!(file.status, 200, "{file:?}");
    let added = walk.added(ADA, &file).await;
    assert_eq!(added, ["results_exported"]);
    walk.service.model.then_always(ScriptedReply::answers());
    walk.service.model.release_all();
}
