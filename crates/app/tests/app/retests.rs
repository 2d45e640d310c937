//! The pages of retests: the figures of `refract retest`, who may what, and what is refused.

use std::fmt::Write as _;

use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::marked_texts::{TOPICS, json_lines, marked_texts, scripted_side};
use refract_test_stack::service::{Backend, PRISM, Service, Setup, text};
use refract_test_support::model_server::ScriptedReply;
use refract_test_support::on_both;
use serde_json::{Value, json};

use crate::runs::page_with;

on_both!(
    a_page_has_the_figures_of_the_terminal,
    editors_start_and_stop_and_reviewers_read,
    what_cannot_be_asked_is_reported_beside_its_input,
    marked_texts_alone_are_asked_on_request,
    an_erased_result_leaves_nothing_in_a_retest,
    a_retest_goes_on_at_another_node,
);

/// The state of a retest beside the page's heading.
pub(crate) const DONE: &str = "<span class=\"tag\">done<";
const STOPPED: &str = "<span class=\"tag\">stopped<";

/// The address of the example prism's retests.
fn list() -> String {
    format!("/prisms/{PRISM}/retests")
}

/// Sends the form that starts a retest of at most 500 texts.
async fn start(person: &mut PlainBrowser<'_>, model: &str) -> HttpAnswer {
    let typed = [("texts", "500"), ("model", model), ("version", "")];
    person.post(&list(), &typed).await
}

/// Starts a retest; returns the address of its page.
pub(crate) async fn started(person: &mut PlainBrowser<'_>, model: &str) -> String {
    let answer = start(person, model).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    answer.header("location").unwrap().to_owned()
}

/// Stores results with the answers of model m1; m2 answers differently from now on.
pub(crate) async fn stored(service: &Service, texts: usize) -> Vec<String> {
    let all = marked_texts(texts * 2);
    let (before, after) = all.split_at(texts);
    let pairs = before.iter().zip(after).enumerate();
    let rows: Vec<_> = pairs
        .map(|(number, (before, after))| {
            let text = json!({"a": before.answers(), "b": after.answers()}).to_string();
            json!({"text": text, "ref": format!("r{number}")})
        })
        .collect();
    service.model.then_always(scripted_side("m1", "a"));
    let ids = service.ask_rows("stored", &rows).await;
    service.model.then_always(scripted_side("m2", "b"));
    ids
}

/// Marks the topics of these results, each with the next of [`TOPICS`].
pub(crate) async fn mark_topics(service: &Service, ids: &[String]) {
    let marks = ids.iter().zip(TOPICS.iter().cycle());
    let marks: Vec<_> = marks
        .map(|(id, topic)| json!({"result_id": id, "topic": topic}))
        .collect();
    service.import("marks.jsonl", json_lines(&marks)).await;
}

/// The value of a figure in the section of a question; `None` if it is not there.
fn figure(page: &str, question: &str, name: &str) -> Option<f64> {
    let (_, section) = page.split_once(&format!("data-question=\"{question}\""))?;
    let section = section.split("</section>").next()?;
    let (_, value) = section.split_once(&format!("data-figure=\"{name}\" value=\""))?;
    value.split('"').next()?.parse().ok()
}

async fn a_page_has_the_figures_of_the_terminal(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = stored(&service, 60).await;
    mark_topics(&service, &ids).await;
    let results = service.results().await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let before = service.asked();
    let estimate = ada
        .get(&format!("{}?texts=500&model=m2&version=", list()))
        .await;
    assert!(
        estimate
            .body
            .contains("<strong>60 texts</strong>: about 60 model requests and "),
        "{}",
        estimate.body
    );
    assert_eq!(service.asked(), before, "an estimate asks nothing");
    let retest = started(&mut ada, " m2 ").await;
    let page = page_with(&mut ada, &retest, DONE).await;
    assert_eq!(service.asked(), before + 60);
    let requests = service.model.requests();
    assert!(
        requests[before..]
            .iter()
            .all(|it| it.json()["model"] == "m2")
    );
    assert_eq!(service.results().await, results, "no result is saved");

    let arguments = ["retest", PRISM, "--json", "--output", "flips.csv"];
    let lines = service.run(&arguments).await.lines();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        let question = text(line, "question");
        let rate = figure(&page.body, &question, "flip_rate");
        assert_eq!(rate, line["flip_rate"].as_f64(), "{line}");
        let p = figure(&page.body, &question, "mcnemar_p");
        assert_eq!(p, line["mcnemar_p"].as_f64(), "{line}");
        assert_eq!(p.is_some(), question == "topic");
        let (flips, asked) = (&line["flips"], &line["asked"]);
        let counts = format!("<p>{flips} flips of {asked} answers: ");
        assert!(page.body.contains(&counts), "{counts}: {}", page.body);
        let percent = |name: &str| {
            let tenths = (line[name].as_f64().unwrap() * 1000.0).round();
            format!("{:.1}", tenths / 10.0)
        };
        let mut interval = String::new();
        write!(interval, "% ({} to {})", percent("low"), percent("high")).unwrap();
        assert!(page.body.contains(&interval), "{interval}: {}", page.body);
    }
    // every digit of every flip, in the order of the terminal
    let file = ada.get(&format!("{retest}/download")).await;
    assert_eq!(file.body, service.written("flips.csv"));
    let flips = file.body.lines().count() - 1;
    assert!(flips > 60, "{flips}");
    let first = file.body.lines().nth(1).unwrap().split(',').next().unwrap();
    let (_, listed) = page.body.split_once("id=\"flips\"").unwrap();
    let (_, link) = listed.split_once("href=\"/results/").unwrap();
    assert!(link.starts_with(first), "{listed}");
    let listed = ada.get(&list()).await;
    for expected in [
        "<bdi>m2</bdi>",
        "60 of 60",
        &format!(">{flips}</td>"),
        "<bdi>Ada</bdi>",
    ] {
        assert!(
            listed.body.contains(expected),
            "{expected}: {}",
            listed.body
        );
    }
    let again = service.asked();
    let other = ada.get(&format!("{retest}/download?format=jsonl")).await;
    assert_eq!(other.body.lines().count(), flips);
    assert_eq!(service.asked(), again, "a page asks nothing");
}

async fn editors_start_and_stop_and_reviewers_read(backend: Backend) {
    let service = Service::start(backend).await;
    stored(&service, 12).await;
    service.model.then_always(ScriptedReply::answers().held());
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let quality = eve.get(&format!("/prisms/{PRISM}/quality")).await;
    assert!(
        quality.body.contains(&format!("href=\"{}\"", list())),
        "{}",
        quality.body
    );
    assert_eq!(start(&mut eve, "").await.status, 403);
    let retest = started(&mut ada, "").await;
    let asking = page_with(&mut ada, &retest, "Asking. This page follows by itself.").await;
    assert!(asking.body.contains("/stop\""), "{}", asking.body);
    let second = start(&mut ada, "").await;
    assert_eq!(second.status, 409);
    assert!(
        second.body.contains("A retest of this prism is under way."),
        "{}",
        second.body
    );
    let part = eve.get(&format!("{retest}/progress")).await;
    assert_eq!(part.header("x-run-state"), Some("asking"));
    assert!(part.body.contains("0 of 12 texts") && !part.body.contains("<form"));
    for action in ["stop", "continue"] {
        let refused = eve.post(&format!("{retest}/{action}"), &[]).await;
        assert_eq!(refused.status, 403, "{action}");
    }
    let early = ada.post(&format!("{retest}/continue"), &[]).await;
    assert_eq!(early.status, 409);
    let stopped = ada.post(&format!("{retest}/stop"), &[]).await;
    assert_eq!(stopped.status, 303);
    let page = ada.get(stopped.header("location").unwrap()).await;
    assert!(page.body.contains(STOPPED) && page.body.contains("The retest is stopped."));
    assert!(
        page.body.contains("Continue with 12 texts"),
        "{}",
        page.body
    );
    service.model.then_always(scripted_side("m2", "b"));
    // before the calls under way are answered, after which nothing might be left to ask
    let continued = ada.post(&format!("{retest}/continue"), &[]).await;
    assert_eq!(continued.status, 303);
    service.model.release_all();
    let page = page_with(&mut eve, &retest, DONE).await;
    assert!(page.body.contains("12 of 12 texts"), "{}", page.body);
}

async fn what_cannot_be_asked_is_reported_beside_its_input(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let none = start(&mut ada, "").await;
    assert_eq!(none.status, 422);
    assert!(
        none.body
            .contains("There is no answered result that can be asked about again.")
    );
    stored(&service, 2).await;
    let long = "m".repeat(201);
    for (values, expected) in [
        (
            [("texts", "9"), ("model", ""), ("version", "")],
            "A whole number from 10 to 2,000.",
        ),
        (
            [("texts", "x"), ("model", ""), ("version", "")],
            "A whole number from 10 to 2,000.",
        ),
        (
            [("texts", "2001"), ("model", ""), ("version", "")],
            "A whole number from 10 to 2,000.",
        ),
        (
            [("texts", "10"), ("model", &long), ("version", "")],
            "has at most 200 characters.",
        ),
        (
            [("texts", "10"), ("model", "a\u{1}b"), ("version", "")],
            "has no control characters.",
        ),
        (
            [("texts", "10"), ("model", ""), ("version", "2")],
            "The prism has no such version.",
        ),
        (
            [("texts", "10"), ("model", ""), ("version", "x")],
            "The prism has no such version.",
        ),
    ] {
        let refused = ada.post(&list(), &values).await;
        assert_eq!(refused.status, 422, "{values:?}");
        assert!(
            refused.body.contains(expected),
            "{values:?}: {}",
            refused.body
        );
        assert!(refused.body.contains("class=\"fault\""));
    }
    let estimate = ada.get(&format!("{}?texts=9", list())).await;
    assert_eq!(estimate.status, 422);
    // an address is no model: the request goes to the node's own server
    let asked = service.asked();
    let retest = started(&mut ada, "http://127.0.0.1:1/v1").await;
    page_with(&mut ada, &retest, DONE).await;
    assert_eq!(service.asked(), asked + 2);
    let last = service.model.requests().pop().unwrap();
    assert_eq!(last.json()["model"], "http://127.0.0.1:1/v1");
    service.run(&["prism", "archive", PRISM]).await.done();
    let archived = start(&mut ada, "").await;
    assert_eq!(archived.status, 422);
    let page = ada.get(&list()).await;
    assert!(page.body.contains("so no model is asked") && !page.body.contains("name=\"texts\""));
    let unknown = ada
        .get(&format!("{}/0190b8f2-0000-7000-8000-0000000000aa", list()))
        .await;
    assert_eq!(unknown.status, 404);
}

async fn marked_texts_alone_are_asked_on_request(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = stored(&service, 12).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let address = format!("{}?texts=10&marked=on&model=&version=", list());
    let none = "No answered result has a random or imported mark.";
    let refused = ada.get(&address).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains(none), "{}", refused.body);
    let typed = [
        ("texts", "10"),
        ("marked", "on"),
        ("model", ""),
        ("version", ""),
    ];
    let refused = ada.post(&list(), &typed).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains(none) && refused.body.contains("Nothing was asked again yet."));
    let marks: Vec<_> = ids[3..6]
        .iter()
        .map(|id| json!({"result_id": id, "topic": TOPICS[0]}))
        .collect();
    service.import("marks.jsonl", json_lines(&marks)).await;
    let estimate = ada.get(&address).await;
    for expected in [
        "<strong>3 marked texts</strong>",
        "Only texts with a random or imported mark.",
        "<input type=\"hidden\" name=\"marked\" value=\"on\">",
        "name=\"marked\" checked",
    ] {
        assert!(estimate.body.contains(expected), "{}", estimate.body);
    }
    let before = service.asked();
    let started = ada.post(&list(), &typed).await;
    let retest = started.header("location").unwrap();
    let page = page_with(&mut ada, retest, DONE).await;
    assert_eq!(service.asked(), before + 3);
    for expected in ["Only texts with a random or imported mark.", "3 of 3 texts"] {
        assert!(page.body.contains(expected), "{}", page.body);
    }
    let listed = ada.get(&list()).await;
    assert!(listed.body.contains("3 of 3 marked"), "{}", listed.body);
}

async fn an_erased_result_leaves_nothing_in_a_retest(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = stored(&service, 3).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let retest = started(&mut ada, "").await;
    page_with(&mut ada, &retest, DONE).await;
    let file = ada.get(&format!("{retest}/download")).await;
    assert!(file.body.contains(&ids[0]), "{file:?}");
    let erase = ["results", "erase", "--ref", "r0"];
    service.run(&erase).await.done();
    let page = ada.get(&retest).await;
    assert!(page.body.contains("2 of 2 texts"), "{}", page.body);
    assert!(!page.body.contains(&ids[0]));
    let file = ada.get(&format!("{retest}/download")).await;
    assert!(!file.body.contains(&ids[0]) && file.body.contains(&ids[1]));
    if matches!(backend, Backend::Postgres) {
        service.assert_in_no_table(&ids[0]).await;
    }
}

async fn a_retest_goes_on_at_another_node(backend: Backend) {
    let setup = Setup {
        nodes: 2,
        ..Setup::default()
    };
    let mut service = Service::with(backend, setup).await;
    stored(&service, 60).await;
    let before = service.asked();
    service.model.then_always(scripted_side("m2", "b").held());
    service.model.release(20);
    let retest = {
        let mut ada = joined(&service, "ada@example.com", "editor").await;
        ada.use_node(1);
        let retest = started(&mut ada, "").await;
        page_with(&mut ada, &retest, "20 of 60 texts").await;
        retest
    };
    // the first node stops, whether it has the retest or not
    let node = service.nodes.remove(0);
    node.begin_stop().await;
    service.model.release_all();
    node.stop().await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let page = page_with(&mut eve, &retest, DONE).await;
    assert!(page.body.contains("60 of 60 texts"), "{}", page.body);
    assert_eq!(service.asked(), before + 60, "nothing is asked twice");
    let events: Vec<Value> = service.run(&["events", "--json"]).await.lines();
    let ended = events.iter().filter(|it| it["action"] == "retest_ended");
    assert_eq!(ended.count(), 1);
}
