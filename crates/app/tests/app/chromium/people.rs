//! A person is invited, gets roles, and is removed, with two browsers.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::{Browser, BrowserSettings};

use super::{at, join, joined, open};

/// The controls that a reviewer must not see, by the page on which an owner sees them.
const ABOVE_REVIEWERS: [(&str, &[&str]); 3] = [
    (
        "",
        &["Edit", "Rename", "Archive this prism", "Keys", "People"],
    ),
    ("/lens", &["Save the lens"]),
    ("/try", &["Edit", "Keys", "People"]),
];

#[tokio::test]
async fn somebody_is_invited_gets_roles_and_is_removed() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Postgres).await;
    let settings = BrowserSettings::default();
    let ada = joined(&service, settings, "ada@example.com", "owner").await;
    ada.follow_on("People").await;
    ada.fill_in("Email", "bob@example.com").await;
    ada.choose_in("Role", "Reviewer").await;
    ada.follow_on("Make a link").await;
    let link = ada.text(".notice pre").await;

    let bob = Browser::start(settings).await;
    bob.open(&link).await;
    bob.wait_until_text("main", "As a reviewer you read results")
        .await;
    join(&bob, "Bob").await;
    assert!(!bob.offers("New prism").await);
    assert!(ada_is_offered_all(&ada, &service).await);
    for (page, offers) in ABOVE_REVIEWERS {
        open(&bob, &service, page).await;
        for words in offers {
            assert!(!bob.offers(words).await, "{page}: {words}");
        }
    }
    for (path, who) in [
        ("/keys", "an owner"),
        ("/prisms/new", "an editor or an owner"),
    ] {
        bob.open(&at(&service, path)).await;
        let words = format!("Ask {who}: Ada.");
        bob.wait_until_text("main", &words).await;
    }

    ada.follow_on("People").await;
    ada.choose_in("Role of Bob", "Editor").await;
    ada.follow_on("Set the role of Bob").await;
    ada.wait_until_text("main", "The role is changed").await;
    bob.follow_on("To the prisms").await;
    bob.follow_on("Support triage").await;
    bob.follow_on("Edit").await;
    assert!(bob.offers("Review changes").await);
    assert!(!bob.offers("Keys").await);

    ada.click_on("Remove Bob").await;
    ada.follow("details[open] button.danger").await;
    ada.wait_until_text("main", "The person is removed").await;
    assert!(!ada.text("table").await.contains("bob@example.com"));
    bob.follow_on("Overview").await;
    bob.wait_until_text("h1", "Sign in").await;
    // the browser logs the refused page as an error
    let refused = bob.console_errors().await;
    if Browser::has_devtools() {
        assert_eq!(refused.len(), 2, "{refused:?}");
    }
    assert_eq!(ada.console_errors().await, [""; 0]);
}

/// Whether an owner sees every control that reviewers must not, so that a renamed button is
/// noticed.
async fn ada_is_offered_all(ada: &Browser, service: &Service) -> bool {
    for (page, offers) in ABOVE_REVIEWERS {
        open(ada, service, page).await;
        for words in offers {
            assert!(ada.offers(words).await, "{page}: {words}");
        }
    }
    true
}
