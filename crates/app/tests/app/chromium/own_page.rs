//! A person's own page, linked from their name, without scripts.

use refract_test_stack::service::{Backend, Service};
use refract_test_support::browser::Browser;

use super::{PASSWORD, at, joined, with_scripts};

const NEW_PASSWORD: &str = "another 9kQ3 one";

#[tokio::test]
async fn a_person_changes_name_and_password_and_ends_other_sessions() {
    if !Browser::available() {
        return;
    }
    let service = Service::start(Backend::Sqlite).await;
    let settings = with_scripts(false);
    let office = joined(&service, settings, "ada@example.com", "reviewer").await;
    let home = Browser::start(settings).await;
    sign_in(&home, &service, PASSWORD).await;

    office.follow_on("Ada").await;
    office.fill_in("Name", "Countess").await;
    office.follow_on("Save the name").await;
    office.wait_until_text("main", "Your name is changed").await;
    office.wait_until_text("header", "Countess").await;
    office.follow_on("End all others").await;
    office.wait_until_text("main", "are ended").await;
    assert!(!office.offers("End all others").await, "there is no other");
    home.open(&at(&service, "/me")).await;
    home.wait_until_text("h1", "Sign in").await;

    for (present, words) in [
        ("wrong", "This is not your present password."),
        (PASSWORD, "You are signed in here and nowhere else."),
    ] {
        office.fill_in("Present password", present).await;
        office.fill_in("New password", NEW_PASSWORD).await;
        office.fill_in("The new password again", NEW_PASSWORD).await;
        office.follow_on("Change the password").await;
        office.wait_until_text("main", words).await;
    }
    sign_in(&home, &service, NEW_PASSWORD).await;
}

/// Signs Ada in.
async fn sign_in(browser: &Browser, service: &Service, password: &str) {
    browser.open(&at(service, "/sign-in")).await;
    browser.fill_in("Email", "ada@example.com").await;
    browser.fill_in("Password", password).await;
    browser.follow_on("Sign in").await;
    browser.wait_for("nav[aria-label=Sections]").await;
}
