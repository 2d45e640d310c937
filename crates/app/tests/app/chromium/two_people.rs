//! Two people who edit one prism at once, in two browsers.

use refract_test_stack::service::{Backend, PRISM, Service};
use refract_test_support::browser::{Browser, BrowserSettings};

use super::{joined_as, open};

#[tokio::test]
async fn two_people_edit_and_move_a_lens_at_once() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Postgres).await;
    let settings = BrowserSettings::default();
    let ada = joined_as("Ada", &service, settings, "ada@example.com", "editor").await;
    let eve = joined_as("Eve", &service, settings, "eve@example.com", "editor").await;
    they_edit(&ada, &eve, &service).await;
    they_move_the_lens(&ada, &eve, &service).await;
    assert_eq!(eve.console_errors().await, [""; 0]);
    assert_eq!(ada.console_errors().await, [""; 0]);
}

async fn they_edit(ada: &Browser, eve: &Browser, service: &Service) {
    let context = "[name=context]";
    open(ada, service, "/edit").await;
    open(eve, service, "/edit").await;
    ada.fill(context, "Ada sells bicycles.").await;
    ada.follow_on("Review changes").await;
    eve.fill(context, "Eve repairs bicycles.\n\nAnd <b>more</b>.")
        .await;
    eve.click_on("Add an option").await;
    eve.wait_for("[name=\"questions.0.options.3.label\"]").await;
    eve.press(":focus", "Repair").await;
    ada.follow_on("Save version 2").await;

    eve.follow_on("Review changes").await;
    let both = eve.text("main").await;
    assert!(both.contains("Version 2, saved by Ada"), "{both}");
    for words in ["Ada sells bicycles.", "Eve repairs bicycles.", "Repair"] {
        assert!(both.contains(words), "{words}: {both}");
    }
    eve.follow_on("Go on with yours, on top of version 2").await;
    let typed = eve.value(context).await;
    assert_eq!(typed, "Eve repairs bicycles.\n\nAnd <b>more</b>.");
    eve.follow_on("Review changes").await;
    eve.wait_until_text("main", "What changes against version 2")
        .await;
    eve.follow_on("Save version 3").await;
    eve.wait_until_text("main", "The version is saved").await;
    let shown = service.run(&["prism", "show", PRISM]).await.object();
    assert_eq!(shown["context"], typed);
    let options = &shown["questions"][0]["options"];
    assert_eq!(options[3]["label"], "Repair", "{shown}");
}

async fn they_move_the_lens(ada: &Browser, eve: &Browser, service: &Service) {
    open(ada, service, "/lens").await;
    open(eve, service, "/lens").await;
    eve.follow_on("Leave some unsure").await;
    ada.fill_in("Yes from", "80").await;
    ada.follow_on("Save the lens").await;
    eve.fill_in("No below", "30").await;
    eve.follow_on("Save the lens").await;
    eve.wait_until_text("main", "Ada saved another lens").await;
    let both = eve.text("main").await;
    assert!(both.contains("angry: No below 50 → 80 %"), "{both}");
    assert_eq!(eve.value_in("No below").await, "30");
    assert_eq!(eve.value_in("Yes from").await, "50");
    eve.follow_on("Keep mine: save it over theirs").await;
    eve.wait_until_text("main", "The lens is saved").await;
    let lens = service.run(&["lens", "show", PRISM]).await.object();
    let angry = &lens["columns"][1];
    assert_eq!(
        (&angry["no_below"], &angry["yes_from"]),
        (&0.3.into(), &0.5.into())
    );
}
