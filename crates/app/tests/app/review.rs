//! The app's page Review, over HTTP and without scripts.

use refract_test_stack::browser::{PlainBrowser, forms, joined};
use refract_test_stack::http::answer::HttpAnswer;
use refract_test_stack::service::{Backend, PRISM, Service, example_prism, text};
use refract_test_support::on_both;
use serde_json::{Value, json};

on_both!(
    a_blind_mark_shows_the_answer_afterwards_and_measures,
    what_one_cannot_tell_does_not_come_again,
    the_counts_of_review_and_quality_agree,
    steps_are_undone_one_by_one,
    a_skipped_text_comes_again_at_the_end,
    a_sitting_is_gone_on_with_and_is_ones_own,
    two_people_get_different_texts,
    a_version_without_results_leaves_those_of_the_one_before,
    a_chosen_queue_measures_nothing,
    a_random_queue_asks_again_what_somebody_chose_before,
    a_question_that_the_queue_has_not_is_refused,
    all_questions_come_one_after_the_other,
    a_second_person_marks_the_same_sample_and_a_difference_is_settled,
);

async fn made(service: &Service, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    for number in 0..count {
        let body = json!({"text": format!("text number {number}")});
        ids.push(text(&service.create(&body).await.value(), "id"));
    }
    ids
}

/// Begins a sitting and returns its address.
async fn begun(person: &mut PlainBrowser<'_>, queue: &str, question: &str) -> String {
    let values = [
        ("queue", queue),
        ("question", question),
        ("versions", "latest"),
    ];
    let begun = person
        .post(&format!("/prisms/{PRISM}/review"), &values)
        .await;
    assert_eq!(begun.status, 303, "{begun:?}");
    begun.header("location").unwrap().to_owned()
}

/// The result that a page of a sitting asks about.
fn asked(page: &HttpAnswer) -> String {
    let inputs = forms::inputs(page, "form class=\"judging\"");
    let result = inputs.into_iter().find(|(name, _)| name == "result");
    result.unwrap().1
}

/// Presses a button of the page and follows to the next text.
async fn judge(
    person: &mut PlainBrowser<'_>,
    sitting: &str,
    page: &HttpAnswer,
    button: (&str, &str),
) -> HttpAnswer {
    let values = forms::inputs(page, "form class=\"judging\"");
    let judged = forms::post(person, sitting, &values, &[button]).await;
    assert_eq!(judged.status, 303, "{judged:?}");
    person.get(judged.header("location").unwrap()).await
}

async fn marks(service: &Service) -> Vec<Value> {
    let export = ["marks", "export", PRISM, "--format", "jsonl"];
    service.run(&export).await.lines()
}

async fn evaluated(service: &Service, which: &str) -> Value {
    let arguments = [
        "evaluate",
        PRISM,
        "--question",
        "angry",
        "--json",
        "--marks",
        which,
    ];
    let mut lines = service.run(&arguments).await.lines();
    lines.pop().unwrap_or_default()
}

async fn a_blind_mark_shows_the_answer_afterwards_and_measures(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 3).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let chooser = ada.get(&format!("/prisms/{PRISM}/review")).await;
    for words in ["Random sample", "Near a cutoff", "Is the writer angry?"] {
        assert!(chooser.body.contains(words), "{words}: {}", chooser.body);
    }
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    assert!(page.body.contains("text number") && page.body.contains("3 left"));
    let none = "No random or imported mark of version 1 yet.";
    assert!(page.body.contains(none), "{}", page.body);
    // neither the answer nor its probability
    assert!(!page.body.contains(" %</span>") && !page.body.contains("The answer"));
    let result = asked(&page);
    let next = judge(&mut ada, &sitting, &page, ("outcome", "no")).await;
    assert_ne!(asked(&next), result);
    let last = "You: <strong><bdi>No</bdi></strong>. The answer: <bdi>Yes</bdi>, 80.0 %";
    assert!(next.body.contains(last), "{}", next.body);
    assert!(next.body.contains("✗ Not yours") && next.body.contains("2 left"));
    let measured = "1 random or imported mark of version 1. 0.0 % right, between 0.0 and 79.3 %.";
    assert!(next.body.contains(measured), "{}", next.body);
    let marked = marks(&service).await;
    assert_eq!(marked[0]["result_id"], json!(result));
    let measured = evaluated(&service, "random").await;
    assert_eq!(
        (
            &measured["marks"],
            &measured["accuracy"],
            &measured["marks_from"]
        ),
        (&json!(1), &json!(0.0), &json!("random"))
    );
}

async fn what_one_cannot_tell_does_not_come_again(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 2).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    let next = judge(&mut ada, &sitting, &page, ("act", "cannot_tell")).await;
    assert!(next.body.contains("You: <strong><bdi>cannot tell"));
    let end = judge(&mut ada, &sitting, &next, ("outcome", "yes")).await;
    assert!(end.body.contains("Everything in this queue is judged."));
    assert_eq!(evaluated(&service, "all").await["marks"], json!(1));
    let again = begun(&mut ada, "least_sure", "angry").await;
    let empty = ada.get(&again).await;
    assert!(
        empty.body.contains("Nothing in this queue is left"),
        "{}",
        empty.body
    );
}

/// The first sentences of Review or Quality about the marks of a question, and their share.
fn measured(page: &HttpAnswer) -> (String, Option<String>) {
    let plain = page.body.replace(" of version 1", "").replace('\n', " ");
    let (before, after) = plain.split_once("random or imported mark").unwrap();
    let count = before.rsplit('>').next().unwrap();
    let words = after.split(". ").next().unwrap();
    let before = |words| plain.split_once(words).map(|(before, _)| before);
    let right = before(" %</data> right").or_else(|| before(" % right"));
    let right = right.map(|it| it.rsplit(['>', ' ']).next().unwrap().to_owned());
    (format!("{count}{words}"), right)
}

async fn the_counts_of_review_and_quality_agree(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = made(&service, 8).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    let link = format!("/prisms/{PRISM}/quality?question=angry&amp;version=1");
    assert!(page.body.contains(&link), "{}", page.body);
    judge(&mut ada, &sitting, &page, ("outcome", "no")).await;
    // marks of a file, of another person, and cutoffs that make every answer Unsure
    let rows = ids
        .iter()
        .map(|id| json!({"result_id": id, "angry": "yes"}));
    let rows: Vec<_> = rows.take(5).map(|row| row.to_string()).collect();
    service.import("marks.jsonl", rows.join("\n")).await;
    let other = begun(&mut eve, "random", "angry").await;
    let of_eve = eve.get(&other).await;
    judge(&mut eve, &other, &of_eve, ("outcome", "no")).await;
    let quality = format!("/prisms/{PRISM}/quality?question=angry");
    let in_review = ada.get(&sitting).await;
    assert_eq!(measured(&in_review), measured(&ada.get(&quality).await));
    let counted = evaluated(&service, "random").await["marks"].to_string();
    assert!(measured(&in_review).0.starts_with(&counted));
    service.write(
        "lens.json",
        json!({"columns": [{"question": "angry", "output": "label", "no_below": 0.1, "yes_from": 0.9}]})
            .to_string(),
    );
    let set = ["lens", "set", PRISM, "lens.json"];
    service.run(&set).await.done();
    let in_review = ada.get(&sitting).await;
    let (words, _) = measured(&in_review);
    assert_eq!(words, measured(&ada.get(&quality).await).0);
    assert!(
        words.ends_with("0 of them on an answer; the others answered Unsure"),
        "{words}"
    );
}

async fn steps_are_undone_one_by_one(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 3).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "angry").await;
    let first = ada.get(&sitting).await;
    let second = judge(&mut ada, &sitting, &first, ("outcome", "yes")).await;
    let third = judge(&mut ada, &sitting, &second, ("act", "cannot_tell")).await;
    judge(&mut ada, &sitting, &third, ("outcome", "no")).await;
    for (page, left) in [(&third, "1 left"), (&second, "2 left"), (&first, "3 left")] {
        let undone = ada.post(&format!("{sitting}/undo"), &[]).await;
        assert_eq!(undone.status, 303, "{undone:?}");
        let back = ada.get(undone.header("location").unwrap()).await;
        assert_eq!(asked(&back), asked(page));
        let is_undone = back.body.contains(left) && back.body.contains("Undone.");
        assert!(is_undone, "{left}: {}", back.body);
    }
    assert_eq!(marks(&service).await, [Value::Null; 0]);
    let nothing = ada.post(&format!("{sitting}/undo"), &[]).await;
    assert_eq!(nothing.header("location"), Some(sitting.as_str()));
}

async fn a_skipped_text_comes_again_at_the_end(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 3).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "angry").await;
    let skipped = asked(&ada.get(&sitting).await);
    let mut page = ada.get(&format!("{sitting}?after={skipped}")).await;
    let back = format!("<a href=\"{sitting}?at={skipped}\" data-key=\"u\">");
    assert!(page.body.contains(&back), "{}", page.body);
    for _ in 0..2 {
        assert_ne!(asked(&page), skipped);
        page = judge(&mut ada, &sitting, &page, ("outcome", "yes")).await;
    }
    assert_eq!(asked(&page), skipped);
}

async fn a_sitting_is_gone_on_with_and_is_ones_own(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 2).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    judge(&mut ada, &sitting, &page, ("outcome", "yes")).await;
    let chooser = ada.get(&format!("/prisms/{PRISM}/review")).await;
    assert!(chooser.body.contains(&format!("href=\"{sitting}\"")));
    assert!(chooser.body.contains("1 judgement over 2 results"));
    let mut eve = joined(&service, "eve@example.com", "owner").await;
    assert_eq!(eve.get(&sitting).await.status, 404);
    let values = forms::inputs(&page, "form class=\"judging\"");
    let refused = forms::post(&mut eve, &sitting, &values, &[("outcome", "no")]).await;
    assert_eq!(refused.status, 404);
}

async fn two_people_get_different_texts(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 2).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let mut eve = joined(&service, "eve@example.com", "editor").await;
    let of_ada = begun(&mut ada, "random", "angry").await;
    let first = ada.get(&of_ada).await;
    let of_eve = begun(&mut eve, "random", "angry").await;
    let other = eve.get(&of_eve).await;
    assert_ne!(asked(&first), asked(&other));
    assert!(other.body.contains("Also here: <bdi>"), "{}", other.body);
    // what the other has marked is skipped; the last text may be judged by both
    judge(&mut eve, &of_eve, &other, ("outcome", "yes")).await;
    let last = judge(&mut ada, &of_ada, &first, ("outcome", "yes")).await;
    assert!(
        last.body.contains("Everything in this queue is judged."),
        "{}",
        last.body
    );
    let both = marks(&service).await;
    assert_eq!(both.len(), 2, "{both:?}");
}

/// Begins a sitting that also has what others marked.
async fn begun_shared(person: &mut PlainBrowser<'_>) -> String {
    let values = [
        ("queue", "random"),
        ("question", "angry"),
        ("versions", "latest"),
        ("shared", "on"),
    ];
    let begun = person
        .post(&format!("/prisms/{PRISM}/review"), &values)
        .await;
    begun.header("location").unwrap().to_owned()
}

async fn a_second_person_marks_the_same_sample_and_a_difference_is_settled(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = made(&service, 1).await;
    // both are called Ada
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let mut eve = joined(&service, "eve@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    judge(&mut ada, &sitting, &page, ("outcome", "yes")).await;
    let alone = begun(&mut eve, "random", "angry").await;
    assert!(eve.get(&alone).await.body.contains("Nothing in this queue"));
    let shared = begun_shared(&mut eve).await;
    let page = eve.get(&shared).await;
    let end = judge(&mut eve, &shared, &page, ("outcome", "no")).await;
    assert!(end.body.contains("Everything in this queue is judged."));
    let again = begun_shared(&mut ada).await;
    assert!(ada.get(&again).await.body.contains("Nothing in this queue"));
    let both = marks(&service).await;
    assert_eq!(both.len(), 2, "{both:?}");
    assert_ne!(both[0]["person"], both[1]["person"], "by their ids");

    let result = eve.get(&format!("/results/{}", ids[0])).await.body;
    assert!(result.contains("You and Ada (…"), "{result}");
    assert!(result.contains("Settle it in Review"), "{result}");
    let chooser = eve.get(&format!("/prisms/{PRISM}/review")).await.body;
    assert!(chooser.contains("Ada (ada@example.com)"), "{chooser}");
    // the question that has marks is the one that it opens with
    let quality = eve.get(&format!("/prisms/{PRISM}/quality")).await.body;
    assert!(
        quality.contains("2 people marked 1 text in common"),
        "{quality}"
    );

    let settling = begun(&mut ada, "differ", "angry").await;
    let page = ada.get(&settling).await;
    assert!(page.body.contains("Marked differently."), "{}", page.body);
    let end = judge(&mut ada, &settling, &page, ("outcome", "no")).await;
    assert!(end.body.contains("Everything in this queue is judged."));
    let settled = marks(&service).await;
    assert_eq!(settled.len(), 3, "{settled:?}");
    assert_eq!(
        (&settled[2]["adjudicated"], &settled[2]["angry"]),
        (&json!("true"), &json!("no"))
    );
    // the result was drawn at random before somebody settled it
    assert_eq!(evaluated(&service, "random").await["accuracy"], json!(0.0));
    let undone = ada.post(&format!("{settling}/undo"), &[]).await;
    assert_eq!(undone.status, 303);
    assert_eq!(marks(&service).await, both);
}

async fn a_version_without_results_leaves_those_of_the_one_before(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 2).await;
    let mut ada = joined(&service, "ada@example.com", "editor").await;
    let address = format!("/prisms/{PRISM}/review");
    let newest = ada.get(&address).await;
    assert!(newest.body.contains("Version 1, the latest"));
    let mut next = example_prism();
    next["questions"][0]["text"] = json!("Another wording?");
    service.write("next.json", next.to_string());
    let save = ["prism", "save", PRISM, "next.json"];
    service.run(&save).await.done();
    let newest = ada.get(&address).await;
    let expected = "Version 1, the newest with results";
    assert!(newest.body.contains(expected), "{}", newest.body);
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    assert!(page.body.contains("2 left"), "{}", page.body);
    assert!(page.body.contains("mark of version 1 yet"));
    made(&service, 1).await;
    let newest = ada.get(&address).await;
    assert!(newest.body.contains("Version 2, the latest"));
}

async fn a_chosen_queue_measures_nothing(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 3).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    for queue in ["near", "least_sure"] {
        let sitting = begun(&mut ada, queue, "angry").await;
        let page = ada.get(&sitting).await;
        assert!(page.body.contains("The answer"), "{}", page.body);
        assert!(page.body.contains("These marks measure nothing"));
        judge(&mut ada, &sitting, &page, ("outcome", "yes")).await;
    }
    assert_eq!(evaluated(&service, "random").await, Value::Null);
    let all = evaluated(&service, "all").await;
    assert_eq!(
        (&all["marks"], &all["marks_from"]),
        (&json!(2), &json!("all"))
    );
    let printed = service.run(&["evaluate", PRISM]).await;
    assert!(printed.stderr.contains("2 marks left out"), "{printed:?}");
    // a filter chooses too, whatever the order is
    let values = [("queue", "random"), ("question", "angry")];
    let address = format!("/prisms/{PRISM}/review?by=terminal");
    let begun = ada.post(&address, &values).await;
    let empty = ada.get(begun.header("location").unwrap()).await;
    assert!(
        empty.body.contains("These marks measure nothing"),
        "{}",
        empty.body
    );
}

async fn a_random_queue_asks_again_what_somebody_chose_before(backend: Backend) {
    let service = Service::start(backend).await;
    let ids = made(&service, 1).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let chosen = [("mark.angry", "yes"), ("was.angry", "")];
    let marked = ada
        .post(&format!("/results/{}/marks", ids[0]), &chosen)
        .await;
    assert_eq!(marked.status, 303);
    assert_eq!(evaluated(&service, "random").await, Value::Null);
    let empty = begun(&mut ada, "least_sure", "angry").await;
    assert!(ada.get(&empty).await.body.contains("Nothing in this queue"));
    let sitting = begun(&mut ada, "random", "angry").await;
    let page = ada.get(&sitting).await;
    assert_eq!(asked(&page), ids[0]);
    judge(&mut ada, &sitting, &page, ("outcome", "yes")).await;
    assert_eq!(evaluated(&service, "random").await["marks"], json!(1));
}

async fn a_question_that_the_queue_has_not_is_refused(backend: Backend) {
    let service = Service::start(backend).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    for (queue, question) in [
        ("near", "topic"),
        ("near", "*"),
        ("no_valid_answer", "angry"),
        ("random", "gone"),
    ] {
        let values = [("queue", queue), ("question", question)];
        let refused = ada.post(&format!("/prisms/{PRISM}/review"), &values).await;
        assert_eq!(refused.status, 422, "{queue} {question}");
        assert!(refused.body.contains("aria-invalid=\"true\""));
    }
    let sitting = begun(&mut ada, "random", "angry").await;
    let forged = [
        ("result", service.prism_id.as_str()),
        ("question", "angry"),
        ("outcome", "yes"),
    ];
    assert_eq!(ada.post(&sitting, &forged).await.status, 409);
}

async fn all_questions_come_one_after_the_other(backend: Backend) {
    let service = Service::start(backend).await;
    made(&service, 1).await;
    let mut ada = joined(&service, "ada@example.com", "reviewer").await;
    let sitting = begun(&mut ada, "random", "*").await;
    let mut page = ada.get(&sitting).await;
    for (question, outcome) in [("topic", "other"), ("angry", "no"), ("urgency", "today")] {
        let asks = format!("name=\"question\" value=\"{question}\"");
        assert!(page.body.contains(&asks), "{question}: {}", page.body);
        page = judge(&mut ada, &sitting, &page, ("outcome", outcome)).await;
    }
    assert!(page.body.contains("Everything in this queue is judged."));
    let marked = marks(&service).await;
    let outcomes = ["topic", "angry", "urgency"].map(|question| &marked[0][question]);
    assert_eq!(outcomes, [&json!("other"), &json!("no"), &json!("today")]);
}
