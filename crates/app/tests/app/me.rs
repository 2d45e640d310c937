//! `/me`: a person's own name, password and sessions, over HTTP and without scripts.

use refract_test_stack::browser::{PASSWORD, PlainBrowser, joined};
use refract_test_stack::http::Request;
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, Service};
use refract_test_support::on_both;

on_both!(
    who_has_a_password_signs_out_at_once,
    a_person_changes_their_password_with_the_present_one,
    everybody_has_a_page_of_their_own_and_changes_their_name,
    a_person_sees_and_ends_their_own_sessions,
);

const NEW_PASSWORD: &str = "another 9kQ3 one";

async fn everybody_has_a_page_of_their_own_and_changes_their_name(backend: Backend) {
    let service = Service::start(backend).await;
    for role in ["reviewer", "editor", "owner"] {
        let email = format!("{role}@example.com");
        let mut ada = joined(&service, &email, role).await;
        let page = ada.get("/me").await;
        assert_eq!(page.status, 200, "{page:?}");
        for part in [
            email.as_str(),
            role,
            "value=\"Ada\"",
            "this one",
            "href=\"/me\"",
        ] {
            assert!(page.body.contains(part), "{part}: {}", page.body);
        }
        let refused = ada.post("/me/name", &[("name", " ")]).await;
        assert_eq!(refused.status, 422);
        assert!(refused.body.contains("id=\"name-fault\""), "{refused:?}");
        let renamed = ada.post("/me/name", &[("name", "Ada <b>King</b>")]).await;
        assert_eq!(renamed.header("location"), Some("/me?done=name"));
        let page = ada.get("/me?done=name").await;
        assert!(page.body.contains("Your name is changed"));
        assert!(
            page.body.contains("Ada &lt;b&gt;King&lt;/b&gt;"),
            "{page:?}"
        );
    }
    let people = service.run(&["person", "list", "--json"]).await.lines();
    let names = people.iter().map(|person| person["name"].clone());
    assert!(names.into_iter().all(|name| name == "Ada <b>King</b>"));
}

async fn change(
    browser: &mut PlainBrowser<'_>,
    present: &str,
    new: &str,
    again: &str,
) -> HttpAnswer {
    let values = [
        ("present_password", present),
        ("password", new),
        ("password_again", again),
    ];
    browser.post("/me/password", &values).await
}

/// The addresses of the actions that end a session.
pub(crate) fn endings(page: &HttpAnswer) -> Vec<String> {
    let actions = page.body.split("action=\"/me/sessions/").skip(1);
    let actions = actions.map(|rest| rest.split('"').next().unwrap());
    let actions = actions.filter(|action| action.ends_with("/end"));
    actions
        .map(|action| format!("/me/sessions/{action}"))
        .collect()
}

async fn a_person_sees_and_ends_their_own_sessions(backend: Backend) {
    let service = Service::start(backend).await;
    let mut office = joined(&service, "ada@example.com", "reviewer").await;
    assert_eq!(
        endings(&office.get("/me").await),
        [""; 0],
        "there is no other"
    );
    let mut others = Vec::new();
    for _ in 0..3 {
        let mut browser = PlainBrowser::new(&service);
        let signed_in = browser.sign_in("ada@example.com", PASSWORD).await;
        assert_eq!(signed_in.status, 303);
        others.push(browser);
    }
    let all = endings(&office.get("/me").await);
    assert_eq!(all.len(), 3);
    let mut eve = joined(&service, "eve@example.com", "owner").await;
    assert_eq!(endings(&eve.get("/me").await), [""; 0]);
    assert_eq!(eve.post(&all[0], &[]).await.status, 303);
    assert_eq!(endings(&office.get("/me").await).len(), 3, "it is not hers");
    let unknown = "/me/sessions/0190b8f2-0000-7000-8000-0000000000aa/end";
    assert_eq!(office.post(unknown, &[]).await.status, 404);

    for _ in 0..2 {
        let ended = office.post(&all[0], &[]).await;
        assert_eq!(ended.header("location"), Some("/me?done=session"));
    }
    let mut signed_in = 0;
    for other in &mut others {
        signed_in += usize::from(other.get("/me").await.status == 200);
    }
    assert_eq!(signed_in, 2);
    let elsewhere =
        Request::outside("POST", "/me/sessions/end-others").header("Sec-Fetch-Site", "cross-site");
    assert_eq!(office.send(elsewhere).await.status, 403);
    let ended = office.post("/me/sessions/end-others", &[]).await;
    assert_eq!(ended.header("location"), Some("/me?done=sessions"));
    for other in &mut others {
        assert_eq!(other.get("/me").await.status, 303);
    }
    assert_eq!(office.get("/me").await.status, 200);
    assert_eq!(eve.get("/me").await.status, 200);
}

async fn a_person_changes_their_password_with_the_present_one(backend: Backend) {
    let service = Service::start(backend).await;
    let mut office = joined(&service, "ada@example.com", "reviewer").await;
    let mut home = PlainBrowser::new(&service);
    let signed_in = home.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(signed_in.status, 303);
    for (present, new, again, input) in [
        (
            "wrong words",
            NEW_PASSWORD,
            NEW_PASSWORD,
            "present_password",
        ),
        (PASSWORD, "Password123!", "Password123!", "password"),
        (PASSWORD, "ada@example.com1", "ada@example.com1", "password"),
        (PASSWORD, NEW_PASSWORD, "another", "password_again"),
    ] {
        let refused = change(&mut office, present, new, again).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        let error = format!("id=\"{input}-fault\"");
        assert!(refused.body.contains(&error), "{input}: {}", refused.body);
        for password in [present, new] {
            assert!(!refused.body.contains(&format!("\"{password}\"")));
        }
        assert_eq!(home.get("/me").await.status, 200, "nothing ends");
    }
    let before = (
        office.value_of("refract").to_owned(),
        office.value_of("refract_browser").to_owned(),
    );
    let changed = change(&mut office, PASSWORD, NEW_PASSWORD, NEW_PASSWORD).await;
    assert_eq!(
        changed.header("location"),
        Some("/me?done=password"),
        "{changed:?}"
    );
    assert_eq!(office.get("/me?done=password").await.status, 200);
    assert_eq!(home.get("/me").await.status, 303, "signed out");
    let mut thief = PlainBrowser::new(&service);
    thief.keep("refract", &before.0);
    thief.keep("refract_browser", &before.1);
    assert_eq!(
        thief.get("/me").await.status,
        303,
        "a copy of the cookie too"
    );
    let signed_in = home.sign_in("ada@example.com", PASSWORD).await;
    assert_eq!(signed_in.status, 401);
    let signed_in = home.sign_in("ada@example.com", NEW_PASSWORD).await;
    assert_eq!(signed_in.status, 303);
    // wrong passwords are limited
    for _ in 0..10 {
        let refused = change(&mut home, "wrong", NEW_PASSWORD, NEW_PASSWORD).await;
        assert_eq!(refused.status, 422, "{refused:?}");
    }
    let stopped = change(&mut home, NEW_PASSWORD, PASSWORD, PASSWORD).await;
    assert_eq!(stopped.status, 429, "{stopped:?}");
    assert!(stopped.header("retry-after").is_some());
    let changed = change(&mut office, NEW_PASSWORD, PASSWORD, PASSWORD).await;
    assert_eq!(changed.status, 303, "another session has its own count");
}

async fn who_has_a_password_signs_out_at_once(backend: Backend) {
    let service = Service::start(backend).await;
    // an ending of an address says nothing
    let mut owner = joined(&service, "owner@demo.invalid", "owner").await;
    let out = owner.post("/sign-out", &[]).await;
    assert_eq!(out.header("location"), Some("/sign-in"), "{out:?}");
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let out = ada.post("/sign-out", &[]).await;
    assert_eq!(out.header("location"), Some("/sign-in"), "{out:?}");
}
