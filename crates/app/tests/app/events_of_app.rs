//! Every action of the app has an event, or a documented reason for none: a walk over the route
//! table.

mod codes;
mod files;

use std::collections::BTreeSet;

use refract_app::route_table;
use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::{PASSWORD, PlainBrowser, id_of, joined, path_of};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, events, text};
use refract_test_support::model_server::{ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::json;

use self::codes::walk_over_codes;
use self::files::{walk_over_examples, walk_over_retests, walk_over_runs};
use crate::me::endings;

on_both!(
    every_action_of_the_app_has_its_event,
    reading_has_no_event_but_for_downloads,
);

/// Actions without an event, with the reason. An action that is neither here nor done by the walk
/// fails the test: decide which it is.
const WITHOUT: [(&str, &str); 22] = [
    (
        "/me/codes/begin",
        "makes a secret that nothing asks for yet",
    ),
    (
        "/me/codes/confirm",
        "finishes a sign-on that has its event; a recovery code has one",
    ),
    (
        "/prisms/{slug}/lens",
        "keeps a draft, which changes nothing",
    ),
    ("/prisms/{slug}/lens/preview", "keeps a draft"),
    ("/prisms/{slug}/lens/sample", "only reads"),
    ("/prisms/{slug}/lens/discard", "discards a draft"),
    (
        "/prisms/{slug}/edit/trial",
        "starts a retest of a draft, as /retests does of a version",
    ),
    ("/prisms/new/edit/draft", "keeps a draft"),
    ("/prisms/{slug}/edit/draft", "keeps a draft"),
    (
        "/prisms/{slug}/review",
        "begins a sitting, whose marks name their maker",
    ),
    (
        "/prisms/{slug}/review/{sitting}",
        "makes a mark, which names its maker",
    ),
    ("/prisms/{slug}/review/{sitting}/undo", "takes a mark back"),
    ("/prisms/new/edit/check", "saves nothing"),
    ("/prisms/{slug}/edit/check", "saves nothing"),
    (
        "/prisms/{slug}/try",
        "makes a result, which names its maker",
    ),
    (
        "/results/{id}/retry",
        "makes a result, which names its maker",
    ),
    ("/results/{id}/marks", "makes a mark, which names its maker"),
    ("/results/{id}/orders", "saves nothing"),
    (
        "/prisms/{slug}/examples/check",
        "keeps the answers beside the examples, which are unchanged",
    ),
    ("/seen", "marks notices as seen, which have events"),
    (
        "/sign-in/{token}",
        "wants a link that only the demo makes, whose test looks at its event",
    ),
    ("/assets/{folder}/{name}", "is no action"),
];

/// Reads with an event.
const DOWNLOADS: [(&str, &str); 3] = [
    ("/prisms/{slug}/results/download", "results_exported"),
    ("/prisms/{slug}/examples/download", "examples_exported"),
    ("/events/download", "events_exported"),
];

struct Walk<'a> {
    service: &'a Service,
    known: usize,
    done: BTreeSet<&'static str>,
}

impl Walk<'_> {
    /// The actions of the events since the previous call, oldest first. Each event must name this
    /// actor and the answered request.
    async fn added(&mut self, by: &str, answer: &HttpAnswer) -> Vec<String> {
        let mut added = events(self.service).await;
        let all = added.len();
        added.truncate(all - self.known);
        self.known = all;
        added.reverse();
        for event in &added {
            assert_eq!(event["by"], by, "{event}");
            let kind = if by == "node" { "node" } else { "person" };
            assert_eq!(event["by_kind"], kind, "{event}");
            let request = answer.header("x-request-id");
            assert_eq!(event["request_id"].as_str(), request, "{event}");
        }
        added.iter().map(|event| text(event, "action")).collect()
    }

    /// Records that a route's action was done and left these events.
    async fn did(
        &mut self,
        pattern: &'static str,
        by: &str,
        answer: &HttpAnswer,
        expected: &[&str],
    ) {
        assert!(answer.status < 400, "{pattern}: {answer:?}");
        let added = self.added(by, answer).await;
        assert_eq!(added, expected, "{pattern}");
        self.done.insert(pattern);
    }
}

/// Walks over the actions of owners.
async fn walk_as_owner(walk: &mut Walk<'_>, ada: &mut PlainBrowser<'_>) {
    const ADA: &str = "ada@example.com";
    let prism = format!("/prisms/{PRISM}");
    let answer = ada.post("/prisms/new", &[("example", PRISM)]).await;
    walk.did("/prisms/new", ADA, &answer, &["prism_created"])
        .await;
    let typed = [
        ("act", "save"),
        ("name", "Typed"),
        ("fields.0.key", "text"),
        ("fields.0.label", "Text"),
        ("questions.0.text", "Which one?"),
        ("questions.0.options.0.label", "This"),
        ("questions.0.options.1.label", "That"),
    ];
    let page = ada.get("/prisms/new/edit?from=blank").await;
    let form = inputs(&page, "action=\"/prisms/new/edit\"");
    let answer = post(ada, "/prisms/new/edit", &form, &typed).await;
    walk.did("/prisms/new/edit", ADA, &answer, &["prism_created"])
        .await;
    let edit = format!("{prism}/edit");
    let form = inputs(&ada.get(&edit).await, &format!("action=\"{edit}\""));
    let changes = [("act", "save"), ("name", "Renamed"), ("context", "New.")];
    let answer = post(ada, &edit, &form, &changes).await;
    let expected = ["version_saved", "prism_renamed"];
    walk.did("/prisms/{slug}/edit", ADA, &answer, &expected)
        .await;
    for (what, values, action) in [
        ("rename", &[("name", "Renamed again")][..], "prism_renamed"),
        ("archive", &[], "prism_archived"),
        ("restore", &[], "prism_restored"),
    ] {
        let answer = ada.post(&format!("{prism}/{what}"), values).await;
        let pattern = match what {
            "rename" => "/prisms/{slug}/rename",
            "archive" => "/prisms/{slug}/archive",
            _ => "/prisms/{slug}/restore",
        };
        walk.did(pattern, ADA, &answer, &[action]).await;
        let again = ada.post(&format!("{prism}/{what}"), values).await;
        walk.did(pattern, ADA, &again, &[]).await;
    }
    let columns = [
        ("columns.0.shows", "angry/label"),
        ("columns.0.no_below", "40"),
        ("columns.0.yes_from", "60"),
    ];
    let answer = ada.post(&format!("{prism}/lens/save"), &columns).await;
    walk.did("/prisms/{slug}/lens/save", ADA, &answer, &["lens_set"])
        .await;
    let answer = ada.post(&format!("{prism}/lens/reset"), &[]).await;
    walk.did("/prisms/{slug}/lens/reset", ADA, &answer, &["lens_reset"])
        .await;
    let put_back = format!("{prism}/lens/put-back");
    let answer = ada.post(&put_back, &[("state", "1")]).await;
    walk.did("/prisms/{slug}/lens/put-back", ADA, &answer, &["lens_set"])
        .await;
    let values = [("name", "importer"), ("expires", "2100-01-01")];
    let answer = ada.post("/keys", &values).await;
    walk.did("/keys", ADA, &answer, &["key_created"]).await;
    let of_key = |what| format!("/keys/{}/{what}", walk.service.key_id);
    let (networks, replace, revoke) = (of_key("networks"), of_key("replace"), of_key("revoke"));
    for actions in [&["key_changed"][..], &[]] {
        let answer = ada.post(&networks, &[("networks", "127.0.0.1")]).await;
        walk.did("/keys/{id}/networks", ADA, &answer, actions).await;
    }
    let answer = ada.post(&replace, &[("days", "7")]).await;
    let both = ["key_created", "key_changed"];
    walk.did("/keys/{id}/replace", ADA, &answer, &both).await;
    let answer = ada.post(&revoke, &[]).await;
    walk.did("/keys/{id}/revoke", ADA, &answer, &["key_revoked"])
        .await;
    let answer = ada.post(&revoke, &[]).await;
    walk.did("/keys/{id}/revoke", ADA, &answer, &[]).await;
    answer_with_a_cost(walk.service).await;
    for expected in [&["budget_set"][..], &[]] {
        let answer = ada.post("/usage/budget", &[("budget", "200")]).await;
        walk.did("/usage/budget", ADA, &answer, expected).await;
    }
}

/// Lets the model state a cost, without which no budget can be set.
async fn answer_with_a_cost(service: &Service) {
    let cost = ScriptedReply::with(|request| {
        let mut reply = system_one_answers(request);
        reply["usage"] = json!({"cost": 0.5});
        reply
    });
    service.model.then_once(cost);
    let tried = service.run(&["try", PRISM, "--text", "a text"]);
    tried.await.done();
}

/// Walks over the actions of owners on people.
async fn walk_over_people(walk: &mut Walk<'_>, ada: &mut PlainBrowser<'_>) {
    const ADA: &str = "ada@example.com";
    let invite = [("email", "grace@example.com"), ("role", "reviewer")];
    let answer = ada.post("/people", &invite).await;
    walk.did("/people", ADA, &answer, &["person_invited"]).await;
    let id = id_of(&ada.get("/people").await, 1);
    let answer = ada.post(&format!("/people/{id}/link"), &[]).await;
    walk.did("/people/{id}/link", ADA, &answer, &["link_renewed"])
        .await;
    let (_, link) = answer.body.split_once("/join/").unwrap();
    let link = format!("/join/{}", link.split('<').next().unwrap());
    let mut grace = PlainBrowser::new(walk.service);
    let answer = grace.join(&link, "Grace").await;
    walk.did(
        "/join/{token}",
        "grace@example.com",
        &answer,
        &["person_joined"],
    )
    .await;
    let again = grace.join(&link, "Grace").await;
    assert_eq!(again.status, 410);
    assert_eq!(walk.added(ADA, &again).await, [""; 0]);
    let role = format!("/people/{id}/role");
    let answer = ada.post(&role, &[("role", "editor")]).await;
    walk.did("/people/{id}/role", ADA, &answer, &["role_set"])
        .await;
    let answer = ada.post(&role, &[("role", "editor")]).await;
    walk.did("/people/{id}/role", ADA, &answer, &[]).await;
    let answer = ada.post(&format!("/people/{id}/remove"), &[]).await;
    walk.did("/people/{id}/remove", ADA, &answer, &["person_removed"])
        .await;
    let again = ada.post(&format!("/people/{id}/remove"), &[]).await;
    assert_eq!(again.status, 404);
    assert_eq!(walk.added(ADA, &again).await, [""; 0]);
}

/// Signs in with a browser, and records it.
async fn sign_in(walk: &mut Walk<'_>, browser: &mut PlainBrowser<'_>, email: &str) {
    let answer = browser.sign_in(email, PASSWORD).await;
    walk.did("/sign-in", email, &answer, &["signed_in"]).await;
}

/// Walks over people's actions on themselves.
async fn walk_over_oneself(walk: &mut Walk<'_>) {
    const EVE: &str = "eve@example.com";
    let service = walk.service;
    let mut eve = joined(service, EVE, "reviewer").await;
    walk.known = events(service).await.len();
    let mut other = PlainBrowser::new(service);
    let refused = other.sign_in(EVE, "wrong").await;
    assert_eq!(refused.status, 401);
    assert_eq!(walk.added("node", &refused).await, ["sign_in_refused"]);
    let refused = other.sign_in("nobody@example.com", "wrong").await;
    assert_eq!(refused.status, 401);
    assert_eq!(walk.added("", &refused).await, [""; 0]);
    sign_in(walk, &mut other, EVE).await;
    let again = other.sign_in(EVE, PASSWORD).await;
    let expected = ["signed_in", "session_ended"];
    walk.did("/sign-in", EVE, &again, &expected).await;

    let name = [("name", "Eve")];
    let answer = eve.post("/me/name", &name).await;
    walk.did("/me/name", EVE, &answer, &["name_set"]).await;
    let answer = eve.post("/me/name", &name).await;
    walk.did("/me/name", EVE, &answer, &[]).await;
    let end = endings(&eve.get("/me").await).remove(0);
    for expected in [&["session_ended"][..], &[]] {
        let answer = eve.post(&end, &[]).await;
        walk.did("/me/sessions/{id}/end", EVE, &answer, expected)
            .await;
    }
    sign_in(walk, &mut PlainBrowser::new(service), EVE).await;
    for expected in [&["session_ended"][..], &[]] {
        let answer = eve.post("/me/sessions/end-others", &[]).await;
        walk.did("/me/sessions/end-others", EVE, &answer, expected)
            .await;
    }
    let password = |present| {
        let new = "another 9kQ3 one";
        [
            ("present_password", present),
            ("password", new),
            ("password_again", new),
        ]
    };
    let refused = eve.post("/me/password", &password("wrong")).await;
    assert_eq!(refused.status, 422);
    assert_eq!(walk.added("node", &refused).await, ["sign_in_refused"]);
    let answer = eve.post("/me/password", &password(PASSWORD)).await;
    walk.did("/me/password", EVE, &answer, &["password_changed"])
        .await;
    for expected in [&["session_ended"][..], &[]] {
        let answer = eve.post("/sign-out", &[]).await;
        walk.did("/sign-out", EVE, &answer, expected).await;
    }
}

async fn every_action_of_the_app_has_its_event(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let made = service.create(&json!({"text": "a text"})).await;
    let result = text(&made.value(), "id");
    let mut walk = Walk {
        service: &service,
        known: events(&service).await.len(),
        done: BTreeSet::new(),
    };
    // actions without an event
    let typed = [("fields.text", "a text"), ("text", "a text")];
    for action in [
        "try",
        "lens",
        "lens/preview",
        "lens/sample",
        "lens/discard",
        "edit/check",
    ] {
        let answer = ada.post(&format!("/prisms/{PRISM}/{action}"), &typed).await;
        assert!(answer.status < 500, "{action}: {answer:?}");
        assert_eq!(walk.added("", &answer).await, [""; 0], "{action}");
    }
    let mark = [("mark.angry", "yes")];
    for action in ["marks", "orders", "retry"] {
        let answer = ada
            .post(&format!("/results/{result}/{action}"), &mark)
            .await;
        assert!(answer.status < 500, "{action}: {answer:?}");
        assert_eq!(walk.added("", &answer).await, [""; 0], "{action}");
    }
    walk_as_owner(&mut walk, &mut ada).await;
    walk_over_examples(&mut walk, &mut ada).await;
    walk_over_runs(&mut walk, &mut ada).await;
    walk_over_retests(&mut walk, &mut ada).await;
    walk_over_people(&mut walk, &mut ada).await;
    walk_over_oneself(&mut walk).await;
    walk_over_codes(&mut walk, &mut ada).await;
    let reasons = WITHOUT.iter().map(|(pattern, _)| *pattern);
    let decided: BTreeSet<_> = walk.done.iter().copied().chain(reasons).collect();
    let undecided: Vec<_> = route_table()
        .filter(|route| route.is_action && !decided.contains(route.pattern))
        .map(|route| route.pattern)
        .collect();
    assert_eq!(undecided, [""; 0], "actions without an event or a reason");
}

async fn reading_has_no_event_but_for_downloads(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "owner").await;
    let made = service.create(&json!({"text": "a text"})).await;
    let result = text(&made.value(), "id");
    let mut walk = Walk {
        service: &service,
        known: events(&service).await.len(),
        done: BTreeSet::new(),
    };
    let link = service
        .run(&["person", "invite", "grace@example.com"])
        .await;
    let link = path_of(&text(&link.object(), "link"));
    walk.known += 1;
    for route in route_table().filter(|route| !route.is_action) {
        let address = route.pattern.replace("{slug}", PRISM);
        let address = address.replace("{id}", &result).replace("{n}", "1");
        let address = address
            .replace("/join/{token}", &link)
            .replace("{token}", "x");
        let address = address.replace("{format}", "csv").replace("{folder}", "x");
        let address = address.replace("{name}", "app.css");
        let answer = ada.get(&address).await;
        assert!(answer.status < 500, "{address}: {answer:?}");
        let download = DOWNLOADS
            .iter()
            .find(|(pattern, _)| *pattern == route.pattern);
        let expected: Vec<_> = download.iter().map(|(_, action)| *action).collect();
        let added = walk.added("ada@example.com", &answer).await;
        assert_eq!(added, expected, "{address}");
    }
}
