//! A lens that was changed after a draft of it began: by another person, or in another tab.

use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::joined;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::on_both;

use super::lens::{FORM, LENS, submitted, value};

on_both!(
    two_people_change_a_lens_at_once,
    a_lens_saved_in_another_tab_is_kept_or_replaced_by_choice,
    a_tab_that_is_older_than_the_draft_overwrites_nothing,
);

async fn two_people_change_a_lens_at_once(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let eves = eve.get(LENS).await;
    submitted(
        &mut ada,
        &page,
        "/save",
        &[("columns.0.name", "adas_topic")],
    )
    .await;
    // the preview of what she typed says it before she saves
    let named = [("columns.0.name", "eves_topic")];
    let form = inputs(&eves, FORM);
    let warned = post(&mut eve, &format!("{LENS}/preview"), &form, &named).await;
    let theirs = "</bdi> saved another lens <time";
    let change = "<bdi>new column adas_topic</bdi>";
    let is_named = |page: &HttpAnswer| page.body.contains(theirs) && page.body.contains(change);
    assert!(is_named(&warned), "{}", warned.body);
    // neither a preview nor another save replaces hers without the choice
    let mut both = submitted(&mut eve, &eves, "/save", &named).await;
    for action in ["", "/save"] {
        assert!(is_named(&both), "{action}: {}", both.body);
        assert_eq!(value(&both, "columns.0.name"), "eves_topic", "{action}");
        both = submitted(&mut eve, &both, action, &[]).await;
        let lens = service.run(&["lens", "show", PRISM]).await.object();
        assert_eq!(lens["columns"][0]["name"], "adas_topic", "{action}");
    }
    let again = both.body.matches(theirs).count();
    assert_eq!(again, 1, "said once");
    let saved = submitted(&mut eve, &both, "/save", &[("over", "1")]).await;
    assert!(saved.body.contains("The lens is saved"), "{}", saved.body);
    assert!(!is_named(&saved), "{}", saved.body);
    let lens = service.run(&["lens", "show", PRISM]).await.object();
    assert_eq!(lens["columns"][0]["name"], "eves_topic");
}

async fn a_lens_saved_in_another_tab_is_kept_or_replaced_by_choice(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let in_force = async || {
        let lens = service.run(&["lens", "show", PRISM]).await.object();
        lens["columns"][1]["yes_from"].clone()
    };
    let moved = |percent| {
        [
            ("columns.1.no_below", "30"),
            ("columns.1.yes_from", percent),
        ]
    };
    let old_tab = ada.get(LENS).await;
    let other_tab = ada.get(LENS).await;
    submitted(&mut ada, &other_tab, "/save", &moved("60")).await;
    let warned = submitted(&mut ada, &old_tab, "/save", &moved("80")).await;
    assert!(
        warned.body.contains("saved another lens"),
        "{}",
        warned.body
    );
    assert!(
        warned.body.contains("angry: Yes from 50 → 60 %"),
        "{}",
        warned.body
    );
    assert!(warned.body.contains("Draft kept"), "{}", warned.body);
    // a third lens, which the page does not show, is not replaced by the choice
    let third = ada.get(LENS).await;
    submitted(
        &mut ada,
        &third,
        "/save",
        &[("over", "1"), ("columns.1.yes_from", "70")],
    )
    .await;
    assert_eq!(in_force().await, 0.7);
    let mine = [("over", "1"), ("columns.1.yes_from", "80")];
    let again = submitted(&mut ada, &warned, "/save", &mine).await;
    assert!(
        again.body.contains("angry: Yes from 50 → 70 %"),
        "{}",
        again.body
    );
    let theirs = submitted(&mut ada, &again, "/discard", &[]).await;
    assert!(
        theirs.body.contains("The draft is discarded"),
        "{}",
        theirs.body
    );
    assert!(
        !theirs.body.contains("saved another lens"),
        "{}",
        theirs.body
    );
    assert_eq!(value(&theirs, "columns.1.yes_from"), "70");
    assert_eq!(in_force().await, 0.7);
}

async fn a_tab_that_is_older_than_the_draft_overwrites_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let old_tab = ada.get(LENS).await;
    let other_tab = ada.get(LENS).await;
    submitted(&mut ada, &other_tab, "", &[("columns.1.no_below", "30")]).await;
    let form = inputs(&old_tab, FORM);
    let conflict = post(&mut ada, LENS, &form, &[("columns.1.no_below", "20")]).await;
    assert_eq!(conflict.status, 409, "{conflict:?}");
    assert_eq!(
        value(&conflict, "columns.1.no_below"),
        "20",
        "what was typed is there"
    );
    assert_eq!(value(&ada.get(LENS).await, "columns.1.no_below"), "30");
    let (_, choice) = conflict
        .body
        .split_once("name=\"instead\" value=\"")
        .unwrap();
    let present = choice.split_once('"').unwrap().0;
    let mine = [("instead", present)];
    let kept = submitted(&mut ada, &conflict, "", &mine).await;
    assert_eq!(value(&kept, "columns.1.no_below"), "20");
}
