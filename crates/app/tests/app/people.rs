//! The app's pages for people: links, passwords, sessions and roles, over HTTP and without scripts.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, invited, joined, path_of};
use refract_test_stack::http::Request;
use refract_test_stack::service::{Backend, Service, text};
use refract_test_support::on_both;

on_both!(
    a_new_installation_names_the_command_that_invites_its_first_owner,
    a_link_joins_once_and_signs_in,
    a_password_that_is_easily_guessed_is_refused_beside_its_input,
    signing_in_leads_back_to_where_one_was_going,
    what_was_typed_before_the_session_ended_is_given_back,
    a_new_password_signs_out_everywhere_else,
);

async fn a_new_installation_names_the_command_that_invites_its_first_owner(backend: Backend) {
    let service = Service::start(backend).await;
    let mut stranger = PlainBrowser::new(&service);
    let command = "<code>refract person invite EMAIL</code>";
    for _ in 0..2 {
        let page = stranger.get("/sign-in").await;
        assert!(page.body.contains(command), "{page:?}");
    }
    invited(&service, "ada@example.com", "owner").await;
    let page = stranger.get("/sign-in").await;
    assert!(!page.body.contains(command), "{page:?}");
    assert!(page.body.contains("You join with a link"), "{page:?}");
}

async fn a_link_joins_once_and_signs_in(backend: Backend) {
    let service = Service::start(backend).await;
    let link = invited(&service, "ada@example.com", "owner").await;
    let mut ada = PlainBrowser::new(&service);
    for _ in 0..2 {
        let form = ada.get(&path_of(&link)).await;
        assert_eq!(form.status, 200, "looking uses nothing up");
        assert!(form.body.contains("ada@example.com"));
        assert_eq!(form.header("referrer-policy"), Some("strict-origin"));
    }
    let answer = ada.join(&link, "Ada <b>Lovelace</b>").await;
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let set = answer
        .headers
        .iter()
        .filter(|(name, _)| name == "set-cookie");
    let set: Vec<_> = set.map(|(_, cookie)| cookie.as_str()).collect();
    assert_eq!(set.len(), 2, "the session's and the browser's: {set:?}");
    assert!(set[0].starts_with("refract=") && set[1].starts_with("refract_browser="));
    for cookie in set {
        assert!(cookie.contains("; HttpOnly; SameSite=Lax;"), "{cookie}");
    }
    let page = ada.get("/people").await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Ada &lt;b&gt;Lovelace&lt;/b&gt;"));
    let mut thief = PlainBrowser::new(&service);
    assert_eq!(thief.join(&link, "Eve").await.status, 410);
    assert_eq!(
        thief.get("/people").await.header("location"),
        Some("/sign-in?then=%2Fpeople")
    );
    assert_eq!(
        ada.post("/sign-out", &[]).await.header("location"),
        Some("/sign-in")
    );
    assert_eq!(ada.get("/people").await.status, 303);
}

async fn a_password_that_is_easily_guessed_is_refused_beside_its_input(backend: Backend) {
    let service = Service::start(backend).await;
    let link = invited(&service, "ada.lovelace@example.com", "owner").await;
    let mut ada = PlainBrowser::new(&service);
    for (password, again, error) in [
        ("short", "short", "At least 10 characters"),
        ("Password123!", "Password123!", "most common"),
        ("ada.lovelace1", "ada.lovelace1", "your own address or name"),
        (PASSWORD, "another", "The two are not the same"),
    ] {
        let values = [
            ("name", "Ada"),
            ("password", password),
            ("password_again", again),
        ];
        let answer = ada.post(&path_of(&link), &values).await;
        assert_eq!(answer.status, 422);
        assert!(answer.body.contains(error), "{password}");
        assert!(answer.body.contains("value=\"Ada\""), "the name is kept");
        assert!(
            !answer.body.contains(password),
            "no page repeats a password"
        );
    }
    assert_eq!(
        ada.join(&link, "Ada").await.status,
        303,
        "the link is as good as before"
    );
}

async fn signing_in_leads_back_to_where_one_was_going(backend: Backend) {
    let service = Service::start(backend).await;
    joined(&service, "ada@example.com", "owner").await;
    let mut ada = PlainBrowser::new(&service);
    for wrong in [
        ("ada@example.com", "zy!3kQ9 dab.X"),
        ("nobody@example.com", PASSWORD),
        ("x", ""),
    ] {
        let answer = ada.sign_in(wrong.0, wrong.1).await;
        assert_eq!(answer.status, 401);
        assert!(
            answer
                .body
                .contains("this address and password do not belong together")
        );
        assert_eq!(answer.header("set-cookie"), None);
    }
    for (then, expected) in [
        ("/people", "/people"),
        ("//evil.com", "/"),
        ("https://evil.com", "/"),
    ] {
        let values = [
            ("email", " ADA@example.com"),
            ("password", PASSWORD),
            ("then", then),
        ];
        let answer = ada.post("/sign-in", &values).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, Some(expected))
        );
    }
    let page = ada.get("/sign-in?then=%2Fpeople").await;
    assert_eq!(
        page.header("location"),
        Some("/people"),
        "somebody signed in goes on"
    );
    let other_site = Request::outside("POST", "/sign-out").header("Sec-Fetch-Site", "cross-site");
    assert_eq!(ada.send(other_site).await.status, 403);
    assert_eq!(ada.get("/people").await.status, 200, "still signed in");
}

async fn what_was_typed_before_the_session_ended_is_given_back(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let session = ada.value_of("refract").to_owned();
    ada.post("/sign-out", &[]).await;
    ada.keep("refract", &session);
    let typed = [("email", "grace@example.com"), ("role", "editor")];
    let answer = ada.post("/people", &typed).await;
    assert_eq!(answer.status, 401);
    assert!(
        answer.body.contains("name=\"kept.value.email\"")
            && answer.body.contains("grace@example.com")
    );
    let again = [
        ("email", "ada@example.com"),
        ("password", PASSWORD),
        ("kept.address", "/people"),
        ("kept.value.email", "grace@example.com"),
        ("kept.value.role", "editor"),
    ];
    let answer = ada.post("/sign-in", &again).await;
    assert_eq!(answer.status, 200);
    assert!(
        answer.body.contains("action=\"/people\"") && answer.body.contains("grace@example.com")
    );
    assert!(!answer.body.contains(PASSWORD));
    assert_eq!(
        ada.post("/people", &typed).await.status,
        200,
        "signed in again"
    );
}

async fn a_new_password_signs_out_everywhere_else(backend: Backend) {
    let service = Service::start(backend).await;
    let mut office = joined(&service, "ada@example.com", "owner").await;
    let made = service
        .run(&["person", "reset", "ada@example.com"])
        .await
        .object();
    assert_eq!(office.get("/people").await.status, 200, "nothing ends yet");
    let mut home = PlainBrowser::new(&service);
    let form = home.get(&path_of(&text(&made, "link"))).await;
    assert!(form.body.contains("Choose a new password") && form.body.contains("value=\"Ada\""));
    let password = "another 9kQ3 one";
    let values = [
        ("name", "Ada"),
        ("password", password),
        ("password_again", password),
    ];
    let answer = home.post(&path_of(&text(&made, "link")), &values).await;
    assert_eq!(answer.status, 303);
    assert_eq!(home.get("/people").await.status, 200);
    assert_eq!(office.get("/people").await.status, 303);
    assert_eq!(
        office.sign_in("ada@example.com", PASSWORD).await.status,
        401
    );
    assert_eq!(
        office.sign_in("ada@example.com", password).await.status,
        303
    );
}
