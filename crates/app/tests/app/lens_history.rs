//! The history of a lens on its page: undone, put back, and what a change changed.

use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, Service, text};
use refract_test_support::on_both;
use serde_json::json;

use crate::lens::{LENS, followed, submitted};

on_both!(
    a_saved_change_shows_what_it_changed_and_is_undone,
    all_changed_results_are_in_pages_and_in_a_file,
    an_undo_after_another_change_is_refused,
    any_state_of_the_history_is_put_back,
);

async fn save(browser: &mut PlainBrowser<'_>, no_below: &str) -> HttpAnswer {
    let page = browser.get(LENS).await;
    let cutoffs = [
        ("columns.1.no_below", no_below),
        ("columns.1.yes_from", "95"),
    ];
    submitted(browser, &page, "/save", &cutoffs).await
}

/// Puts a state back with the first form of a page for it.
async fn put_back(browser: &mut PlainBrowser<'_>, page: &HttpAnswer, state: &str) -> HttpAnswer {
    let address = format!("{LENS}/put-back");
    let form = inputs(page, &format!("action=\"{address}\""));
    let answer = post(browser, &address, &form, &[("state", state)]).await;
    followed(browser, &answer).await
}

async fn a_saved_change_shows_what_it_changed_and_is_undone(backend: Backend) {
    let service = Service::start(backend).await;
    let made = service.create(&json!({"text": "a text"})).await.value();
    let id = text(&made, "id");
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut bob = joined(&service, "bob@example.com", "reviewer").await;
    let saved = save(&mut ada, "80").await;
    let changes = format!("{LENS}/revisions/1");
    assert!(
        saved.body.contains(&format!("href=\"{changes}\"")),
        "{}",
        saved.body
    );
    for person in [&mut ada, &mut bob] {
        let page = person.get(&changes).await;
        assert!(
            page.body
                .contains("It changed <b>1</b> of 1 stored result."),
            "{}",
            page.body
        );
        assert!(page.body.contains(&format!("href=\"/results/{id}\"")));
        assert!(
            page.body.contains("angry: No below 50 → 80 %"),
            "{}",
            page.body
        );
    }
    assert!(!bob.get(&changes).await.body.contains("/lens/put-back"));
    let undone = put_back(&mut ada, &saved, "0").await;
    let prism = LENS.trim_end_matches("/lens");
    for (person, is_editor) in [(&mut ada, true), (&mut bob, false)] {
        let overview = person.get(prism).await.body;
        let is_offered = overview.contains("name=\"state\" value=\"1\"");
        assert_eq!(is_offered, is_editor, "{overview}");
    }
    assert!(
        undone
            .body
            .contains("The lens of revision 0 is in force again, as revision 2."),
        "{}",
        undone.body
    );
    let now = service.read(&id, "").await.value();
    assert_eq!(now["answers"]["angry"], "yes");
    for missing in ["0", "3", "x", "-1"] {
        let page = ada.get(&format!("{LENS}/revisions/{missing}")).await;
        assert_eq!(page.status, 404, "{missing}");
    }
}

async fn all_changed_results_are_in_pages_and_in_a_file(backend: Backend) {
    let service = Service::start(backend).await;
    for number in 0..23 {
        let body = json!({"text": format!("text {number}"), "ref": format!("r{number}")});
        service.create(&body).await;
    }
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let cutoffs = [("columns.1.no_below", "80"), ("columns.1.yes_from", "95")];
    let drafted = submitted(&mut ada, &page, "", &cutoffs).await;
    assert!(drafted.body.contains("See all 23</a>"), "{}", drafted.body);
    for (pages, file) in [
        ("changed", "changed.csv"),
        ("revisions/1", "revisions/1/changed.csv"),
    ] {
        let link = format!("{LENS}/{pages}");
        if pages != "changed" {
            save(&mut ada, "80").await;
        }
        let first = ada.get(&link).await;
        assert!(first.body.contains("1 to 20 of 23"), "{}", first.body);
        let second = ada.get(&format!("{link}?page=2")).await;
        assert!(second.body.contains("21 to 23 of 23"), "{}", second.body);
        let rows = |page: &HttpAnswer| page.body.matches("data-millionths").count();
        assert_eq!((rows(&first), rows(&second)), (20, 3));
        let file = ada.get(&format!("{LENS}/{file}")).await;
        let lines: Vec<_> = file.body.lines().collect();
        assert_eq!(lines.len(), 24, "{lines:?}");
        assert_eq!(lines[0], "result,ref,column,before,after");
        assert!(lines[1].contains(",r22,angry,Yes,"), "{lines:?}");
    }
}

async fn an_undo_after_another_change_is_refused(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let saved = save(&mut ada, "80").await;
    save(&mut eve, "60").await;
    let refused = put_back(&mut ada, &saved, "0").await;
    assert!(
        refused.body.contains("Somebody changed the lens meanwhile"),
        "{}",
        refused.body
    );
    assert!(refused.body.contains("in force: 60 %"), "{}", refused.body);
}

async fn any_state_of_the_history_is_put_back(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    save(&mut ada, "80").await;
    let page = save(&mut ada, "60").await;
    let back = put_back(&mut ada, &page, "1").await;
    assert!(back.body.contains("in force: 80 %"), "{}", back.body);
    let page = ada.get(LENS).await;
    let automatic = put_back(&mut ada, &page, "0").await;
    assert!(
        automatic.body.contains(">automatic</span>"),
        "{}",
        automatic.body
    );
}
