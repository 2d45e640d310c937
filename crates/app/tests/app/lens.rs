//! The lens page over HTTP and without scripts: drafts, what they change, and saving.

use std::fmt::Write as _;

use refract_test_stack::browser::forms::{inputs, post};
use refract_test_stack::browser::{PlainBrowser, joined};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, text};
use refract_test_support::model_server::{ScriptedReply, system_one_answers};
use refract_test_support::on_both;
use serde_json::json;

on_both!(
    a_moved_cutoff_changes_old_results,
    a_draft_is_kept_until_it_is_saved_or_discarded,
    a_lens_that_breaks_rules_is_refused_beside_its_input,
    a_cutoff_that_no_answer_reaches_is_warned_about,
    a_reviewer_sends_cutoffs_by_link_and_saves_nothing,
    the_cutoffs_for_a_precision_are_those_of_the_terminal,
    a_lens_of_a_hundred_questions_is_light,
);

pub(crate) const LENS: &str = "/prisms/support-triage/lens";
pub(crate) const FORM: &str = "<form id=\"lens\"";

/// The page that a form's redirect leads to.
pub(crate) async fn followed(browser: &mut PlainBrowser<'_>, answer: &HttpAnswer) -> HttpAnswer {
    assert_eq!(answer.status, 303, "{answer:?}");
    let address = answer.header("location").unwrap().to_owned();
    browser.get(&address).await
}

/// Submits the form of a lens page with some values changed, and follows the redirect.
pub(crate) async fn submitted(
    browser: &mut PlainBrowser<'_>,
    page: &HttpAnswer,
    action: &str,
    changes: &[(&str, &str)],
) -> HttpAnswer {
    let form = inputs(page, FORM);
    let answer = post(browser, &format!("{LENS}{action}"), &form, changes).await;
    followed(browser, &answer).await
}

pub(crate) fn value(page: &HttpAnswer, name: &str) -> String {
    let form = inputs(page, FORM);
    let found = form.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.clone()).unwrap_or_default()
}

async fn a_moved_cutoff_changes_old_results(backend: Backend) {
    let service = Service::start(backend).await;
    let id = text(
        &service.create(&json!({"text": "a text"})).await.value(),
        "id",
    );
    let before = service.read(&id, "").await.value();
    assert_eq!(before["answers"]["angry"], "yes");
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let cutoffs = [("columns.1.no_below", "90"), ("columns.1.yes_from", "95")];
    let preview = submitted(&mut ada, &page, "", &cutoffs).await;
    let changed = "data-count=\"changed\">1</b> of 1 stored result would change";
    assert!(preview.body.contains(changed), "{}", preview.body);
    let row = "<span class=\"old\">Yes</span> → </span><b class=\"new\">No</b>";
    assert!(preview.body.contains(row), "{}", preview.body);
    let link = format!("href=\"/results/{id}\"");
    assert!(preview.body.contains(&link), "{}", preview.body);
    let now = service.read(&id, "").await.value();
    assert_eq!(now, before, "nothing is saved yet");
    let note = [("note", "fewer false alarms")];
    let saved = submitted(&mut ada, &preview, "/save", &note).await;
    assert!(saved.body.contains("The lens is saved"), "{}", saved.body);
    assert!(saved.body.contains("It changed 1 of 1 stored result."));
    assert!(
        saved.body.contains("fewer false alarms"),
        "the history has it"
    );
    let after = service.read(&id, "").await.value();
    assert_eq!(after["answers"]["angry"], "no");
    let events = service.run(&["events", "--json"]).await.lines();
    let set = events.iter().find(|event| event["action"] == "lens_set");
    assert_eq!(set.unwrap()["note"], "fewer false alarms");
    let reset = submitted(&mut ada, &saved, "/reset", &[]).await;
    assert!(reset.body.contains("automatic again"), "{}", reset.body);
    assert_eq!(service.read(&id, "").await.value(), before);
    let history = ada.get("/prisms/support-triage").await.body;
    assert!(history.contains("changed the lens") && history.contains("reset the lens"));
}

async fn a_draft_is_kept_until_it_is_saved_or_discarded(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let values = [("columns.1.no_below", "30"), ("note", "why not")];
    submitted(&mut ada, &page, "", &values).await;
    let again = ada.get(LENS).await;
    let typed = |page: &HttpAnswer| (value(page, "columns.1.no_below"), value(page, "note"));
    assert_eq!(typed(&again), ("30".to_owned(), "why not".to_owned()));
    assert!(again.body.contains("Draft kept"), "{}", again.body);
    assert_eq!(typed(&eve.get(LENS).await).0, "50", "Eve has none");
    // the preview of the script keeps it too
    let mut form = inputs(&again, FORM);
    let fragment = post(
        &mut ada,
        &format!("{LENS}/preview"),
        &form,
        &[("columns.1.no_below", "20")],
    )
    .await;
    assert!(
        fragment.body.contains("data-draft=\"2\""),
        "{}",
        fragment.body
    );
    let again = ada.get(LENS).await;
    assert_eq!(typed(&again).0, "20");
    let discarded = submitted(&mut ada, &again, "/discard", &[]).await;
    assert_eq!(typed(&discarded), ("50".to_owned(), String::new()));
    assert!(discarded.body.contains("The draft is discarded"));
    // a late request of the tab before does not bring it back
    form.retain(|(name, _)| name != "columns.1.no_below");
    form.push(("columns.1.no_below".to_owned(), "20".to_owned()));
    let late = post(&mut ada, &format!("{LENS}/preview"), &form, &[]).await;
    assert!(late.body.contains("in another tab"), "{}", late.body);
    assert_eq!(typed(&ada.get(LENS).await).0, "50");
    // a preview under way while the lens is saved leaves no draft behind
    let page = ada.get(LENS).await;
    let form = inputs(&page, FORM);
    let moved = [("columns.1.no_below", "20")];
    post(&mut ada, &format!("{LENS}/preview"), &form, &moved).await;
    submitted(&mut ada, &page, "/save", &moved).await;
    let page = ada.get(LENS).await;
    assert!(page.body.contains("id=\"drafted\" hidden"), "{}", page.body);
    // a draft that is the lens itself is none
    let page = ada.get(LENS).await;
    let same = submitted(&mut ada, &page, "", &[]).await;
    assert!(same.body.contains("id=\"drafted\" hidden"), "{}", same.body);
}

async fn a_lens_that_breaks_rules_is_refused_beside_its_input(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let broken = [("columns.1.no_below", "60"), ("columns.1.yes_from", "40")];
    let refused = submitted(&mut ada, &page, "/save", &broken).await;
    let beside = "id=\"columns.1.yes_from-fault\">Yes cannot start below where No ends.";
    assert!(refused.body.contains(beside), "{}", refused.body);
    assert!(!refused.body.contains("must be greater than no_below"));
    assert_eq!(
        value(&refused, "columns.1.no_below"),
        "60",
        "the draft is kept"
    );
    let broken = [
        ("columns.0.name", "angry"),
        ("columns.1.no_below", "40"),
        ("columns.1.yes_from", "60"),
    ];
    let refused = submitted(&mut ada, &refused, "/save", &broken).await;
    let fault = "id=\"columns.1.name-fault\"";
    assert!(refused.body.contains(fault), "{}", refused.body);
    let values = [
        ("columns.0.name", "topic"),
        ("columns.1.no_below", "40"),
        ("columns.1.yes_from", "60"),
        ("act", "add"),
        ("add", "urgency"),
    ];
    let grown = submitted(&mut ada, &refused, "", &values).await;
    assert_eq!(value(&grown, "columns.3.shows"), "urgency/level");
    assert!(
        grown.body.contains("id=\"columns.3.name\""),
        "the new column is open"
    );
    let renamed = [("columns.3.shows", "urgency/average"), ("act", "up.3")];
    let moved = submitted(&mut ada, &grown, "", &renamed).await;
    assert_eq!(value(&moved, "columns.2.shows"), "urgency/average");
    assert!(
        moved.body.contains("id=\"columns.2.name\""),
        "it is still open"
    );
    assert_eq!(
        service.run(&["lens", "show", PRISM]).await.object()["mode"],
        "automatic"
    );
}

async fn a_cutoff_that_no_answer_reaches_is_warned_about(backend: Backend) {
    let service = Service::start(backend).await;
    let shares = json!({"billing": 1, "delivery": 0, "product": 0, "other": 0, "insufficient_information": 0});
    let answers = json!({
        "topic": {"type": "choice", "choice": "billing", "confidence": 1, "probabilities": shares},
        "angry": {"type": "noul", "noul": 0.99},
        "urgency": {"type": "score", "score": 0, "probabilities": {"0": 1, "1": 0, "2": 0}},
    });
    let reply = json!({"model": "clips", "answers": answers});
    let reply = ScriptedReply::with(move |_| reply.clone());
    service.model.then_always(reply);
    for _ in 0..100 {
        let answer = service.create(&json!({"text": "a text"})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    let warning = "angry is always No: “Yes from” 99.5 % is above 99 %, the highest probability \
        of yes in 100 answers of the present model.";
    assert!(!page.body.contains("is always"), "{}", page.body);
    let cutoffs = [("columns.1.yes_from", "99.5")];
    let drafted = submitted(&mut ada, &page, "", &cutoffs).await;
    assert!(drafted.body.contains(warning), "{}", drafted.body);
    submitted(&mut ada, &drafted, "/save", &[]).await;
    let page = ada.get(LENS).await;
    assert!(page.body.contains(warning), "{}", page.body);
}

async fn a_reviewer_sends_cutoffs_by_link_and_saves_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    service.create(&json!({"text": "a text"})).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut bob = joined(&service, "bob@example.com", "reviewer").await;
    let page = bob.get(LENS).await;
    assert!(!page.body.contains("/lens/save") && !page.body.contains("value=\"add\""));
    assert!(
        page.body.contains("to an editor or an owner: <bdi>"),
        "{}",
        page.body
    );
    let form = inputs(&page, FORM);
    let cutoffs = [("columns.1.no_below", "40"), ("columns.1.yes_from", "90")];
    let answer = post(&mut bob, LENS, &form, &cutoffs).await;
    let shown = followed(&mut bob, &answer).await;
    assert!(
        shown.body.contains("data-count=\"changed\">1</b>"),
        "{}",
        shown.body
    );
    let refused = post(&mut bob, &format!("{LENS}/save"), &form, &cutoffs).await;
    assert_eq!(refused.status, 403);
    let (_, link) = shown.body.split_once("id=\"draft-link\" href=\"").unwrap();
    let link = link.split_once('"').unwrap().0.replace("&amp;", "&");
    let theirs = ada.get(&link).await;
    let typed = ["no_below", "yes_from"].map(|name| value(&theirs, &format!("columns.1.{name}")));
    assert_eq!(typed, ["40", "90"]);
    assert_eq!(value(&bob.get(LENS).await, "columns.1.no_below"), "50");
}

async fn the_cutoffs_for_a_precision_are_those_of_the_terminal(backend: Backend) {
    let service = Service::start(backend).await;
    let rated = |request: &_| {
        let mut reply = system_one_answers(request);
        let text = request.text();
        let number = text.split_once("text number ").map_or(0, |(_, rest)| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<u32>().unwrap()
        });
        reply["answers"]["angry"]["noul"] = json!(f64::from(number) / 60.0);
        reply
    };
    service.model.then_always(ScriptedReply::with(rated));
    let mut marks = "ref,angry\n".to_owned();
    for number in 0..60_u32 {
        let body = json!({"text": format!("text number {number}."), "ref": format!("r{number}")});
        service.create(&body).await;
        let is_yes = number > 35 || number % 9 == 8;
        let outcome = if is_yes { "yes" } else { "no" };
        writeln!(marks, "r{number},{outcome}").unwrap();
    }
    let file = service.folder.path().join("marks.csv");
    std::fs::write(&file, marks).unwrap();
    let import = ["marks", "import", PRISM, file.to_str().unwrap()];
    service.run(&import).await.done();
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get(LENS).await;
    assert!(page.body.contains("On all 60 marked"), "{}", page.body);
    let wanted = [("act", "advise"), ("precision", "90")];
    let advised = submitted(&mut ada, &page, "", &wanted).await;
    let arguments = [
        "evaluate",
        PRISM,
        "--advise",
        "angry",
        "--precision",
        "0.9",
        "--json",
    ];
    let terminal = service.run(&arguments).await.object();
    for name in ["no_below", "yes_from"] {
        let percent: f64 = value(&advised, &format!("columns.1.{name}"))
            .parse()
            .unwrap();
        let share = terminal[name].as_f64().unwrap();
        assert!(
            (percent / 100.0 - share).abs() < 1e-9,
            "{name} {percent} {terminal}"
        );
    }
    let words = "Take the rule of thumb, and have some of its answers checked.";
    assert!(advised.body.contains(words), "{}", advised.body);
    // the same sentence stands on Quality and in the terminal
    let arguments = &arguments[..arguments.len() - 1];
    let printed = service.run(arguments).await.done();
    let outlook = printed.lines().skip_while(|line| *line != words).nth(1);
    let outlook = outlook.unwrap();
    assert!(
        outlook.contains("Of 1,000 such answers about "),
        "{printed}"
    );
    let quality = format!("/prisms/{PRISM}/quality?question=angry&wanted=100");
    for page in [&advised, &ada.get(&quality).await] {
        assert!(page.body.contains(outlook), "{outlook}: {}", page.body);
    }
    let out_of_reach = [("act", "advise"), ("precision", "100")];
    let page = submitted(&mut ada, &advised, "", &out_of_reach).await;
    let refused = [("act", "advise"), ("precision", "1000")];
    let refused = submitted(&mut ada, &page, "", &refused).await;
    assert!(refused.body.contains("Type a number from 1 to 100."));
}

async fn a_lens_of_a_hundred_questions_is_light(backend: Backend) {
    let service = Service::start(backend).await;
    let questions: Vec<_> = (0..100)
        .map(|n| json!({"key": format!("question_{n}"), "type": "yes_no", "text": format!("Is it the case number {n}?")}))
        .collect();
    let file = json!({"name": "Hundred", "fields": [{"key": "text", "label": "Text"}], "questions": questions});
    let file = service.file("hundred.json", &file);
    service.run(&["prism", "create", &file]).await.done();
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let page = ada.get("/prisms/hundred/lens?column=7&open=50").await;
    assert_eq!(page.status, 200);
    assert!(
        page.body.contains("id=\"columns.50.name\""),
        "{}",
        page.body
    );
    assert!(
        page.body.contains("id=\"columns.7.yes_from\""),
        "{}",
        page.body
    );
    assert!(page.body.len() < 90_000, "{} bytes", page.body.len());
}
